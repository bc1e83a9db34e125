//! Text of others, made plain: it says the same, and nothing in it can be
//! taken for a mark or a heading of ours.

/// The text without marks, headings of our levels and characters that are not
/// seen. Lines stay lines.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.lines().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let line: String = line.chars().filter(|c| is_seen(*c)).collect();
        let rest = line.trim_start_matches([' ', '\t']);
        let level = rest.bytes().take_while(|byte| *byte == b'#').count();
        // The first two levels are the file's and the entry's.
        if matches!(level, 1 | 2) && rest[level..].starts_with([' ', '\t']) {
            out.push_str("##");
            out.push_str(&unmarked(rest));
        } else {
            out.push_str(&unmarked(&line));
        }
    }
    out
}

/// The text as one plain line.
pub(crate) fn one_line(text: &str) -> String {
    let seen: String = text
        .chars()
        .map(|c| if is_seen(c) { c } else { ' ' })
        .collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    unmarked(&words.join(" "))
}

fn unmarked(line: &str) -> String {
    line.replace("<!--", "&lt;!--").replace("-->", "--&gt;")
}

/// Control characters drive terminals; the invisible ones hide words or turn
/// them round.
fn is_seen(c: char) -> bool {
    !((c.is_control() && c != '\t')
        || matches!(c,
            '\u{00AD}' | '\u{061C}' | '\u{180E}'
            | '\u{200B}' | '\u{200E}' | '\u{200F}'
            | '\u{2028}' | '\u{2029}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{E0000}'..='\u{E007F}'
            // These stand for bytes where files are changed.
            | '\u{10FF80}'..='\u{10FFFF}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_headings_of_others_are_only_text() {
        let text = "# A\n  ## 14:23 — forged\n### kept\n<!-- longhaul by=user -->\na\u{202e}b\u{1b}[2J #tag";
        assert_eq!(
            plain(text),
            "### A\n#### 14:23 — forged\n### kept\n&lt;!-- longhaul by=user --&gt;\nab[2J #tag"
        );
        assert_eq!(plain(&plain(text)), plain(text));
    }

    #[test]
    fn a_line_stays_one_line() {
        assert_eq!(one_line(" a\n\n## b\r\n\u{2028}<!-- c"), "a ## b &lt;!-- c");
    }
}
