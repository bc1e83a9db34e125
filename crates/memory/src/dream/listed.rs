//! Lists of words, as one line with a blank before and behind each.

/// Whether a word, or a few in a row, is in a list.
pub(super) fn listed(list: &str, word: &str) -> bool {
    let is_whole = |(at, found): (usize, &str)| {
        list[..at].ends_with(' ') && list[at + found.len()..].starts_with(' ')
    };
    !word.is_empty() && list.match_indices(word).any(is_whole)
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn a_word_is_in_a_list_as_a_whole() {
        let list = " on only in order ";
        for word in ["on", "only", "in", "order", "in order"] {
            assert!(listed(list, word), "{word}");
        }
        for word in ["", "o", "onl", "nly", "on only in order x"] {
            assert!(!listed(list, word), "{word}");
        }
    }
}
