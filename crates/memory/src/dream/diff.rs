//! Differences of small texts, line by line: to show a change before it is made.

/// A place where two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk<'a> {
    /// The line before it, if there is one.
    above: Option<&'a str>,
    removed: Vec<&'a str>,
    added: Vec<&'a str>,
}

/// A line of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// As it was, for orientation.
    Same(&'a str),
    /// It goes.
    Removed(&'a str),
    /// It comes.
    Added(&'a str),
}

/// Lines that differ, each place with the line above it.
pub fn diff<'a>(before: &'a str, after: &'a str) -> Vec<DiffLine<'a>> {
    let mut lines = Vec::new();
    for hunk in hunks(before, after) {
        lines.extend(hunk.above.map(DiffLine::Same));
        lines.extend(hunk.removed.into_iter().map(DiffLine::Removed));
        lines.extend(hunk.added.into_iter().map(DiffLine::Added));
    }
    lines
}

fn hunks<'a>(before: &'a str, after: &'a str) -> Vec<Hunk<'a>> {
    let a: Vec<&str> = before.split_inclusive('\n').collect();
    let b: Vec<&str> = after.split_inclusive('\n').collect();
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - head;
    let tail = (0..most)
        .take_while(|n| a[a.len() - 1 - n] == b[b.len() - 1 - n])
        .count();
    let (mid_a, mid_b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
    let kept = common(mid_a, mid_b);
    let mut hunks = Vec::new();
    let (mut i, mut j) = (0, 0);
    let end = (mid_a.len(), mid_b.len());
    for (x, y) in kept.into_iter().chain([end]) {
        if x > i || y > j {
            hunks.push(Hunk {
                above: (head + i).checked_sub(1).map(|above| a[above]),
                removed: mid_a[i..x].to_vec(),
                added: mid_b[j..y].to_vec(),
            });
        }
        (i, j) = (x + 1, y + 1);
    }
    hunks
}

/// Pairs of equal lines, as many as possible. The tables are small: the texts
/// differ in few places, and their common ends are cut off. Where they are not,
/// the whole middle counts as changed.
fn common(a: &[&str], b: &[&str]) -> Vec<(usize, usize)> {
    const MOST: usize = 4_000_000;
    if a.len() * b.len() > MOST {
        return Vec::new();
    }
    let width = b.len() + 1;
    let mut best = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            best[i * width + j] = match a[i] == b[j] {
                true => best[(i + 1) * width + j + 1] + 1,
                false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
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
}
