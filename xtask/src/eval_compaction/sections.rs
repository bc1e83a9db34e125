//! The summary in force, taken apart: sections, their items, the user's words.

/// The sections of a summary's mechanical part, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Said,
    Agreed,
    Work,
    Changed,
    Read,
    Failing,
    Open,
    Pending,
    Stands,
    Pinned,
}

impl Section {
    pub(super) const ALL: [Section; 10] = [
        Section::Said,
        Section::Agreed,
        Section::Work,
        Section::Changed,
        Section::Read,
        Section::Failing,
        Section::Open,
        Section::Pending,
        Section::Stands,
        Section::Pinned,
    ];

    pub(super) fn heading(self) -> &'static str {
        match self {
            Section::Said => {
                "## What the user said (word for word, oldest first; answered unless marked)"
            }
            Section::Agreed => "## What was agreed",
            Section::Work => "## Work by turn",
            Section::Changed => "## Files changed",
            Section::Read => "## Files only read",
            Section::Failing => "## Failing now",
            Section::Open => "## Open",
            Section::Pending => "## Lines with pending words",
            Section::Stands => "## Where the work stands",
            Section::Pinned => "## Pinned",
        }
    }
}

/// One item of a section: its line, and what stands below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) line: String,
    /// Lines in a code fence, as they were.
    pub(super) fenced: Option<String>,
    /// Lines below the first one that are in no fence.
    pub(super) below: Vec<String>,
}

impl Item {
    /// Whether it only says how many are not shown.
    pub(super) fn is_rest(&self) -> bool {
        self.line.starts_with("- +")
    }

    /// Everything it says.
    pub(super) fn text(&self) -> String {
        let mut text = self.line.clone();
        for more in self.below.iter().chain(&self.fenced) {
            text.push('\n');
            text.push_str(more);
        }
        text
    }
}

/// A user text as a summary shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SaidItem {
    pub(super) number: u32,
    /// State, channel and whether it is shortened.
    pub(super) marks: String,
    pub(super) words: String,
}

impl SaidItem {
    pub(super) fn is_shortened(&self) -> bool {
        self.marks.contains("shortened")
    }

    fn parse(item: &Item) -> Option<SaidItem> {
        let rest = item.line.strip_prefix("- #")?;
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number = rest[..digits].parse().ok()?;
        let rest = &rest[digits..];
        // Marks in brackets, which a question among them may hold too.
        let (marks, words) = match rest.strip_prefix(" [") {
            Some(rest) => rest.split_once("]:")?,
            None => ("", rest.strip_prefix(':')?),
        };
        Some(SaidItem {
            number,
            marks: marks.to_owned(),
            words: match &item.fenced {
                Some(fenced) => fenced.clone(),
                None => words.trim().to_owned(),
            },
        })
    }
}

/// A summary, taken apart.
#[derive(Debug, Default)]
pub(super) struct Sections {
    items: Vec<(Section, Item)>,
    /// The mechanical part, from its first heading on.
    pub(super) mechanical: String,
}

impl Sections {
    pub(super) fn parse(summary: &str) -> Sections {
        let mut sections = Sections::default();
        let mut within: Option<Section> = None;
        let mut fence: Option<Fence> = None;
        for line in summary.lines() {
            if fence.is_none()
                && let Some(heading) = heading(line)
            {
                within = heading;
                // Prose may use a heading too; what comes last is ours.
                sections.items.retain(|(of, _)| Some(*of) != heading);
            }
            // What follows a rule is addressed to the model.
            if fence.is_none() && line == "---" {
                within = None;
                continue;
            }
            if within.is_some() || !sections.mechanical.is_empty() {
                sections.mechanical.push_str(line);
                sections.mechanical.push('\n');
            }
            let fenced = sections.items.last_mut();
            match &mut fence {
                Some(open) if open.closes(line) => {
                    let body = open.body.join("\n");
                    if let (Some((_, item)), Some(_)) = (fenced, within) {
                        item.fenced = Some(body);
                    }
                    fence = None;
                }
                Some(open) => open.take(line),
                None => match (Fence::open(line), within) {
                    (Some(open), _) => fence = Some(open),
                    (None, Some(within)) => sections.line(within, line),
                    (None, None) => {}
                },
            }
        }
        sections
    }

    fn line(&mut self, within: Section, line: &str) {
        if line.starts_with("## ") || line.trim().is_empty() {
            return;
        }
        let new = line.starts_with("- ") || !line.starts_with([' ', '\t']);
        match self.items.last_mut() {
            Some((of, item)) if *of == within && !new => item.below.push(line.to_owned()),
            _ => self.items.push((
                within,
                Item {
                    line: line.to_owned(),
                    fenced: None,
                    below: Vec::new(),
                },
            )),
        }
    }

    pub(super) fn items(&self, section: Section) -> impl Iterator<Item = &Item> {
        self.items
            .iter()
            .filter(move |(of, _)| *of == section)
            .map(|(_, item)| item)
    }

    pub(super) fn said(&self) -> Vec<SaidItem> {
        self.items(Section::Said)
            .filter_map(SaidItem::parse)
            .collect()
    }
}

/// A heading of ours, or (`Some(None)`) another one of that rank.
fn heading(line: &str) -> Option<Option<Section>> {
    line.starts_with("## ").then(|| {
        Section::ALL
            .into_iter()
            .find(|section| section.heading() == line.trim_end())
    })
}

/// A code fence that is open.
struct Fence {
    indent: usize,
    ticks: usize,
    body: Vec<String>,
}

fn ticks(line: &str) -> (usize, usize) {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let ticks = line[indent..].len() - line[indent..].trim_start_matches('`').len();
    (indent, ticks)
}

impl Fence {
    fn open(line: &str) -> Option<Fence> {
        let (indent, ticks) = ticks(line);
        let body = Vec::new();
        let opens = ticks >= 3 && !line[indent + ticks..].contains('`');
        opens.then_some(Fence {
            indent,
            ticks,
            body,
        })
    }

    fn closes(&self, line: &str) -> bool {
        let (indent, ticks) = ticks(line);
        ticks >= self.ticks && line[indent + ticks..].trim().is_empty()
    }

    fn take(&mut self, line: &str) {
        let indent = ticks(line).0.min(self.indent);
        self.body.push(line[indent..].to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "\
Prose of a model.

## Goal
- nothing of ours

## What the user said (word for word, oldest first; answered unless marked)
- #1: do the first thing
- #2 [interrupted, queued, shortened ·d4]:
  ````text
  ## Open
  - not an item
      indented
  ```
  ````
- +37 more, not shown: recall brings them back (query, or an id)
- #40 [open]: and this

## Files changed
(relative to /w)
- a.rs (edited)

## Open
- [ ] write the page

---
- go on
";

    #[test]
    fn sections_are_told_apart_and_fences_are_not_read() {
        let sections = Sections::parse(SUMMARY);
        let said = sections.said();
        assert_eq!(said.len(), 3);
        assert_eq!(said[0].words, "do the first thing");
        assert_eq!(
            said[1],
            SaidItem {
                number: 2,
                marks: "interrupted, queued, shortened ·d4".into(),
                words: "## Open\n- not an item\n    indented\n```".into(),
            }
        );
        assert!(said[1].is_shortened());
        assert_eq!((said[2].number, said[2].words.as_str()), (40, "and this"));
        let open: Vec<String> = sections.items(Section::Open).map(Item::text).collect();
        assert_eq!(open, ["- [ ] write the page"]);
        assert_eq!(sections.items(Section::Changed).count(), 2);
        assert!(sections.items(Section::Said).any(Item::is_rest));
        assert!(sections.mechanical.starts_with("## What the user said"));
    }
}
