//! What an agent notes for later.
//!
//! The call itself is the note: it stands in the session, and the ledger takes it
//! from there. So the tool only sees to it that what is noted can be kept.

use longhaul_ledger::NoteKind;
use longhaul_redact::Redactor;

/// Characters of a note.
pub const MOST_CHARS: usize = 2_000;

/// A note that can be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// What it is.
    pub kind: NoteKind,
    /// Its text, without secrets.
    pub text: String,
    /// Whether secrets were taken out of it.
    pub redacted: bool,
}

impl Noted {
    /// A note of a kind, by its name. What is wrong with it is for the model to
    /// read.
    pub fn new(kind: &str, text: &str) -> Result<Noted, String> {
        let Some(kind) = NoteKind::parse(kind.trim()) else {
            return Err(format!(
                "A note is a decision, a fact, an open_item or a learning, not {kind:?}. Nothing \
                 was noted. Remedy: call it again with one of these kinds."
            ));
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(
                "The note is empty. Nothing was noted. Remedy: say in \"text\" what to \
                        keep."
                    .into(),
            );
        }
        let chars = text.chars().count();
        if chars > MOST_CHARS {
            return Err(format!(
                "A note has at most {MOST_CHARS} characters, and this has {chars}. Nothing was \
                 noted. Remedy: note what matters in a sentence or two, or several things one by \
                 one; put a long text into a file and note its path."
            ));
        }
        let redacted = Redactor::default().redact(text).text;
        Ok(Noted {
            kind,
            redacted: redacted != text,
            text: redacted,
        })
    }

    /// What the agent is told.
    pub fn receipt(&self) -> String {
        let secret = match self.redacted {
            true => " What looked like a secret was taken out; keep such things elsewhere.",
            false => "",
        };
        format!("Noted as {}: {}{secret}", self.kind.as_str(), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_says_what_it_is_and_is_bounded() {
        let noted = Noted::new("open_item", " Rotate the logs. ").unwrap();
        assert_eq!(noted.receipt(), "Noted as open item: Rotate the logs.");
        assert!(Noted::new("fact", &"é".repeat(MOST_CHARS)).is_ok());
        let long = "é".repeat(MOST_CHARS + 1);
        for (kind, text, why) in [
            ("fact", long.as_str(), "at most 2000 characters"),
            ("fact", " \n", "is empty"),
            ("rule", "x", "not \"rule\""),
        ] {
            let error = Noted::new(kind, text).unwrap_err();
            assert!(error.contains(why), "{error}");
            assert!(error.contains("Nothing was noted. Remedy: "), "{error}");
        }
    }

    #[test]
    fn a_secret_is_not_repeated() {
        let key = format!("ghp_{}", "a7Bq2Zx9Lm4Tn8Vw".repeat(3).split_at(36).0);
        let noted = Noted::new("fact", &format!("The token is {key}")).unwrap();
        assert!(noted.redacted);
        let told = noted.receipt();
        assert!(
            !told.contains(&key) && told.contains("[redacted:"),
            "{told}"
        );
        assert!(told.contains("taken out"), "{told}");
    }
}
