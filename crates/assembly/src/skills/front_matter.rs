//! The front matter of a `SKILL.md`: YAML between two lines of dashes.

use serde::Deserialize;
use serde_json::Value;

use super::eligibility::Requirements;

/// The longest name; pi's limit.
const NAME_CHARS: usize = 64;

/// What a skill says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) name: Option<String>,
    pub(super) description: String,
    pub(super) requirements: Requirements,
    /// Whether only the user may start it.
    pub(super) hidden: bool,
}

/// What is wrong with one, and on which line of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: u64,
    pub(super) reason: String,
}

impl Fault {
    fn new(line: u64, reason: impl Into<String>) -> Fault {
        Fault {
            line,
            reason: reason.into(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Stored {
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    disable_model_invocation: Value,
}

impl FrontMatter {
    pub(super) fn parse(text: &str) -> Result<FrontMatter, Fault> {
        let yaml = between_dashes(text)?;
        let stored: Stored = serde_saphyr::from_str(yaml).map_err(|error| {
            let error = error.without_snippet();
            // The dashes are the first line.
            let line = error.location().map_or(1, |at| at.line() + 1);
            let reason = error.to_string();
            let reason = reason
                .rsplit_once(" at line ")
                .map_or(reason.as_str(), |(text, _)| text);
            Fault::new(line, format!("the front matter is not YAML: {reason}"))
        })?;
        let name = stored.name.map(|name| name.trim().to_owned());
        if let Some(name) = &name {
            check_name(name)?;
        }
        let description = stored.description.unwrap_or_default();
        if description.trim().is_empty() {
            return Err(Fault::new(1, "there is no description"));
        }
        let requirements = Requirements::read(&stored.metadata)
            .map_err(|error| Fault::new(1, format!("its metadata cannot be read: {error}")))?;
        Ok(FrontMatter {
            name: name.filter(|name| !name.is_empty()),
            description,
            requirements,
            hidden: stored.disable_model_invocation == Value::Bool(true),
        })
    }
}

/// A name stands in headings and on command lines.
pub(super) fn check_name(name: &str) -> Result<(), Fault> {
    if name.chars().count() > NAME_CHARS {
        return Err(Fault::new(
            1,
            format!("its name is longer than {NAME_CHARS} characters"),
        ));
    }
    if name.chars().any(|c| c.is_control() || "<>\n".contains(c)) {
        return Err(Fault::new(1, "its name has characters that no name has"));
    }
    Ok(())
}

fn between_dashes(text: &str) -> Result<&str, Fault> {
    let is_dashes = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if !is_dashes(first) {
        return Err(Fault::new(1, "it does not begin with `---`"));
    }
    let mut end = first.len();
    for line in lines {
        if is_dashes(line) {
            return Ok(&text[first.len()..end]);
        }
        end += line.len();
    }
    Err(Fault::new(1, "its front matter has no closing `---`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn openclaws_metadata_is_understood() {
        let text = r#"---
name: xurl
description: "CLI for posts: reads, search"
metadata:
  {
    "openclaw":
      {
        "emoji": "🐦",
        "requires": { "bins": ["xurl"], "anyBins": ["a", "b"], "env": ["KEY"] },
        "os": ["darwin", "linux"],
      },
  }
---
# xurl
"#;
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let expected = FrontMatter {
            name: Some("xurl".to_owned()),
            description: "CLI for posts: reads, search".to_owned(),
            requirements: Requirements {
                bins: list(&["xurl"]),
                any_bins: list(&["a", "b"]),
                env: list(&["KEY"]),
                os: list(&["darwin", "linux"]),
                ..Requirements::default()
            },
            hidden: false,
        };
        assert_eq!(FrontMatter::parse(text), Ok(expected));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let fault = |text: &str| {
            let fault = FrontMatter::parse(text).unwrap_err();
            (fault.line, fault.reason)
        };
        assert_eq!(
            fault("# no\n"),
            (1, "it does not begin with `---`".to_owned())
        );
        assert_eq!(fault("---\nname: a\n").0, 1);
        assert_eq!(
            fault("---\nname: a\n---\n"),
            (1, "there is no description".to_owned())
        );
        let (line, reason) = fault("---\nname: a\ndescription: use when: b\n---\n");
        assert_eq!(line, 3, "{reason}");
        assert!(
            reason.starts_with("the front matter is not YAML"),
            "{reason}"
        );
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "(?s)(---\n)?.{0,80}(\n---\n)?.{0,20}") {
            let _ = FrontMatter::parse(&text);
        }
    }
}
