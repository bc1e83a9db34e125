//! Pointers: what the lines of `MEMORY.md` refer to.
//!
//! Branches, media types, hosts and names of programs look like paths too, and a
//! pointer that is dead takes its line out of `MEMORY.md`. So a name is taken at its
//! word only behind an arrow or in a link, and only where it is a file in a folder, or
//! Markdown; anything else is a pointer where the workspace has it, or had it.

use std::fs;
use std::path::{Component, Path};

use longhaul_index::page;

use super::{MOST_FILE_BYTES, MemoryFolder, place};

/// Stands at the end of a line whose pointer is stale.
pub(super) const STALE: &str = " (stale: verify)";

/// A file that a line points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// The line, from 1.
    pub line: usize,
    /// The path as it is written, without anchor and line number.
    pub target: String,
    /// The section it points to, behind a `#`.
    pub anchor: Option<String>,
}

/// Where a pointer leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    There,
    Gone,
    Outside,
}

impl MemoryFolder {
    /// The pointers of a text: after an arrow (`→ memories/project.md`), targets of
    /// links (`[plan](plan.md)`, `[[plan]]`), and what stands in code and is or was a
    /// file here. Addresses of the web are none.
    pub fn pointers(&self, text: &str) -> Vec<Pointer> {
        let known = self.hashes().unwrap_or_default();
        pointers(text, &|path| {
            known.pointers.contains_key(path) || self.leads(path) == Target::There
        })
    }

    pub(super) fn leads(&self, target: &str) -> Target {
        let path = self.root().join(target);
        let climbs = Path::new(target)
            .components()
            .any(|part| part == Component::ParentDir);
        match fs::canonicalize(&path) {
            Ok(real) if real.starts_with(self.root()) => Target::There,
            Ok(_) => Target::Outside,
            Err(_) if climbs || target.starts_with("~/") => Target::Outside,
            Err(_) if !path.starts_with(self.root()) => Target::Outside,
            Err(_) => Target::Gone,
        }
    }

    /// Whether a file that is there has the section of an anchor. What cannot be
    /// told counts as there: only Markdown has sections that are known here, and
    /// that a file cannot be read is told of the file.
    pub(super) fn has_section(&self, target: &str, anchor: &str) -> bool {
        match place::read(self.root(), target, MOST_FILE_BYTES) {
            Ok(Some(text)) => !target.ends_with(".md") || has_section(&text, anchor),
            Ok(None) | Err(_) => true,
        }
    }
}

/// A line without the mark that it is stale.
pub(super) fn unmarked(line: &str) -> &str {
    line.strip_suffix(STALE).unwrap_or(line)
}

/// How a pointer is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Pointed,
    Page,
    Code,
}

/// The pointers of a text in a workspace of which is known what is or was there.
fn pointers(text: &str, is_known: &dyn Fn(&str) -> bool) -> Vec<Pointer> {
    let mut found: Vec<Pointer> = Vec::new();
    for (whole, line) in text.lines().zip(1..) {
        for (target, form) in targets(unmarked(whole)) {
            let (path, anchor) = divided(target);
            let has_ending = ending(path).is_some();
            let target = match form {
                Form::Page if !has_ending => format!("{path}.md"),
                _ => path.to_owned(),
            };
            let is_path = has_ending || target.contains('/') || form == Form::Page;
            let is_one =
                is_path && (is_known(&target) || (form == Form::Pointed && names_a_file(path)));
            let pointer = Pointer {
                line,
                target,
                anchor: anchor.map(str::to_owned),
            };
            if is_one && !found.contains(&pointer) {
                found.push(pointer);
            }
        }
    }
    found
}

/// What may be the targets of a line.
fn targets(line: &str) -> impl Iterator<Item = (&str, Form)> {
    fn until(text: &str, end: char) -> Option<&str> {
        text.split(end).next()
    }
    let arrows = line.split('→').skip(1);
    let arrows = arrows.filter_map(|rest| Some((rest.split_whitespace().next()?, Form::Pointed)));
    let links = line.split("](").skip(1).filter_map(|rest| {
        let target = match rest.strip_prefix('<') {
            Some(rest) => until(rest, '>'),
            None => until(rest, ')'),
        };
        Some((target?, Form::Pointed))
    });
    let pages = line.split("[[").skip(1).filter_map(|rest| {
        let (inside, _) = rest.split_once("]]")?;
        Some((until(inside, '|')?, Form::Page))
    });
    let code = line.split('`').skip(1).step_by(2);
    let code = code.filter_map(|inside| Some((inside.split_whitespace().next()?, Form::Code)));
    arrows.chain(links).chain(pages).chain(code)
}

/// What ends a target and is not of it.
const ENDS: [char; 5] = [',', ';', '.', ')', '|'];

/// A target without its anchor and line numbers, and the anchor.
fn divided(target: &str) -> (&str, Option<&str>) {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.trim_end_matches(ENDS))),
        None => (target, None),
    };
    let path = path.trim_end_matches(ENDS);
    let is_number = |c: char| c.is_ascii_digit() || c == '-' || c == ':';
    let path = match path.split_once(':') {
        Some((path, lines)) if lines.chars().all(is_number) => path,
        _ => path,
    };
    (path, anchor.filter(|anchor| !anchor.is_empty()))
}

/// The ending of a file's name.
fn ending(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.')?;
    let is_one = !stem.is_empty()
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_one.then_some(ending)
}

/// Whether a name can only be that of a file: it begins at a folder, or has an ending
/// and stands in a folder that is no host, or is Markdown.
fn names_a_file(path: &str) -> bool {
    let is_plain = !path.contains([':', '*', '(', '{', '[', '<', '=', '"', '`', '%', '@', '…']);
    let ending = ending(path);
    is_plain
        && match path.split_once('/') {
            Some(("." | "..", _)) => true,
            Some((folder, _)) => ending.is_some() && !folder.trim_start_matches('.').contains('.'),
            None => ending == Some("md"),
        }
}

/// Whether a text has a heading of that name, as it is written or as web pages
/// of it name it.
fn has_section(text: &str, anchor: &str) -> bool {
    let mut headings = text.lines().filter(|line| page::is_heading(line));
    headings.any(|line| {
        let heading = line.trim_matches('#').trim();
        heading == anchor || slug(heading) == slug(anchor)
    })
}

/// The name of a heading in an address: small letters, a dash for each space,
/// without punctuation.
fn slug(heading: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let lower = heading.to_lowercase().replace(' ', "-");
    lower.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, there: &[&str]) -> Vec<String> {
        let all = pointers(text, &|path| there.contains(&path)).into_iter();
        all.map(|pointer| match pointer.anchor {
            Some(anchor) => format!("{}:{}#{anchor}", pointer.line, pointer.target),
            None => format!("{}:{}", pointer.line, pointer.target),
        })
        .collect()
    }

    #[test]
    fn arrows_and_links_point_and_addresses_do_not() {
        let text = "- Name: x | Details → memories/project.md#m-1\n\
                    - [plan](docs/plan.md#now), → src/main.rs:12:5 and → notes.md.\n\
                    - see https://a.b/c.md, [x](https://a.b/c.md), → https://a.b/c.md\n\
                    - [x](<docs/an angle.md>) → ../x.md (stale: verify)\n";
        assert_eq!(
            found(text, &[]),
            [
                "1:memories/project.md#m-1",
                "2:src/main.rs",
                "2:notes.md",
                "2:docs/plan.md#now",
                "4:../x.md",
                "4:docs/an angle.md",
            ]
        );
    }

    #[test]
    fn what_only_looks_like_a_path_is_a_pointer_where_the_workspace_has_it() {
        for line in [
            "- We release from `release/2.4`, upstream `origin/main`, `src/main.rs:12`",
            "- API answers `application/json`, on `Node.js` 20, `application/vnd.api+json`",
            "- Host `db.example.com`, key `user.name`, mail <ada@example.com>",
            "- Owner: [Ada](mailto:a@b.de), [site](www.example.com), [y](example.com/docs)",
            "- upgrade → Node.js, staging → production/eu, → github.com/a/b.go",
            "- [z](d%C3%B6cs/x.md), `cargo test`, [[bin]], [[tool.poetry]]",
        ] {
            assert_eq!(found(line, &[]), [""; 0], "{line}");
        }
        let there = ["release/2.4", "run.sh", "docs/plan.md", "Makefile.am"];
        assert_eq!(
            found(
                "- `release/2.4`, `run.sh --all`, [[docs/plan|the plan]], → Makefile.am, `run.sh`",
                &there
            ),
            [
                "1:Makefile.am",
                "1:docs/plan.md",
                "1:release/2.4",
                "1:run.sh"
            ]
        );
    }

    #[test]
    fn a_section_is_known_by_its_heading_or_its_address() {
        let text = "# Project\n\n### d-8fe8aeb1\nIt is so.\n\n## What we Do, and why\n";
        for anchor in ["d-8fe8aeb1", "what-we-do-and-why", "What we Do, and why"] {
            assert!(has_section(text, anchor), "{anchor}");
        }
        for anchor in ["nope", "d-8fe8aeb", "It is so.", "!"] {
            assert!(!has_section(text, anchor), "{anchor}");
        }
    }
}
