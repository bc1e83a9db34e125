//! Pages: the memory files, and how edits change them.
//!
//! An edit says what it wants to find and what it leaves, not where: it can be done
//! again, after a crash, and reversed, in whatever order, however others have written
//! to the file since. What stands as it was written goes, and what left for it comes
//! back. A line that somebody edited is theirs by now: it stays, without our pointer,
//! and is named.

use std::ops::Range;

use jiff::civil::DateTime;

use super::change::{Edit, Left, PageChange, Part, Way};
use super::page;
use crate::files::{DECISIONS, DETAILS, MEMORY, PROJECT, shown};

/// The files that a promotion may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pages {
    /// A statement is written before what points to it.
    pages: [Page; 3],
}

impl Pages {
    pub(super) fn read<E>(
        read: impl Fn(&'static str) -> Result<Option<String>, E>,
    ) -> Result<Pages, E> {
        let page = |file| Ok(Page::of(file, read(file)?));
        let pages = [page(PROJECT)?, page(DECISIONS)?, page(MEMORY)?];
        Ok(Pages { pages })
    }

    /// Makes edits; those that are made already change nothing.
    pub(super) fn apply(&mut self, edits: &[Edit]) {
        for edit in edits {
            let at = Pages::place(edit.file());
            self.pages[at].apply(edit);
            if let (Way::Out, Part::Statement { file, id, .. }) = (edit.way, &edit.part) {
                self.pages[Pages::place(MEMORY)].unpoint(file, id);
            }
        }
    }

    fn place(file: &str) -> usize {
        match file {
            MEMORY => 2,
            DECISIONS => 1,
            _ => 0,
        }
    }

    pub(super) fn page(&self, file: &str) -> &Page {
        &self.pages[Pages::place(file)]
    }

    /// What became of the files, changed ones only.
    pub(super) fn changes(&self) -> Vec<PageChange> {
        let each = self.pages.iter().map(|page| PageChange {
            file: page.file.to_owned(),
            before: page.before.clone(),
            after: page.is_there.then(|| page.text()),
        });
        each.filter(|page| page.before != page.after).collect()
    }

    /// Lines that stay though they were to go, since somebody edited them.
    pub(super) fn left(&self) -> Vec<Left> {
        let mut left = Vec::new();
        for page in &self.pages {
            for (line, number) in page.lines.iter().zip(1..).filter(|(line, _)| line.left) {
                left.push(Left {
                    file: page.file.to_owned(),
                    line: number,
                    text: shown(line.said()),
                });
            }
        }
        left
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Line {
    /// With its end.
    text: String,
    /// It is not as it was written.
    left: bool,
}

impl Line {
    fn said(&self) -> &str {
        self.text.trim_end()
    }

    fn is_blank(&self) -> bool {
        self.said().is_empty()
    }
}

/// A file, line by line. However it ends, it ends so after any edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    file: &'static str,
    before: Option<String>,
    is_there: bool,
    lines: Vec<Line>,
    /// How its lines end.
    end: &'static str,
    /// Whether the last does.
    is_ended: bool,
}

impl Page {
    fn of(file: &'static str, before: Option<String>) -> Page {
        let text = before.as_deref().unwrap_or_default();
        let (end, is_ended) = (line_end(text), text.is_empty() || text.ends_with('\n'));
        let line = |line: &str| Line {
            text: match line.ends_with('\n') {
                true => line.to_owned(),
                false => format!("{line}{end}"),
            },
            left: false,
        };
        Page {
            file,
            is_there: before.is_some(),
            lines: text.split_inclusive('\n').map(line).collect(),
            end,
            is_ended,
            before,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text: String = self.lines.iter().map(|line| line.text.as_str()).collect();
        // A blank line without its end would be none.
        if !self.is_ended && self.lines.last().is_some_and(|last| !last.is_blank()) {
            let length = text.strip_suffix(self.end).map_or(text.len(), str::len);
            text.truncate(length);
        }
        text
    }

    pub(super) fn is_there(&self) -> bool {
        self.is_there
    }

    pub(super) fn is_blank(&self) -> bool {
        self.lines.iter().all(Line::is_blank)
    }

    fn apply(&mut self, edit: &Edit) {
        self.is_there |= edit.way == Way::In;
        match (edit.way, &edit.part) {
            (Way::In, Part::File { .. }) => {}
            (Way::Out, Part::File { .. }) => {
                if self.is_blank() {
                    self.lines.clear();
                    self.is_there = false;
                }
            }
            (Way::In, Part::Heading { line, .. }) => self.add_heading(line),
            (Way::Out, Part::Heading { line, .. }) => self.remove_heading(line),
            (Way::In, Part::Statement { id, lines, .. }) => {
                let heading = heading(id);
                if self.section(&heading).is_none() {
                    let all = ["", heading.as_str()].into_iter();
                    for line in all.chain(lines.iter().map(String::as_str)) {
                        self.insert(self.lines.len(), line);
                    }
                }
            }
            (Way::Out, Part::Statement { id, lines, .. }) => self.remove_statement(id, lines),
            (
                way,
                Part::Ending {
                    id, line, ending, ..
                },
            ) => self.end_statement(way, id, line, ending),
            (Way::In, Part::Pointer { id, line, above }) => {
                if self.pointer(id).is_none() {
                    self.put_below(line, above);
                }
            }
            // No other line that points there: only this one is written down.
            (Way::Out, Part::Pointer { line, .. }) => {
                self.lines.retain(|one| one.said() != line);
            }
            (Way::In, Part::Time { now, before }) => self.set_time(before, now),
            (Way::Out, Part::Time { now, before }) => self.set_time(now, before),
        }
    }

    /// Says that a statement holds no longer, or again.
    fn end_statement(&mut self, way: Way, id: &str, line: &str, ending: &str) {
        let Some(at) = self.standing(id) else {
            return;
        };
        let now = &mut self.lines[at];
        match way {
            Way::In if now.said() == line => now.text.insert_str(line.len(), ending),
            Way::In => {}
            Way::Out if now.text.contains(ending) => now.text = now.text.replacen(ending, "", 1),
            Way::Out => now.left = now.said() != line,
        }
    }

    fn said(&self, at: usize) -> &str {
        self.lines[at].said()
    }

    /// Where a line stands, if it stands there once.
    fn only(&self, said: &str) -> Option<usize> {
        let mut found = (0..self.lines.len()).filter(|at| self.said(*at) == said);
        let at = found.next()?;
        found.next().is_none().then_some(at)
    }

    fn insert(&mut self, at: usize, said: &str) {
        let line = Line {
            text: format!("{said}{}", self.end),
            left: false,
        };
        self.lines.insert(at, line);
    }

    fn remove(&mut self, at: usize) {
        self.lines.remove(at);
    }

    /// The lines of a section: its heading, and what is below it.
    fn section(&self, heading: &str) -> Option<Range<usize>> {
        let start = self.lines.iter().position(|line| line.said() == heading)?;
        let rest = self.lines[start + 1..].iter();
        let length = rest.take_while(|line| !page::is_heading(line.said()));
        Some(start..start + 1 + length.count())
    }

    /// Where a section ends, but for what is quoted at its end.
    fn end_of(&self, section: Range<usize>) -> usize {
        let lines = section.clone().skip(1);
        let own = lines.take_while(|at| !self.said(*at).starts_with('>'));
        let last = own.filter(|at| !self.lines[*at].is_blank()).last();
        last.unwrap_or(section.start) + 1
    }

    /// The line that says since when a statement holds.
    fn standing(&self, id: &str) -> Option<usize> {
        let mut section = self.section(&heading(id))?;
        section.find(|at| {
            let said = self.said(*at);
            said.starts_with("- ") && said.contains("; valid from ")
        })
    }

    /// The line that points to a statement, whatever else was written behind it.
    fn pointer(&self, id: &str) -> Option<usize> {
        let points = |word: &str| {
            let target = word.split_once('#');
            target.is_some_and(|(file, to)| file.starts_with("memories/") && to == id)
        };
        let mut lines = self.lines.iter();
        lines.position(|line| line.said().split_whitespace().any(points))
    }

    /// The heading of one of these names, if it is there.
    pub(super) fn heading(&self, names: &[&str]) -> Option<String> {
        let title = |line: &str| line.trim_start_matches('#').trim().to_lowercase();
        let is_it = |line: &&str| {
            page::is_heading(line) && names.iter().any(|name| title(line) == name.to_lowercase())
        };
        let mut lines = self.lines.iter().map(Line::said);
        lines.find(is_it).map(str::to_owned)
    }

    /// What is to be written to say that a statement holds no longer.
    pub(super) fn ended(&self, id: &str, ending: String) -> Option<Part> {
        Some(Part::Ending {
            file: self.file.to_owned(),
            id: id.to_owned(),
            line: self.said(self.standing(id)?).to_owned(),
            ending,
        })
    }

    /// The line that points to a statement; nothing where none does.
    pub(super) fn pointed(&self, id: &str) -> Option<Part> {
        let at = self.pointer(id)?;
        Some(Part::Pointer {
            id: id.to_owned(),
            line: self.said(at).to_owned(),
            above: self.above(at),
        })
    }

    /// A pointer as the last line below a heading that is there.
    pub(super) fn pointing(&self, id: &str, heading: &str, line: String) -> Part {
        let section = self.section(heading);
        let at = section.map_or(self.lines.len(), |section| self.end_of(section));
        Part::Pointer {
            id: id.to_owned(),
            line,
            above: self.above(at),
        }
    }

    /// The lines above a place up to its heading, the nearest first.
    fn above(&self, at: usize) -> Vec<String> {
        let above = self.lines[..at].iter().rev().map(Line::said);
        let heading = above.clone().position(page::is_heading);
        let above = above.take(heading.map_or(at, |heading| heading + 1));
        above.map(str::to_owned).collect()
    }

    fn add_heading(&mut self, heading: &str) {
        if self.section(heading).is_some() {
            return;
        }
        if !self.lines.is_empty() {
            self.insert(self.lines.len(), "");
        }
        self.insert(self.lines.len(), heading);
    }

    /// Takes a heading out, if nothing is left below it.
    fn remove_heading(&mut self, heading: &str) {
        let Some(at) = self.only(heading) else {
            return;
        };
        let level = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
        let is_below = |line: &&Line| {
            let is_other = page::is_heading(line.said()) && level(line.said()) <= level(heading);
            !is_other
        };
        let mut below = self.lines[at + 1..].iter().take_while(is_below);
        if below.all(Line::is_blank) {
            self.remove(at);
            self.remove_gap(at);
        }
    }

    /// Takes the blank line above a place out.
    fn remove_gap(&mut self, at: usize) {
        if at > 0 && self.lines[at - 1].is_blank() {
            self.remove(at - 1);
        }
    }

    /// Takes a statement out. Lines that somebody edited or put between stay below a
    /// heading that is no statement's.
    fn remove_statement(&mut self, id: &str, written: &[String]) {
        let Some(section) = self.section(&heading(id)) else {
            // Whoever took the heading away has the rest of it.
            let run = |lines: &[Line]| lines.iter().map(Line::said).eq(written);
            if let Some(at) = self.lines.windows(written.len().max(1)).position(run) {
                for line in &mut self.lines[at..at + written.len()] {
                    line.left = !line.is_blank();
                }
            }
            return;
        };
        let start = section.start;
        let last = section.rev().find(|at| !self.lines[*at].is_blank());
        let range = start..last.unwrap_or(start) + 1;
        let mut open: Vec<&str> = written.iter().map(String::as_str).collect();
        // What is a person's stays as it was laid out, blank lines between it too.
        let (mut stays, mut blank): (Vec<Line>, Vec<Line>) = (Vec::new(), Vec::new());
        for line in &self.lines[range.clone()] {
            let said = line.said();
            if line.is_blank() {
                blank.push(line.clone());
            } else if let Some(at) = open.iter().position(|written| *written == said) {
                open.remove(at);
                blank.clear();
            } else if said != heading(id) {
                if !stays.is_empty() {
                    stays.append(&mut blank);
                }
                blank.clear();
                stays.push(Line {
                    text: line.text.clone(),
                    left: true,
                });
            }
        }
        if stays.is_empty() {
            self.lines.drain(range);
            self.remove_gap(start);
            return;
        }
        let named = Line {
            text: format!("### Edited by hand (was {id}){}", self.end),
            left: false,
        };
        stays.insert(0, named);
        self.lines.splice(range, stays);
    }

    /// Takes away what points to a statement that is gone. What somebody made of a
    /// pointer stays and points nowhere.
    fn unpoint(&mut self, file: &str, id: &str) {
        let (tail, anchor) = (format!("{DETAILS}{file}#{id}"), format!("#{id}"));
        while let Some(at) = self.pointer(id) {
            let line = &mut self.lines[at];
            for gone in [&tail, &anchor] {
                line.text = line.text.replace(gone, "");
            }
            line.left = true;
        }
    }

    /// Puts a line below the lines that are to stand above it, or the nearest of them
    /// that is still there, but not above its heading.
    fn put_below(&mut self, line: &str, above: &[String]) {
        let all = |at: &usize| {
            let now = self.lines[..*at].iter().rev().map(Line::said);
            now.take(above.len()).eq(above.iter().map(String::as_str))
        };
        if let Some(at) = (0..=self.lines.len())
            .find(all)
            .filter(|_| !above.is_empty())
        {
            return self.insert(at, line);
        }
        let mut gap = 0;
        for near in above {
            if near.is_empty() {
                gap += 1;
            } else if let Some(at) = self.only(near) {
                let blank = self.lines[at + 1..]
                    .iter()
                    .take_while(|line| line.is_blank());
                let at = at + 1 + blank.count().min(gap);
                return self.insert(at, line);
            } else {
                gap = 0;
            }
        }
        if let Some(heading) = above.last().filter(|heading| page::is_heading(heading)) {
            self.add_heading(heading);
        }
        self.insert(self.lines.len(), line);
    }

    /// When the file says it was changed, if it says so. What a person wrote behind
    /// the time, or in its place, is theirs.
    pub(super) fn time(&self) -> Option<&str> {
        self.lines.iter().find_map(|line| {
            let time = line.text.strip_prefix(UPDATED)?.get(..16)?;
            DateTime::strptime(MINUTE, time).is_ok().then_some(time)
        })
    }

    fn set_time(&mut self, from: &str, to: &str) {
        if self.time() != Some(from) {
            return;
        }
        let (from, to) = (format!("{UPDATED}{from}"), format!("{UPDATED}{to}"));
        let mut lines = self.lines.iter_mut();
        if let Some(line) = lines.find(|line| line.text.starts_with(&from)) {
            line.text.replace_range(..from.len(), &to);
        }
    }
}

/// What `MEMORY.md` says since when it is as it is.
const UPDATED: &str = "> Updated: ";
/// How a time is written there.
pub(super) const MINUTE: &str = "%Y-%m-%d %H:%M";

fn heading(id: &str) -> String {
    format!("### {id}")
}

/// How a file ends its lines: as the last does that ends.
pub(super) fn line_end(text: &str) -> &'static str {
    let end = text.rfind('\n');
    match end.is_some_and(|at| text[..at].ends_with('\r')) {
        true => "\r\n",
        false => "\n",
    }
}
