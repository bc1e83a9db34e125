//! Standard output and standard error, where somebody may have stopped listening.
//!
//! `println!` panics when its reader has gone, as in `longhaul session show |
//! head -1`. Here that is a failure like any other, which ends the command
//! without a word.

use std::fmt;
use std::io::{self, Write};

use crate::failure::Failure;

/// Prints a line of the result.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::out::line(format_args!($($part)*))
    };
}
pub(crate) use say;

pub(crate) fn line(text: fmt::Arguments<'_>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_fmt(text)
        .and_then(|()| out.write_all(b"\n"))
        .map_err(Failure::output)
}

/// Writes bytes of the result as they are.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(Failure::output)
}

/// Prints JSON for programs.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    say!("{}", serde_json::to_string_pretty(value)?)
}

/// Prints a line on standard error. If nobody hears it, there is nobody to
/// tell that either.
pub(crate) fn remark(text: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
