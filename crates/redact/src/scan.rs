//! One text from its first byte to its last: what each stage finds, in order.
//!
//! | stage | what gives a secret away |
//! |---|---|
//! | `vendors` | it begins as a vendor's keys do: the rows of `vendors.txt` |
//! | `private-keys` | the marks of PEM around it |
//! | `addresses` | it stands before the host of an address |
//! | `places` | the command, statement or header it stands in: the rows of `places.txt` |
//! | `names` | the name beside it: the grammar |
//! | `tables` | the name above its column |
//! | `kubernetes` | the kind of its manifest |
//! | the workspace's | its own rules |

use super::span::{Span, merged};
use super::{Kind, Redactor, grammar, kubernetes, pem, places, uri, vendors};

/// The stages that can be switched off as a whole.
const STAGES: [&str; 5] = ["private-keys", "addresses", "names", "tables", "kubernetes"];

/// The id of every rule that comes with the program, in the order of the tables.
pub fn rule_ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = STAGES.to_vec();
    ids.extend(places::ids());
    for id in vendors::ids() {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

impl Redactor {
    /// The secrets of a text, in their order.
    pub(crate) fn secrets(&self, text: &str) -> Vec<Span> {
        let mut found = Vec::new();
        let on = |stage: &str| !self.off.contains(stage);
        self.vendors_keys(text, &mut found);
        self.placed_values(text, &mut found);
        if on("private-keys") {
            pem::private_keys(text, &mut found);
        }
        if on("addresses") {
            uri::passwords(text, &mut found);
        }
        if on("names") {
            self.named_values(text, &mut found);
        }
        if on("tables") {
            self.columns(text, &mut found);
            self.inserted(text, &mut found);
        }
        if on("kubernetes") {
            kubernetes::values(text, &mut found);
        }
        for rule in self.rules.iter() {
            for groups in rule.captures_iter(text) {
                let Some(value) = groups.get(1).or_else(|| groups.get(0)) else {
                    continue;
                };
                found.push(Span {
                    kind: Kind::Own,
                    start: value.start(),
                    end: value.end(),
                });
            }
        }
        found.retain(|span| span.start < span.end && !is_placeholder(text, *span));
        let mut found = merged(found);
        for at in 0..found.len() {
            grammar::pieces(text, found[at], &mut found);
        }
        merged(found)
    }
}

/// Whether a span reaches into what stands for a secret already.
fn is_placeholder(text: &str, span: Span) -> bool {
    const OPEN: &str = "[redacted:";
    const LONGEST: usize = 40;
    let bytes = text.as_bytes();
    let before = &bytes[span.start.saturating_sub(LONGEST)..span.start];
    let open = memchr::memmem::rfind(before, OPEN.as_bytes());
    let within = open.is_some_and(|open| {
        let inner = &before[open + OPEN.len()..];
        inner
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'#'))
    });
    within || memchr::memmem::find(&bytes[span.start..span.end], OPEN.as_bytes()).is_some()
}
