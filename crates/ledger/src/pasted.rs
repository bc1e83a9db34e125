//! How text looks that was pasted: lines of logs, issues, mails, answers of
//! tools, and what announces them.

use crate::norm::{is_heading, reads_as_rule};
use crate::ours;
use crate::text::is_cjk;
use crate::voices::SENT;
use crate::words::marks::HEADINGS;
use crate::words::others::frames::{LONE, NAMES, SOURCES, UTTERANCES};
use crate::words::others::{ANNOUNCED, ANNOUNCED_UNSPACED, OWN_LABELS};

/// Whether a line begins as if somebody else spoke: the system, a tool, the
/// other side of a conversation.
pub(crate) fn poses(line: &str) -> bool {
    let bare = line
        .trim_start_matches(|c: char| "#*>-=_[(<| ".contains(c))
        .to_lowercase();
    let is_marked = line.starts_with(['[', '<', '#', '=', '|']);
    let label = |name: &str| {
        bare.strip_prefix(name).is_some_and(|rest| {
            let rest = rest.trim_start_matches([' ', '*', '_', ']', ')', '>', '|', '-', '=', '#']);
            rest.starts_with([':', '：'])
                || (is_marked && rest.len() + name.len() < bare.len())
                || (is_marked && rest.is_empty())
        })
    };
    line.starts_with("<|")
        || ours::opens(line)
        || bare.starts_with(SENT)
        || [
            "system",
            "system prompt",
            "system message",
            "assistant",
            "user",
            "human",
            "developer",
            "ai",
            "admin",
            "administrator",
            "tool",
            "tool result",
            "tool output",
            "tool_result",
            "tool response",
            "function result",
            "function output",
            "inst",
            "instruction",
            "instructions",
        ]
        .iter()
        .any(|name| label(name))
        || ["begin ", "start of "]
            .iter()
            .any(|start| line.starts_with("---") && bare.starts_with(start))
        || is_mail_header(&bare)
        || bare.starts_with("diff --git ")
        || bare.starts_with("commit ") && bare.len() >= 47 && !bare[7..].contains(' ')
}

fn is_mail_header(bare: &str) -> bool {
    [
        "from:",
        "subject:",
        "sent:",
        "date:",
        "von:",
        "betreff:",
        "objet :",
        "asunto:",
        "assunto:",
        "发件人：",
        "主题：",
    ]
    .iter()
    .any(|header| bare.starts_with(header))
        || bare.ends_with(" wrote:")
        || bare.ends_with(" schrieb:")
        || bare.ends_with(" a écrit :")
        || bare.ends_with(" escribió:")
}

/// Whether a line says that what follows it is another's: "Here is the log:".
/// A heading of rules is the user's, whatever they are about.
pub(crate) fn opens_paste(line: &str) -> bool {
    let end = line.trim_end_matches(['*', '_', ' ']);
    let Some(head) = end.strip_suffix([':', '：']) else {
        return false;
    };
    if is_heading(line) || head.chars().count() > 120 {
        return false;
    }
    let lower = head.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let announced = words.any(|word| ANNOUNCED.contains(word))
        || ANNOUNCED_UNSPACED.iter().any(|word| lower.contains(word));
    // "Rules for the commit message:" announces rules.
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let of_rules = words.any(|word| HEADINGS.contains(word));
    (announced || is_file_name(head)) && !of_rules
}

/// `CONTRIBUTING.md`, `src/a.rs`.
fn is_file_name(head: &str) -> bool {
    let name = head.trim_matches(['`', '*', '_', '"', ' ']);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    !name.contains(' ')
        && ending.is_some_and(|ending| {
            (1..=5).contains(&ending.len())
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Whether a line says in front where it is from: "From the wiki: never …".
pub(crate) fn names_source(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(head, _)| {
        if head.contains(['.', '!', '?']) || head.split_whitespace().count() > 8 {
            return false;
        }
        let first = head
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let from = matches!(
            first.as_str(),
            "from" | "via" | "quote" | "aus" | "según" | "de" | "del" | "dal" | "uit" | "из"
        );
        from && opens_paste(&format!("{head}:"))
    })
}

/// "Issue #42: the tests are flaky", "PR 7", "[BUG] …".
pub(crate) fn is_issue_title(line: &str) -> bool {
    let lower = line
        .trim_start_matches(|c: char| "#*_[ ".contains(c))
        .to_lowercase();
    let rest = [
        "issue",
        "bug",
        "ticket",
        "pr",
        "pull request",
        "merge request",
        "mr",
        "feature request",
        "bug report",
        "title",
        "story",
        "epic",
        "incident",
    ]
    .iter()
    .filter_map(|name| lower.strip_prefix(name))
    .min_by_key(|rest| rest.len());
    rest.is_some_and(|rest| {
        let bare = rest.trim_start();
        rest.starts_with([':', ']'])
            || (bare.len() < rest.len() || bare.starts_with('#'))
                && bare
                    .trim_start_matches('#')
                    .starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether a line is a title: what is listed under it is told about something,
/// and not asked of anybody. Sentences end, and what asks ends in a colon.
pub(crate) fn is_title(line: &str) -> bool {
    let end = line.trim_end_matches(['*', '_', ' ']);
    !is_heading(line)
        && !end.ends_with([
            '.', '!', '?', ':', '：', '。', '！', '？', ',', '，', '…', ')',
        ])
        && end.starts_with(char::is_uppercase)
        && end.split_whitespace().count() >= 2
}

/// Whether a program logged a line: it begins with a time or a level.
pub(crate) fn is_logged(line: &str) -> bool {
    let bare = line.trim_start_matches(['[', '(', '<', '*', '|', ' ']);
    starts_with_time(bare)
        || starts_with_level(line)
        || is_frame(line)
        || is_chat(line)
        || is_prompt(line)
        || is_hunk(line)
        || is_version(line)
}

/// What a shell shows before a command: `root@db1:/# psql`, `PS C:\src> dotnet`,
/// `$ cargo test`, `>>> import os`.
fn is_prompt(line: &str) -> bool {
    let starts = ["$ ", "% ", "❯ ", "➜ ", ">>> ", "λ "];
    if starts.iter().any(|start| line.starts_with(start)) {
        return true;
    }
    let bare = line.strip_prefix("PS ").unwrap_or(line);
    let drive =
        bare.len() > 3 && bare.as_bytes()[0].is_ascii_alphabetic() && bare[1..].starts_with(":\\");
    if drive && bare.contains('>') {
        return true;
    }
    let host = line
        .trim_start_matches(['(', '['])
        .split(['$', '#', '%', '>'])
        .next()
        .unwrap_or("");
    let (user, rest) = host.split_once('@').unwrap_or(("", ""));
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let place = rest.split_once([':', ' ']);
    host.len() < line.len()
        && is_name(user)
        && place.is_some_and(|(host, path)| {
            is_name(host) && path.trim_end().chars().all(|c| !c.is_whitespace()) && !path.is_empty()
        })
}

/// The head of a change in a patch, and its lines where they are code: a list of
/// things to do has dashes too.
fn is_hunk(line: &str) -> bool {
    let head = line.starts_with("@@ -") || line.starts_with("+++ ") || line.starts_with("--- a/");
    let Some(code) = line.strip_prefix(['+', '-']) else {
        return head;
    };
    let body = code.trim();
    let is_code = body.ends_with(['{', '}', ';', '(', ','])
        && body.contains(['(', '{', '}', '=', ':', ';'])
        || [
            "//", "/*", "#include", "import ", "let ", "const ", "fn ", "def ", "return ",
        ]
        .iter()
        .any(|start| body.starts_with(start));
    head || is_code
}

/// A line that is a program and its version, as programs print it and stacks
/// end with: `Node.js v23.4.0`, `rustc 1.95.0 (a1b2c3 2026-04-01)`.
fn is_version(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or("");
    let mut rest = words.next().unwrap_or("");
    if rest.eq_ignore_ascii_case("version") {
        rest = words.next().unwrap_or("");
    }
    let number = rest.trim_start_matches('v').trim_end_matches(',');
    let dots = number.matches('.').count();
    let is_number = dots >= 2
        && number.starts_with(|c: char| c.is_ascii_digit())
        && number
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".+-_".contains(c));
    let tail = words.next();
    is_name && is_number && tail.is_none_or(|tail| tail.starts_with('(') || tail == "build")
}

fn starts_with_time(bare: &str) -> bool {
    let first = bare
        .split(|c: char| c.is_whitespace() || matches!(c, ']' | ')' | ','))
        .next()
        .unwrap_or("");
    let shape: String = first
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    if shape.starts_with("0000-00-00")
        || shape.starts_with("0000/00/00")
        || shape.starts_with("00:00:00")
    {
        return true;
    }
    // "Feb  9 12:00:01 host", "Mon Feb 9", "I0209 12:00:00".
    let mut words = bare.split_whitespace();
    let (one, two, three) = (words.next(), words.next(), words.next());
    let is_day = |word: Option<&str>| {
        word.is_some_and(|word| word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_clock = |word: Option<&str>| {
        word.is_some_and(|word| {
            word.len() >= 8 && word.as_bytes()[2] == b':' && word.as_bytes()[5] == b':'
        })
    };
    let month = |word: Option<&str>| {
        word.is_some_and(|word| {
            [
                "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
            ]
            .contains(&word)
        })
    };
    (month(one) && is_day(two) && is_clock(three))
        || (month(two) && is_day(three))
        || (is_clock(two) && one.is_some_and(|word| word.bytes().any(|byte| byte.is_ascii_digit())))
}

/// `ERROR: …`, `[warn] …`, `level=error`. A warning in words is a person's:
/// "WARNING: never do this" is typed more often than logged.
fn starts_with_level(line: &str) -> bool {
    let bare = line.trim_start_matches(['[', '(', '<', '|', ' ']);
    let word = bare
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or("");
    let after = bare[word.len()..].chars().next();
    let bracketed = line.starts_with(['[', '(', '<', '|']);
    let levels = [
        "ERROR", "ERR", "FATAL", "DEBUG", "TRACE", "INFO", "PANIC", "CRITICAL", "SEVERE", "WARN",
    ];
    (levels.contains(&word) && after.is_some())
        || (bracketed
            && (levels.contains(&word.to_ascii_uppercase().as_str())
                || word.eq_ignore_ascii_case("warning")))
        || (matches!(
            word,
            "error" | "fatal" | "panic" | "Error" | "Traceback" | "Exception" | "Caused"
        ) && matches!(after, Some(':' | '[' | ' '))
            && (after != Some(' ') || matches!(word, "Traceback" | "Caused")))
        || line.contains("level=")
        || line
            .split(|c: char| !c.is_ascii_alphanumeric())
            .take(4)
            .any(|word| matches!(word, "WARN" | "ERR" | "ERROR" | "FATAL" | "DEBUG"))
}

/// A frame of a stack.
fn is_frame(line: &str) -> bool {
    line.contains(" panicked at ")
        || (line.starts_with("at ") && line.contains('(') && line.ends_with(')'))
        || (line.starts_with("File \"") && line.contains(", line "))
}

/// A line across the page: what stands below it was set apart.
pub(crate) fn is_rule_across(line: &str) -> bool {
    let mark = line.chars().next().unwrap_or(' ');
    "-=_*~".contains(mark) && line.len() >= 3 && line.chars().all(|c| c == mark)
}

/// "bob> …", "Bob | …": a line of a chat.
pub(crate) fn speaks_in_chat(line: &str) -> bool {
    let name = line.trim_start_matches(|c: char| c.is_ascii_digit() || "[]():. <".contains(c));
    let length = name
        .find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
        .unwrap_or(name.len());
    let (name, rest) = name.split_at(length);
    let marked = rest.starts_with("> ") || rest.starts_with(" | ") || rest.starts_with("» ");
    let is_named = NAMES.contains(name.to_lowercase().as_str());
    marked && name.starts_with(char::is_alphabetic) && (1..=24).contains(&name.len())
        || is_named
            && [" — ", " – ", " - ", " > "]
                .iter()
                .any(|mark| rest.starts_with(mark))
}

/// "Never settle. — Steve Jobs": the end of a line says whose it is.
pub(crate) fn is_attributed(line: &str) -> bool {
    let Some((at, mark)) = line
        .char_indices()
        .rev()
        .find(|(_, c)| matches!(c, '—' | '–' | '-' | '~'))
    else {
        return false;
    };
    let (before, after) = (line[..at].trim_end(), line[at + mark.len_utf8()..].trim());
    let loose = line[..at].ends_with(' ') && line[at + mark.len_utf8()..].starts_with(' ');
    let ended = before.ends_with(['.', '!', '?', '"', '”', '»', '“', '。', '！', '」']);
    loose
        && ended
        && (1..=4).contains(&after.split_whitespace().count())
        && after.chars().count() <= 40
        && !after.ends_with(['.', '?', '!'])
        && after.split_whitespace().all(|word| {
            word.starts_with(|c: char| c.is_uppercase() || is_cjk(c) || c.is_ascii_digit())
                || matches!(word, "the" | "of" | "de" | "von" | "van" | "di")
        })
        && !reads_as_rule(after)
}

/// "[Notice] …": a line that names what it is.
pub(crate) fn is_tagged(line: &str) -> bool {
    let inner = line
        .strip_prefix(['[', '【'])
        .and_then(|rest| rest.split_once([']', '】']));
    inner.is_some_and(|(tag, rest)| {
        let lower = tag.to_lowercase();
        !rest.trim().is_empty()
            && (LONE.contains(lower.as_str())
                || UTTERANCES.contains(lower.as_str())
                || SOURCES.contains(lower.as_str())
                || ["公告", "通知", "告知", "お知らせ", "공지", "알림", "안내"]
                    .iter()
                    .any(|word| tag.contains(word)))
    })
}

/// Who speaks in a line of a conversation: "bob: …", "Bob (10:32): …".
pub(crate) fn speaker(line: &str) -> Option<&str> {
    let (name, said) = match line.split_once(": ") {
        Some(parts) => parts,
        None => line.split_once('：')?,
    };
    let is_name = name.split_whitespace().count() <= 4
        && name.chars().count() <= 40
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || " .-_@()[]:,".contains(c))
        && !name.ends_with(' ');
    let lower = name.to_lowercase();
    let of_rules = lower
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| HEADINGS.contains(word) || OWN_LABELS.contains(word));
    (is_name && !of_rules && !said.is_empty() && !line.starts_with(['-', '*', '•'])).then_some(name)
}

/// Whether a line names who said it and when or where: "Bob (10:32): …",
/// "Alice on Slack: …".
pub(crate) fn is_chat(line: &str) -> bool {
    speaker(line).is_some_and(|name| {
        let lower = name.to_lowercase();
        let place = [
            " on slack",
            " in slack",
            " on teams",
            " on discord",
            " on irc",
            " on github",
            " via ",
            " by mail",
            " in the ticket",
            " auf slack",
            " sur slack",
            " en slack",
        ];
        let clock = name
            .as_bytes()
            .windows(3)
            .any(|part| part[0].is_ascii_digit() && part[1] == b':' && part[2].is_ascii_digit());
        place.iter().any(|place| lower.contains(place)) || clock || lower.starts_with('@')
    })
}
