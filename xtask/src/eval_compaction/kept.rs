//! A context as a reader has it, and whether words stand in it.

use longhaul_transcript::Context;

use super::drive::Running;
use super::native;
use super::sections::{SaidItem, Section, Sections};

/// The text of a context that would be sent.
pub(super) struct Kept {
    pub(super) text: String,
    /// The same with one space between words.
    pub(super) spaced: String,
    pub(super) sections: Sections,
    pub(super) said: Vec<SaidItem>,
    /// Whether the summary knows all that was recorded: a section must then
    /// have what it is for.
    pub(super) is_fresh: bool,
    /// What short words are looked for in: the user's messages and results
    /// that carry the user's words.
    spoken: String,
}

/// Shorter texts ("yes", "3") stand everywhere by chance: they must stand alone.
const SHORT_CHARS: usize = 20;

impl Kept {
    pub(super) fn of(session: &Running) -> Kept {
        let sections = Sections::parse(session.summary().unwrap_or_default());
        let mut kept = Kept::new(&session.context(), sections);
        kept.is_fresh = session.is_summary_fresh();
        kept
    }

    /// A context of which the summary is not ours.
    pub(super) fn foreign(session: &Running) -> Kept {
        let mut kept = Kept::new(&session.context(), Sections::default());
        kept.spoken.push_str(session.summary().unwrap_or_default());
        kept
    }

    fn new(context: &Context, sections: Sections) -> Kept {
        let mut text = String::new();
        let mut spoken = String::new();
        for message in context.for_provider() {
            text.push_str(&native::shown(message.json()));
            text.push('\n');
            let (role, words) = native::spoken(message.json());
            let carries =
                words.starts_with("User has answered") || words.contains("the user said:");
            let summary = words.contains(Section::Said.heading());
            if (role == "user" && !summary) || (role == "toolResult" && carries) {
                spoken.push_str(&words);
                spoken.push('\n');
            }
        }
        for item in sections.items(Section::Agreed) {
            spoken.push_str(&item.text());
            spoken.push('\n');
        }
        Kept {
            spaced: plain(&text),
            said: sections.said(),
            is_fresh: false,
            sections,
            text,
            spoken,
        }
    }

    /// Whether words stand there whole, word for word.
    pub(super) fn holds(&self, words: &str) -> bool {
        let words = words.trim();
        if self
            .said
            .iter()
            .any(|item| !item.is_shortened() && item.words.trim() == words)
        {
            return true;
        }
        match words.chars().count() < SHORT_CHARS {
            true => stands_alone(&self.spoken, words),
            false => {
                self.text.contains(words) || self.said.iter().any(|item| item.words.contains(words))
            }
        }
    }

    /// Whether words stand there, however they are spaced.
    pub(super) fn mentions(&self, words: &str) -> bool {
        self.spaced.contains(&plain(words))
    }
}

/// Whether words are a line of their own, or in quotes.
fn stands_alone(text: &str, words: &str) -> bool {
    let quoted = [
        ("\"", "\""),
        ("“", "”"),
        ("`", "`"),
        ("'", "'"),
        ("**", "**"),
    ];
    if quoted
        .iter()
        .any(|(open, close)| text.contains(&format!("{open}{words}{close}")))
    {
        return true;
    }
    let frame =
        |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '>' | '"' | '\'' | '“' | '”' | '`');
    text.lines().any(|line| {
        let line = line.trim_matches(frame);
        let unnumbered = line
            .split_once(". ")
            .filter(|(number, _)| number.chars().all(|c| c.is_ascii_digit()))
            .map_or(line, |(_, rest)| rest.trim_matches(frame));
        let arrow = |mark: &str| line.ends_with(&format!("{mark}{words}"));
        line == words.trim_matches(frame)
            || unnumbered == words
            || [": ", "→ ", "= ", "← "].into_iter().any(arrow)
    })
}

/// One space between words.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text, for people.
pub(super) fn excerpt(text: &str) -> String {
    plain(text).chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_must_stand_alone() {
        assert!(stands_alone("1. \"yes\"\n", "yes"));
        assert!(stands_alone("so\nyes\n", "yes"));
        assert!(stands_alone("- Which one? → b", "b"));
        assert!(!stands_alone("yes, but not that", "yes"));
        assert!(!stands_alone("line 3 of it", "3"));
    }
}
