//! The configuration's fuzz target over its seeds and mutations of them.
#![allow(clippy::disallowed_methods, missing_docs, unreachable_pub)]

#[path = "../../../fuzz/src/config.rs"]
mod config;
#[path = "../../../fuzz/src/mutate.rs"]
mod mutate;

use std::path::Path;

use mutate::{Numbers, mutate, seeds};

const MUTATIONS: usize = 600;

#[test]
fn config() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/config");
    let seeds = seeds(&folder, &[""]);
    assert!(!seeds.is_empty(), "there are no seeds");
    for (_, bytes) in &seeds {
        config::config(bytes);
    }
    let mut numbers = Numbers::new(1);
    for round in 0..MUTATIONS {
        let (_, seed) = &seeds[round % seeds.len()];
        let (_, other) = &seeds[numbers.below(seeds.len())];
        let bytes = mutate(seed, other, &mut numbers);
        eprintln!("mutation {round}: {}", bytes.escape_ascii());
        config::config(&bytes);
    }
}
