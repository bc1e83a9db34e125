//! Commands and how they ended: which fail now, which do not.
//!
//! Most endings are plain. Some are not: a list of commands where one may say
//! "no", a command that passed in another form. Those may be listed or not.

use std::collections::BTreeMap;

/// One run of a command.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) line: u64,
    pub(super) command: String,
    pub(super) output: String,
    pub(super) status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Passed,
    /// With its exit status, if that is known.
    Failed(Option<i64>),
    /// Refused by the user: it never ran.
    Refused,
}

/// Whether a command belongs among those that fail now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Must,
    May,
    Never,
}

impl Run {
    pub(super) fn new(line: u64, command: String, output: &str, is_error: bool) -> Run {
        let code = exit_code(output);
        let status = if super::event::is_refusal(output) {
            Status::Refused
        } else if is_error || code.is_some_and(|code| code != 0) {
            Status::Failed(code)
        } else {
            Status::Passed
        };
        Run {
            line,
            command: command.trim().to_owned(),
            output: output.to_owned(),
            status,
        }
    }

    /// The lines that the command itself put out.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        let frame = |line: &&str| {
            !line.is_empty()
                && !line.starts_with("Exit code ")
                && !line.starts_with("Command exited with code ")
        };
        self.output.lines().map(str::trim).filter(frame)
    }
}

fn exit_code(output: &str) -> Option<i64> {
    let first = output.lines().next().unwrap_or_default();
    let last = output.trim_end().lines().next_back().unwrap_or_default();
    let code = first
        .strip_prefix("Exit code ")
        .or_else(|| last.strip_prefix("Command exited with code "))?;
    code.trim().parse().ok()
}

/// The latest run of each command, and what is to be said about it.
pub(super) fn verdicts(runs: &[Run]) -> BTreeMap<&str, (Verdict, &Run)> {
    let mut latest: BTreeMap<&str, (usize, &Run)> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        latest.insert(&run.command, (at, run));
    }
    latest
        .into_iter()
        .map(|(command, (at, run))| (command, (verdict(run, &runs[at + 1..]), run)))
        .collect()
}

fn verdict(run: &Run, later: &[Run]) -> Verdict {
    let Status::Failed(code) = run.status else {
        return Verdict::Never;
    };
    let parts = parts(&run.command);
    let missing = says(run, &MISSING);
    let says_no = |part: &str| code == Some(1) && may_say_no(part);
    if let [only] = parts.as_slice() {
        let last = only.rsplit(" | ").next().unwrap_or(only);
        if says_no(last) || (missing && is_reader(last)) {
            return Verdict::Never;
        }
    }
    let same = core(&run.command);
    let plain = |part: &str| {
        part.replace('\\', " ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let own: Vec<String> = parts
        .iter()
        .map(|part| plain(part))
        .filter(|part| !part.is_empty())
        .collect();
    let contains = |other: &Run| {
        let all: Vec<String> = self::parts(&other.command)
            .iter()
            .map(|part| plain(part))
            .collect();
        own.iter().all(|part| all.contains(part))
    };
    let passed = |other: &Run| other.status == Status::Passed && core(&other.command) == same;
    let gone = |other: &Run| {
        let removes = other
            .command
            .split_whitespace()
            .any(|word| matches!(word, "rm" | "mv"));
        removes && names_one_of(&run.command, &other.command)
    };
    // A line joined by nothing but `&&` that passed ran all of its parts with
    // success: the latest run of this command passed.
    let certain = |other: &Run| {
        other.status == Status::Passed
            && !other
                .command
                .replace("\\\n", " ")
                .contains(['\n', ';', '|'])
            && contains(other)
    };
    if later.iter().any(certain) {
        return Verdict::Never;
    }
    // Behind a pipe, the status is another's.
    let piped = |part: &&str| {
        let first = part.split('|').next().unwrap_or(part);
        plain(&first.replace("2>&1", " "))
    };
    let aids = |part: &&&str| {
        !["cd ", "export ", "echo ", "git add "]
            .iter()
            .any(|aid| part.starts_with(aid))
    };
    let real: Vec<String> = parts.iter().filter(aids).map(piped).collect();
    let hidden = |other: &Run| {
        let all: Vec<String> = self::parts(&other.command).iter().map(piped).collect();
        other.status == Status::Passed && real.iter().all(|part| all.contains(part))
    };
    let unclear = missing
        || says(run, &STOPPED)
        || ends(run, &STOPPED)
        || parts.iter().any(|part| says_no(part))
        || later
            .iter()
            .any(|other| passed(other) || gone(other) || hidden(other));
    match unclear {
        true => Verdict::May,
        false => Verdict::Must,
    }
}

/// How programs say that a path is not there.
const MISSING: [&str; 4] = [
    "no such file or directory",
    "directory not found",
    "does not exist",
    "no matches found",
];
/// How agents say that the user stopped a command, at either end of its output.
const STOPPED: [&str; 2] = ["command aborted", "request interrupted"];

/// Whether a run begins with such words; further down they are a program's own.
fn says(run: &Run, what: &[&str]) -> bool {
    let begin: Vec<&str> = run.lines().take(3).collect();
    let begin = begin.join("\n").to_ascii_lowercase();
    what.iter().any(|what| begin.contains(what))
}

fn ends(run: &Run, what: &[&str]) -> bool {
    let last = run.lines().last().unwrap_or_default().to_ascii_lowercase();
    what.iter().any(|what| last.starts_with(what))
}

/// Whether two commands name the same path. An import of TypeScript names `a.ts` as
/// `a.js` (its reference of modules, "file extension substitution").
fn names_one_of(command: &str, other: &str) -> bool {
    let path = |word: &&str| word.contains(['/', '.']) && word.len() > 3;
    let imported = |word: &str| {
        let stem = word.strip_suffix("ts").or(word.strip_suffix("tsx"));
        stem.is_some_and(|stem| command.contains(&format!("{stem}js")))
    };
    other
        .split_whitespace()
        .filter(path)
        .any(|word| command.contains(word) || imported(word))
}

/// The commands of a list.
fn parts(command: &str) -> Vec<&str> {
    command
        .split(['\n', ';'])
        .flat_map(|part| part.split("&&"))
        .flat_map(|part| part.split("||"))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

/// A command without what does not change what it does.
fn core(command: &str) -> String {
    let parts = parts(command);
    let told: Vec<&str> = parts
        .iter()
        .filter(|part| !part.starts_with("cd ") && !part.starts_with("export "))
        .copied()
        .collect();
    let told = told.join(" && ").replace("2>&1", " ");
    let words: Vec<&str> = told.split_whitespace().collect();
    words.join(" ")
}

fn words(part: &str) -> impl Iterator<Item = &str> {
    part.split_whitespace()
        .skip_while(|word| word.contains('=') && !word.starts_with('-'))
}

/// Programs whose status 1 is documented as "no", not as an error.
fn may_say_no(part: &str) -> bool {
    let mut words = words(part);
    match words.next().unwrap_or_default() {
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" | "diff" | "cmp" | "test"
        | "[" | "[[" | "pgrep" | "pidof" | "which" | "type" | "command" | "hash" | "expr" => true,
        "git" => matches!(
            words.next(),
            Some("diff" | "grep" | "check-ignore" | "merge-base" | "show-ref")
        ),
        _ => false,
    }
}

/// Programs that only look; with a path that is not there they guessed.
fn is_reader(part: &str) -> bool {
    matches!(
        words(part).next().unwrap_or_default(),
        "ls" | "cat"
            | "head"
            | "tail"
            | "wc"
            | "stat"
            | "find"
            | "file"
            | "sed"
            | "grep"
            | "rg"
            | "cd"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str, output: &str) -> Run {
        let is_error = output.starts_with("Exit code");
        Run::new(1, command.into(), output, is_error)
    }

    #[test]
    fn what_failed_last_fails_now_and_nothing_else() {
        let runs = [
            run("make check", "Exit code 2\nerror: x"),
            run("make test", "Exit code 1\nboom"),
            run("make test", "ok"),
            run("grep -n a b", "Exit code 1"),
            run(
                "grep -n a c",
                "Exit code 2\ngrep: c: No such file or directory",
            ),
            run(
                "ls /nowhere",
                "Exit code 1\nls: /nowhere: No such file or directory",
            ),
            run("cd a && diff x y", "Exit code 1"),
            run("go build ./... 2>&1", "Exit code 1\n# pkg"),
            run("cd w && go build ./...", ""),
            run("make lint", "Exit code 1\nx"),
            run("make lint && make docs", "ok"),
            run("make deploy", "The user doesn't want to proceed"),
            run("tsx -e \"import './src/b/config.js'\"", "Exit code 1\nx"),
            run("cd src && mv b/config.ts .", ""),
        ];
        let verdicts = verdicts(&runs);
        let of = |command: &str| verdicts[command].0;
        assert_eq!(of("make check"), Verdict::Must);
        for never in [
            "make test",
            "grep -n a b",
            "grep -n a c",
            "ls /nowhere",
            "make deploy",
            "make lint",
        ] {
            assert_eq!(of(never), Verdict::Never, "{never}");
        }
        for may in [
            "cd a && diff x y",
            "go build ./... 2>&1",
            "tsx -e \"import './src/b/config.js'\"",
        ] {
            assert_eq!(of(may), Verdict::May, "{may}");
        }
    }
}
