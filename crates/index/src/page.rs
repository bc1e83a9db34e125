//! Pages of promoted statements, read back: what each says, and which words of
//! which texts it quotes.

use std::borrow::Cow;

/// What the heading of a statement begins with, before its id.
const HEADING: &str = "### ";
/// What a line of its evidence begins with.
pub const EVIDENCE: &str = "- evidence: ";

/// A promoted statement, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its id; empty where the text begins behind it.
    pub id: String,
    /// What it says.
    pub said: String,
    /// What it is and since when it holds, as the page has it.
    pub standing: String,
    /// Its lines, from 1, the last included.
    pub lines: (u32, u32),
    /// What it quotes.
    pub quotes: Vec<Quote>,
}

/// Words of another text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Where they were said.
    pub place: Place,
    /// The words.
    pub words: String,
    /// The line of the page.
    pub line: u32,
}

/// Where words were said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// On a line of a log.
    Line(String, u32),
    /// In an entry of a session.
    Entry(String),
}

/// Whether promotions are written to this file.
pub fn is_page(file: &str) -> bool {
    file == "MEMORY.md" || file.starts_with("memories/")
}

/// Whether a line is a heading: a name that begins with `#`, as of a channel or an
/// issue, makes none.
pub fn is_heading(line: &str) -> bool {
    let behind = line.trim_start_matches('#');
    let signs = line.len() - behind.len();
    (1..=6).contains(&signs) && (behind.is_empty() || behind.starts_with(char::is_whitespace))
}

/// A statement as a line of a page, which must not pass for a heading.
pub fn escaped(said: &str) -> Cow<'_, str> {
    match is_heading(said) {
        true => Cow::Owned(format!("\\{said}")),
        false => Cow::Borrowed(said),
    }
}

/// What such a line says.
fn unescaped(line: &str) -> &str {
    match line.strip_prefix('\\') {
        Some(said) if is_heading(said) => said,
        _ => line,
    }
}

/// Whether a line begins a statement.
pub fn begins(line: &str) -> bool {
    id(line).is_some()
}

fn id(line: &str) -> Option<&str> {
    let id = line.trim_end().strip_prefix(HEADING)?;
    let hex = id.strip_prefix("d-")?;
    (hex.len() == 8 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

/// The headings that promotions write above statements and pointers.
const TITLES: [&str; 10] = [
    "Memory Index",
    "Project",
    "Key Constraints",
    "Constraints",
    "关键约束",
    "Decisions",
    "Key Decisions",
    "决策",
    "Learnt",
    "Facts",
];

/// Whether a line is one of them.
pub fn is_title(line: &str) -> bool {
    let line = line.trim();
    let name = line.trim_start_matches('#');
    name.len() < line.len()
        && TITLES
            .iter()
            .any(|title| title.eq_ignore_ascii_case(name.trim()))
}

/// The page and the id that a line of `MEMORY.md` points to.
pub fn pointed(line: &str) -> Option<(&str, &str)> {
    let target = line.rsplit_once('→')?.1.trim();
    let (page, id) = target.split_once('#')?;
    (page.starts_with("memories/") && id.starts_with("d-")).then_some((page, id))
}

/// The statements of a text whose first line has this number. A line that a
/// person put between those of a statement is none of its lines.
pub fn statements(text: &str, first: u32) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let empty = |id: &str, line: u32| Statement {
        id: id.to_owned(),
        said: String::new(),
        standing: String::new(),
        lines: (line, line),
        quotes: Vec::new(),
    };
    // Behind another heading, nothing is a statement's.
    let mut open = true;
    for (line, number) in text.lines().zip(first..) {
        if is_heading(line) {
            found.extend(id(line).map(|id| empty(id, number)));
            open = begins(line);
            continue;
        }
        if !open {
            continue;
        }
        if let Some(quote) = quote(line, number) {
            if found.is_empty() {
                found.push(empty("", number));
            }
            if let Some(last) = found.last_mut() {
                last.lines.1 = number;
                last.quotes.push(quote);
            }
        } else if let Some(last) = found.last_mut() {
            if line.contains("; valid from ") && last.standing.is_empty() {
                last.standing = line.trim_start_matches("- ").trim_end().to_owned();
                last.lines.1 = number;
            } else if number == last.lines.0 + 1 && !last.id.is_empty() {
                last.said = unescaped(line.trim_end()).to_owned();
                last.lines.1 = number;
            }
        }
    }
    found
}

impl Statement {
    /// Whether it holds no longer. When it did stands last, behind what it came
    /// in the place of.
    pub fn is_closed(&self) -> bool {
        let days = self.standing.rsplit_once("; valid from ");
        days.is_some_and(|(_, days)| days.contains(" until "))
    }

    /// Whether a line is one of those that a promotion writes.
    pub fn has(&self, line: &str, number: u32) -> bool {
        let is_head = number <= self.lines.0 + 1 && number >= self.lines.0;
        let is_standing = !self.standing.is_empty() && line.contains(&self.standing);
        is_head || is_standing
    }
}

/// `- evidence: memory/2026-03-09.md:6 (user): “Never push on Fridays.”`
fn quote(line: &str, number: u32) -> Option<Quote> {
    let (place, words) = line.strip_prefix(EVIDENCE)?.split_once("): “")?;
    let (place, _) = place.rsplit_once(" (")?;
    let words = words.trim_end().strip_suffix('”')?;
    let place = match place.rsplit_once(" entry ") {
        Some((_, entry)) => Place::Entry(entry.to_owned()),
        None => {
            let (file, line) = place.rsplit_once(':')?;
            Place::Line(file.to_owned(), line.parse().ok()?)
        }
    };
    Some(Quote {
        place,
        words: words.to_owned(),
        line: number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Project\n\nMine.\n\n### d-7c2f7d5f\nNever push on Fridays.\n\n- \
        constraint, said by the user; valid from 2026-03-09 until 2026-04-01, taken back\n- \
        evidence: memory/2026-03-09.md:6 (user): “Constraint: Never push on Fridays.”\n- \
        evidence: old (1).jsonl entry 4f2a91c0 (user): “never (“ever”) push”\nA note of mine.\n\n\
        ## Mine too\n- evidence: memory/2026-03-09.md:6 (user): “Constraint: Never”\n";

    #[test]
    fn a_statement_is_read_back_with_what_it_quotes() {
        assert_eq!(
            statements(PAGE, 1),
            [Statement {
                id: "d-7c2f7d5f".into(),
                said: "Never push on Fridays.".into(),
                standing: "constraint, said by the user; valid from 2026-03-09 until 2026-04-01, \
                           taken back"
                    .into(),
                lines: (5, 10),
                quotes: vec![
                    Quote {
                        place: Place::Line("memory/2026-03-09.md".into(), 6),
                        words: "Constraint: Never push on Fridays.".into(),
                        line: 9,
                    },
                    Quote {
                        place: Place::Entry("4f2a91c0".into()),
                        words: "never (“ever”) push".into(),
                        line: 10,
                    },
                ],
            }]
        );
    }

    #[test]
    fn a_part_of_a_statement_has_its_quotes_and_no_name() {
        let rest: String = PAGE.split_inclusive('\n').skip(8).take(1).collect();
        let [part] = &statements(&rest, 9)[..] else {
            panic!("one part")
        };
        assert_eq!((part.id.as_str(), part.quotes.len()), ("", 1));
        assert_eq!(part.quotes[0].line, 9);
    }

    #[test]
    fn a_pointer_names_page_and_statement() {
        let line = "- Never push on Fridays. | Details → memories/project.md#d-7c2f7d5f";
        assert_eq!(pointed(line), Some(("memories/project.md", "d-7c2f7d5f")));
        assert_eq!(pointed("- Build | Details → memories/project.md"), None);
        assert_eq!(pointed("- → src/lib.rs#d-7c2f7d5f"), None);
    }
}
