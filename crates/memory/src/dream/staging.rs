//! `DREAMS.md`: what waits for review, for people to read.
//!
//! Only what stands between our two marks is ours; the rest of the file is
//! kept as it is.

use super::candidate::{Candidate, Status};
use super::pages::line_end;
use super::promote::{credit, headings, home};
use super::score::waiting;
use crate::files::DETAILS;
use crate::provenance::one_line;

const BEGIN: &str = "<!-- longhaul dreams: made by `longhaul dream`, do not edit -->";
const END: &str = "<!-- longhaul dreams end -->";
/// Candidates shown; `dream review` has them all.
const MOST_SHOWN: usize = 50;

pub(super) fn render(candidates: &[Candidate]) -> String {
    let waiting = waiting(candidates);
    let demoted: Vec<&Candidate> = candidates
        .iter()
        .filter(|one| matches!(one.status, Status::Demoted { .. }))
        .collect();
    let mut out = String::from("## Candidate Memory Items (Pending Review)\n");
    if waiting.is_empty() {
        out.push_str("\nNothing waits for review.\n");
    }
    for candidate in waiting.iter().take(MOST_SHOWN) {
        out.push_str(&item(candidate, candidates));
    }
    if waiting.len() > MOST_SHOWN {
        let more = waiting.len() - MOST_SHOWN;
        out.push_str(&format!("\n{more} more: `longhaul dream review`.\n"));
    }
    if !demoted.is_empty() {
        out.push_str("\n## Kept, But Without Room in MEMORY.md\n\n");
        for candidate in demoted {
            let said = one_line(candidate.wording());
            let home = home(candidate.topic);
            let credit = credit(candidate.source);
            out.push_str(&format!(
                "- {said}{credit}{DETAILS}{home}#{}\n",
                candidate.id
            ));
        }
    }
    out
}

fn item(candidate: &Candidate, all: &[Candidate]) -> String {
    let mut out = format!(
        "\n### {} · {} · {} · {:.2}\n",
        candidate.id, candidate.topic, candidate.source, candidate.confidence
    );
    let mut row = |name: &str, value: &str| out.push_str(&format!("{name}: {}\n", one_line(value)));
    row("Finding", candidate.wording());
    if candidate.wording.is_some() {
        row("In its source's words", &candidate.text);
    }
    let home = home(candidate.topic);
    let older = candidate.in_place_of(all).into_iter();
    let kept = older.filter(|old| !old.has_left());
    let replaced: Vec<&str> = kept.map(|old| old.id.as_str()).collect();
    let replaced = replaced.join(", ");
    let action = match replaced.is_empty() {
        true => format!(
            "Add to \"{}\" in MEMORY.md, details in {home}",
            headings(candidate)[0]
        ),
        false => format!("Put in the place of {replaced}, details in {home}"),
    };
    row("Suggested action", &action);
    row("Valid from", &candidate.valid_from.to_string());
    // What left while it waited is seen nowhere else.
    for old in candidate.in_place_of(all) {
        if old.has_left() {
            row("In place of", &old.with_days());
        }
    }
    for id in candidate.may_contradict() {
        let known = all.iter().find(|one| one.id == id);
        row(
            "May contradict",
            &known.map_or(id.to_owned(), Candidate::with_days),
        );
    }
    if !candidate.source.is_trusted() {
        row("Source", "nobody vouches for it; never promoted unseen");
    }
    if let Some(review) = candidate.review {
        row(
            "Review",
            &format!("{}; never promoted unseen", review.why()),
        );
    }
    out.push_str("Evidence:\n");
    for evidence in &candidate.evidence {
        out.push_str(&format!(
            "> {} ({}): {}\n",
            one_line(&evidence.place()),
            evidence.source,
            evidence.words()
        ));
    }
    out
}

/// The file with our part replaced. The error says at which line what is wrong.
pub(super) fn spliced(file: Option<&str>, part: &str) -> Result<String, String> {
    let ours = format!("{BEGIN}\n{part}{END}");
    let Some(text) = file.filter(|text| !text.trim().is_empty()) else {
        return Ok(format!("# Dreams\n\n{ours}\n"));
    };
    let newline = line_end(text);
    let ours = ours.replace('\n', newline);
    let line_of = |at: usize| text[..at].lines().count() + 1;
    // A mark ends its line, however lines end; whoever quotes one goes on.
    let mark = |mark: &str| {
        let mut found = text.match_indices(mark).map(|(at, _)| at);
        found.find(|at| {
            let rest = &text[at + mark.len()..];
            rest.is_empty() || rest.starts_with(['\n', '\r'])
        })
    };
    match (mark(BEGIN), mark(END)) {
        (Some(begin), Some(end)) if begin < end => Ok(format!(
            "{}{ours}{}",
            &text[..begin],
            &text[end + END.len()..]
        )),
        (None, None) => {
            let gap = newline.repeat(if text.ends_with('\n') { 1 } else { 2 });
            Ok(format!("{text}{gap}{ours}{newline}"))
        }
        (Some(at), _) => Err(format!("line {}: our part has no end mark", line_of(at))),
        (None, Some(at)) => Err(format!(
            "line {}: an end mark without a beginning",
            line_of(at)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_part_of_the_file_changes() {
        let first = spliced(Some("# Mine\n\nnotes\n"), "a\n").unwrap();
        assert_eq!(first, format!("# Mine\n\nnotes\n\n{BEGIN}\na\n{END}\n"));
        let second = spliced(Some(&format!("{first}more of mine\n")), "b\n").unwrap();
        assert_eq!(
            second,
            format!("# Mine\n\nnotes\n\n{BEGIN}\nb\n{END}\nmore of mine\n")
        );
        assert_eq!(spliced(Some(&second), "b\n").unwrap(), second);
    }

    #[test]
    fn a_file_whose_lines_end_otherwise_has_our_part_once_and_ended_so() {
        let first = spliced(Some("# Mine\n\nnotes\n"), "a\n").unwrap();
        let crlf = first.replace('\n', "\r\n");
        let second = spliced(Some(&crlf), "b\nc\n").unwrap();
        let wanted = format!("# Mine\n\nnotes\n\n{BEGIN}\nb\nc\n{END}\n");
        assert_eq!(second, wanted.replace('\n', "\r\n"));
        // A last line without an end stays so.
        let cut = first.trim_end();
        assert_eq!(spliced(Some(cut), "a\n").unwrap(), cut);
    }

    #[test]
    fn a_mark_that_is_quoted_in_a_sentence_is_none() {
        let quoted = format!("# Mine\n\nnever edit {BEGIN} or {END} by hand\n");
        let first = spliced(Some(&quoted), "a\n").unwrap();
        assert_eq!(first, format!("{quoted}\n{BEGIN}\na\n{END}\n"));
    }

    #[test]
    fn a_lost_mark_is_told_with_its_line_and_nothing_is_thrown_away() {
        let broken = format!("# Mine\n{BEGIN}\na\n");
        assert_eq!(
            spliced(Some(&broken), "b\n").unwrap_err(),
            "line 2: our part has no end mark"
        );
    }
}
