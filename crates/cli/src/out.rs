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

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use longhaul_redact::Redactor;

use crate::failure::{Failure, Outcome, Result};
use crate::style::{self, Style, style};

/// Prints a line of the result.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::out::line(format_args!($($part)*))
    };
}

/// Prints a label and a value, aligned.
macro_rules! row {
    ($label:expr, $($part:tt)*) => {
        $crate::out::row($label, format_args!($($part)*))
    };
}

/// Says something beside the result, unless told to be quiet.
macro_rules! note {
    ($($part:tt)*) => {
        $crate::out::note(&format!($($part)*))
    };
}

/// Whether only results are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// What was said and need not be said again.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whether from now on only results are printed.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Says something beside the result, unless told to be quiet.
pub(crate) fn note(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        remark(Style::new().for_stderr().dim().apply_to(redacted(text)));
    }
}

/// The same, but only the first time: one cause may stop many steps.
pub(crate) fn note_once(text: &str) {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(text.to_owned()) {
        note(text);
    }
}

/// Whether progress may be shown.
pub(crate) fn shows_progress() -> bool {
    !QUIET.load(Ordering::Relaxed) && io::stderr().is_terminal()
}

/// A label and a value, aligned.
pub(crate) fn row(label: &str, value: impl fmt::Display) -> Result {
    say!("{} {value}", style(format!("{label:<16}")).dim())
}

/// A text that is about to be written outside the session, without its secrets.
pub(crate) fn redacted(text: &str) -> String {
    Redactor::default().redact(text).text
}

pub(crate) fn line(text: fmt::Arguments<'_>) -> Result {
    let text = clean(&text.to_string()) + "\n";
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).map_err(Failure::output)
}

/// Prints a part of a line, now.
pub(crate) fn part(text: &str) -> Result {
    let mut out = io::stdout().lock();
    out.write_all(clean(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(Failure::output)
}

/// Prints a text that programs read, as it is; on a terminal cleaned.
pub(crate) fn whole(text: &(impl AsRef<[u8]> + ?Sized)) -> Result {
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
pub(crate) fn json(value: &impl serde::Serialize) -> Result {
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

/// Prints why a command did not do its work. A provider may quote the key it was
/// sent, and what is printed ends up in logs.
pub(crate) fn failure(failure: &Failure) {
    let style = Style::new().for_stderr();
    let message = redacted(&failure.message);
    match failure.outcome {
        Outcome::Unheard => return,
        Outcome::Failed | Outcome::Usage | Outcome::Blocked => {
            let error = style.clone().red().bold().apply_to("error:");
            remark(format_args!("{error} {message}"));
        }
        _ => remark(message),
    }
    for (at, detail) in failure.details.iter().enumerate() {
        let is_last = at + 1 == failure.details.len();
        let branch = style
            .clone()
            .dim()
            .apply_to(if is_last { "╰─" } else { "├─" });
        remark(format_args!("  {branch} {}", redacted(detail)));
    }
    if let Some(help) = &failure.help {
        let label = style.cyan().bold().apply_to("help:");
        remark(format_args!("{label} {}", redacted(help)));
    }
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
