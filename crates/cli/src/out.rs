//! Standard output and standard error: the one place where something is printed.
//!
//! What comes out of a session, a memory file or a model may hold bytes that a
//! terminal obeys, and characters that turn the writing round. Here they are
//! shown instead ([`clean`]), whatever is printed; only a text that is given back
//! whole keeps its bytes where no terminal is ([`whole`]).
//!
//! `println!` panics when its reader has gone, as in `longhaul session show |
//! head -1`. Here that is a failure like any other, which ends the command
//! without a word.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use crate::failure::Failure;
use crate::style;

/// Prints a line of the result.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::out::line(format_args!($($part)*))
    };
}

/// Prints a label and a value, aligned.
macro_rules! row {
    ($label:expr, $($part:tt)*) => {
        $crate::paint::row($label, format_args!($($part)*))
    };
}

pub(crate) fn line(text: fmt::Arguments<'_>) -> Result<(), Failure> {
    let text = clean(&text.to_string()) + "\n";
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).map_err(Failure::output)
}

/// Prints a part of a line, now.
pub(crate) fn part(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(clean(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(Failure::output)
}

/// Prints a text that programs read, as it is; on a terminal cleaned.
pub(crate) fn whole(text: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Failure> {
    let mut out = Cleaned::default();
    out.write_all(text.as_ref())
        .and_then(|()| out.flush())
        .map_err(Failure::output)
}

/// Standard output for what is written piece by piece: lines as [`whole`] prints
/// them.
#[derive(Default)]
pub(crate) struct Cleaned {
    line: Vec<u8>,
}

impl Write for Cleaned {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !io::stdout().is_terminal() {
            return io::stdout().write(bytes);
        }
        self.line.extend_from_slice(bytes);
        let end = self.line.iter().rposition(|byte| *byte == b'\n');
        let lines: Vec<u8> = self.line.drain(..end.map_or(0, |end| end + 1)).collect();
        io::stdout().write_all(clean(&String::from_utf8_lossy(&lines)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        let mut out = io::stdout();
        out.write_all(clean(&String::from_utf8_lossy(&rest)).as_bytes())?;
        out.flush()
    }
}

/// Prints JSON for programs.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    whole(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Prints a line on standard error.
pub(crate) fn remark(text: impl fmt::Display) {
    beside(&format!("{text}\n"));
}

/// Prints a part of a line on standard error, now. If nobody hears it, there is
/// nobody to tell that either.
pub(crate) fn beside(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err
        .write_all(clean(text).as_bytes())
        .and_then(|()| err.flush());
}

/// A text with what a terminal would obey shown instead: control characters but
/// the ends of lines and tabs, and what turns the writing round. Our own colours
/// stay.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_unseemly) {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((codes, after)) = style::ours(rest) {
            clean.extend(["\u{1b}[", codes, "m"]);
            rest = after;
            continue;
        }
        let mut chars = rest.chars();
        clean.extend(chars.next().map(shown));
        rest = chars.as_str();
    }
    clean.push_str(rest);
    clean
}

/// What a terminal would obey.
pub(crate) fn is_unseemly(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What stands for a character that is not obeyed.
fn shown(c: char) -> char {
    match c {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::style;

    #[test]
    fn foreign_text_cannot_drive_the_terminal() {
        assert_eq!(
            clean("a\u{1b}[2J\n\tb\u{202e}\u{7}\u{9b}31m\u{2067}\r\u{7f}é"),
            "a␛[2J\n\tb\u{fffd}␇\u{fffd}31m\u{fffd}␍␡é"
        );
        assert_eq!(clean("\u{1b}[31mred\u{1b}[0m"), "␛[31mred␛[0m");
        assert_eq!(clean("\u{1b}[31;1;2;3;4mred"), "␛[31;1;2;3;4mred");
    }

    #[test]
    fn our_own_colours_are_obeyed_and_take_no_room() {
        console::set_colors_enabled(true);
        let red = style("\u{1b}[2J").red().bold().to_string();
        console::set_colors_enabled(false);
        assert_eq!(clean(&red), "\u{1b}[31;1m␛[2J\u{1b}[0m");
        assert_eq!(console::measure_text_width(&red), 0);
        assert_eq!(style("plain").red().to_string(), "plain");
    }
}
