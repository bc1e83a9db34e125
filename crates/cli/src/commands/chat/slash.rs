//! What begins with a slash: words for the program and not for the model.

/// A command typed at the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slash {
    /// Make room; with a focus, that is kept above all.
    Compact(Option<String>),
    /// What fills the context.
    Context,
    /// How full, how worn, how dear.
    Status,
    /// Begin a new session, with a name or without.
    New(Option<String>),
    /// Take the last compaction or pruning back.
    Undo,
    /// Take the last undo back.
    Redo,
    /// Pin the last message, or the entry that is named.
    Pin(Option<String>),
    /// Another model from now on; without a name, which one it is.
    Model(Option<String>),
    /// What there is.
    Help,
    /// Leave.
    Quit,
}

/// The commands: name, what may follow, what it does.
pub(super) const ALL: &[(&str, &str, &str)] = &[
    (
        "/compact",
        "[focus]",
        "make room; a focus is kept above all",
    ),
    ("/context", "", "what fills the context"),
    (
        "/status",
        "",
        "how full, how worn and how dear the session is",
    ),
    ("/new", "[name]", "begin a new session"),
    ("/undo", "", "take the last compaction or pruning back"),
    ("/redo", "", "take the last undo back"),
    (
        "/pin",
        "[entry]",
        "keep your last message, or an entry, word for word",
    ),
    ("/model", "[provider/name]", "ask another model from now on"),
    ("/help", "", "this list"),
    ("/quit", "", "leave; so do Ctrl-D and Ctrl-C twice"),
];

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing.
    Nothing,
    /// Something for the model.
    Message(String),
    /// Something for the program.
    Slash(Slash),
    /// Something for the program that it does not know, and what to do.
    Unknown(String),
}

/// Reads a line. A message that begins with a slash, such as a path, is sent
/// with a space before it.
pub(super) fn read(line: &str) -> Said {
    if line.trim().is_empty() {
        return Said::Nothing;
    }
    if !line.starts_with('/') {
        return Said::Message(line.trim().to_owned());
    }
    let line = line.trim();
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let given = (!rest.is_empty()).then(|| rest.to_owned());
    let slash = match name {
        "/compact" => Slash::Compact(given),
        "/new" => Slash::New(given),
        "/model" => Slash::Model(given),
        "/pin" => Slash::Pin(given),
        _ if given.is_some() && ALL.iter().any(|(known, ..)| *known == name) => {
            return Said::Unknown(format!("{name} takes no words after it"));
        }
        "/context" => Slash::Context,
        "/status" => Slash::Status,
        "/undo" => Slash::Undo,
        "/redo" => Slash::Redo,
        "/help" | "/?" => Slash::Help,
        "/quit" | "/exit" => Slash::Quit,
        _ => return Said::Unknown(unknown(name)),
    };
    Said::Slash(slash)
}

fn unknown(name: &str) -> String {
    let near = ALL
        .iter()
        .map(|(known, ..)| (strsim::jaro_winkler(name, known), *known))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, known)) => format!("there is no {name}; did you mean {known}?"),
        None => format!(
            "there is no {name}; /help lists what there is, and a space before it sends it as a \
             message"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_messages() {
        assert_eq!(read("  "), Said::Nothing);
        assert_eq!(read(" hi there "), Said::Message("hi there".into()));
        assert_eq!(
            read(" /etc/hosts is wrong"),
            Said::Message("/etc/hosts is wrong".into())
        );
        assert_eq!(read("/status "), Said::Slash(Slash::Status));
        assert_eq!(
            read("/compact the parser"),
            Said::Slash(Slash::Compact(Some("the parser".into())))
        );
        assert_eq!(read("/new"), Said::Slash(Slash::New(None)));
    }

    #[test]
    fn every_listed_command_is_known() {
        for (name, ..) in ALL {
            assert!(matches!(read(name), Said::Slash(_)), "{name}");
        }
    }

    #[test]
    fn an_unknown_command_gets_the_nearest_one_or_the_list() {
        let Said::Unknown(advice) = read("/compct now") else {
            panic!("not unknown");
        };
        assert!(advice.contains("did you mean /compact?"), "{advice}");
        let Said::Unknown(advice) = read("/etc/hosts") else {
            panic!("not unknown");
        };
        assert!(advice.contains("/help"), "{advice}");
        assert_eq!(
            read("/undo it"),
            Said::Unknown("/undo takes no words after it".into())
        );
    }
}
