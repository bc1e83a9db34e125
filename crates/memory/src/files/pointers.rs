//! Pointers: what the lines of `MEMORY.md` refer to.

use std::ops::Range;

use super::MemoryFolder;
use super::lint::Target;
use super::paths::{self, Form};
use super::verify::unmarked;

/// A file that a line points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// The line, from 1.
    pub line: usize,
    /// The path as it is written, without anchor and line number.
    pub target: String,
    /// The section it points to, behind a `#`.
    pub anchor: Option<String>,
    /// Other paths that may be meant: behind an arrow a name with spaces and
    /// words before a name look alike, and only the files tell.
    pub others: Vec<String>,
    /// Where in the line it is written.
    pub(super) written: Vec<Written>,
}

/// A place at which a path is written in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) span: Range<usize>,
    form: Form,
}

impl Pointer {
    /// What is to be written where, so that it leads to another file.
    pub(super) fn led_to(&self, line: &str, file: &str) -> Vec<(Range<usize>, String)> {
        let written = self.written.iter().filter_map(|written| {
            let old = line.get(written.span.clone())?;
            // What is said before a name behind an arrow stays.
            let name = file.rsplit('/').next().unwrap_or(file);
            let before = old.strip_suffix(name).unwrap_or_default();
            let start = match (written.form, before.rfind(' ')) {
                (Form::Arrow, Some(space)) => written.span.start + space + 1,
                _ => written.span.start,
            };
            Some((start..written.span.end, written.form.spelled(old, file)))
        });
        written.collect()
    }
}

/// A line with other texts in some of its places.
pub(super) fn written_anew(line: &str, mut texts: Vec<(Range<usize>, String)>) -> String {
    texts.sort_by_key(|(span, _)| span.start);
    let (mut out, mut end) = (String::with_capacity(line.len()), 0);
    for (span, text) in texts {
        // Of two that are written into each other the first counts.
        if let Some(before) = line.get(end..span.start) {
            out.push_str(before);
            out.push_str(&text);
            end = span.end;
        }
    }
    out.push_str(line.get(end..).unwrap_or_default());
    out
}

/// A path behind an arrow has no more words.
const MOST_WORDS: usize = 8;

impl MemoryFolder {
    /// The pointers of a text: after an arrow (`→ memories/project.md`), targets of
    /// links (`[plan](plan.md)`, `[[plan.md]]`, `<plan.md>`), and what stands in
    /// code and plainly is a path, or is or was one here. Addresses of the web are
    /// none.
    pub fn pointers(&self, text: &str) -> Vec<Pointer> {
        let known = self.hashes().unwrap_or_default();
        pointers(text, &|path| {
            known.pointers.contains_key(path) || self.standing(path) == Target::There
        })
    }
}

/// The pointers of a text in a workspace of which is known what is there.
pub(super) fn pointers(text: &str, is_there: &dyn Fn(&str) -> bool) -> Vec<Pointer> {
    let mut found: Vec<Pointer> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let of_line = found.len();
        for place in places(unmarked(line), is_there) {
            let mut beside = found[of_line..].iter_mut();
            match beside.find(|one| one.target == place.path && one.anchor == place.anchor) {
                Some(known) if known.written.contains(&place.written) => {}
                Some(known) => known.written.push(place.written),
                None => found.push(Pointer {
                    line: at + 1,
                    target: place.path,
                    anchor: place.anchor,
                    others: place.others,
                    written: vec![place.written],
                }),
            }
        }
    }
    found
}

/// All that a line points to.
fn places(line: &str, is_there: &dyn Fn(&str) -> bool) -> Vec<Place> {
    let reader = Reader { line, is_there };
    let links = line
        .split("](")
        .skip(1)
        .filter_map(|rest| match rest.strip_prefix('<') {
            Some(rest) => rest.split('>').next().and_then(|to| reader.spaced(to)),
            None => rest.split(')').next().and_then(|to| reader.linked(to)),
        });
    let wiki = line
        .split("[[")
        .skip(1)
        .filter_map(|rest| rest.split_once("]]"))
        .filter_map(|(inside, _)| reader.wiki(inside));
    let angles = line
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'))
        .filter_map(|(inside, _)| reader.spaced(inside));
    let code = line.split('`').skip(1).step_by(2);
    let code = code.filter_map(|inside| reader.code(inside));
    let arrows = reader.arrows().into_iter();
    arrows
        .chain(links)
        .chain(wiki)
        .chain(angles)
        .chain(code)
        .collect()
}

/// A path and what is behind it.
struct Place {
    path: String,
    anchor: Option<String>,
    others: Vec<String>,
    written: Written,
}

/// Reads the places of a line.
struct Reader<'a> {
    line: &'a str,
    is_there: &'a dyn Fn(&str) -> bool,
}

impl<'a> Reader<'a> {
    /// What arrows of the line point to.
    fn arrows(&self) -> Vec<Place> {
        let plain = |rest: &'a str, form: Form| -> Option<Place> {
            let word = rest.split_whitespace().next()?;
            self.word(word, form)
                .filter(|_| !word.starts_with(['`', '[', '<']))
        };
        let pointed = self.line.split('→').skip(1).flat_map(|rest| {
            let word = plain(rest, Form::Arrow);
            // A name that is whole needs none of the words behind it.
            match word {
                Some(place) if paths::has_extension(&place.path) => {
                    let mut all = self.listed(rest);
                    all.insert(0, place);
                    all
                }
                word => self.phrase(rest).or(word).into_iter().collect(),
            }
        });
        let mut found: Vec<Place> = pointed.collect();
        // In code an arrow of two characters has a type behind it more often than
        // a file, so only one word is taken for a path.
        let thin = self.line.split("->").skip(1);
        found.extend(thin.filter_map(|rest| plain(rest, Form::Code)));
        found
    }

    /// The paths that stand in a list behind the first one: `a.md, b.md and c.md`.
    fn listed(&self, rest: &'a str) -> Vec<Place> {
        const JOINING: [&str; 11] = [
            "and", "or", "&", "+", "und", "oder", "et", "ou", "y", "o", "e",
        ];
        let mut found = Vec::new();
        let mut words = rest.split_whitespace();
        let mut goes_on = words.next().is_some_and(|word| word.ends_with([',', ';']));
        for word in words {
            if JOINING.contains(&word) {
                goes_on = true;
                continue;
            }
            let place = self.word(word, Form::Arrow).filter(|place| {
                goes_on && paths::has_extension(&place.path) && !word.starts_with(['`', '[', '<'])
            });
            let Some(place) = place else { break };
            found.push(place);
            goes_on = word.ends_with([',', ';']);
        }
        found
    }

    /// The path at the beginning of a target, up to a space.
    fn word(&self, target: &'a str, form: Form) -> Option<Place> {
        let target = target.trim().split(' ').next()?;
        let (path, anchor) = divided(target);
        paths::is_pointer(path, form, self.is_there).then(|| self.place(path, anchor, form))
    }

    /// What stands in code. Of a command only a file that is there is a pointer.
    fn code(&self, inside: &'a str) -> Option<Place> {
        let is_command = inside.trim().contains(' ');
        let place = self.word(inside, Form::Code)?;
        (!is_command || (self.is_there)(&place.path)).then_some(place)
    }

    /// The target of a link, in which any byte may be written as `%20` is.
    fn linked(&self, target: &'a str) -> Option<Place> {
        let place = self.word(target, Form::Link)?;
        Some(match paths::decoded(&place.path) {
            Some(path) if path != place.path => Place {
                path,
                others: vec![place.path],
                ..place
            },
            _ => place,
        })
    }

    /// A path in brackets of its own, which may have spaces.
    fn spaced(&self, target: &'a str) -> Option<Place> {
        let (path, anchor) = divided(target.trim());
        let usable = paths::has_extension(path)
            && paths::is_pointer(path, Form::Angle, self.is_there)
            && !path.starts_with(['!', '/']);
        usable.then(|| self.place(path, anchor, Form::Angle))
    }

    /// What stands in `[[…]]`; the name of a page may leave its ending out.
    fn wiki(&self, inside: &'a str) -> Option<Place> {
        let target = inside.split('|').next()?;
        let (path, anchor) = divided(target.trim());
        if !paths::is_pointer(path, Form::Wiki, self.is_there) {
            return None;
        }
        let place = self.place(path, anchor, Form::Wiki);
        Some(match paths::has_extension(path) {
            true => place,
            false => Place {
                path: format!("{path}.md"),
                others: vec![place.path],
                ..place
            },
        })
    }

    /// All the words behind an arrow, where they end like the name of a file.
    fn phrase(&self, rest: &'a str) -> Option<Place> {
        let rest = rest.split('|').next()?.trim();
        let (path, anchor) = divided(rest);
        let words = path.split(' ').count();
        let is_speech = path.contains(['`', '[', '<', ',', ';', ':', '!', '?']);
        let is_sentence = path.contains(". ");
        if !(2..=MOST_WORDS).contains(&words) || is_speech || is_sentence {
            return None;
        }
        if !paths::has_extension(path) || !paths::is_pointer(path, Form::Arrow, self.is_there) {
            return None;
        }
        let ends = path.match_indices(' ').map(|(at, _)| path[at + 1..].trim());
        let others = ends.filter(|end| paths::is_path(end)).map(str::to_owned);
        Some(Place {
            others: others.collect(),
            ..self.place(path, anchor, Form::Arrow)
        })
    }

    /// A path that is a part of the line.
    fn place(&self, path: &'a str, anchor: Option<&str>, form: Form) -> Place {
        let start = (path.as_ptr() as usize).saturating_sub(self.line.as_ptr() as usize);
        Place {
            path: path.to_owned(),
            anchor: anchor.map(str::to_owned),
            others: Vec::new(),
            written: Written {
                span: start..start + path.len(),
                form,
            },
        }
    }
}

/// What ends a target and is not of it.
const ENDS: [char; 5] = [',', ';', '.', ')', '|'];

/// A target without its anchor and line numbers, and the anchor.
fn divided(target: &str) -> (&str, Option<&str>) {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    let anchor = anchor
        .map(|anchor| anchor.trim_end_matches(ENDS).trim_end_matches(':'))
        .filter(|anchor| !anchor.is_empty());
    let mut path = path.trim_end_matches(ENDS);
    // A line, lines (`12-20`), a line and a column.
    loop {
        let numbered = path.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
        match numbered.strip_suffix(':') {
            Some(shorter) => path = shorter,
            None => return (path, anchor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String, Option<String>)> {
        pointers(text, &|_| false)
            .into_iter()
            .map(|pointer| (pointer.line, pointer.target, pointer.anchor))
            .collect()
    }

    #[test]
    fn arrows_links_and_code_point_and_addresses_do_not() {
        let text = "- Name: x | Details → memories/project.md#m-1\n\
                    - [plan](docs/plan.md#now) and `src/main.rs:12`\n\
                    - see https://a.b/c.md, [x](https://a.b), `cargo test`, `--flag=a/b`, `v1.2`, `notes.md`\n\
                    - old -> new/place.md, `~/x/y.md`, `a::b`\n";
        let expected = [
            (1, "memories/project.md", Some("m-1")),
            (2, "docs/plan.md", Some("now")),
            (2, "src/main.rs", None),
            (3, "notes.md", None),
            (4, "new/place.md", None),
        ];
        let owned = |(line, to, at): (usize, &str, Option<&str>)| {
            (line, to.to_owned(), at.map(str::to_owned))
        };
        assert_eq!(found(text), expected.map(owned));
    }

    #[test]
    fn brackets_hold_pointers_and_names_may_have_spaces() {
        let of = |line: &str| -> Vec<String> {
            let all = found(line).into_iter();
            all.map(|(_, target, anchor)| match anchor {
                Some(anchor) => format!("{target}#{anchor}"),
                None => target,
            })
            .collect()
        };
        assert_eq!(of("- x → my docs/file name.md"), ["my docs/file name.md"]);
        assert_eq!(
            of("- x → docs/file name.md#a b | more (stale: verify)"),
            ["docs/file name.md#a b"]
        );
        assert_eq!(
            of("- x → a/b.md, a/c.md#now; d.md and ~/e.md"),
            ["a/b.md", "a/c.md#now", "d.md", "~/e.md"]
        );
        assert_eq!(of("- x → a/b.md und a/c.md"), ["a/b.md", "a/c.md"]);
        assert_eq!(of("- x → a/b.md, see c.md"), ["a/b.md"]);
        assert_eq!(of("- <docs/angle.md>"), ["docs/angle.md"]);
        assert_eq!(of("- x → <docs/an angle.md>."), ["docs/an angle.md"]);
        assert_eq!(of("- [x](<docs/an angle.md>)"), ["docs/an angle.md"]);
        assert_eq!(of("- [x](docs/an%20angle.md)"), ["docs/an angle.md"]);
        assert_eq!(of("- [[wiki/link.md]]"), ["wiki/link.md"]);
        assert_eq!(of("- → [[wiki/link#Part|that]]"), ["wiki/link.md#Part"]);
        // Neither tags, nor tables of settings, nor speech.
        assert_eq!(of("- <b>x</b> <!-- a.md --> <br/> [[bin]]"), [""; 0]);
        assert_eq!(of("- x → first read it, then notes.md"), [""; 0]);
        assert_eq!(of("- f() -> my type a.md"), [""; 0]);
        // A word before a name: which it is, the files tell.
        let spoken = pointers("- x → see docs/plan.md", &|_| false);
        assert_eq!(spoken[0].target, "see docs/plan.md");
        assert_eq!(spoken[0].others, ["docs/plan.md"]);
    }

    #[test]
    fn what_only_looks_like_a_path_is_a_pointer_where_the_workspace_has_it() {
        let lines = [
            "- We release from `release/2.4`, upstream `origin/main`",
            "- API answers `application/json`, on `Node.js` 20, `application/vnd.api+json`",
            "- Host `db.example.com`, key `user.name`, mail <ada@example.com>",
            "- Owner: [Ada](mailto:a@b.de), [site](www.example.com), [y](example.com/docs)",
            "- `CI/CD`, `km/h`, `os.path.join`, `node:fs/promises`, `github.com/a/b.go`",
            "- upgrade → Node.js, staging → production/eu, f() -> io/Result",
            "- <stdio.h>, <sys/types.h>, `GET /openapi.json`, `/api/users`, `./configure --all`",
            "- a `mod.rs` in each, [[tool.poetry]]",
        ];
        for line in lines {
            assert_eq!(found(line), [], "{line}");
        }
        let is_there = |path: &str| ["release/", "Cargo.toml", "run.sh"].contains(&path);
        let there = pointers("- `release/2.4`, `Cargo.toml`, `run.sh --all`", &is_there);
        let targets: Vec<&str> = there.iter().map(|one| one.target.as_str()).collect();
        assert_eq!(targets, ["release/2.4", "Cargo.toml", "run.sh"]);
    }

    #[test]
    fn links_are_decoded_and_lines_and_columns_left_out() {
        let of = |line: &str| found(line).remove(0).1;
        assert_eq!(of("- [z](d%C3%B6cs%20x.md)"), "döcs x.md");
        assert_eq!(of("- [z](docs/50%.md)"), "docs/50%.md");
        assert_eq!(of("- [z](docs/%FF.md)"), "docs/%FF.md");
        assert_eq!(of("- `src/main.rs:12:5`"), "src/main.rs");
        assert_eq!(of("- `src/main.rs:12-20`"), "src/main.rs");
    }
}
