//! What a message quotes: where its quotations are, and whose.

use std::collections::HashMap;
use std::ops::Range;

use crate::frames::is_own_frame;
use crate::norm::reads_as_rule;
use crate::text::{clip_end, is_cjk};
use crate::told::{speaks_of_another, tells};
use crate::words::Words;
use crate::words::others::{REPORTS_UNSPACED, WITNESSES};

/// Bytes before a quotation in which it is said whose it is.
const MOST_BEFORE: usize = 400;
/// Bytes of a quotation; two marks further apart do not belong together.
const MOST_QUOTED: usize = 4_000;

/// The text with spaces in the place of what it quotes of others.
pub(crate) fn without_quotations(text: &str) -> String {
    let mut own = String::new();
    let mut kept = 0;
    let mut from = 0;
    let mut ends = Ends::of(text);
    while let Some((open, mark)) = next_quotation(text, from) {
        let inner = open + mark.len_utf8();
        let Some(end) = ends.of_quotation(inner, mark) else {
            from = inner;
            continue;
        };
        from = behind_mark(text, end);
        let behind = &text[end..];
        if !(is_reported(&text[..open]) || is_reported_behind(behind)) {
            continue;
        }
        own.push_str(&text[kept..inner]);
        for c in text[inner..end].chars() {
            match c {
                '\n' => own.push('\n'),
                c => own.extend(std::iter::repeat_n(' ', c.len_utf8())),
            }
        }
        kept = end;
    }
    own.push_str(&text[kept..]);
    own
}

/// The next mark that opens a quotation.
pub(crate) fn next_quotation(text: &str, from: usize) -> Option<(usize, char)> {
    text[from..].char_indices().find_map(|(at, c)| {
        let at = from + at;
        let opens = match c {
            '“' | '«' | '„' | '「' | '『' | '‘' | '‹' => true,
            // German opens with the mark that closes in French.
            '»' => text[at + c.len_utf8()..]
                .chars()
                .next()
                .is_some_and(char::is_alphanumeric),
            '"' | '\'' => {
                let before = text[..at].chars().next_back();
                let after = text[at + 1..].chars().next();
                before.is_none_or(|c| !c.is_alphanumeric() || is_cjk(c))
                    && after.is_some_and(|c| !c.is_whitespace())
            }
            _ => false,
        };
        opens.then_some((at, c))
    })
}

/// What closes a quotation that this opens.
fn closing(mark: char) -> &'static [char] {
    match mark {
        '“' => &['”', '"'],
        '„' => &['“', '”', '"'],
        '«' => &['»'],
        '»' => &['«'],
        '‹' => &['›'],
        '「' => &['」'],
        '『' => &['』'],
        '‘' => &['’'],
        '\'' => &['\''],
        _ => &['"', '”'],
    }
}

/// Where the text goes on after a quotation: the mark that closes one may look
/// like one that opens the next.
fn behind_mark(text: &str, end: usize) -> usize {
    match text[end..].chars().next() {
        Some(c) if c != '\n' => end + c.len_utf8(),
        _ => end,
    }
}

/// Where quotations of a text end. What was found is kept: pasted text has many
/// marks that nothing closes.
pub(crate) struct Ends<'a> {
    text: &'a str,
    closings: HashMap<char, usize>,
    paragraph: usize,
}

impl<'a> Ends<'a> {
    pub(crate) fn of(text: &'a str) -> Ends<'a> {
        Ends {
            text,
            closings: HashMap::new(),
            paragraph: 0,
        }
    }

    /// Where the paragraph ends.
    fn paragraph(&mut self, from: usize) -> usize {
        if self.paragraph < from {
            let end = self.text[from..].find("\n\n");
            self.paragraph = end.map_or(self.text.len(), |at| from + at);
        }
        self.paragraph
    }

    /// Where the next mark stands that closes what this one opens.
    fn closing(&mut self, from: usize, mark: char) -> Option<usize> {
        let text = self.text;
        let known = self.closings.get(&mark).copied();
        let end = known.filter(|end| *end >= from).unwrap_or_else(|| {
            let is_end = |(at, c): (usize, char)| {
                // An apostrophe stands between two letters.
                let after = text[from + at + c.len_utf8()..].chars().next();
                let inside = matches!(c, '\'' | '’') && after.is_some_and(char::is_alphanumeric);
                (closing(mark).contains(&c) && !inside).then_some(from + at)
            };
            let end = text[from..].char_indices().find_map(is_end);
            end.unwrap_or(text.len())
        });
        self.closings.insert(mark, end);
        (end < text.len()).then_some(end)
    }

    /// Where a quotation ends; one that is never closed goes to the end of its
    /// paragraph.
    fn of_quotation(&mut self, from: usize, mark: char) -> Option<usize> {
        let end = self.closing(from, mark);
        let paragraph = self.paragraph(from);
        match mark {
            '\'' | '‘' => end.filter(|end| *end <= paragraph),
            _ => Some(end.unwrap_or(paragraph)),
        }
    }

    /// The quotation that begins here, with its marks, if it is closed near
    /// enough.
    pub(crate) fn closed(&mut self, open: usize, mark: char) -> Option<Range<usize>> {
        let inner = open + mark.len_utf8();
        let end = self.closing(inner, mark)?;
        // Plain marks open and close alike: a stray one has its fellow far away.
        let is_near = end - inner <= MOST_QUOTED
            && match mark {
                '\'' => !self.text[inner..end].contains('\n'),
                '"' => !self.text[inner..end].contains("\n\n"),
                _ => true,
            };
        is_near.then(|| open..behind_mark(self.text, end))
    }
}

/// The quotations of a text that are more than a name, and that it does not
/// give as the user's own words.
pub(crate) fn long_quotations(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    let mut ends = Ends::of(text);
    while let Some((open, mark)) = next_quotation(text, from) {
        from = open + mark.len_utf8();
        let Some(range) = ends.closed(open, mark) else {
            continue;
        };
        from = range.end;
        let said = &text[range.clone()];
        let unspaced = said.chars().filter(|c| is_cjk(*c)).count();
        let is_long =
            said.split_whitespace().count() > 3 || unspaced > 6 || reads_as_rule(inner(said));
        if is_long && !is_own_frame(&text[..open]) {
            out.push(range);
        }
    }
    out
}

/// A quotation without its marks.
fn inner(said: &str) -> &str {
    let mut chars = said.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

/// Whether the words right before a quotation say whose it is, and that is not
/// the user.
fn is_reported(before: &str) -> bool {
    let before = clip_end(before, MOST_BEFORE).trim_end();
    let paragraph = before.rsplit("\n\n").next().unwrap_or("");
    let end = paragraph.trim_end_matches([' ', '\n', ':', '：', ',', '，']);
    let clause = end
        .rsplit(['.', '!', '?', ';', '。', '！', '？', '；'])
        .next()
        .unwrap_or("");
    if clause.chars().any(is_cjk) {
        return REPORTS_UNSPACED.iter().any(|verb| {
            clause
                .rfind(verb)
                .is_some_and(|at| !clause[..at].ends_with(['我', '们', '私', '僕']))
        });
    }
    let words = Words::new(clause);
    let witness = |at: usize| WITNESSES.contains(words.get(at)) && speaks_of_another(&words, at);
    // "Translate this: “…”" is about the words, whoever said them.
    let treats = matches!(
        words.get(0),
        "translate"
            | "summarise"
            | "summarize"
            | "explain"
            | "rephrase"
            | "proofread"
            | "reword"
            | "übersetze"
            | "erkläre"
            | "traduis"
            | "traduce"
            | "traduza"
            | "traduci"
            | "vertaal"
            | "переведи"
    );
    treats || tells(&words) || (1..words.len()).any(witness)
}

/// Japanese and Korean name the speaker behind what is said.
fn is_reported_behind(behind: &str) -> bool {
    let rest: String = behind.chars().skip(1).take(6).collect();
    ["と書", "と言", "とあ", "という", "라고", "라는", "이라"]
        .iter()
        .any(|verb| rest.trim_start().starts_with(verb))
}
