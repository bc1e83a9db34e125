//! Templates: text with slots, filled from the vocabulary.
//!
//! A slot is a tilde and one letter, so that braces stay free for code:
//!
//! | slot | gives |
//! |---|---|
//! | `~n` `~v` `~a` | a noun, a verb, an adjective |
//! | `~i` `~T` `~K` | a new name as variable, type, constant |
//! | `~1` `~2` `~3` | the three variables of this text, the same each time |
//! | `~7` `~8` | the two types of this text |
//! | `~N` `~M` `~d` | a number, a number with two decimals, milliseconds |
//! | `~h` `~H` `~u` | 8 hex digits, a commit hash, a UUID |
//! | `~p` `~x` `~w` | a port, an address, a version |
//! | `~t` `~f` | a ticket and a file of the project |
//! | `~z` `~Z` | a phrase in a CJK language, in another one |

use std::fmt::Write;

use super::rng::Rng;
use super::words::{ADJECTIVES, NOUNS, PHRASES_CJK, PHRASES_LATIN, VERBS};

/// How a language writes names of several words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Snake,
    Camel,
}

/// What the slots of one project share.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) paths: Vec<String>,
    pub(super) ticket: &'static str,
    pub(super) case: Case,
}

#[derive(Debug, Clone, Copy)]
struct Name {
    verb: &'static str,
    noun: &'static str,
}

impl Name {
    fn draw(rng: &mut Rng) -> Name {
        Name {
            verb: rng.pick(VERBS),
            noun: rng.pick(NOUNS),
        }
    }

    fn variable(self, case: Case, out: &mut String) {
        out.push_str(self.verb);
        match case {
            Case::Snake => {
                out.push('_');
                out.push_str(self.noun);
            }
            Case::Camel => capital(self.noun, out),
        }
    }

    fn type_name(self, out: &mut String) {
        capital(self.noun, out);
        capital(self.verb, out);
    }

    fn constant(self, out: &mut String) {
        for part in [self.verb, "_", self.noun] {
            out.extend(part.chars().map(|c| c.to_ascii_uppercase()));
        }
    }
}

fn capital(word: &str, out: &mut String) {
    let mut letters = word.chars();
    out.extend(letters.next().map(|c| c.to_ascii_uppercase()));
    out.push_str(letters.as_str());
}

/// The names that belong to one text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    variables: [Name; 3],
    types: [Name; 2],
    case: Case,
}

impl Names {
    pub(super) fn draw(rng: &mut Rng, case: Case) -> Names {
        Names {
            variables: std::array::from_fn(|_| Name::draw(rng)),
            types: std::array::from_fn(|_| Name::draw(rng)),
            case,
        }
    }
}

impl Scene {
    /// Fills a template with names of its own.
    pub(super) fn fill(&self, template: &str, rng: &mut Rng, out: &mut String) {
        let names = Names::draw(rng, self.case);
        self.fill_with(template, &names, rng, out);
    }

    /// Fills a template into a new string.
    pub(super) fn text(&self, template: &str, rng: &mut Rng) -> String {
        let mut out = String::with_capacity(template.len() + 32);
        self.fill(template, rng, &mut out);
        out
    }

    /// Fills a template with given names.
    pub(super) fn fill_with(&self, template: &str, names: &Names, rng: &mut Rng, out: &mut String) {
        let mut rest = template;
        while let Some(at) = memchr::memchr(b'~', rest.as_bytes()) {
            out.push_str(&rest[..at]);
            let slot = rest.as_bytes().get(at + 1).copied().unwrap_or(b'~');
            self.slot(slot, names, rng, out);
            rest = rest.get(at + 2..).unwrap_or("");
        }
        out.push_str(rest);
    }

    fn slot(&self, slot: u8, names: &Names, rng: &mut Rng, out: &mut String) {
        match slot {
            b'n' => out.push_str(rng.pick(NOUNS)),
            b'v' => out.push_str(rng.pick(VERBS)),
            b'a' => out.push_str(rng.pick(ADJECTIVES)),
            b'i' => Name::draw(rng).variable(names.case, out),
            b'T' => Name::draw(rng).type_name(out),
            b'K' => Name::draw(rng).constant(out),
            b'1'..=b'3' => names.variables[usize::from(slot - b'1')].variable(names.case, out),
            b'7' | b'8' => names.types[usize::from(slot - b'7')].type_name(out),
            b'N' => number(rng.between(2, 999), out),
            b'd' => number(rng.between(1, 9_000), out),
            b'p' => number(rng.between(3_000, 9_999), out),
            b'M' => {
                number(rng.below(400), out);
                out.push('.');
                number(rng.between(10, 99), out);
            }
            b'h' => rng.hex(8, out),
            b'H' => rng.hex(40, out),
            b'u' => rng.uuid(out),
            b'x' => {
                let [a, b, c] = std::array::from_fn(|_| rng.below(256));
                // Writing to a string cannot fail.
                let _ = write!(out, "10.{a}.{b}.{c}");
            }
            b'w' => {
                let [a, b, c] = [rng.below(9), rng.below(40), rng.below(20)];
                let _ = write!(out, "{a}.{b}.{c}");
            }
            b't' => {
                out.push_str(self.ticket);
                out.push('-');
                number(rng.between(100, 9_999), out);
            }
            b'f' => match rng.below(self.paths.len()) {
                at if at < self.paths.len() => out.push_str(&self.paths[at]),
                _ => out.push_str("README.md"),
            },
            b'z' => out.push_str(rng.pick(PHRASES_CJK)),
            b'Z' => out.push_str(rng.pick(PHRASES_LATIN)),
            other => out.push(char::from(other)),
        }
    }
}

/// Appends a number; in the inner loop of every output, so without `format!`.
pub(super) fn number(value: usize, out: &mut String) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}
