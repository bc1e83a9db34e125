//! The list of skills in a prompt, within its limit.

use super::load::{Skill, Skills};
use crate::Problem;
use crate::fence::one_line;

/// What the list may take; OpenClaw's limit.
const LIST_CHARS: usize = 30_000;
/// Lengths of descriptions to try, longest first; the first is pi's limit.
const DESCRIPTION_CHARS: [usize; 6] = [1_024, 512, 256, 128, 64, 0];

/// The list, one heading a skill.
pub(crate) fn listing(skills: &Skills) -> String {
    let (length, shown) = fitting(skills);
    let entries = skills.available.iter().take(shown);
    let mut text: String = entries.map(|skill| entry(skill, length)).collect();
    let left_out = skills.available.len() - shown;
    if left_out > 0 {
        text.push_str(&format!("({left_out} more skills are not listed here.)\n"));
    }
    text
}

/// What the list had to leave out, if anything.
pub(crate) fn shortened(skills: &Skills) -> Option<Problem> {
    let (length, shown) = fitting(skills);
    let listed = skills.available.iter().take(shown);
    let shortened = listed
        .filter(|skill| one_line(&skill.description).chars().count() > length)
        .count();
    let left_out = skills.available.len() - shown;
    (shortened + left_out > 0).then_some(Problem::SkillsShortened {
        shortened,
        left_out,
    })
}

/// The longest descriptions with which all skills fit, and how many do.
fn fitting(skills: &Skills) -> (usize, usize) {
    let all = skills.available.len();
    for length in DESCRIPTION_CHARS {
        if fit(skills, length) == all {
            return (length, all);
        }
    }
    (0, fit(skills, 0))
}

fn fit(skills: &Skills, length: usize) -> usize {
    let mut chars = 0;
    let entries = skills.available.iter().take_while(|skill| {
        chars += entry(skill, length).chars().count();
        chars <= LIST_CHARS
    });
    entries.count()
}

fn entry(skill: &Skill, length: usize) -> String {
    let name = one_line(&skill.name);
    let description = one_line(&skill.description);
    let location = one_line(&skill.location.to_string_lossy());
    let description = match description.char_indices().nth(length) {
        Some(_) if length == 0 => String::new(),
        Some((end, _)) => format!("{}…\n", &description[..end]),
        None => format!("{description}\n"),
    };
    format!("### {name}\n{description}Location: {location}\n\n")
}
