//! From a path to a context: what a session costs to open, by its size.
//!
//! All files end alike, so the rows should not differ: opening reads the end.
#![allow(clippy::disallowed_methods)]

mod common;

use common::MB;
use divan::{Bencher, black_box};
use longhaul_transcript::{Context, Session};

fn main() {
    divan::main();
}

const SIZES_MB: [u64; 3] = [1, 100, 1000];

/// Open, load, build the context.
#[divan::bench(args = SIZES_MB)]
fn context(bencher: Bencher<'_, '_>, megabytes: u64) {
    let Some(path) = common::session(megabytes * MB) else {
        return;
    };
    bencher.bench(|| {
        let session = Session::open(&path).expect("the file is a session");
        let loaded = session.load().expect("it loads");
        black_box(Context::build(&loaded))
    });
}

/// Open and look at the last half megabyte, as a list of sessions does.
#[divan::bench(args = SIZES_MB)]
fn tail(bencher: Bencher<'_, '_>, megabytes: u64) {
    let Some(path) = common::session(megabytes * MB) else {
        return;
    };
    bencher.bench(|| {
        let session = Session::open(&path).expect("the file is a session");
        black_box(session.tail(512 * 1024).expect("it has an end"))
    });
}
