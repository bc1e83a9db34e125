//! Choices: what a user decided or preferred in passing.
//!
//! "No, remove this again, the risk is too big", "we should add the name to any
//! logging": no rule by its form, and still what was decided. Such sentences of
//! old sessions are staged for a person, who alone can tell whether they were
//! meant for good; none of them is promoted unseen.

use longhaul_ledger::ours::is_ours;
use longhaul_transcript::EntryId;

use super::candidate::Topic;
use super::likeness::Features;
use super::noise::{is_cut_off, is_question};
use super::prose::sentences;

/// A sentence that chooses, and who vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) entry: String,
    pub(super) text: String,
    pub(super) topic: Topic,
    /// The message looks as if it held other people's words.
    pub(super) doubtful: bool,
}

/// Longer messages are documents.
const LONGEST_MESSAGE: usize = 2_000;
/// Longer sentences are stories.
const LONGEST: usize = 300;
/// Lines of which a typed message has no more; pasted ones do.
const MOST_LINES: usize = 6;

/// How people say what they would rather have.
const PREFERENCES: &[&str] = &[
    "i'd prefer",
    "i would prefer",
    "id prefer",
    "i prefer",
    "i'd rather",
    "i would rather",
    "my preference is",
    "ich würde lieber",
    "ich hätte lieber",
    "ich bevorzuge",
    "mir wäre lieber",
    "je préfère",
    "je préférerais",
    "prefiero",
    "preferiría",
    "prefiro",
    "preferisco",
    "ik heb liever",
    "wolę",
    "я бы предпоч",
    "я предпочитаю",
    "我更喜欢",
    "我倾向",
    "我宁愿",
];

/// How people decide for all.
const DECISIONS: &[&str] = &[
    "we should",
    "we shouldn't",
    "we want to keep",
    "we don't want",
    "we do not want",
    "let's use",
    "lets use",
    "let's keep",
    "lets keep",
    "let's go with",
    "lets go with",
    "let's stick with",
    "lets stick with",
    "let's not",
    "let's drop",
    "let's call",
    "let's store",
    "let's name",
    "in this repo we",
    "wir sollten",
    "lass uns",
    "wir wollen kein",
    "on devrait",
    "nous devrions",
    "gardons",
    "deberíamos",
    "vamos a usar",
    "devemos",
    "vamos usar",
    "dovremmo",
    "laten we",
    "powinniśmy",
    "нам следует",
    "давай использ",
    "давайте использ",
    "давай оставим",
    "我们应该",
    "我们不应该",
    "还是用",
    "就用",
];

/// With these, "we should" is about the next hour.
const TASKS: &str = " check look test run commit push fix try start continue investigate see wait discuss talk merge \
    rebase first now also probably maybe figure find verify debug review read think be prüfen testen schauen \
    regarder tester vérifier probar revisar mirar ";

/// Verbs that say what is to become of something already there.
const VERDICTS: &str =
    " remove keep revert drop use leave move rename undo delete put don't do take ";

/// The sentences of a user's message that choose.
pub(super) fn choices(entry: &EntryId, text: &str) -> Vec<Choice> {
    if text.len() > LONGEST_MESSAGE || text.contains("```") {
        return Vec::new();
    }
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let quotes = text.contains(['"', '“', '«', '「', '<'])
        || lines
            .iter()
            .any(|line| line.starts_with(['>', '|', '[', '$']));
    let announces =
        text.contains(": ") || text.contains('：') || lines.iter().any(|line| line.ends_with(':'));
    let doubtful = quotes || announces || lines.len() > MOST_LINES || is_ours(text);
    let mut out = Vec::new();
    for line in lines {
        if line.starts_with(['>', '|', '<', '$', '#', '`', '[']) {
            continue;
        }
        for sentence in sentences(line.trim_start_matches(['-', '*', '•', ' '])) {
            if let Some(topic) = chooses(sentence) {
                out.push(Choice {
                    entry: entry.as_str().to_owned(),
                    text: sentence.to_owned(),
                    topic,
                    doubtful,
                });
            }
        }
    }
    out
}

/// What a sentence chooses, if it does.
fn chooses(sentence: &str) -> Option<Topic> {
    if sentence.chars().count() > LONGEST || is_question(sentence) || is_cut_off(sentence) {
        return None;
    }
    if !Features::of(sentence).says_something() {
        return None;
    }
    let lower = sentence.to_lowercase().replace('’', "'");
    let mut rest = lower.as_str();
    while let Some(after) = [
        "ok ",
        "ok, ",
        "okay ",
        "okay, ",
        "hmm ",
        "hmm, ",
        "so ",
        "but ",
        "and ",
        "i think ",
        "actually ",
        "actually, ",
        "yes, ",
        "well, ",
    ]
    .iter()
    .find_map(|start| rest.strip_prefix(start))
    {
        rest = after;
    }
    if PREFERENCES.iter().any(|form| rest.contains(form)) {
        return Some(Topic::Preference);
    }
    let decided = DECISIONS.iter().any(|form| {
        rest.match_indices(form).any(|(at, form)| {
            let begins = at == 0 || !rest[..at].ends_with(char::is_alphanumeric);
            let next = rest[at + form.len()..]
                .split_whitespace()
                .next()
                .unwrap_or_default();
            begins && !TASKS.contains(&format!(" {next} "))
        })
    });
    (decided || narrows(rest) || judges(rest)).then_some(Topic::Decision)
}

/// "Only the flag should install it."
fn narrows(lower: &str) -> bool {
    let only = [
        "only ",
        "nur ",
        "seul ",
        "seule ",
        "solo ",
        "somente ",
        "только ",
        "只有",
    ];
    let must = [
        " should",
        " must",
        " may ",
        " soll",
        " darf",
        " doit",
        " debe",
        " deve",
        " долж",
        "应该",
        "可以",
    ];
    only.iter().any(|word| lower.starts_with(word)) && must.iter().any(|word| lower.contains(word))
}

/// "No, remove this again, the risk is too big"; "keep it because …".
fn judges(lower: &str) -> bool {
    let word = |text: &str| -> String {
        let first = text.split_whitespace().next().unwrap_or_default();
        first.trim_matches(',').to_owned()
    };
    let listed = |word: &str| VERDICTS.contains(&format!(" {word} "));
    let refused = ["no ", "no, ", "nope, ", "nah, "]
        .iter()
        .find_map(|no| lower.strip_prefix(no));
    let because = [
        " because ",
        " since ",
        " otherwise ",
        " so that ",
        ", the risk",
        " too risky",
        " weil ",
        " parce que ",
        " porque ",
        " потому что ",
        "因为",
    ];
    match refused {
        Some(rest) => listed(&word(rest)),
        None => listed(&word(lower)) && because.iter().any(|why| lower.contains(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_in_passing_is_seen() {
        for (said, topic) in [
            (
                "I'd prefer if the hooks lived in their own crate",
                Topic::Preference,
            ),
            (
                "ok, I'd rather have one binary than three",
                Topic::Preference,
            ),
            (
                "We should include the tenant in every metric",
                Topic::Decision,
            ),
            ("let's keep the old endpoint for a release", Topic::Decision),
            (
                "only the nightly channel should download symbols",
                Topic::Decision,
            ),
            (
                "no, drop the banner, people will think it is an ad",
                Topic::Decision,
            ),
            (
                "keep the retry loop because the vendor drops connections",
                Topic::Decision,
            ),
            (
                "wir sollten die Namen der Mandanten nie protokollieren",
                Topic::Decision,
            ),
            (
                "je préfère un seul fichier de configuration",
                Topic::Preference,
            ),
            ("我们应该在日志里加上租户名称", Topic::Decision),
        ] {
            assert_eq!(chooses(said), Some(topic), "{said}");
        }
    }

    #[test]
    fn what_is_asked_for_or_wondered_about_is_no_choice() {
        for said in [
            "should we include the tenant?",
            "we should check the logs",
            "let's continue",
            "we should be good",
            "no idea what happened there",
            "remove the banner",
            "keep going",
            "the build fails because of the cache",
            "we should:",
        ] {
            assert_eq!(chooses(said), None, "{said}");
        }
    }
}
