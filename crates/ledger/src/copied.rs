//! Lines that show by their neighbours that they were copied: of a patch without
//! its head, of a table with commas, comments of code.
//!
//! One such line alone may be typed, as a point of a list is. Several in a row
//! that have the same marks at the same place are not.

use std::ops::Range;

use crate::text::is_cjk;

/// Where a text has lines that were copied.
pub(crate) fn copied(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut block: Vec<(Range<usize>, &str)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        match line.trim().is_empty() {
            true => take(&mut block, &mut out),
            false => block.push((range, line.trim_end())),
        }
    }
    take(&mut block, &mut out);
    out
}

/// Takes the copied lines of a block without empty lines.
fn take(block: &mut Vec<(Range<usize>, &str)>, out: &mut Vec<Range<usize>>) {
    let lines: Vec<&str> = block.iter().map(|(_, line)| *line).collect();
    let found = [changed(&lines), numbered(&lines)];
    let found = found.into_iter().flatten();
    let runs = [runs(&lines, comment), runs(&lines, cells)];
    for part in found.chain(runs.into_iter().flatten()) {
        out.push(block[part.start].0.start..block[part.end - 1].0.end);
    }
    block.clear();
}

/// What a line adds to a file or takes from it: at which column the sign stands,
/// and which it is. "+1" is a vote.
fn change(line: &str) -> Option<(usize, char)> {
    let bare = line.trim_start();
    let sign = bare.chars().next().filter(|sign| "+-".contains(*sign))?;
    let rest = &bare[1..];
    let is_change = !rest.is_empty() && !rest.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    is_change.then_some((line.len() - bare.len(), sign))
}

/// From the first to the last line that adds or takes something, if some do this
/// and some that: nobody makes the points of one list with both signs.
fn changed(lines: &[&str]) -> Option<Range<usize>> {
    let changes: Vec<(usize, usize, char)> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| change(line).map(|(column, sign)| (at, column, sign)))
        .collect();
    let (first, column, _) = *changes.first()?;
    let (last, ..) = *changes.last()?;
    let has = |wanted: char| {
        let mut changes = changes.iter();
        changes.any(|(_, at, sign)| *at == column && *sign == wanted)
    };
    (has('+') && has('-')).then_some(first..last + 1)
}

/// The number that a view of a patch gives a line, and what the line says:
/// ` + 15 - **Handling**: …`.
fn number(line: &str) -> Option<(u32, &str)> {
    let rest = line.trim_start().strip_prefix(['+', '-'])?;
    let rest = rest.trim_start_matches(' ');
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let (number, said) = rest.split_at(end.unwrap_or(rest.len()));
    let is_apart = said.is_empty() || said.starts_with([' ', '\t']);
    Some((number.parse().ok()?, said.trim_start())).filter(|_| is_apart)
}

/// From the first to the last line with a number of its own, if lines are added
/// there and two follow each other, or one goes on as a file of Markdown does.
fn numbered(lines: &[&str]) -> Option<Range<usize>> {
    let numbers: Vec<(usize, u32, &str)> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| number(line).map(|(number, said)| (at, number, said)))
        .collect();
    let adds = |at: usize| lines[at].trim_start().starts_with('+');
    let follows = numbers.windows(2).any(|two| two[1].1 == two[0].1 + 1)
        && numbers.iter().any(|(at, ..)| adds(*at));
    let goes_on = numbers.iter().any(|(at, number, said)| {
        let is_markup = ["- ", "* ", "# ", "## ", "### "]
            .iter()
            .any(|mark| said.starts_with(mark));
        adds(*at) && *number > 1 && is_markup
    });
    let (first, last) = (numbers.first()?.0, numbers.last()?.0);
    (follows || goes_on).then_some(first..last + 1)
}

/// How a comment of code begins.
fn comment(line: &str) -> Option<usize> {
    let marks = ["# ", "// "];
    marks.iter().position(|mark| line.starts_with(mark))
}

/// How many commas part the cells of a row. Those of a sentence have a space
/// behind them, and a row begins with a number or a name.
fn cells(line: &str) -> Option<usize> {
    let (mut count, mut in_quotes) = (0, false);
    let mut before = ' ';
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map_or(' ', |(_, after)| *after);
        match c {
            '"' => in_quotes = !in_quotes,
            ',' if in_quotes => {}
            ',' if after == ' ' => return None,
            // "1,000", and what is typed so without spaces.
            ',' if before.is_ascii_digit() && after.is_ascii_digit() => return None,
            ',' if is_cjk(before) && is_cjk(after) => return None,
            ',' => {
                let is_long = line[..at].split_whitespace().count() > 2;
                if count == 0 && is_long {
                    return None;
                }
                count += 1;
            }
            _ => {}
        }
        before = c;
    }
    (count > 0).then_some(count)
}

/// The runs of two lines and more that are of a sort, and of the same.
fn runs(lines: &[&str], sort: fn(&str) -> Option<usize>) -> Vec<Range<usize>> {
    let sorts: Vec<Option<usize>> = lines.iter().map(|line| sort(line)).collect();
    let mut out = Vec::new();
    let mut start = 0;
    for run in sorts.chunk_by(|one, other| one == other) {
        let end = start + run.len();
        if run.len() >= 2 && run[0].is_some() {
            out.push(start..end);
        }
        start = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        copied(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn lines_of_patches_tables_and_code_are_found_by_their_neighbours() {
        for (text, part) in [
            ("look\n+ Always a\n- Never b\n", "+ Always a\n- Never b\n"),
            ("-Never b\n kept\n+Always a", "-Never b\n kept\n+Always a"),
            (
                " + 15 - never a\n + 16 - always b\n\nshorter",
                " + 15 - never a\n + 16 - always b\n",
            ),
            ("+314 - Tips never shown", "+314 - Tips never shown"),
            (
                "id,rule\n1,Never deploy\n2,\"Always, always test\"\n",
                "id,rule\n1,Never deploy\n2,\"Always, always test\"\n",
            ),
            ("see\n# never a\n# always b\nx()", "# never a\n# always b\n"),
        ] {
            assert_eq!(parts(text), [part], "{text}");
        }
    }

    #[test]
    fn lists_headings_and_sentences_are_not_taken_for_copied_lines() {
        for text in [
            "- always a\n- never b",
            "+ always a\n+ never b",
            "- always a\n  + b\n  + c",
            "- 1 reviewer for docs\n- 2 reviewers for code",
            "- always a\n\n+ one more",
            "+1 - never push",
            "1. never a\n2. always b",
            "# Rules\n## Git\n- never push",
            "# Rules\n\n# Never push",
            "Never use a, b or c.\nAlways use d, e and f.",
            "never more than 1,000 rows\nalways 2,000 at least",
            "不要推送,总是测试\n不要删除,总是备份",
            "never use tabs,spaces only\nalways sign tags,never force",
        ] {
            assert_eq!(parts(text), [] as [&str; 0], "{text}");
        }
    }
}
