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
    let list = List::of(skills);
    let shown = list.entries.iter().take(list.shown);
    let mut text: String = shown.map(|entry| entry.text(list.length)).collect();
    if list.left_out() > 0 {
        let left_out = list.left_out();
        text.push_str(&format!("({left_out} more skills are not listed here.)\n"));
    }
    text
}

/// What the list had to leave out, if anything.
pub(crate) fn shortened(skills: &Skills) -> Option<Problem> {
    let list = List::of(skills);
    let shown = list.entries.iter().take(list.shown);
    let shortened = shown.filter(|entry| entry.chars > list.length).count();
    let left_out = list.left_out();
    (shortened + left_out > 0).then_some(Problem::SkillsShortened {
        shortened,
        left_out,
    })
}

/// Skills with the longest descriptions with which all of them fit.
struct List {
    entries: Vec<Entry>,
    /// Characters of a description.
    length: usize,
    /// How many skills are listed.
    shown: usize,
}

impl List {
    fn of(skills: &Skills) -> List {
        let entries: Vec<Entry> = skills.available.iter().map(Entry::of).collect();
        let fitting = |length: usize| {
            let mut left = LIST_CHARS;
            let fits = entries.iter().take_while(|entry| {
                let room = left.checked_sub(entry.frame + entry.chars.min(length) + 2);
                left = room.unwrap_or(0);
                room.is_some()
            });
            fits.count()
        };
        let all = entries.len();
        let longest = DESCRIPTION_CHARS.into_iter();
        let length = longest
            .filter(|length| fitting(*length) == all)
            .max()
            .unwrap_or(0);
        List {
            shown: fitting(length),
            length,
            entries,
        }
    }

    fn left_out(&self) -> usize {
        self.entries.len() - self.shown
    }
}

/// The lines of one skill.
struct Entry {
    heading: String,
    description: String,
    location: String,
    /// Characters of the description.
    chars: usize,
    /// Characters of all else.
    frame: usize,
}

impl Entry {
    fn of(skill: &Skill) -> Entry {
        let heading = format!("### {}\n", one_line(&skill.name));
        let location = one_line(&skill.location.to_string_lossy());
        let location = format!("Location: {location}\n\n");
        let description = one_line(&skill.description);
        Entry {
            chars: description.chars().count(),
            frame: heading.chars().count() + location.chars().count(),
            heading,
            description,
            location,
        }
    }

    fn text(&self, length: usize) -> String {
        let description = match self.description.char_indices().nth(length) {
            Some(_) if length == 0 => String::new(),
            Some((end, _)) => format!("{}…\n", &self.description[..end]),
            None => format!("{}\n", self.description),
        };
        format!("{}{description}{}", self.heading, self.location)
    }
}
