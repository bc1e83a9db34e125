//! Pointers: what the lines of `MEMORY.md` refer to.

use super::verify::unmarked;

/// A file that a line points to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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
}

/// A path behind an arrow has no more words.
const MOST_WORDS: usize = 8;

/// The pointers of a text: after an arrow (`→ memories/project.md`), targets of
/// links (`[plan](plan.md)`, `[[plan.md]]`, `<plan.md>`), and what stands in
/// code and looks like a path. Addresses of the web are none.
pub fn pointers(text: &str) -> Vec<Pointer> {
    let mut found: Vec<Pointer> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = unmarked(line);
        let links = line
            .split("](")
            .skip(1)
            .filter_map(|rest| match rest.strip_prefix('<') {
                Some(rest) => rest.split('>').next().and_then(Place::spaced),
                None => rest.split(')').next().and_then(Place::linked),
            });
        let wiki = line
            .split("[[")
            .skip(1)
            .filter_map(|rest| rest.split_once("]]"))
            .filter_map(|(inside, _)| Place::wiki(inside));
        let angles = line
            .split('<')
            .skip(1)
            .filter_map(|rest| rest.split_once('>'))
            .filter_map(|(inside, _)| Place::spaced(inside));
        let code = line.split('`').skip(1).step_by(2).filter_map(Place::word);
        let all = arrows(line)
            .into_iter()
            .chain(links)
            .chain(wiki)
            .chain(angles)
            .chain(code);
        for place in all {
            let mut beside = found.iter().rev().take_while(|one| one.line == at + 1);
            if !beside.any(|one| one.target == place.path && one.anchor == place.anchor) {
                found.push(Pointer {
                    line: at + 1,
                    target: place.path,
                    anchor: place.anchor,
                    others: place.others,
                });
            }
        }
    }
    found
}

/// What arrows of a line point to.
fn arrows(line: &str) -> Vec<Place> {
    let plain = |rest: &str| -> Option<Place> {
        let word = rest.split_whitespace().next()?;
        Place::word(word).filter(|_| !word.starts_with(['`', '[', '<']))
    };
    let mut found: Vec<Place> = line
        .split('→')
        .skip(1)
        .filter_map(|rest| {
            let word = plain(rest);
            // A name that is whole needs none of the words behind it.
            match &word {
                Some(place) if has_extension(&place.path) => word,
                _ => Place::phrase(rest).or(word),
            }
        })
        .collect();
    // In code an arrow of two characters has a type behind it more often than
    // a file, so only one word is taken for a path.
    found.extend(line.split("->").skip(1).filter_map(plain));
    found
}

/// A path and what is behind it.
struct Place {
    path: String,
    anchor: Option<String>,
    others: Vec<String>,
}

impl Place {
    /// The path at the beginning of a target, up to a space.
    fn word(target: &str) -> Option<Place> {
        let target = target.trim().split(' ').next()?;
        let (path, anchor) = divided(target);
        is_path(path).then(|| Place::of(path, anchor))
    }

    /// The target of a link, in which a space may be written as `%20`.
    fn linked(target: &str) -> Option<Place> {
        let place = Place::word(target)?;
        Some(match place.path.contains("%20") {
            true => Place {
                path: place.path.replace("%20", " "),
                others: vec![place.path],
                ..place
            },
            false => place,
        })
    }

    /// A path in brackets of its own, which may have spaces.
    fn spaced(target: &str) -> Option<Place> {
        let (path, anchor) = divided(target.trim());
        let usable = has_extension(path) && is_path(path) && !path.starts_with(['!', '/']);
        usable.then(|| Place::of(path, anchor))
    }

    /// What stands in `[[…]]`; the name of a page may leave its ending out.
    fn wiki(inside: &str) -> Option<Place> {
        let target = inside.split('|').next()?;
        let (path, anchor) = divided(target.trim());
        if !is_path(path) {
            return None;
        }
        Some(match has_extension(path) {
            true => Place::of(path, anchor),
            false => Place {
                others: vec![path.to_owned()],
                ..Place::of(&format!("{path}.md"), anchor)
            },
        })
    }

    /// All the words behind an arrow, where they end like the name of a file.
    fn phrase(rest: &str) -> Option<Place> {
        let rest = rest.split('|').next()?.trim();
        let (path, anchor) = divided(rest);
        let words = path.split(' ').count();
        let is_speech = path.contains(['`', '[', '<', ',', ';', ':', '!', '?']);
        let is_sentence = path.contains(". ");
        if !(2..=MOST_WORDS).contains(&words) || is_speech || is_sentence {
            return None;
        }
        if !has_extension(path) || !is_path(path) {
            return None;
        }
        let ends = path.match_indices(' ').map(|(at, _)| path[at + 1..].trim());
        let others = ends.filter(|end| is_path(end)).map(str::to_owned);
        Some(Place {
            others: others.collect(),
            ..Place::of(path, anchor)
        })
    }

    fn of(path: &str, anchor: Option<&str>) -> Place {
        Place {
            path: path.to_owned(),
            anchor: anchor.map(str::to_owned),
            others: Vec::new(),
        }
    }
}

/// What ends a target and is not of it.
const ENDS: [char; 5] = [',', ';', '.', ')', '|'];

/// A target without its anchor and line number, and the anchor.
fn divided(target: &str) -> (&str, Option<&str>) {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    let anchor = anchor
        .map(|anchor| anchor.trim_end_matches(ENDS).trim_end_matches(':'))
        .filter(|anchor| !anchor.is_empty());
    let path = path.trim_end_matches(ENDS);
    let numbered = path.trim_end_matches(|c: char| c.is_ascii_digit());
    let path = match numbered.strip_suffix(':') {
        Some(path) => path,
        None => path.trim_end_matches(':'),
    };
    (path, anchor)
}

fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !extension.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_path(target: &str) -> bool {
    (target.contains('/') || has_extension(target))
        && !target.contains("://")
        && !target.starts_with(['-', '$', '@', '~', '<', '{'])
        && !target.contains(['*', '(', '{', '=', '"', '…'])
        && target.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String, Option<String>)> {
        pointers(text)
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
        let spoken = pointers("- x → see docs/plan.md");
        assert_eq!(spoken[0].target, "see docs/plan.md");
        assert_eq!(spoken[0].others, ["docs/plan.md"]);
    }
}
