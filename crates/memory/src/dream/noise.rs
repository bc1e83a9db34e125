//! Noise: lines that hold a value and still are no fact.
//!
//! People paste what a program printed, ask about a line, and long sentences
//! are cut. None of it says what is so.

use super::claim::Claim;
use super::likeness::Features;
use super::passing::{is_chatter, is_of_a_day};
use crate::files::CUT;

/// Whether a line is anything but a statement somebody made.
pub(super) fn is_noise(text: &str) -> bool {
    let text = text.trim();
    is_fragment(text)
        || is_cut_off(text)
        || is_question(text)
        || is_printed(text)
        || is_listed(text)
        || is_task(text)
        || is_of_a_line(text)
        || is_chatter(text)
        || is_of_a_day(text, Claim::of(text).is_change())
        || is_blank(text)
}

/// Whether all that a line had to say was a secret: "the key is [redacted:…]".
fn is_blank(text: &str) -> bool {
    let mut rest = text;
    let mut kept = String::new();
    let mut secrets = 0;
    while let Some((before, behind)) = rest.split_once(REDACTED) {
        kept.push_str(before);
        kept.push(' ');
        secrets += 1;
        rest = behind.split_once(']').map_or("", |(_, rest)| rest);
    }
    kept.push_str(rest);
    // Each has a name or two.
    secrets > 0 && Features::of(&kept).terms.len() < 1 + 2 * secrets
}

/// How the mark begins that stands where a secret was.
const REDACTED: &str = "[redacted:";

/// How a line begins that only reminds somebody of work.
const REMINDERS: &[&str] = &[
    "todo",
    "to-do",
    "fixme",
    "tbd",
    "xxx",
    "wip",
    "offen:",
    "zu erledigen",
    "à faire",
    "pendiente:",
    "por hacer",
    "da fare:",
    "te doen:",
    "do zrobienia",
    "сделать:",
    "待办",
    "未完成",
];

/// Whether a line reminds of work that is to be done.
pub(super) fn is_reminder(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let begins = |start: &&str| {
        let rest = lower.strip_prefix(*start);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            || (!start.is_ascii() && rest.is_some())
    };
    // "Todo lists live in Notion" is about them.
    let about = text.starts_with("Todo") && !text.starts_with("Todo:");
    !about && REMINDERS.iter().any(begins)
}

/// Whether a line announces what does not follow, or begins in the middle.
pub(super) fn is_cut_off(text: &str) -> bool {
    let text = text.trim();
    let end = text.trim_end_matches(['*', '_', '`', ' ']);
    let begins = text.chars().next();
    let heads_list = end.strip_suffix('.').is_some_and(|end| {
        let number = end.rsplit(' ').next().unwrap_or_default();
        end.contains(':') && number.len() <= 2 && is_number(number)
    });
    end.ends_with([':', '：'])
        || heads_list
        || begins.is_some_and(|c| matches!(c, ',' | ';' | ')' | ']' | '}' | '→' | '…'))
        || text.starts_with("\",")
        || text.starts_with("...")
}

/// Whether a rule is one of the moment: it points at what was just spoken of,
/// or holds for this once.
pub(super) fn is_of_the_moment(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let mut words = lower.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    let first = words.next().unwrap_or_default();
    let points = matches!(first, "this" | "that" | "it" | "these" | "those" | "like");
    points
        || [
            "right now",
            "for now",
            "this time",
            "just this once",
            "this once",
            " but just ",
            "for the moment",
            "vorerst",
            "diesmal",
            "fürs erste",
            "pour l'instant",
            "cette fois",
            "por ahora",
            "esta vez",
            "por enquanto",
            "desta vez",
            "per ora",
            "stavolta",
            "voorlopig",
            "deze keer",
            "na razie",
            "tym razem",
            "пока что",
            "в этот раз",
            "这次",
            "暂时",
            "今回は",
            "とりあえず",
            "이번에는",
            "일단",
        ]
        .iter()
        .any(|once| lower.contains(once))
}

/// A part of a list that says nothing by itself: "- 30-second timeout".
fn is_listed(text: &str) -> bool {
    let Some(item) = text.strip_prefix(['-', '*', '•', '–', '+']) else {
        return false;
    };
    let lower = format!(" {} ", item.trim().to_lowercase());
    let says = [
        " is ",
        " are ",
        " was ",
        " has ",
        " have ",
        " uses ",
        " use ",
        " runs ",
        " lives ",
        " listens ",
        " needs ",
        ": ",
        "=",
        " ist ",
        " sind ",
        " hat ",
        " est ",
        " sont ",
        " es ",
        " son ",
        " é ",
        " è ",
        "是",
        "は",
    ];
    item.contains('→') || !says.iter().any(|verb| lower.contains(verb))
}

/// How tasks begin. Only verbs with which no statement begins.
const TASKS: &[&str] = &[
    "add",
    "adjust",
    "apply",
    "browse",
    "bump",
    "change",
    "check",
    "clean",
    "clone",
    "commit",
    "compare",
    "continue",
    "convert",
    "crawl",
    "create",
    "debug",
    "delete",
    "describe",
    "download",
    "edit",
    "execute",
    "explain",
    "extract",
    "fetch",
    "find",
    "fix",
    "generate",
    "implement",
    "improve",
    "inspect",
    "install",
    "investigate",
    "look",
    "make",
    "merge",
    "move",
    "open",
    "print",
    "proceed",
    "push",
    "read",
    "rebase",
    "refactor",
    "remove",
    "rename",
    "repeat",
    "replace",
    "resolve",
    "restart",
    "retry",
    "revert",
    "review",
    "rewrite",
    "run",
    "scrape",
    "search",
    "show",
    "simplify",
    "split",
    "start",
    "summarise",
    "summarize",
    "test",
    "translate",
    "try",
    "update",
    "upgrade",
    "verify",
    "write",
    "schau",
    "prüfe",
    "behebe",
    "ändere",
    "füge",
    "erstelle",
    "lösche",
    "zeig",
    "regarde",
    "corrige",
    "ajoute",
    "vérifie",
    "supprime",
    "crée",
    "mira",
    "arregla",
    "añade",
    "revisa",
    "elimina",
    "crea",
    "veja",
    "corrija",
    "adicione",
    "guarda",
    "correggi",
    "aggiungi",
    "посмотри",
    "исправь",
    "добавь",
    "проверь",
    "удали",
];

/// Whether a line asks for something to be done, this once.
fn is_task(text: &str) -> bool {
    // "`make deploy` must run …" speaks of a command.
    if text.starts_with('`') {
        return false;
    }
    let lower = text
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    let mut words = lower.split_whitespace().filter(|word| {
        !matches!(
            *word,
            "please"
                | "ok"
                | "okay"
                | "now"
                | "then"
                | "and"
                | "also"
                | "so"
                | "ok,"
                | "okay,"
                | "now,"
                | "then,"
                | "bitte"
                | "first"
                | "first,"
        )
    });
    let first = words.next().unwrap_or_default();
    TASKS.contains(&first.trim_end_matches(','))
        || ["请", "帮我", "看看", "修复", "检查"]
            .iter()
            .any(|start| lower.starts_with(start))
}

/// A remark about a line of a file, which moves with the next change.
fn is_of_a_line(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["line ", "lines ", "zeile ", "ligne ", "línea "]
        .iter()
        .any(|word| {
            lower.match_indices(word).any(|(at, word)| {
                let begins = at == 0 || lower[..at].ends_with([' ', '(']);
                begins && lower[at + word.len()..].starts_with(|c: char| c.is_ascii_digit())
            })
        })
}

/// Whether something was left out at one of its ends.
fn is_fragment(text: &str) -> bool {
    let cut = |text: &str| text.starts_with("...") || text.starts_with('…');
    if cut(text) || text.ends_with('…') || text.ends_with("...") {
        return true;
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let last = text.split_whitespace().next_back().unwrap_or_default();
    starts_in_address(first)
        || ["http:", "https:", "http:/", "https:/"].contains(&last)
        || last.ends_with("://")
}

/// Whether a word is the rest of an address: "ttps://wiki.example".
fn starts_in_address(word: &str) -> bool {
    let Some((scheme, rest)) = word.split_once("://") else {
        return word.starts_with("//") && word.contains('.');
    };
    let scheme = scheme.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_tail = |whole: &&str| *whole != scheme && whole.ends_with(scheme);
    !rest.is_empty() && ["https", "http"].iter().any(is_tail)
}

/// How questions begin that lack their mark. Only what cannot begin a
/// statement: "what we use is Postgres" is one.
const QUESTIONS: &[&str] = &[
    "can you ",
    "can we ",
    "can i ",
    "could you ",
    "could we ",
    "would you ",
    "will you ",
    "do you ",
    "do we ",
    "do i ",
    "does ",
    "did you ",
    "did we ",
    "is there ",
    "is it ",
    "is this ",
    "is that ",
    "are there ",
    "are you ",
    "are we ",
    "should i ",
    "should we ",
    "have you ",
    "what is ",
    "what's ",
    "what are ",
    "what does ",
    "why is ",
    "why are ",
    "why do ",
    "why does ",
    "why did ",
    "how do ",
    "how does ",
    "how can ",
    "how many ",
    "how much ",
    "where is ",
    "where are ",
    "kannst du ",
    "können sie ",
    "warum ist ",
];

/// Whether a line asks something.
pub(super) fn is_question(text: &str) -> bool {
    let end = text.trim_end_matches(|c: char| "\"'”’»)`*_ ".contains(c));
    if end.ends_with(['?', '？', '؟']) {
        return true;
    }
    let lower = text
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    // People are polite, or in the middle of something.
    let mut rest = lower.as_str();
    while let Some(after) = [
        "please ", "ok ", "okay ", "hey ", "hi ", "and ", "so ", "also ",
    ]
    .iter()
    .chain(&["ok, ", "okay, ", "hey, ", "hi, ", "so, "])
    .find_map(|word| rest.strip_prefix(word))
    {
        rest = after;
    }
    QUESTIONS.iter().any(|start| rest.starts_with(start))
}

/// How lines begin that a program printed, or a shell showed.
const PRINTED: &[&str] = &[
    "[+] ",
    "=> ",
    "$ ",
    ">>> ",
    "+++ ",
    "--- ",
    "@@ ",
    "diff --git ",
    "npm err!",
    "npm error",
    "npm warn",
    "error[",
    "error: ",
    "fatal: ",
    "panic: ",
    "traceback (",
    "file \"",
    "at object.",
    "thread '",
    "sending build context",
    "requirement already satisfied",
    "[info]",
    "[warn]",
    "[error]",
    "[debug]",
];

fn is_printed(text: &str) -> bool {
    let lower = text.to_lowercase();
    PRINTED.iter().any(|start| lower.starts_with(start))
        || lower.ends_with(CUT)
        || lower.contains("=> => ")
        || lower.contains(" => transferring ")
        || lower.contains("~$ ")
        || is_step(&lower)
        || is_bar(&lower)
        || has_clock(&lower)
        || is_hint(&lower)
}

/// A time to the second: nobody says that, programs print it.
fn has_clock(lower: &str) -> bool {
    lower.as_bytes().windows(8).any(|part| {
        part.iter().enumerate().all(|(at, byte)| match at {
            2 | 5 => *byte == b':',
            _ => byte.is_ascii_digit(),
        })
    })
}

/// What programs tell people to do: "To resume, exit and run: tides -r 7".
fn is_hint(lower: &str) -> bool {
    ["run: ", "run:`", "try: ", "usage: ", "use: `"]
        .iter()
        .any(|hint| lower.contains(hint))
        || (lower.starts_with("to ")
            && (lower.contains(", run ")
                || lower.contains(" and run ")
                || lower.contains(", use ")))
}

/// "Step 3/12 :", "#7 [2/5]", "[7/12] ".
fn is_step(lower: &str) -> bool {
    let counted = |word: &str| {
        let pair = word
            .trim_matches(|c: char| "[](){}".contains(c))
            .split_once('/');
        pair.is_some_and(|(at, of)| is_number(at) && is_number(of))
    };
    let mut words = lower.split_whitespace();
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    match first {
        "step" => counted(second),
        _ if first.starts_with('[') && first.ends_with(']') => counted(first),
        _ => first.strip_prefix('#').is_some_and(is_number) && second.starts_with('['),
    }
}

/// A bar that shows how far something is: "42% [=====>   ]", "━━━━━".
fn is_bar(lower: &str) -> bool {
    ["=====", "#####", "━━━", "███", "░░░", "─────"]
        .iter()
        .any(|bar| lower.contains(bar))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_questions_and_what_programs_print_are_no_facts() {
        for noise in [
            "…listens on port 8443 of the gateway",
            "the gateway listens on port 8443 of…",
            "ttps://wiki.example/gateway lists port 8443",
            "//wiki.example/gateway lists port 8443",
            "the list of all 12 ports is at https://",
            "can you explain the comment in line 366",
            "Ok, could you look at line 366 of the parser",
            "does the gateway listen on port 8443",
            "The gateway listens on port 8443, right?",
            "网关监听端口 8443 吗？",
            "[+] Building 165.9s (7/12)",
            "=> => transferring context: 280.65MB",
            " => [internal] load build context 12.4s",
            "Step 3/12 : RUN make install",
            "#7 [2/5] RUN apt-get install 12 packages",
            "root@web1:~$ ls -la 4096 files",
            "$ cargo test -p tides 12 passed",
            "error[E0308]: mismatched types in line 12",
            "npm ERR! code 1 in node 24.1.0",
            "downloading 42% [=====>    ] 12.5 MB",
            "Hook from settings.local.json fired at Mon Feb 9 09:39:51 CET 2026",
            "To resume the other session, exit and run: tides -r ab8c5aa0",
            "- 30-second timeout",
            "- Filter times out (30s) → Error: timed out after 30s",
            "Compare it with OPTOUT=1 on line 10, which is commented out.",
            "Look at https://wiki.example/gateway",
            "Please fix the gateway on port 8443.",
            "The ports of the gateway are 8443 and:",
            "ok thanks, that works",
            "ok, great, thanks a lot",
            "Vielen Dank, toll!",
            "muchas gracias, genial",
            "好的，非常感谢！",
            "ありがとうございます！",
            "Great, looks good now!",
            "alles klar, danke",
            "The meeting is tomorrow at 10.",
            "Der Termin ist morgen um 9.",
            "Отчёт сдаём завтра.",
            "明天十点开会",
            "The call is next Monday at 3.",
            "La réunion est lundi prochain à 10h.",
            "Das Gespräch ist nächsten Montag.",
            "Yesterday the build took 40 minutes on web-02.",
            "Key is [redacted:aws-key#1] and password=[redacted:password#1]",
            "My npm token is [redacted:npm-token#1] and the password is [redacted:password#1]",
            "Clone https://github.com/acme/billing and build it",
            "Fetch https://docs.example.com/setup and tell me what it says",
        ] {
            assert!(is_noise(noise), "{noise}");
        }
    }

    #[test]
    fn what_is_said_to_be_so_is_no_noise() {
        for fact in [
            "The gateway listens on port 8443.",
            "https://wiki.example/gateway lists all 12 ports",
            "see the list of all 12 ports at https://wiki.example/ports",
            "postgres://db.example:5432/shop is the database of the shop",
            "ssh://git.example:2222/shop is the repository",
            "What we use is Postgres 16",
            "/srv/in/a holds the 12 files of the import",
            "Step 3 of the release takes 40 minutes",
            "Why we use port 8443: the others are taken",
            "Warning: port 8443 is taken by the old gateway",
            "[PAY-100] is the ticket of the shop",
            "Build 165 of the shop is the one in production",
            "Starting tomorrow the shop is on port 8443",
            "As of today we use Postgres 16",
            "That works only with Postgres 16",
            "The newsletter goes out every morning at 9",
            "I moved to Leipzig last week.",
            "Ich bin letzte Woche nach Jena gezogen.",
            "Since last week the shop is on port 8443",
            "`make deploy` must never run without a tag.",
            "The deploy key [redacted:aws-key#1] of the gateway lives in the vault",
        ] {
            assert!(!is_noise(fact), "{fact}");
        }
    }

    #[test]
    fn reminders_of_work_are_told_from_what_is_said_about_them() {
        for reminder in [
            "TODO write more docs",
            "todo write more docs",
            "FIXME: the parser leaks",
            "TBD who owns the gateway",
            "待办 写文档",
            "À faire : la doc",
        ] {
            assert!(is_reminder(reminder), "{reminder}");
        }
        for said in [
            "Todo lists of the team live in Notion",
            "todos are kept in the wiki",
            "wiper blades are in room 4",
        ] {
            assert!(!is_reminder(said), "{said}");
        }
    }
}
