//! What git and patches do to files.

use super::effects::{Effect, Shell};
use super::operands::{has_flag, operands};
use super::split::{Simple, Word};
use crate::facts::FileChange;
use crate::patch;

impl Shell {
    pub(super) fn git(&mut self, arguments: &[Word], simple: &Simple) {
        let mut arguments = arguments;
        let dir = self.dir.clone();
        while let Some((first, rest)) = arguments.split_first() {
            match first.text.as_str() {
                "-C" => {
                    let target = rest
                        .first()
                        .and_then(|word| self.values(word).into_iter().next());
                    self.dir = target.and_then(|dir| self.place(&dir));
                    arguments = rest.get(1..).unwrap_or(&[]);
                }
                "-c" => arguments = rest.get(1..).unwrap_or(&[]),
                text if text.starts_with('-') => arguments = rest,
                _ => break,
            }
        }
        if let Some((verb, rest)) = arguments.split_first() {
            let operands = operands("git", rest);
            let marker = rest.iter().position(|word| word.text == "--");
            match verb.text.as_str() {
                "mv" => self.transfer(&operands, &[], |from, to, into| Effect::Move {
                    from,
                    to,
                    into,
                }),
                "rm" if !rest.iter().any(|word| word.text == "--cached") => {
                    let tree = has_flag(rest, 'r');
                    self.each(&operands, |path| {
                        if tree {
                            Effect::DeleteTree(path)
                        } else {
                            Effect::Delete(path)
                        }
                    });
                }
                "checkout" => {
                    if let Some(at) = marker {
                        let files: Vec<&Word> = rest[at + 1..]
                            .iter()
                            .filter(|word| word.text != ".")
                            .collect();
                        self.each(&files, Effect::Change);
                    }
                }
                "restore"
                    if !rest
                        .iter()
                        .any(|word| word.text == "--staged" || word.text == "-S") =>
                {
                    let files: Vec<&Word> = operands
                        .into_iter()
                        .filter(|word| word.text != ".")
                        .collect();
                    self.each(&files, Effect::Change);
                }
                "apply" | "am" => self.diff(simple),
                _ => {}
            }
        }
        self.dir = dir;
    }

    pub(super) fn diff(&mut self, simple: &Simple) {
        if let Some(text) = &simple.heredoc {
            self.patch(text);
        }
    }

    pub(super) fn patch(&mut self, text: &str) {
        for edit in patch::files(text) {
            let Some(path) = self.place(&edit.path) else {
                continue;
            };
            let effect = match (edit.change, edit.moved_to) {
                (_, Some(to)) => match self.place(&to) {
                    Some(to) => Effect::Move {
                        from: path,
                        to,
                        into: false,
                    },
                    None => Effect::Change(path),
                },
                (FileChange::Created, None) => Effect::Write(path),
                (FileChange::Deleted, None) => Effect::Delete(path),
                (_, None) => Effect::Change(path),
            };
            self.list.push(effect);
        }
    }
}
