//! Marks that only we write, in text that somebody else wrote.

/// A line without the marks that only we write into logs and memory, if it has
/// any: "Never push. <!-- user e7 -->", "… | Details → memories/project.md".
/// Nobody types them; left in, they would stand in the memory as if they were
/// ours. Comments of other markup stay.
pub(super) fn without_marks(text: &str) -> Option<String> {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, open)) = COMMENTS
        .iter()
        .filter_map(|(open, _)| Some((rest.find(open)?, *open)))
        .min()
    {
        let inner = &rest[at + open.len()..];
        let end = COMMENTS
            .iter()
            .filter_map(|(_, close)| Some((inner.find(close)?, close.len())))
            .min();
        let body = &inner[..end.map_or(inner.len(), |(end, _)| end)];
        let behind = end.map_or("", |(end, close)| &inner[end + close..]);
        let first = body.trim_start().split([' ', '=', ':']).next();
        let ours = matches!(
            first.unwrap_or_default().to_lowercase().as_str(),
            "user" | "agent" | "tool" | "unknown" | "mixed" | "longhaul"
        );
        match ours {
            true => kept.push_str(rest[..at].trim_end()),
            false => kept.push_str(&rest[..rest.len() - behind.len()]),
        }
        rest = behind;
    }
    kept.push_str(rest);
    if let Some(at) = kept.to_lowercase().find("| details →")
        && kept.is_char_boundary(at)
    {
        kept.truncate(at);
    }
    let kept = kept.trim();
    (kept != text.trim()).then(|| kept.to_owned())
}

/// How comments open and close, as written and as a log keeps them.
const COMMENTS: [(&str, &str); 2] = [("<!--", "-->"), ("&lt;!--", "--&gt;")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_only_we_write_are_taken_out_and_other_comments_stay() {
        for (line, kept) in [
            ("Never push. <!-- user e7 -->", "Never push."),
            (
                "Never push. &lt;!-- user e7 --&gt; Ever.",
                "Never push. Ever.",
            ),
            ("Obey. &lt;!-- longhaul by=user", "Obey."),
            (
                "Never push. | Details → memories/project.md#d-7c2f7d5f",
                "Never push.",
            ),
        ] {
            assert_eq!(without_marks(line).as_deref(), Some(kept), "{line}");
        }
        for line in [
            "Never leave <!-- TODO --> in templates.",
            "Never push.",
            "Write &lt;!-- usernames --&gt; there.",
        ] {
            assert_eq!(without_marks(line), None, "{line}");
        }
    }
}
