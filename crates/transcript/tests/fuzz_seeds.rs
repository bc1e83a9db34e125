//! Every fuzz target over its seeds and over mutations of them, without a fuzzer.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub
)]

#[path = "../../../fuzz/src/mutate.rs"]
mod mutate;
#[path = "../../../fuzz/src/transcript.rs"]
mod targets;

use std::path::{Path, PathBuf};

use mutate::{Numbers, mutate, seeds};

/// Mutations of each target; more with `LONGHAUL_LONG=1`.
const MUTATIONS: usize = 600;

fn folder(target: &str) -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    match target {
        "native_session" | "native_writer" => project.join("tests/golden"),
        _ => project.join("../../fuzz/seeds").join(target),
    }
}

/// Says which input it was when a target panics.
struct Input<'a> {
    what: String,
    bytes: &'a [u8],
}

impl Drop for Input<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let text = self.bytes.escape_ascii();
            eprintln!("the input was {}:\n{text}", self.what);
        }
    }
}

fn run(target: &str) {
    let (_, check) = targets::TARGETS
        .iter()
        .find(|(name, _)| *name == target)
        .unwrap();
    let endings: &[&str] = match target {
        "native_session" | "native_writer" => &[".jsonl"],
        _ => &[""],
    };
    let seeds = seeds(&folder(target), endings);
    assert!(!seeds.is_empty(), "{target} has no seeds");
    for (name, bytes) in &seeds {
        let input = Input {
            what: name.clone(),
            bytes,
        };
        check(input.bytes);
    }
    let rounds = match std::env::var_os("LONGHAUL_LONG") {
        Some(_) => MUTATIONS * 100,
        None => MUTATIONS,
    };
    let mut numbers = Numbers::new(1);
    for round in 0..rounds {
        let (name, seed) = &seeds[round % seeds.len()];
        let (_, other) = &seeds[numbers.below(seeds.len())];
        let bytes = mutate(seed, other, &mut numbers);
        let input = Input {
            what: format!("mutation {round} of {name}"),
            bytes: &bytes,
        };
        check(input.bytes);
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            run(stringify!($name));
        })*

        #[test]
        fn no_target_is_left_out() {
            let names = targets::TARGETS.map(|(name, _)| name);
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

targets! {
    native_session native_writer lines claude_code codex openclaw_store sqlite object time
}
