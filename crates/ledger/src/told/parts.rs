//! The parts of a sentence, where a speaker may turn.

use crate::words::others::frames::TURNS;

/// Where a part of a sentence begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    Comma,
    /// A semicolon or a dash.
    Stop,
    /// "But", "so", "because".
    Turn,
}

/// The parts of a sentence, each with what stands before it.
pub(super) fn parts(sentence: &str) -> Vec<(Joint, &str)> {
    let mut cuts: Vec<(Joint, usize, usize)> = vec![(Joint::Stop, 0, 0)];
    let mut start: Option<usize> = None;
    let mut before = ' ';
    for (at, c) in sentence.char_indices().chain([(sentence.len(), ' ')]) {
        let inside = c.is_alphanumeric() || c == '\'' || c == '’';
        if inside {
            start.get_or_insert(at);
        } else if let Some(from) = start.take() {
            let word = sentence[from..at].to_lowercase();
            let open = cuts.last().map_or(0, |cut| cut.2);
            let begins = sentence[open..from].trim().is_empty();
            if TURNS.contains(word.as_str()) {
                match begins && cuts.len() > 1 {
                    // A comma or a dash before it is the same joint.
                    true => {
                        if let Some(last) = cuts.last_mut() {
                            last.0 = Joint::Turn;
                        }
                    }
                    false if from > 0 => cuts.push((Joint::Turn, from, from)),
                    false => {}
                }
            }
        }
        let behind = at + c.len_utf8();
        let joint = match c {
            ';' | '；' | '—' | '–' => Some(Joint::Stop),
            ':' if sentence[behind.min(sentence.len())..].starts_with(char::is_whitespace) => {
                Some(Joint::Stop)
            }
            '-' if before == ' ' && sentence[behind..].starts_with(' ') => Some(Joint::Stop),
            ',' | '，' | '،' => Some(Joint::Comma),
            _ => None,
        };
        if let Some(joint) = joint {
            cuts.push((joint, at, behind));
        }
        before = c;
    }
    let ends = cuts.iter().skip(1).map(|cut| cut.1).chain([sentence.len()]);
    cuts.iter()
        .zip(ends)
        .map(|((joint, _, from), to)| (*joint, sentence[*from..to.max(*from)].trim()))
        .filter(|(_, part)| !part.is_empty())
        .collect()
}
