//! Differences of small texts, line by line: to show a change before it is made.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::page;

/// A line of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// As it was, for orientation.
    Same(&'a str),
    /// It goes.
    Removed(&'a str),
    /// It comes.
    Added(&'a str),
    /// Lines that stay are left out here.
    Gap,
}

/// Lines that differ, each place with the heading that it stands below, what the
/// entry says, and the line above it.
pub fn diff<'a>(before: &'a str, after: &'a str) -> Vec<DiffLine<'a>> {
    let a: Vec<&str> = before.split_inclusive('\n').collect();
    let b: Vec<&str> = after.split_inclusive('\n').collect();
    let mut lines = Vec::new();
    // The first line that was neither shown nor left out.
    let mut next = 0;
    for op in capture_diff_slices(Algorithm::Myers, &a, &b) {
        let (removed, added) = (op.old_range(), &b[op.new_range()]);
        if op.tag() == DiffTag::Equal {
            continue;
        }
        for at in context(&a[..removed.start], removed.is_empty(), added) {
            if at >= next {
                lines.extend(gap(next, at, &lines));
                lines.push(DiffLine::Same(a[at]));
                next = at + 1;
            }
        }
        lines.extend(gap(next, removed.start, &lines));
        next = removed.end;
        lines.extend(a[removed].iter().copied().map(DiffLine::Removed));
        lines.extend(added.iter().copied().map(DiffLine::Added));
    }
    lines
}

fn gap<'a>(next: usize, at: usize, shown: &[DiffLine<'a>]) -> Option<DiffLine<'a>> {
    (at > next && !shown.is_empty()).then_some(DiffLine::Gap)
}

/// The lines above a place that say where it is. What begins an entry of its own
/// belongs to none that stands above.
fn context(above: &[&str], only_adds: bool, added: &[&str]) -> Vec<usize> {
    let is_blank = |line: &str| line.trim().is_empty();
    let first = added.iter().find(|line| !is_blank(line));
    if only_adds && first.is_some_and(|line| page::is_heading(line)) {
        return Vec::new();
    }
    let heading = above.iter().rposition(|line| page::is_heading(line));
    let said = heading.filter(|at| page::begins(above[*at]));
    let said = said.map(|at| at + 1).filter(|at| *at < above.len());
    let last = above.iter().rposition(|line| !is_blank(line));
    let last = last.filter(|at| at + 1 == above.len());
    let mut shown: Vec<usize> = heading.into_iter().chain(said).chain(last).collect();
    shown.dedup();
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_shown_leads_from_one_text_to_the_other(
            before in "([a-d]\n){0,8}", after in "([a-d]\n){0,8}",
        ) {
            let shown = diff(&before, &after);
            let added = shown.iter().filter(|line| matches!(line, DiffLine::Added(_))).count();
            let removed = shown.iter().filter(|line| matches!(line, DiffLine::Removed(_))).count();
            let lines = |text: &str| text.lines().count();
            prop_assert_eq!(lines(&before) + added, lines(&after) + removed);
        }
    }

    #[test]
    fn a_change_stands_below_the_entry_that_it_changes() {
        let entry = |id: &str, said: &str, until: &str| {
            format!(
                "\n### d-{id}\n{said}\n\n- fact; valid from 2026-11-10{until}\n- evidence: “{said}”\n"
            )
        };
        let first = entry("0000000a", "Grandma is in Leeds.", "");
        let (old, new) = (
            "The archive is in Frankfurt.",
            "The archive is now in Dublin.",
        );
        let before = format!("# Project\n{}{first}", entry("0000000b", old, ""));
        let after = format!(
            "# Project\n{}{first}{}",
            entry("0000000b", old, " until 2026-11-13"),
            entry("0000000c", new, ""),
        );
        let shown: Vec<String> = diff(&before, &after)
            .into_iter()
            .map(|line| match line {
                DiffLine::Same(text) => format!("  {text}"),
                DiffLine::Removed(text) => format!("- {text}"),
                DiffLine::Added(text) => format!("+ {text}"),
                DiffLine::Gap => "…\n".to_owned(),
            })
            .collect();
        assert_eq!(
            shown.concat(),
            "  ### d-0000000b\n  The archive is in Frankfurt.\n…\n\
             - - fact; valid from 2026-11-10\n\
             + - fact; valid from 2026-11-10 until 2026-11-13\n…\n\
             + \n+ ### d-0000000c\n+ The archive is now in Dublin.\n+ \n\
             + - fact; valid from 2026-11-10\n+ - evidence: “The archive is now in Dublin.”\n"
        );
    }
}
