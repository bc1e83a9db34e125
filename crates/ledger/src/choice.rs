//! Whether a sentence decides something, and why.

use crate::text::clip;
use crate::words::choices::{AFFIRMS, CHOICES, Choice, FAILURES, REASONS};
use crate::words::{Hit, Words};

/// How sure a sentence decides, and where it starts to do so.
pub(crate) fn strength(sentence: &str, words: &Words<'_>) -> Option<(Choice, usize)> {
    let mut found = None;
    for hit in CHOICES.hits(words) {
        // A lone noun such as "decision" announces only before a colon.
        if hit.inside.is_none() && hit.to == hit.from + 1 {
            let word = words.get(hit.from);
            let noun = matches!(
                word,
                "decision"
                    | "entscheidung"
                    | "décision"
                    | "decisión"
                    | "decisão"
                    | "decisione"
                    | "besluit"
                    | "beslissing"
                    | "decyzja"
                    | "решение"
            );
            let after = sentence
                .get(words.offset(hit.from)..)
                .unwrap_or("")
                .chars()
                .nth(word.chars().count());
            if noun && !matches!(after, Some(':' | '：')) {
                continue;
            }
            if !noun && hit.tag == Choice::WithReason && !words.starts_clause(hit.from) {
                continue;
            }
        }
        match hit.tag {
            Choice::Plain => return Some((Choice::Plain, begin(words, &hit))),
            Choice::WithReason => found = found.or(Some((Choice::WithReason, begin(words, &hit)))),
        }
    }
    found.or_else(|| judges(words).map(|from| (Choice::WithReason, from)))
}

/// Whether a short reply agrees to something or chooses, whatever it replies
/// to. After a long answer any reply may decide what happens next; only these
/// say what was decided.
pub fn agrees_or_chooses(reply: &str) -> bool {
    let words = Words::new(reply);
    if is_question(reply, &words) && words.get(0) != "do" || FAILURES.any(&words) {
        return false;
    }
    let begins = reply
        .trim_start()
        .starts_with(|c: char| c.is_alphanumeric());
    let opens = |hit: &Hit<()>| match hit.inside {
        Some(at) => at <= 9,
        None => hit.from == 0,
    };
    begins
        && (AFFIRMS.hits(&words).iter().any(opens)
            || CHOICES
                .hits(&words)
                .iter()
                .any(|hit| hit.tag == Choice::Plain))
}

/// A judgement about ways to go: "the simplest approach is", "our pick is".
/// With a reason it decides, whatever the adjective.
fn judges(words: &Words<'_>) -> Option<usize> {
    const NOUNS: &[&str] = &[
        "way",
        "option",
        "choice",
        "approach",
        "solution",
        "route",
        "path",
        "pick",
        "plan",
        "bet",
        "call",
        "answer",
        "recommendation",
        "preference",
        "verdict",
        "vote",
    ];
    (1..words.len()).find_map(|at| {
        let before = words.get(at - 1);
        let valued = matches!(
            before,
            "my" | "our"
                | "better"
                | "best"
                | "right"
                | "only"
                | "preferred"
                | "obvious"
                | "sensible"
        ) || (before.len() > 5 && before.ends_with("est"));
        let states = matches!(words.get(at + 1), "is" | "was" | "will" | "here" | "would");
        (valued && states && NOUNS.contains(&words.get(at))).then_some(0)
    })
}

/// Where the statement begins: before the phrase, if a full stop was left out
/// there and a capital says so.
fn begin(words: &Words<'_>, hit: &Hit<Choice>) -> usize {
    match hit.inside.is_none() && hit.from > 0 && words.may_begin(hit.from) {
        true => words.offset(hit.from),
        false => 0,
    }
}

pub(crate) fn is_announced(sentence: &str) -> bool {
    let head = clip(sentence, 40)
        .trim_start_matches(['*', '#', '-', ' '])
        .to_lowercase();
    head.starts_with("decision:")
        || head.starts_with("decision**:")
        || head.starts_with("entscheidung:")
        || head.starts_with("décision :")
        || head.starts_with("decisión:")
        || head.starts_with("决定：")
        || head.starts_with("決定：")
}

pub(crate) fn is_question(sentence: &str, words: &Words<'_>) -> bool {
    sentence.ends_with(['?', '？', '؟'])
        || matches!(
            words.get(0),
            "can"
                | "could"
                | "should"
                | "would"
                | "what"
                | "how"
                | "why"
                | "is"
                | "are"
                | "do"
                | "does"
                | "shall"
                | "which"
                | "if"
        )
}

/// The part of a sentence that says why.
pub(crate) fn reason(sentence: &str, words: &Words<'_>) -> Option<String> {
    // The first is the main reason, but not one that opens the sentence.
    let hit = REASONS
        .hits(words)
        .into_iter()
        .find(|hit| hit.inside.is_some() || hit.from > 0)?;
    let text = match hit.inside {
        // Byte places in the lower-case text are those of the original here:
        // these scripts have no case.
        Some(at) => {
            let rest = sentence.get(at..)?;
            let after = rest.trim_start_matches(|c: char| "因为由于原是".contains(c));
            match after.len() < rest.len() {
                true => after,
                false => sentence.get(..at)?,
            }
        }
        None => sentence.get(words.after(hit.to)..)?,
    };
    let text = text.trim().trim_end_matches(['.', '!', '。', '！']).trim();
    text.chars()
        .any(char::is_alphanumeric)
        .then(|| clip(text, 400).to_owned())
}
