//! What announces the words that follow it without a colon.

use std::ops::Range;

use super::Frame;
use super::label::{LONGEST, frame};
use super::task::{asks_for_wording, is_of_my_text, is_with_text};
use crate::norm::is_list_item;
use crate::text::longer_than;
use crate::words::Words;

/// How one begins to show something.
const SHOWS: [&str; 13] = [
    "here's ",
    "here is ",
    "here are ",
    "hier ist ",
    "hier die ",
    "hier der ",
    "voici ",
    "aquí está ",
    "aqui está ",
    "ecco ",
    "hier is ",
    "вот ",
    "oto ",
];
/// How one says that it follows.
const FOLLOWS: [&str; 15] = [
    "as follows",
    "the following",
    "folgendes",
    "wie folgt",
    "comme suit",
    "lo siguiente",
    "o seguinte",
    "quanto segue",
    "het volgende",
    "следующее",
    "co następuje",
    "如下",
    "以下の通りです",
    "다음과 같다",
    "다음과 같습니다",
];

/// What a sentence without a colon makes of those that follow it. A line of its
/// own that names a source or a task is as good as one with a colon; who speaks
/// is told only with one.
pub(super) fn announced(text: &str, sentence: &Range<usize>) -> Option<Frame> {
    let whole = &text[sentence.clone()];
    if longer_than(whole, LONGEST) {
        return None;
    }
    let said = whole.trim_end_matches(['.', '。', '?']);
    if is_line(text, sentence) || shows(said) {
        return frame(said).filter(|frame| *frame != Frame::Speech);
    }
    let words = Words::new(said);
    let asks = whole.ends_with('?') && asks_for_wording(&words);
    (asks || is_of_my_text(&words) || is_with_text(&words)).then_some(Frame::Task)
}

fn shows(said: &str) -> bool {
    let start: String = said.chars().take(12).flat_map(char::to_lowercase).collect();
    SHOWS.iter().any(|shows| start.starts_with(shows))
        || FOLLOWS.iter().any(|end| said.ends_with(end))
}

/// Whether a sentence is a line that does not end: a title, a label, a request.
fn is_line(text: &str, sentence: &Range<usize>) -> bool {
    let said = &text[sentence.clone()];
    text[sentence.end..].starts_with(['\n', '\r'])
        && (sentence.start == 0 || text[..sentence.start].ends_with('\n'))
        && !said.ends_with([
            '.', '。', '!', '?', '！', '？', '…', ',', ';', ':', '：', '"', '”', '»', '」',
        ])
        && !said.starts_with(['-', '*', '•', '#', '>', '|'])
        && !is_list_item(said)
}
