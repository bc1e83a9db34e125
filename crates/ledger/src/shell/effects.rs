//! The files a command line reads, writes, removes and moves.

use std::collections::BTreeMap;

use super::operands::{has_flag, is_in_place, operands};
use super::split::{END, Joint, Part, Simple, VAR, Word, is_assignment, split};

/// One thing done to one path, as the command says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    Read(String),
    /// Written anew.
    Write(String),
    /// Changed in place or appended to.
    Change(String),
    /// Made if it was not there.
    Touch(String),
    Delete(String),
    /// A folder with everything in it, or a file.
    DeleteTree(String),
    Move {
        from: String,
        to: String,
        /// The target is known to be a folder.
        into: bool,
    },
    /// A copy: the target is written.
    Copy {
        from: String,
        to: String,
        into: bool,
    },
    /// Something whose name fits a glob came into a folder, and nobody knows what.
    Arrival {
        folder: String,
        glob: String,
    },
}

/// What a command line does, in order, and the folder it ends in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    pub(crate) list: Vec<Effect>,
    /// The folder at the end, relative to the one at the start; `None` when it
    /// cannot be told.
    pub(crate) dir: Option<String>,
}

const MOST: usize = 400;

pub(super) struct Shell {
    pub(super) dir: Option<String>,
    stack: Vec<Option<String>>,
    vars: BTreeMap<String, Vec<String>>,
    /// Variables that a loop takes through what one glob stands for.
    globs: BTreeMap<String, String>,
    pub(super) list: Vec<Effect>,
    depth: u8,
}

/// What a command does to files. Paths stay relative when they are.
pub(crate) fn effects(command: &str) -> Effects {
    let mut shell = Shell {
        dir: Some(String::new()),
        stack: Vec::new(),
        vars: BTreeMap::new(),
        globs: BTreeMap::new(),
        list: Vec::new(),
        depth: 0,
    };
    shell.run(command);
    Effects {
        list: shell.list,
        dir: shell.dir,
    }
}

impl Shell {
    fn run(&mut self, command: &str) {
        for part in split(command) {
            match part {
                Part::Open => self.stack.push(self.dir.clone()),
                Part::Close => {
                    if let Some(dir) = self.stack.pop() {
                        self.dir = dir;
                    }
                }
                Part::Simple(simple) => self.simple(&simple),
            }
            if self.list.len() > MOST {
                return;
            }
        }
    }

    /// All values a word can have; none when one part is unknown.
    pub(super) fn values(&self, word: &Word) -> Vec<String> {
        if word.glob {
            return Vec::new();
        }
        let mut values = vec![String::new()];
        let mut rest = word.text.as_str();
        while let Some(at) = rest.find(VAR) {
            let (before, after) = rest.split_at(at);
            let after = &after[VAR.len_utf8()..];
            let Some(end) = after.find(END) else {
                return Vec::new();
            };
            let Some(known) = self.vars.get(&after[..end]) else {
                return Vec::new();
            };
            values = values
                .iter()
                .flat_map(|value| known.iter().map(move |var| format!("{value}{before}{var}")))
                .take(64)
                .collect();
            rest = &after[end + END.len_utf8()..];
        }
        for value in &mut values {
            value.push_str(rest);
        }
        values
    }

    /// The paths a word names.
    fn paths(&self, word: &Word) -> Vec<String> {
        self.values(word)
            .into_iter()
            .filter_map(|value| self.place(&value))
            .collect()
    }

    /// A path seen from where the command line began.
    pub(super) fn place(&self, path: &str) -> Option<String> {
        if path.is_empty()
            || path == "-"
            || path.len() > 1024
            || path.starts_with("/dev/")
            || path.starts_with("/proc/")
            || path.contains(['\n', '\0', '|', '<', '>'])
            || path.contains("://")
        {
            return None;
        }
        if path.starts_with('/') || path.starts_with('~') {
            return Some(path.to_owned());
        }
        match self.dir.as_deref()? {
            "" => Some(path.to_owned()),
            dir => Some(format!("{}/{path}", dir.trim_end_matches('/'))),
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let mut words = &simple.words[..];
        // What only runs when something failed did probably not run.
        let doubtful = simple.joint == Joint::Or;
        while let Some((first, rest)) = words.split_first() {
            let text = first.text.as_str();
            if first.quoted {
                break;
            }
            match text {
                "if" | "then" | "else" | "elif" | "do" | "while" | "until" | "!" | "{" | "time"
                | "nohup" | "command" | "exec" | "sudo" | "doas" | "env" | "builtin" | "stdbuf"
                | "nice" => {
                    words = rest;
                    while let Some((option, rest)) = words.split_first()
                        && option.text.starts_with('-')
                        && matches!(text, "sudo" | "env" | "nice" | "stdbuf")
                    {
                        words = rest;
                        if matches!(option.text.as_str(), "-u" | "-n" | "-g") && !words.is_empty() {
                            words = &words[1..];
                        }
                    }
                }
                "timeout" => words = rest.get(1..).unwrap_or(&[]),
                "for" => {
                    self.bind_loop(rest);
                    return;
                }
                _ if is_assignment(text) => {
                    if let Some((name, _)) = text.split_once('=') {
                        let value = Word {
                            text: text[name.len() + 1..].to_owned(),
                            ..first.clone()
                        };
                        let values = self.values(&value);
                        match values.len() {
                            1 => self.vars.insert(name.to_owned(), values),
                            _ => self.vars.remove(name),
                        };
                    }
                    words = rest;
                }
                _ => break,
            }
        }
        if !doubtful {
            if let Some((command, arguments)) = words.split_first() {
                let name = command.text.rsplit('/').next().unwrap_or("").to_owned();
                self.command(&name, arguments, simple);
            }
            for redirect in &simple.redirects {
                for path in self.paths(&redirect.target) {
                    match (redirect.input, redirect.append) {
                        (true, _) => {}
                        (false, true) => self.list.push(Effect::Change(path)),
                        (false, false) => self.list.push(Effect::Write(path)),
                    }
                }
            }
        }
    }

    fn bind_loop(&mut self, words: &[Word]) {
        let Some((name, rest)) = words.split_first() else {
            return;
        };
        let list = match rest.split_first() {
            Some((word, list)) if word.text == "in" => list,
            _ => return,
        };
        self.globs.remove(&name.text);
        if let [only] = list
            && let Some(glob) = self.glob(only)
        {
            self.globs.insert(name.text.clone(), glob);
        }
        let mut values = Vec::new();
        for word in list {
            let some = self.values(word);
            if some.is_empty() {
                self.vars.remove(&name.text);
                return;
            }
            values.extend(some);
        }
        values.truncate(64);
        self.vars.insert(name.text.clone(), values);
    }

    /// The glob that a word is, or the one that its variable stands for.
    fn glob(&self, word: &Word) -> Option<String> {
        let inside = |word: &str| word.strip_prefix(VAR)?.strip_suffix(END).map(str::to_owned);
        match inside(&word.text) {
            Some(name) => self.globs.get(&name).cloned(),
            None => (word.glob && !word.text.contains(VAR)).then(|| word.text.clone()),
        }
    }

    fn command(&mut self, name: &str, arguments: &[Word], simple: &Simple) {
        let operands = operands(name, arguments);
        let has = |flag: char| has_flag(arguments, flag);
        match name {
            "cd" | "pushd" => {
                let target = operands
                    .first()
                    .and_then(|word| self.values(word).into_iter().next());
                self.dir = target
                    .filter(|dir| dir != "-")
                    .and_then(|dir| self.place(&dir));
            }
            "popd" => self.dir = None,
            "cat" | "head" | "tail" | "less" | "more" | "nl" | "wc" | "bat" | "od" | "xxd"
            | "tac" => {
                self.each(&operands, Effect::Read);
            }
            "sed" | "gsed" => self.sed(arguments),
            "perl" => {
                let in_place = arguments.iter().any(|word| {
                    word.text.starts_with('-')
                        && !word.text.starts_with("--")
                        && word.text[1..].contains('i')
                        && !word.text.contains('M')
                });
                if in_place {
                    // The program follows -e; files come after it.
                    self.each(&operands, Effect::Change);
                }
            }
            "tee" => {
                let append = has('a');
                self.each(&operands, |path| {
                    if append {
                        Effect::Change(path)
                    } else {
                        Effect::Write(path)
                    }
                });
            }
            "touch" => self.each(&operands, Effect::Touch),
            "truncate" => self.each(&operands, Effect::Change),
            "rm" | "unlink" | "trash" => {
                let tree =
                    has('r') || has('R') || arguments.iter().any(|word| word.text == "--recursive");
                self.each(&operands, |path| {
                    if tree {
                        Effect::DeleteTree(path)
                    } else {
                        Effect::Delete(path)
                    }
                });
            }
            "mv" => self.transfer(&operands, arguments, |from, to, into| Effect::Move {
                from,
                to,
                into,
            }),
            "cp" | "install" if !(name == "install" && has('d')) => {
                self.transfer(&operands, arguments, |from, to, into| Effect::Copy {
                    from,
                    to,
                    into,
                });
            }
            "ln" => {
                if let [_, target] = &operands[..] {
                    self.each(&[*target], Effect::Write);
                }
            }
            "dd" => {
                for word in arguments {
                    if let Some(path) = word.text.strip_prefix("of=") {
                        let target = Word {
                            text: path.to_owned(),
                            ..word.clone()
                        };
                        self.each(&[&target], Effect::Write);
                    }
                }
            }
            "git" => self.git(arguments, simple),
            "patch" => {
                self.diff(simple);
                if simple.heredoc.is_none() {
                    self.each(operands.get(..1).unwrap_or(&[]), Effect::Change);
                }
            }
            "apply_patch" | "applypatch" => {
                let text = simple
                    .heredoc
                    .clone()
                    .or_else(|| arguments.first().map(|word| word.text.clone()))
                    .unwrap_or_default();
                self.patch(&text);
            }
            "bash" | "sh" | "zsh" | "dash" if self.depth < 3 => {
                let at = arguments
                    .iter()
                    .position(|word| word.text.starts_with('-') && word.text.ends_with('c'));
                if let Some(script) = at.and_then(|at| arguments.get(at + 1)) {
                    let script = script.text.clone();
                    self.depth += 1;
                    self.stack.push(self.dir.clone());
                    self.run(&script);
                    self.dir = self.stack.pop().flatten();
                    self.depth -= 1;
                }
            }
            _ => {}
        }
    }

    pub(super) fn each(&mut self, words: &[&Word], effect: impl Fn(String) -> Effect) {
        for word in words {
            let paths = self.paths(word);
            self.list.extend(paths.into_iter().map(&effect));
        }
    }

    fn sed(&mut self, arguments: &[Word]) {
        let in_place = arguments.iter().any(|word| {
            !word.quoted
                && (word.text == "--in-place"
                    || word.text.starts_with("--in-place=")
                    || is_in_place(&word.text))
        });
        let mut files = Vec::new();
        let mut script = false;
        let mut skip = false;
        let mut bare = false;
        for word in arguments {
            if std::mem::take(&mut skip) {
                continue;
            }
            let text = word.text.as_str();
            if !word.quoted && text.starts_with('-') && text.len() > 1 {
                script |= text == "-e" || text == "-f" || text.starts_with("--expression");
                skip = text == "-e" || text == "-f";
                bare |= text == "-i";
                continue;
            }
            // BSD's `-i ''`: the empty suffix is a word of its own.
            if text.is_empty() && std::mem::take(&mut bare) {
                continue;
            }
            bare = false;
            if !script {
                script = true;
                continue;
            }
            files.push(word);
        }
        match in_place {
            true => self.each(&files, Effect::Change),
            false => self.each(&files, Effect::Read),
        }
    }

    /// Moves and copies: the last operand, or the one after `-t`, is the target.
    pub(super) fn transfer(
        &mut self,
        operands: &[&Word],
        arguments: &[Word],
        effect: impl Fn(String, String, bool) -> Effect,
    ) {
        let given = arguments
            .iter()
            .position(|word| word.text == "-t")
            .and_then(|at| arguments.get(at + 1));
        let (sources, target) = match given {
            Some(target) => (
                operands
                    .iter()
                    .copied()
                    .filter(|word| *word != target)
                    .collect::<Vec<_>>(),
                target,
            ),
            None => match operands.split_last() {
                Some((target, sources)) if !sources.is_empty() => (sources.to_vec(), *target),
                _ => return,
            },
        };
        let Some(to) = self.paths(target).into_iter().next() else {
            // Gone is gone, wherever it went.
            return;
        };
        let into = given.is_some()
            || sources.len() > 1
            || to.ends_with('/')
            || to == "."
            || to.ends_with("/.");
        for source in sources {
            for from in self.paths(source) {
                self.list.push(effect(from, to.clone(), into));
            }
            let folder = to.clone();
            let arrival = self.glob(source);
            let arrival = arrival.map(|glob| Effect::Arrival { folder, glob });
            self.list.extend(arrival);
        }
    }
}
