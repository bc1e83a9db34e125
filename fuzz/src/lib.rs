//! What must hold for any bytes, one function for each parser.
//!
//! The functions are called twice: by the fuzz targets (`cargo +nightly fuzz
//! run <target> <work folder> seeds/<target>`) and, over the seeds and some
//! thousand mutations of them, by the crates' ordinary tests.

pub mod config;
pub mod mutate;
pub mod transcript;
