//! Colours of our own, which the output can tell from those in other people's
//! texts.
//!
//! What a session holds may colour a terminal, move its cursor or clear it. Each
//! sequence that is made here has a number in it that is another one in every
//! process: [`crate::out`] lets it through, and shows any other instead of obeying
//! it.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// The end of every sequence of ours: of more than four digits at once nobody
/// believes that they are a colour.
static MARK: LazyLock<String> = LazyLock::new(|| {
    let random = RandomState::new().build_hasher().finish();
    let digits = (0..4).map(|part| format!(";{:04}", (random >> (16 * part)) % 10_000));
    digits.collect()
});

/// How something looks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Style {
    codes: Vec<u8>,
    stderr: bool,
}

/// Something and its looks.
pub(crate) struct Styled<T> {
    style: Style,
    value: T,
}

/// To be looked at as it is, until it is said how.
pub(crate) fn style<T>(value: T) -> Styled<T> {
    Style::default().apply_to(value)
}

/// What the codes of terminals are called.
macro_rules! looks {
    ($($name:ident $code:literal)*) => {
        impl Style {
            $(pub(crate) fn $name(mut self) -> Style {
                self.codes.push($code);
                self
            })*
        }
        impl<T> Styled<T> {
            $(#[allow(dead_code)]
            pub(crate) fn $name(self) -> Styled<T> {
                Styled { style: self.style.$name(), ..self }
            })*
        }
    };
}
looks! {
    bold 1 dim 2 italic 3 reverse 7
    red 31 green 32 yellow 33 blue 34 magenta 35 cyan 36 white 37
}

impl Style {
    pub(crate) fn new() -> Style {
        Style::default()
    }

    /// The same on standard error, which may have no colours, or alone have some.
    pub(crate) fn for_stderr(mut self) -> Style {
        self.stderr = true;
        self
    }

    pub(crate) fn apply_to<T>(&self, value: T) -> Styled<T> {
        Styled {
            style: self.clone(),
            value,
        }
    }
}

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let enabled = match self.style.stderr {
            true => console::colors_enabled_stderr(),
            false => console::colors_enabled(),
        };
        if !enabled || self.style.codes.is_empty() {
            return self.value.fmt(f);
        }
        let codes: Vec<String> = self.style.codes.iter().map(u8::to_string).collect();
        write!(f, "\u{1b}[{}{}m", codes.join(";"), *MARK)?;
        self.value.fmt(f)?;
        write!(f, "\u{1b}[0{}m", *MARK)
    }
}

/// The codes of a sequence of ours that a text begins with, and what follows it.
pub(crate) fn ours(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("\u{1b}[")?;
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let codes = text[..end].strip_suffix(MARK.as_str())?;
    Some((codes, text[end..].strip_prefix('m')?))
}
