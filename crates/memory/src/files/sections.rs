//! Sections: what an anchor behind a path points to.
//!
//! A promoted line points to the section of its memory, and a section that was
//! taken out by hand leaves a pointer to nothing in a file that is still there.

use std::collections::HashMap;

use super::paths::decoded;
use super::{MOST_FILE_BYTES, MemoryFolder, place};

impl MemoryFolder {
    /// Whether a file that is there has the section of an anchor. What cannot be
    /// told counts as there: only Markdown has sections that are known here, and
    /// that a file cannot be read is told of the file.
    pub(super) fn has_section(&self, target: &str, anchor: &str) -> bool {
        match place::read(self.root(), target, MOST_FILE_BYTES) {
            Ok(Some(text)) => match last_line(anchor) {
                Some(line) => line <= text.lines().count(),
                None => !is_markdown(target) || has_section(&text, anchor),
            },
            Ok(None) | Err(_) => true,
        }
    }
}

fn is_markdown(target: &str) -> bool {
    let extension = target.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| {
        let known = ["md", "mdx", "markdown"];
        known.iter().any(|one| extension.eq_ignore_ascii_case(one))
    })
}

/// The last line of an anchor such as `L12` or `L12-L20`.
fn last_line(anchor: &str) -> Option<usize> {
    let number = |part: &str| part.strip_prefix('L')?.parse::<usize>().ok();
    match anchor.split_once('-') {
        Some((from, to)) => number(from).and_then(|_| number(to)),
        None => number(anchor),
    }
}

/// Whether a text has a heading of that name, as it is written or as web pages
/// of it name it, or an anchor of its own.
fn has_section(text: &str, anchor: &str) -> bool {
    let decoded = decoded(anchor).unwrap_or_else(|| anchor.to_owned());
    let wanted = slug(&decoded);
    let ids = [
        format!("id=\"{anchor}\""),
        format!("name=\"{anchor}\""),
        format!("{{#{anchor}}}"),
    ];
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut fence: Option<&str> = None;
    let mut before = "";
    for line in text.lines() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        if fence.is_some() || mark.is_some() {
            before = "";
            continue;
        }
        if ids.iter().any(|id| line.contains(id.as_str())) {
            return true;
        }
        // A block of its own name, as some programs for notes have it.
        if anchor.starts_with('^') && trimmed.ends_with(anchor) {
            return true;
        }
        let is_rule = |with: char| !trimmed.is_empty() && trimmed.chars().all(|c| c == with);
        let heading = match trimmed.starts_with('#') {
            true => trimmed.trim_matches('#').trim(),
            false if is_rule('=') || is_rule('-') => before,
            false => "",
        };
        before = trimmed;
        if heading.is_empty() {
            continue;
        }
        let own = slug(heading);
        let times = seen.entry(own.clone()).or_default();
        let numbered = match *times {
            0 => own,
            some => format!("{own}-{some}"),
        };
        *times += 1;
        if heading == decoded || (!wanted.is_empty() && numbered == wanted) {
            return true;
        }
    }
    false
}

/// The name of a heading in an address: small letters, a dash for each space,
/// without punctuation.
fn slug(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_known_by_its_heading_its_address_or_an_anchor_of_its_own() {
        let text = "# Project\n\n### d-8fe8aeb1\nIt is so.\n\n## What we Do, and why\n\n## Again\n\
                    ## Again\n\nOld style\n---\n\n<a id=\"here\"></a>\n## Named {#own}\n\
                    A block. ^that\n```\n# no heading\n```\n";
        for anchor in [
            "d-8fe8aeb1",
            "what-we-do-and-why",
            "What we Do, and why",
            "again-1",
            "old-style",
            "here",
            "own",
            "^that",
        ] {
            assert!(has_section(text, anchor), "{anchor}");
        }
        for anchor in [
            "nope",
            "d-8fe8aeb",
            "again-2",
            "no-heading",
            "It is so.",
            "!",
        ] {
            assert!(!has_section(text, anchor), "{anchor}");
        }
        assert_eq!(
            ["L12", "L12-L20", "L", "Later", "d-1"].map(last_line),
            [Some(12), Some(20), None, None, None]
        );
    }
}
