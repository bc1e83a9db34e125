//! Prose: the sentences of free text, and what of them an agent noted down for
//! good.
//!
//! A model that is asked to save what matters often writes a paragraph instead
//! of a list. Its sentences are as good as items, but stories of the day stand
//! among them.

use super::candidate::Topic;
use super::likeness::is_unspaced;
use crate::Source;
use crate::files::LogLine;

/// Lines at least this long may go on in the next one.
const WRAPPED: usize = 50;
/// Behind these a full stop ends no sentence.
const ABBREVIATED: &str = " e.g i.e vs dr mr mrs ms prof st no nr etc z.b d.h bzw ca resp approx incl fig cf p.ex т.е т.д ";

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '。' | '！' | '？' | '\n' => true,
            '!' | '?' => next.is_none_or(char::is_whitespace),
            '.' => {
                let word = text[start..at].rsplit(char::is_whitespace).next();
                let word = word.unwrap_or_default().to_lowercase();
                let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
                let short = ABBREVIATED.contains(&format!(" {word} "))
                    || (word.chars().count() == 1 && !word.chars().any(is_unspaced));
                next.is_none_or(char::is_whitespace) && !short
            }
            _ => false,
        };
        if ends {
            out.push(text[start..end].trim());
            start = end;
        }
    }
    out.push(text[start..].trim());
    out.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    out
}

/// A paragraph of a log, and the line on which it begins.
pub(super) struct Paragraph<'a> {
    pub(super) first: &'a LogLine,
    pub(super) text: String,
}

/// The paragraphs of what an agent wrote in its own name, not in a list.
pub(super) fn paragraphs<'a>(
    lines: &'a [LogLine],
    wanted: &dyn Fn(&LogLine) -> bool,
) -> Vec<Paragraph<'a>> {
    let mut out: Vec<Paragraph<'a>> = Vec::new();
    let mut last: Option<&LogLine> = None;
    for line in lines {
        if line.item || line.source != Source::Agent || !wanted(line) {
            last = None;
            continue;
        }
        let goes_on = last.is_some_and(|before| {
            let ended = before
                .text
                .ends_with(['.', '!', '?', ':', '。', '！', '？', '：']);
            before.line + 1 == line.line && before.text.chars().count() >= WRAPPED && !ended
        });
        match out.last_mut().filter(|_| goes_on) {
            Some(paragraph) => {
                paragraph.text.push(' ');
                paragraph.text.push_str(&line.text);
            }
            None => out.push(Paragraph {
                first: line,
                text: line.text.clone(),
            }),
        }
        last = Some(line);
    }
    out
}

/// How stories of the day begin.
const STORIES: &[&str] = &[
    "i ",
    "i'",
    "we then",
    "then ",
    "next",
    "finally",
    "after that",
    "completed",
    "implemented",
    "fixed",
    "added",
    "ran ",
    "updated",
    "worked on",
    "today",
    "started",
    "finished",
    "created",
    "removed",
    "refactored",
    "tests ",
    "all tests",
    "now ",
    "still ",
    "remaining",
    "todo",
    "ich ",
    "dann ",
    "heute ",
    "je ",
    "j'",
    "puis ",
    "hoy ",
    "我",
    "然后",
    "今天",
    "完成",
    "修复",
    "已",
];

/// Words with which something is said that lasts, and what it is then.
const LASTING: &[(&str, Topic)] = &[
    (" prefers ", Topic::Preference),
    (" prefer ", Topic::Preference),
    (" likes ", Topic::Preference),
    (" dislikes ", Topic::Preference),
    (" wants ", Topic::Preference),
    (" bevorzugt ", Topic::Preference),
    (" möchte ", Topic::Preference),
    (" préfère ", Topic::Preference),
    (" prefiere ", Topic::Preference),
    (" предпочитает ", Topic::Preference),
    ("喜欢", Topic::Preference),
    ("偏好", Topic::Preference),
    (" decided ", Topic::Decision),
    (" chose ", Topic::Decision),
    (" agreed ", Topic::Decision),
    (" settled on ", Topic::Decision),
    (" entschieden", Topic::Decision),
    (" décidé", Topic::Decision),
    (" decidimos ", Topic::Decision),
    (" решили ", Topic::Decision),
    ("决定", Topic::Decision),
    (" must ", Topic::Constraint),
    (" never ", Topic::Constraint),
    (" always ", Topic::Constraint),
    (" muss ", Topic::Constraint),
    (" niemals ", Topic::Constraint),
    (" immer ", Topic::Constraint),
    (" toujours ", Topic::Constraint),
    (" jamais ", Topic::Constraint),
    (" siempre ", Topic::Constraint),
    (" nunca ", Topic::Constraint),
    (" всегда ", Topic::Constraint),
    (" никогда ", Topic::Constraint),
    ("必须", Topic::Constraint),
    ("不要", Topic::Constraint),
    (" is ", Topic::Fact),
    (" are ", Topic::Fact),
    (" uses ", Topic::Fact),
    (" use ", Topic::Fact),
    (" has ", Topic::Fact),
    (" runs ", Topic::Fact),
    (" lives ", Topic::Fact),
    (" listens ", Topic::Fact),
    (" needs ", Topic::Fact),
    (" ist ", Topic::Fact),
    (" sind ", Topic::Fact),
    (" läuft ", Topic::Fact),
    (" est ", Topic::Fact),
    (" sont ", Topic::Fact),
    (" es ", Topic::Fact),
    (" usa ", Topic::Fact),
    (" é ", Topic::Fact),
    (" è ", Topic::Fact),
    (" использует ", Topic::Fact),
    (" находится ", Topic::Fact),
    ("是", Topic::Fact),
    ("使用", Topic::Fact),
];

/// What a sentence of an agent's notes is about, if it says something lasting.
pub(super) fn topic(sentence: &str) -> Option<Topic> {
    let lower = sentence.to_lowercase();
    if STORIES.iter().any(|start| lower.starts_with(start)) {
        return None;
    }
    let padded = format!(" {lower} ");
    let found = LASTING.iter().find(|(word, _)| padded.contains(word));
    found.map(|(_, topic)| *topic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_stops_but_not_inside_numbers_and_short_forms() {
        assert_eq!(
            sentences("Use v1.2 of it, e.g. on Linux. Ask Dr. Ude first! 端口是 80。不要改。"),
            [
                "Use v1.2 of it, e.g. on Linux.",
                "Ask Dr. Ude first!",
                "端口是 80。",
                "不要改。"
            ]
        );
    }

    #[test]
    fn what_lasts_is_told_from_what_was_done() {
        for (said, about) in [
            ("The user prefers dark themes.", Some(Topic::Preference)),
            (
                "We decided on Axum because of Tower.",
                Some(Topic::Decision),
            ),
            ("The preview port is 6006.", Some(Topic::Fact)),
            (
                "Releases must never go out on a Friday.",
                Some(Topic::Constraint),
            ),
            ("Fixed the parser and all tests pass.", None),
            ("I looked at the gateway, which is slow.", None),
            ("Nothing else came up.", None),
        ] {
            assert_eq!(topic(said), about, "{said}");
        }
    }
}
