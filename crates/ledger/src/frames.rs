//! Frames: what says, in front of words and in the same line, that they are
//! another's or only material. "Slack message from Bob: …", "Translate this: …".
//!
//! "Commit messages: always in English" has the same shape, so a frame has to
//! name who speaks, how it came, or what is to be done to the words. What is
//! read wrongly here is still a rule in a session; only memory asks a person
//! before it keeps it.

use std::ops::Range;

use crate::quoted::{Ends, next_quotation, speaks_self, tells};
use crate::text::{clip, clip_end, first_chars, is_cjk, longer_than, sentences};
use crate::words::Words;
use crate::words::marks::HEADINGS;
use crate::words::others::frames::{
    CONTRASTS, DETERMINERS, DISMISSALS, FROMS, INTRODUCTIONS, MATERIAL, MINE, OWN, PEOPLE,
    POINTERS, POLITE, PUTS, RECEIVES, RETURNS, SAYS, SOURCES, SUBJECTS, TELLS, TEXTS, TREATS,
    UNSPACED_COMES, UNSPACED_OWN, UNSPACED_SAYS, UNSPACED_SOURCES, UNSPACED_TASKS, WRITTEN,
};
use crate::words::others::{ANNOUNCED, OWN_LABELS, REPORTS, WITNESSES};

/// Characters and words before a colon that may still be a frame.
const LONGEST: usize = 160;
const MOST_WORDS: usize = 16;
/// Bytes before a quotation in which its frame is looked for.
const MOST_BEFORE: usize = 600;
/// Bytes behind a frame in which the quotation that it announces ends.
const MOST_AHEAD: usize = 4_100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// "Bob says": the user tells it in a sentence or two.
    Speech,
    /// "The mail I got": it is shown whole, and its "I" is not the user.
    Shown,
    /// "Translate": something is to be done to the words.
    Task,
}

/// What stands behind frames.
pub(crate) fn framed(text: &str) -> Vec<Range<usize>> {
    let all = sentences(text);
    let blanks = blank_lines(text);
    let mut out: Vec<Range<usize>> = Vec::new();
    for (index, sentence) in all.iter().enumerate() {
        if out.last().is_some_and(|last| sentence.start < last.end) {
            continue;
        }
        let found = colons(text, sentence).find_map(|(head, behind)| {
            let frame = frame(&text[head])?;
            Some(behind..reach(text, &blanks, frame, behind, &all[index + 1..]))
        });
        out.extend(found.filter(|range| !range.is_empty()));
    }
    out
}

/// Whether the words before a quotation say that it is the user's own.
pub(crate) fn is_own_frame(before: &str) -> bool {
    let before = clip_end(before, MOST_BEFORE);
    let paragraph = before.rsplit("\n\n").next().unwrap_or("");
    // The items before it stand under the same line.
    let mut lines = paragraph.lines().rev().map(str::trim).skip_while(|line| {
        let bare = line.trim_start_matches(['-', '*', '•', '+']);
        bare.len() < line.len() || bare.is_empty()
    });
    let line = lines.next().unwrap_or("");
    let head = last_clause(line.trim_end_matches([' ', ':', '：', ',', '*', '_']));
    if head.is_empty() || longer_than(head, LONGEST) {
        return false;
    }
    if head.chars().any(is_cjk) {
        return UNSPACED_OWN.iter().any(|own| head.contains(own));
    }
    let words = Words::new(head);
    let says = |at: usize| REPORTS.contains(words.get(at)) && speaks_self(&words, at);
    (0..words.len()).any(says) || has_own_label(&words) || is_of_rules(&words)
}

/// The part of a line since its last stop or colon.
fn last_clause(line: &str) -> &str {
    let stops = ['.', '!', '?', ':', ';', '。', '！', '？', '：', '；', '—'];
    line.rsplit(stops).next().unwrap_or("").trim()
}

/// Whether a sentence without spaces tells what another says, without a colon.
pub(crate) fn tells_unspaced(sentence: &str) -> bool {
    if !sentence.chars().any(is_cjk) || UNSPACED_OWN[..].iter().any(|own| sentence.starts_with(own))
    {
        return false;
    }
    ["によると", "에 따르면"]
        .iter()
        .any(|by| sentence.contains(by))
        || ["根据", "根據", "据"].iter().any(|by| {
            sentence.strip_prefix(by).is_some_and(|rest| {
                let near = first_chars(rest, 10);
                UNSPACED_SOURCES.iter().any(|name| near.contains(name))
            })
        })
        || UNSPACED_SOURCES.iter().any(|name| {
            sentence.find(name).is_some_and(|at| {
                // "文档里说不要…", "ドキュメントには…と書いてある".
                let behind = &sentence[at + name.len()..];
                let near = first_chars(behind, 5);
                let says = ["说", "說", "写着", "写道", "声称", "提到"];
                says.iter().any(|verb| near.contains(verb))
                    || [
                        "と書い",
                        "と書か",
                        "と言っ",
                        "라고 적",
                        "라고 말",
                        "라고 했",
                        "라고 쓰",
                    ]
                    .iter()
                    .any(|verb| behind.contains(verb))
            })
        })
}

/// The colons of a sentence behind which something is said, each with the words
/// before it since the one before, and where the text goes on.
fn colons<'a>(
    text: &'a str,
    sentence: &Range<usize>,
) -> impl Iterator<Item = (Range<usize>, usize)> + 'a {
    let mut start = sentence.start;
    let end = sentence.end;
    let body = &text[sentence.clone()];
    let offset = sentence.start;
    body.char_indices().filter_map(move |(at, c)| {
        let at = offset + at;
        let behind = at + c.len_utf8();
        match c {
            ';' | '；' | '—' => {
                start = behind;
                return None;
            }
            ':' | '：' => {}
            _ => return None,
        }
        let next = text[behind..].chars().next();
        let before = text[..at].chars().next_back();
        // "10:30", "https://", "a::b" are no frames.
        let is_loose = c == '：'
            || behind >= end
            || next.is_none_or(|c| c.is_whitespace() || "\"'“«„‹「『‘*_".contains(c) || is_cjk(c))
            || before.is_some_and(is_cjk);
        if !is_loose {
            return None;
        }
        let head = start..at;
        start = behind;
        Some((head, behind))
    })
}

/// Where the words of another end that begin here.
fn reach(
    text: &str,
    blanks: &[usize],
    frame: Frame,
    behind: usize,
    next: &[Range<usize>],
) -> usize {
    let paragraph = blanks[blanks.partition_point(|at| *at <= behind)..]
        .first()
        .map_or(text.len(), |at| *at);
    let said = &text[behind..paragraph];
    let lead = said.len()
        - said
            .trim_start_matches([' ', '\n', '\t', '\r', '*', '_'])
            .len();
    let start = behind + lead;
    if start >= paragraph {
        let rest = text[paragraph..].trim_start();
        return match is_set_apart(rest) {
            true => behind,
            false => text.len(),
        };
    }
    if is_set_apart(&text[start..]) {
        return behind;
    }
    if let Some((open, mark)) = next_quotation(clip(text, start + 8), start)
        && open == start
        && let Some(quotation) = Ends::of(clip(text, open + MOST_AHEAD)).closed(open, mark)
    {
        return quotation.end;
    }
    // "Dear all," is not all of a letter.
    if frame == Frame::Shown && said.trim_end().ends_with([',', '，', ':', '：']) {
        return text.len();
    }
    let returned = next
        .iter()
        .find(|sentence| sentence.start >= paragraph || returns(&text[(*sentence).clone()], frame));
    returned.map_or(paragraph, |sentence| sentence.start.min(paragraph))
}

/// Code and block quotes end by themselves.
fn is_set_apart(text: &str) -> bool {
    text.starts_with("```") || text.starts_with("~~~") || text.starts_with('>')
}

/// Where blank lines begin, which end paragraphs.
fn blank_lines(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut blanks = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            blanks.push(at);
        }
        at += line.len();
    }
    blanks
}

/// Whether the user speaks again. In what is shown whole another may say "I".
fn returns(sentence: &str, frame: Frame) -> bool {
    if frame == Frame::Task {
        return false;
    }
    let bare = sentence.trim_start_matches(['但', '是', '，', '、', ' ']);
    let turned = bare.len() < sentence.len();
    if bare.starts_with(['我', '私', '僕'])
        || ["저는", "나는", "제가", "내가"]
            .iter()
            .any(|i| bare.starts_with(i))
    {
        return turned || frame == Frame::Speech;
    }
    let words = Words::new(sentence);
    let turns = (0..words.len())
        .take_while(|at| CONTRASTS.contains(words.get(*at)))
        .count();
    let is_self = RETURNS.contains(words.get(turns));
    let dismisses = (0..words.len().min(3)).any(|at| DISMISSALS.contains(words.get(at)))
        && words
            .iter()
            .take(5)
            .any(|word| PEOPLE.contains(word) || POINTERS.contains(word));
    match frame {
        Frame::Speech => is_self || dismisses,
        _ => is_self && turns > 0,
    }
}

/// What the words before a colon make of those behind it.
fn frame(head: &str) -> Option<Frame> {
    let head = head.trim_matches(|c: char| c.is_whitespace() || "*_#-•>+".contains(c));
    if head.is_empty() || longer_than(head, LONGEST) {
        return None;
    }
    if head.chars().any(is_cjk) {
        return unspaced(head);
    }
    let words = Words::new(head);
    if words.len() == 0 || words.len() > MOST_WORDS {
        return None;
    }
    let is_mine = words.iter().any(|word| MINE.contains(word));
    if is_of_rules(&words) && is_mine {
        return None;
    }
    if let Some(frame) = speech(&words) {
        return Some(frame);
    }
    if is_of_rules(&words) || has_own_label(&words) {
        return None;
    }
    if is_task(&words) {
        return Some(Frame::Task);
    }
    is_shown(&words).then_some(Frame::Shown)
}

fn unspaced(head: &str) -> Option<Frame> {
    if UNSPACED_OWN.iter().any(|own| head.contains(own)) {
        return None;
    }
    let has = |list: &[&str]| list.iter().any(|part| head.contains(part));
    let tells = UNSPACED_SAYS
        .iter()
        .any(|verb| head.find(verb).is_some_and(|at| at > 0));
    if has(&UNSPACED_TASKS) {
        return Some(Frame::Task);
    }
    let named = has(&UNSPACED_SOURCES) || head.starts_with(|c: char| c.is_ascii_uppercase());
    (tells || (named && has(&UNSPACED_COMES))).then_some(Frame::Shown)
}

/// "Bob says", "the README reads", "according to the docs".
fn speech(words: &Words<'_>) -> Option<Frame> {
    let last = words.len().saturating_sub(4);
    let witness = |at: usize| {
        let verb = words.get(at);
        at > 0 && (WITNESSES.contains(verb) || SAYS.contains(verb)) && !speaks_self(words, at)
    };
    if !tells(words) && !(last..words.len()).any(witness) && !has_speaker(words) {
        return None;
    }
    let is_written = words
        .iter()
        .any(|word| WRITTEN.contains(word) || is_source(word));
    Some(if is_written {
        Frame::Shown
    } else {
        Frame::Speech
    })
}

/// Whether somebody does something, whatever it is: "the reviewer left this
/// comment". What they are is no speech: "the customer is angry".
fn has_speaker(words: &Words<'_>) -> bool {
    let subject = usize::from(DETERMINERS.contains(words.get(0)));
    let word = words.get(subject);
    let verb = words.get(subject + 1);
    (PEOPLE.contains(word) || SUBJECTS.contains(word))
        && words.len() > subject + 1
        && !matches!(
            verb,
            "is" | "are"
                | "was"
                | "were"
                | "has"
                | "have"
                | "will"
                | "needs"
                | "cannot"
                | "can"
                | "can't"
                | "ist"
                | "sind"
                | "hat"
                | "haben"
                | "war"
                | "est"
                | "sont"
                | "es"
                | "está"
                | "é"
                | "è"
        )
}

fn is_source(word: &str) -> bool {
    ANNOUNCED.contains(word) || SOURCES.contains(word)
}

/// Whether words name rules, and do not say that they are from elsewhere.
fn is_of_rules(words: &Words<'_>) -> bool {
    words.iter().any(|word| HEADINGS.contains(word)) && !comes_from(words)
}

/// "Important", "one more thing", but not "note from Bob".
fn has_own_label(words: &Words<'_>) -> bool {
    let own = |word: &str| OWN_LABELS.contains(word) || OWN.contains(word);
    words.len() <= 4 && words.iter().any(own) && !comes_from(words)
}

/// Whether it says of whom: "from Bob", "от коллеги", "aus dem Wiki".
fn comes_from(words: &Words<'_>) -> bool {
    (0..words.len()).any(|at| {
        // "Comment by alice"; "message de commit" is about something.
        let is_its = at > 0
            && at + 1 < words.len()
            && is_source(words.get(at - 1))
            && matches!(words.get(at), "from" | "by" | "von" | "vom" | "от" | "من");
        FROMS.contains(words.get(at)) && (is_its || is_somebody(words, at + 1))
    })
}

/// Whether a person or a source is named here: "Bob", "a colleague", "the wiki".
fn is_somebody(words: &Words<'_>, at: usize) -> bool {
    let word = words.get(at);
    let is_named = |at: usize| {
        let word = words.get(at);
        (at > 0 && words.is_capital(at) && !is_time(word))
            || PEOPLE.contains(word)
            || is_source(word)
    };
    match DETERMINERS.contains(word) {
        true => MINE.contains(word) || (at + 1..=at + 3).any(is_named),
        false => is_named(at),
    }
}

/// "From Monday on" names nobody.
fn is_time(word: &str) -> bool {
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "now",
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonntag",
        "januar",
        "februar",
        "märz",
        "mai",
        "juni",
        "juli",
        "oktober",
        "dezember",
        "jetzt",
    ]
    .contains(&word)
}

/// "Proofread", "add this line to the docs", "write a prompt that says".
fn is_task(words: &Words<'_>) -> bool {
    let Some(verb) = (0..words.len()).find(|at| !POLITE.contains(words.get(*at))) else {
        return false;
    };
    let asked = words.get(verb);
    let last = words.get(words.len() - 1);
    // "Kannst du das übersetzen" has the verb at its end.
    if TREATS.contains(asked) || (verb > 0 && TREATS.contains(last)) {
        return true;
    }
    let to = verb + 1 + usize::from(matches!(words.get(verb + 1), "to" | "an" | "à" | "a"));
    let handed = matches!(
        asked,
        "send"
            | "forward"
            | "schick"
            | "schicke"
            | "envoie"
            | "envía"
            | "envie"
            | "invia"
            | "отправь"
    ) && words.iter().any(|word| PEOPLE.contains(word));
    if handed || (TELLS.contains(asked) && is_somebody(words, to)) {
        return true;
    }
    let about = matches!(
        words.get(0),
        "for"
            | "when"
            | "in"
            | "on"
            | "about"
            | "regarding"
            | "concerning"
            | "if"
            | "as"
            | "für"
            | "beim"
            | "bei"
            | "wenn"
            | "pour"
            | "para"
            | "per"
            | "для"
            | "при"
            | "если"
    );
    let of_work = matches!(
        words.get(words.len().saturating_sub(2)),
        "commit" | "error" | "log"
    );
    if words.len() > 2 && MATERIAL.contains(last) && !about && !of_work && !is_pointed(words) {
        return true;
    }
    let rest = || (verb + 1..words.len()).map(|at| words.get(at));
    // "Write this down" and "add this to your memory" are meant for the agent.
    let is_kept = rest().any(|word| {
        matches!(
            word,
            "down" | "memory" | "mind" | "auf" | "gedächtnis" | "mémoire" | "memoria"
        )
    });
    let mends = matches!(asked, "fix" | "mend")
        && rest().any(|word| matches!(word, "grammar" | "spelling" | "wording" | "typo" | "typos"));
    mends || (PUTS.contains(asked) && !is_kept && rest().any(|word| TEXTS.contains(word)))
}

/// "The ticket", "Slack message from Bob", "here is the mail I got", "I found
/// this on Stack Overflow".
fn is_shown(words: &Words<'_>) -> bool {
    let sources = || (0..words.len()).filter(|at| is_source(words.get(*at)));
    let is_mine = |at: usize| at > 0 && MINE.contains(words.get(at - 1));
    // "I read your answer" is said to the agent.
    let is_yours = |at: usize| {
        at > 0
            && matches!(
                words.get(at - 1),
                "your" | "dein" | "deine" | "ihre" | "ta" | "ton" | "votre" | "tu" | "sua" | "твой"
            )
    };
    let received = (0..words.len()).any(|at| {
        RECEIVES.contains(words.get(at))
            && !matches!(
                words.get(at + 1),
                "that" | "you" | "dass" | "que" | "что" | "che" | "dat"
            )
            && (sources().any(|at| !is_yours(at))
                || words.iter().any(|word| POINTERS.contains(word)))
    });
    let brings = |word: &str| {
        OWN_LABELS.contains(word)
            || OWN.contains(word)
            || matches!(
                word,
                "advice"
                    | "word"
                    | "words"
                    | "request"
                    | "suggestion"
                    | "question"
                    | "order"
                    | "orders"
                    | "demand"
                    | "input"
                    | "news"
                    | "instructions"
                    | "rat"
                    | "bitte"
                    | "conseil"
                    | "consejo"
                    | "conselho"
                    | "consiglio"
                    | "совет"
                    | "просьба"
            )
    };
    let of_somebody = comes_from(words)
        && (sources().next().is_some() || FROMS.contains(words.get(0)) || words.iter().any(brings));
    let shows = |at: &usize| is_source(words.get(*at)) || TEXTS.contains(words.get(*at));
    let introduced = INTRODUCTIONS.contains(words.get(0))
        && (0..words.len()).filter(shows).any(|at| !is_mine(at));
    received || of_somebody || introduced || is_bare(words)
}

/// A source and nothing else: "The ticket", "This error message", "README".
fn is_bare(words: &Words<'_>) -> bool {
    let last = words.get(words.len() - 1);
    if words.len() == 1 {
        return matches!(
            last,
            "readme"
                | "quote"
                | "excerpt"
                | "article"
                | "transcript"
                | "letter"
                | "zitat"
                | "citation"
                | "cita"
                | "citação"
                | "citazione"
                | "цитата"
                | "اقتباس"
        );
    }
    // "The commit message" is what a rule is about.
    let of_work = matches!(
        words.get(words.len() - 2),
        "commit" | "release" | "code" | "log" | "output"
    );
    is_pointed(words) && words.len() <= 3 && is_source(last) && !of_work
}

/// "The …", "this …": it begins by pointing at something that is not the user's.
fn is_pointed(words: &Words<'_>) -> bool {
    DETERMINERS.contains(words.get(0)) && !MINE.contains(words.get(0))
}
