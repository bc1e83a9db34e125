//! Taking a promotion back from files that others have written to since.
//!
//! What stands as it was written goes, and what left for it comes back. A line
//! that somebody edited is theirs by now: it stays, without our pointer, and
//! whoever undoes is told of it. Nothing that is still needed by another
//! promotion goes: a heading leaves with the last line below it.

use std::collections::HashSet;

use serde::Serialize;

use super::candidate::Status;
use super::page;
use super::promote::{PageChange, Turn, line_end, points, updated, with_updated};
use crate::files::{MEMORY, shown};

/// A line that an undo leaves, because it was edited since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    /// The file, in the workspace.
    pub file: String,
    /// Its line after the undo, from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

/// What a file is without a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TakenBack {
    pub(super) text: String,
    pub(super) left: Vec<Left>,
}

/// What is to be taken back.
#[derive(Clone, Copy)]
pub(super) struct Promotion<'a> {
    /// The candidate that was promoted.
    pub(super) chosen: &'a str,
    /// What became of this and others.
    pub(super) turns: &'a [Turn],
    /// Those whose pointers do not come back.
    pub(super) kept_out: &'a HashSet<&'a str>,
}

/// The file as it is `now` without what a promotion did to it. `undone` is what
/// promotions did to it that were taken back before: a heading that one of them
/// made, or the end that it gave to a line, may have stayed for this one.
pub(super) fn taken_back(
    page: &PageChange,
    now: &str,
    promotion: Promotion<'_>,
    undone: &[&PageChange],
) -> TakenBack {
    let Promotion {
        chosen,
        turns,
        kept_out,
    } = promotion;
    let before = page.before.as_deref().unwrap_or_default();
    let after = page.after.as_deref().unwrap_or_default();
    // What nobody has touched is as it was, to the letter.
    let is_untouched = now == after && kept_out.is_empty();
    let mut text = Text::of(if is_untouched { before } else { now });
    if is_untouched {
        // Nothing is left to be done.
    } else if page.file == MEMORY {
        text.put_back(before, after, kept_out);
        text.unpoint(before, after, chosen);
    } else {
        for turn in turns {
            if matches!(turn.after.status, Status::Superseded { .. }) {
                text.reopen(before, after, &turn.id);
            }
        }
        text.unwrite(before, after, chosen);
    }
    text.unhead(before, after);
    for other in undone.iter().rev() {
        let before = other.before.as_deref().unwrap_or_default();
        text.unhead(before, other.after.as_deref().unwrap_or_default());
    }
    let earlier = undone.iter().rev().copied();
    text.end_as(std::iter::once(page).chain(earlier));
    let mut whole: String = text.lines.iter().map(|line| line.text.as_str()).collect();
    // A time that somebody else has set since stays as it is.
    if let Some(time) = updated(before)
        && updated(&whole) == updated(after)
    {
        whole = with_updated(&whole, time);
    }
    let left = text.lines.iter().zip(1..).filter(|(line, _)| line.left);
    TakenBack {
        left: left
            .map(|(line, number)| Left {
                file: page.file.clone(),
                line: number,
                text: shown(line.said()),
            })
            .collect(),
        text: whole,
    }
}

struct Line {
    /// With its end.
    text: String,
    /// It is not as it was written.
    left: bool,
}

impl Line {
    fn new(text: &str) -> Line {
        Line {
            text: text.to_owned(),
            left: false,
        }
    }

    fn said(&self) -> &str {
        self.text.trim_end()
    }

    fn is_blank(&self) -> bool {
        self.said().is_empty()
    }
}

struct Text {
    lines: Vec<Line>,
    /// How its lines end.
    end: &'static str,
}

impl Text {
    fn of(text: &str) -> Text {
        Text {
            lines: text.split_inclusive('\n').map(Line::new).collect(),
            end: line_end(text),
        }
    }

    /// Where a line stands, if it stands there once.
    fn only(&self, said: &str) -> Option<usize> {
        let mut found = (0..self.lines.len()).filter(|at| self.lines[*at].said() == said);
        let at = found.next()?;
        found.next().is_none().then_some(at)
    }

    fn insert(&mut self, at: usize, said: &str) {
        if let Some(above) = at
            .checked_sub(1)
            .and_then(|above| self.lines.get_mut(above))
            && !above.text.ends_with('\n')
        {
            above.text.push_str(self.end);
        }
        let line = format!("{said}{}", self.end);
        self.lines.insert(at, Line::new(&line));
    }

    /// Puts pointers back that left for the change: below the line that they
    /// stood below, or the nearest above it that is still there.
    fn put_back(&mut self, before: &str, after: &str, kept_out: &HashSet<&str>) {
        let stood: Vec<&str> = before.lines().map(str::trim_end).collect();
        let stay: HashSet<&str> = after.lines().map(str::trim_end).collect();
        for (at, line) in stood.iter().enumerate() {
            let Some(id) = pointed(line).filter(|id| !kept_out.contains(id)) else {
                continue;
            };
            let anchor = format!("#{id}");
            let is_there = self.lines.iter().any(|line| points(&line.text, &anchor));
            if stay.contains(line) || is_there {
                continue;
            }
            let above = stood[..at].iter().rev();
            let above = above.filter(|above| !above.is_empty());
            // Not past the heading: above it is another section.
            let mut near = Vec::new();
            for above in above {
                near.push(*above);
                if page::is_heading(above) {
                    break;
                }
            }
            match near.iter().find_map(|above| self.only(above)) {
                Some(above) => self.insert(above + 1, line),
                None => {
                    let end = self.lines.len();
                    match near.last().filter(|heading| page::is_heading(heading)) {
                        Some(heading) => {
                            self.insert(end, "");
                            self.insert(end + 1, heading);
                            self.insert(end + 2, line);
                        }
                        None => self.insert(end, line),
                    }
                }
            }
        }
    }

    /// Takes the pointer of the promoted one out. What somebody made of it stays
    /// and points nowhere: what it pointed to goes.
    fn unpoint(&mut self, before: &str, after: &str, id: &str) {
        let anchor = format!("#{id}");
        let pointer = |text: &str| -> Option<String> {
            let mut lines = text.lines();
            let line = lines.find(|line| points(line, &anchor))?;
            Some(line.trim_end().to_owned())
        };
        let Some(written) = pointer(after).filter(|_| pointer(before).is_none()) else {
            return;
        };
        let tail = written.rfind(TAIL).map(|at| &written[at..]);
        self.lines.retain(|line| line.said() != written);
        for line in &mut self.lines {
            if points(&line.text, &anchor) {
                line.text = match tail.filter(|tail| line.text.contains(*tail)) {
                    Some(tail) => line.text.replace(tail, ""),
                    None => line.text.replace(&anchor, ""),
                };
                line.left = true;
            }
        }
    }

    /// The lines of a section: its heading, and the end of what is below it.
    fn section(&self, heading: &str) -> Option<(usize, usize)> {
        let start = self.lines.iter().position(|line| line.said() == heading)?;
        let rest = self.lines[start + 1..].iter();
        let length = rest
            .take_while(|line| !page::is_heading(&line.text))
            .count();
        Some((start, start + 1 + length))
    }

    /// Which lines belong to the statements whose headings stand: several may
    /// have a line of the same words. What follows the evidence of one has lost
    /// its heading.
    fn of_statements(&self) -> Vec<bool> {
        #[derive(Clone, Copy, PartialEq)]
        enum Part {
            Said,
            Evidence,
            Nobody,
        }
        let mut part = Part::Nobody;
        let each = self.lines.iter().map(|line| {
            let said = line.said();
            part = match part {
                _ if page::begins(said) => Part::Said,
                _ if page::is_heading(said) => Part::Nobody,
                Part::Said if said.contains("; valid from ") => Part::Evidence,
                Part::Said => Part::Said,
                Part::Evidence if said.starts_with(page::EVIDENCE) => Part::Evidence,
                Part::Evidence | Part::Nobody => Part::Nobody,
            };
            part != Part::Nobody
        });
        each.collect()
    }

    /// Takes the statement of the promoted one out. Lines that somebody edited or
    /// put between stay below a heading that is no statement's.
    fn unwrite(&mut self, before: &str, after: &str, id: &str) {
        let heading = format!("### {id}");
        let after = Text::of(after);
        let Some((start, end)) = after.section(&heading) else {
            return;
        };
        if Text::of(before).section(&heading).is_some() {
            return;
        }
        let lines = after.lines[start + 1..end].iter();
        let mut written: Vec<&str> = lines
            .map(Line::said)
            .filter(|said| !said.is_empty())
            .collect();
        let Some((start, end)) = self.section(&heading) else {
            // Whoever took the heading away has the rest of it.
            let others = self.of_statements();
            for (line, is_other) in self.lines.iter_mut().zip(others) {
                line.left |= !is_other && written.contains(&line.said());
            }
            return;
        };
        let last = (start..end).rev().find(|at| !self.lines[*at].is_blank());
        let last = last.unwrap_or(start);
        let mut stays: Vec<Line> = Vec::new();
        for mut line in self.lines.drain(start..=last).skip(1) {
            match written.iter().position(|said| *said == line.said()) {
                Some(at) => {
                    written.remove(at);
                }
                None if line.is_blank() => {}
                None => {
                    line.left = true;
                    stays.push(line);
                }
            }
        }
        if stays.is_empty() {
            if start > 0 && self.lines[start - 1].is_blank() {
                self.lines.remove(start - 1);
            }
            return;
        }
        let heading = format!("### Edited by hand (was {id}){}", self.end);
        stays.insert(0, Line::new(&heading));
        self.lines.splice(start..start, stays);
    }

    /// A statement that had ended by the change goes on.
    fn reopen(&mut self, before: &str, after: &str, id: &str) {
        let heading = format!("### {id}");
        let standing = |text: &Text| -> Option<usize> {
            let (start, end) = text.section(&heading)?;
            (start..end).find(|at| text.lines[*at].text.contains("; valid from "))
        };
        let (was, became) = (Text::of(before), Text::of(after));
        let (Some(old), Some(new)) = (standing(&was), standing(&became)) else {
            return;
        };
        let (old, new) = (was.lines[old].said(), became.lines[new].said());
        let Some(ending) = new.strip_prefix(old).filter(|ending| !ending.is_empty()) else {
            return;
        };
        let Some(at) = standing(self) else {
            return;
        };
        let line = &mut self.lines[at];
        match line.text.contains(ending) {
            true => line.text = line.text.replacen(ending, "", 1),
            false => line.left = line.said() != old,
        }
    }

    /// Ends the last line as it did before the latest of these changes that found
    /// it last: a promotion ends it to write below, and another may have stayed
    /// there. What a promotion did not change, somebody else did.
    fn end_as<'a>(&mut self, mut changes: impl Iterator<Item = &'a PageChange>) {
        let bare = |line: &str| line.trim_end_matches(['\r', '\n']).to_owned();
        let Some(last) = self.lines.last_mut() else {
            return;
        };
        let ended = changes.find_map(|page| {
            let before = page.before.as_deref()?;
            let line = before.split_inclusive('\n').next_back()?;
            (bare(line) == bare(&last.text)).then_some((line, page.after.as_deref()?))
        });
        let is_as_it_was = |line: &str, after: &str| {
            let mut lines = after.split_inclusive('\n');
            lines.any(|other| other == line)
        };
        if let Some((line, _)) = ended.filter(|(line, after)| !is_as_it_was(line, after)) {
            last.text = line.to_owned();
        }
    }

    /// Takes headings out that the change made, if nothing is left below them.
    fn unhead(&mut self, before: &str, after: &str) {
        let had: HashSet<&str> = before.lines().map(str::trim_end).collect();
        let made = after.lines().map(str::trim_end);
        let made: Vec<&str> = made
            .filter(|line| page::is_heading(line) && !had.contains(line))
            .collect();
        for heading in made.into_iter().rev() {
            let Some(at) = self.only(heading) else {
                continue;
            };
            let level = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
            let below = self.lines[at + 1..].iter();
            let mut below = below.take_while(|line| {
                let own = level(&line.text);
                own == 0 || own > level(heading)
            });
            if below.any(|line| !line.is_blank()) {
                continue;
            }
            self.lines.remove(at);
            if at > 0 && self.lines[at - 1].is_blank() {
                self.lines.remove(at - 1);
            }
        }
    }
}

/// What stands between the words of a pointer and where it points to.
const TAIL: &str = " | Details → ";

/// The statement that a line points to, whatever else was written behind it.
fn pointed(line: &str) -> Option<&str> {
    line.split_whitespace().find_map(|word| {
        let (file, id) = word.split_once('#')?;
        (file.starts_with("memories/") && id.starts_with("d-")).then_some(id)
    })
}
