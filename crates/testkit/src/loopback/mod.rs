//! A server on 127.0.0.1 that answers as the providers do: real HTTP, their real
//! formats, and on request their real faults. For tests, of this crate and of
//! those above it.
//!
//! ```
//! use longhaul_testkit::loopback::{Loopback, Said};
//! use longhaul_model::{Limits, ModelSpec, connect};
//!
//! let server = Loopback::start(|request| Said::text("hello").reply(request))?;
//! let spec = ModelSpec::parse("anthropic/claude-opus-5-5").unwrap().at(server.url());
//! let model = connect(&spec, &|_| Some("a key".into()), Limits::default()).unwrap();
//! assert_eq!(model.info().window, Some(1_000_000));
//! # Ok::<(), std::io::Error>(())
//! ```

mod fault;
mod said;
mod server;

pub use fault::Fault;
pub use said::Said;
pub use server::{Ending, Loopback, Piece, Recorded, Reply};
