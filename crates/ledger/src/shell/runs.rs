//! Which commands a command line runs, for telling runs of the same one.

use super::split::{Joint, Part, is_assignment, split};

/// What a command line runs, so that a later run can be told to be the same:
/// without `cd`, redirections, pipes into a pager, and small help such as `echo`.
/// Variables that are set belong to it: with others it is another command.
pub(crate) fn runs(command: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut real = Vec::new();
    for part in split(command) {
        let Part::Simple(simple) = part else { continue };
        if simple.joint == Joint::Pipe {
            continue;
        }
        let words: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
        let mut named = words.iter().skip_while(|word| is_assignment(word));
        let Some(first) = named.next().or(words.first()) else {
            continue;
        };
        let run = crate::text::clip(&words.join(" "), 400).to_owned();
        if matches!(*first, "cd" | "pushd" | "popd") {
            continue;
        }
        if !(AIDS.contains(first)
            || words.starts_with(&["git", "stash"])
            || words.starts_with(&["git", "add"]))
        {
            real.push(run.clone());
        }
        all.push(run);
    }
    let mut runs = if real.is_empty() { all } else { real };
    if runs.is_empty() {
        runs.push(crate::text::clip(command.trim(), 400).to_owned());
    }
    runs.dedup();
    runs.truncate(32);
    runs
}

/// Commands that stand around the one that matters.
const AIDS: &[&str] = &[
    "set", "source", ".", "echo", "printf", "true", "false", "exit", "sleep", "mkdir", "ls", "cat",
    "wc", "head", "tail", "date", "pwd", "which", "trap", "wait", "then", "do", "done", "fi", "if",
    "for", "else", "{", "}",
];

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
    // Where the status is not told, the one that says "no" is as likely.
    let says_no = |no: i32| status.is_none_or(|status| status == no);
    last_known(command).is_some_and(|no| no.is_none_or(says_no))
}

/// Whether a command line only looks at things.
pub(crate) fn only_looks(command: &str) -> bool {
    let looks = |run: &String| last_known(run) == Some(None);
    runs(command).iter().all(looks)
}

/// What [`NO`] says of the last command of a line.
fn last_known(command: &str) -> Option<Option<i32>> {
    let mut last: Vec<String> = Vec::new();
    for part in split(command) {
        let Part::Simple(simple) = part else { continue };
        let words = simple.words.iter().map(|word| word.text.clone());
        let words: Vec<String> = words.skip_while(|word| is_assignment(word)).collect();
        if !words.is_empty() {
            last = words;
        }
    }
    let program = last.first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    let with_verb = last.get(1).map(|verb| format!("{program} {verb}"));
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
            ("grep x y && cargo build", 101, false),
            ("/usr/bin/test -f x", 1, true),
            ("", 1, false),
        ] {
            assert_eq!(means_no(command, Some(status)), no, "{command}");
        }
    }
}
