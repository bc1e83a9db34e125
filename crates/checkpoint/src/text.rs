//! Small operations on texts.

/// Ends a text that was cut.
const CUT: char = '…';

/// The text on one line: every run of whitespace and control characters is one
/// space. So no text can pose as a further line or section of what it stands in.
pub(crate) fn one_line(text: &str) -> String {
    beginning_on_one_line(text, usize::MAX)
}

/// The same, stopping after so many characters, so that a long text costs no
/// more than what is shown of it.
fn beginning_on_one_line(text: &str, most: usize) -> String {
    let mut line = String::with_capacity(text.len().min(most));
    let mut gap = false;
    let mut taken = 0;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            gap = !line.is_empty();
            continue;
        }
        if taken >= most {
            break;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
            taken += 1;
        }
        line.push(c);
        taken += 1;
    }
    line
}

/// The first `most` characters, the last of them `…` if something was cut.
pub(crate) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let end = text
                .char_indices()
                .nth(most.saturating_sub(1))
                .map_or(0, |(at, _)| at);
            format!("{}{CUT}", text[..end].trim_end())
        }
    }
}

/// One line of at most `most` characters.
pub(crate) fn short_line(text: &str, most: usize) -> String {
    clip(&beginning_on_one_line(text, most.saturating_add(1)), most)
}

/// A foreign text inside a message of ours.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", clip(text, 60))
}

/// The largest amount that fits, or `least` if none does.
pub(crate) fn largest(least: usize, most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (least, most.max(least));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match fits(middle) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_controls_become_one_line() {
        assert_eq!(one_line("  a\n\n- b\u{7}\tc \r\n"), "a - b c");
        for most in 0..9 {
            let text = " a\n b  c d ";
            assert_eq!(
                short_line(text, most),
                clip(&one_line(text), most),
                "{most}"
            );
        }
    }

    #[test]
    fn a_cut_counts_characters_and_shows() {
        assert_eq!(clip("日本語", 3), "日本語");
        assert_eq!(clip("日本語です", 3), "日本…");
        assert_eq!(clip("abc", 0), "…");
    }
}
