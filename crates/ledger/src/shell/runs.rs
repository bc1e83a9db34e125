//! Which commands a command line runs, for telling runs of the same one.

use super::split::{Joint, Part, Simple, is_assignment, split};

/// What a command line runs, without `cd`, redirections and what is only piped
/// into. Variables that are set belong to a command: with others it is another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// All commands, each as a number that stands for its words.
    pub(crate) all: Vec<u32>,
    /// Without small help such as `echo`, unless there is nothing else.
    pub(crate) real: Vec<u32>,
    /// Those that passed if the line did: joined to its end by nothing but `&&`,
    /// and not piped into another, whose status would be the line's.
    pub(crate) shown: Vec<u32>,
}

pub(crate) fn runs(command: &str) -> Runs {
    let mut runs = Runs::default();
    let ran = ran(command);
    for one in &ran {
        runs.all.push(one.number);
        if !one.is_help {
            runs.real.push(one.number);
        }
        if one.is_shown {
            runs.shown.push(one.number);
        }
    }
    if runs.all.is_empty() {
        let number = number(command.split_whitespace());
        runs.all.push(number);
        runs.shown.push(number);
    }
    for list in [&mut runs.all, &mut runs.real, &mut runs.shown] {
        list.dedup();
        list.truncate(32);
    }
    if runs.real.is_empty() {
        runs.real.clone_from(&runs.all);
    }
    runs
}

struct Ran {
    number: u32,
    is_help: bool,
    is_shown: bool,
    only_looks: bool,
}

fn ran(command: &str) -> Vec<Ran> {
    let parts = split(command);
    let simple: Vec<&Simple> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Simple(simple) => Some(simple),
            _ => None,
        })
        .collect();
    let mut all = Vec::new();
    // Backwards: what follows decides whether a status is seen.
    let (mut joined, mut is_shown) = (None, true);
    for simple in simple.into_iter().rev() {
        is_shown &= !matches!(joined, Some(Joint::Then | Joint::Or));
        let piped = joined == Some(Joint::Pipe);
        joined = Some(simple.joint);
        let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
        let mut named = words.iter().skip_while(|word| is_assignment(word));
        let Some(first) = named.next().or(words.first()) else {
            continue;
        };
        if simple.joint == Joint::Pipe || matches!(*first, "cd" | "pushd" | "popd") {
            continue;
        }
        all.push(Ran {
            number: number(words.iter().copied()),
            is_help: is_aid(first)
                || words.starts_with(&["git", "stash"])
                || words.starts_with(&["git", "add"]),
            is_shown: is_shown && !piped,
            only_looks: known(&words) == Some(None),
        });
    }
    all.reverse();
    all
}

/// A number for words (FNV-1a): the same wherever it is computed.
fn number<'w>(words: impl Iterator<Item = &'w str>) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    for word in words {
        for byte in word.bytes().chain([b' ']) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    hash
}

/// Words that stand around the command that matters and are no check themselves:
/// the shell's own by POSIX.1-2024 XCU, and utilities there that only set up or
/// show, each row with what they are there.
const AIDS: &[(&str, &[&str])] = &[
    (
        "reserved words",
        &["if", "then", "else", "fi", "for", "do", "done", "{", "}"],
    ),
    (
        "special built-ins; bash names `.` `source`",
        &["set", ".", "source", "exit", "trap"],
    ),
    (
        "utilities that wait, set up or show; `which` is Debian's",
        &[
            "true", "false", "echo", "printf", "sleep", "wait", "mkdir", "ls", "cat", "wc", "head",
            "tail", "date", "pwd", "which",
        ],
    ),
];

fn is_aid(program: &str) -> bool {
    AIDS.iter().any(|(_, words)| words.contains(&program))
}

/// Programs whose status says "no" rather than "error", by their manuals: the
/// status that does. A status of `None` stands for any: these only look at what
/// they are given, so that a failure is a guess at a path.
///
/// grep(1), diff(1), cmp(1), test(1), find(1), pgrep(1), expr(1), rg(1), jq(1),
/// git-diff(1) and git-grep(1), systemctl(1) `is-active`.
const NO: &[(&str, Option<i32>)] = &[
    ("grep", None),
    ("egrep", None),
    ("fgrep", None),
    ("zgrep", None),
    ("rg", None),
    ("ag", None),
    ("ack", None),
    ("git grep", None),
    ("diff", Some(1)),
    ("cmp", Some(1)),
    ("git diff", Some(1)),
    ("test", Some(1)),
    ("[", Some(1)),
    ("[[", Some(1)),
    ("expr", Some(1)),
    ("false", Some(1)),
    ("pgrep", Some(1)),
    ("pidof", Some(1)),
    ("systemctl is-active", Some(3)),
    ("which", None),
    ("type", None),
    ("command", None),
    ("ls", None),
    ("cat", None),
    ("head", None),
    ("tail", None),
    ("less", None),
    ("wc", None),
    ("stat", None),
    ("file", None),
    ("find", None),
    ("fd", None),
    ("tree", None),
    ("du", None),
    ("readlink", None),
    ("realpath", None),
    ("cd", None),
];

/// Whether the status of a command line is an answer, not an error. The status is
/// that of the last command of it that ran.
pub fn means_no(command: &str, status: Option<i32>) -> bool {
    // From 126 on the shell speaks, not the program: it could not be run, or a
    // signal ended it.
    if status.is_some_and(|status| status >= 126) {
        return false;
    }
    // Where the status is not told, the one that says "no" is as likely.
    let says_no = |no: i32| status.is_none_or(|status| status == no);
    last_known(command).is_some_and(|no| no.is_none_or(says_no))
}

/// Whether a command line only looks at things.
pub(crate) fn only_looks(command: &str) -> bool {
    let ran = ran(command);
    let real = ran.iter().any(|one| !one.is_help);
    ran.iter()
        .filter(|one| !real || !one.is_help)
        .all(|one| one.only_looks)
}

/// What [`NO`] says of the last command of a line.
fn last_known(command: &str) -> Option<Option<i32>> {
    let parts = split(command);
    let last = parts.iter().rev().find_map(|part| match part {
        Part::Simple(simple) => {
            let words = simple.words.iter().map(|word| word.text.as_str());
            let words: Vec<&str> = words.skip_while(|word| is_assignment(word)).collect();
            (!words.is_empty()).then_some(words)
        }
        _ => None,
    })?;
    known(&last)
}

/// What [`NO`] says of a command.
fn known(words: &[&str]) -> Option<Option<i32>> {
    let mut words = words.iter().skip_while(|word| is_assignment(word));
    let program = words.next()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    let with_verb = words.next().map(|verb| format!("{program} {verb}"));
    let named = |name: &str| name == program || Some(name) == with_verb.as_deref();
    NO.iter().find(|(name, _)| named(name)).map(|(_, no)| *no)
}

#[cfg(test)]
mod tests {
    use super::{means_no, only_looks};

    #[test]
    fn a_pipe_into_a_pager_is_no_mere_look() {
        assert!(only_looks("cd /x && ls -la | head -3"));
        assert!(!only_looks("cargo test 2>&1 | tail -20"));
        assert!(!only_looks("grep -q x y && make"));
    }

    #[test]
    fn a_status_that_says_no_is_told_from_an_error() {
        for (command, status, no) in [
            ("grep -rn foo src", 1, true),
            ("grep -n foo nowhere.rs", 2, true),
            ("diff a b", 2, false),
            ("cargo test 2>&1 | grep FAILED", 1, true),
            ("cargo test", 1, false),
            ("cd /x && git diff --exit-code", 1, true),
            ("ls /nowhere", 2, true),
            ("ls x && cat y", 127, false),
            ("grep x y && cargo build", 101, false),
            ("/usr/bin/test -f x", 1, true),
            ("", 1, false),
        ] {
            assert_eq!(means_no(command, Some(status)), no, "{command}");
        }
    }
}
