//! C6, C7, C13: what is open, what fails, what was in hand.

use super::super::commands::{Run, Status, Verdict, verdicts};
use super::super::kept::{Kept, excerpt, plain};
use super::super::score::{Row, Sheet};
use super::super::sections::Section;
use super::super::source::Source;
use super::{After, names_file};

/// So much of a command names it.
const NAMING_CHARS: usize = 60;
/// So much of a line of output is that line.
const LINE_CHARS: usize = 60;

/// C6: items of to-do tools, and nothing else but an unanswered question and
/// the newest request while nobody answered it.
pub(super) fn open(sheet: &mut Sheet<'_>, source: &Source, kept: &Kept, after: After) {
    let truth = &source.truth;
    let items = kept.sections.items(Section::Open);
    let listed: Vec<String> = items
        .filter(|item| !item.is_rest())
        .map(|item| plain(&item.text()))
        .collect();
    let is_listed = |item: &str| listed.iter().any(|line| line.contains(&plain(item)));
    // From the second round on the user has spoken again.
    let waiting = matches!(after, After::Replay | After::Forced(1));
    let questions = truth.waiting.iter().filter(|_| waiting);
    for item in truth.open_items.iter().chain(questions.clone()) {
        let found = match kept.is_fresh {
            true => is_listed(item),
            false => kept.mentions(item),
        };
        sheet.note(Row::OpenItems, found, || excerpt(item));
    }
    if !kept.is_fresh {
        return;
    }
    let open: Vec<String> = truth.open_items.iter().map(|item| plain(item)).collect();
    for item in &truth.finished_items {
        // An open item may contain a finished one's words.
        let wanted = plain(item);
        let stale = listed
            .iter()
            .any(|line| line.contains(&wanted) && !open.iter().any(|open| line.contains(open)));
        sheet.note(Row::StaleItems, !stale, || excerpt(item));
    }
    let newest = kept.said.last();
    let request = truth.said.last().map(|text| plain(&text.said.text));
    for line in &listed {
        let item = open.iter().any(|item| line.contains(item));
        let question = questions
            .clone()
            .any(|question| line.contains(&plain(question)));
        let number = newest.is_some_and(|said| line.contains(&format!("#{}", said.number)));
        let words = request
            .as_ref()
            .is_some_and(|request| line.contains(request));
        let request = truth.turn_open && waiting && (number || words);
        sheet.note(Row::FalseOpen, item || question || request, || {
            excerpt(line)
        });
    }
}

fn naming(command: &str) -> String {
    plain(command).chars().take(NAMING_CHARS).collect()
}

/// C7: commands whose latest run failed, with a line of what they said.
pub(super) fn failing(sheet: &mut Sheet<'_>, source: &Source, kept: &Kept) {
    let verdicts = verdicts(&source.truth.runs);
    let listed: Vec<String> = kept
        .sections
        .items(Section::Failing)
        .filter(|item| item.line.starts_with("- ") && !item.is_rest())
        .map(|item| plain(&item.text()))
        .collect();
    for (verdict, run) in verdicts.values() {
        if *verdict != Verdict::Must {
            continue;
        }
        let named = naming(&run.command);
        let place = match kept.is_fresh {
            true => listed.iter().find(|item| item.contains(&named)),
            false => Some(&kept.spaced).filter(|text| text.contains(&named)),
        };
        let found = place.is_some_and(|place| says_why(place, run, source));
        sheet.note(Row::Failing, found, || {
            let why = if place.is_some() {
                "without its line"
            } else {
                "not named"
            };
            format!("line {} {why}: {}", run.line, excerpt(&run.command))
        });
    }
    if !kept.is_fresh {
        return;
    }
    for item in &listed {
        let mut about = verdicts
            .iter()
            .filter(|(command, _)| item.contains(&naming(command)))
            .map(|(_, (verdict, _))| *verdict);
        let fails = about.any(|verdict| verdict != Verdict::Never);
        sheet.note(Row::FalseFailing, fails, || excerpt(item));
    }
}

/// Whether a place gives the first error line of a run. Which line of a
/// recorded output that is, nobody knows without reading it: any whole line of
/// it counts. Of planted ones it is known.
fn says_why(place: &str, run: &Run, source: &Source) -> bool {
    let mut planted = source.planted.failing.iter();
    if let Some((_, line)) = planted.find(|(command, _)| *command == run.command) {
        return place.contains(&plain(line));
    }
    let mut lines = run.lines().peekable();
    lines.peek().is_none()
        || lines.any(|line| {
            let begin: String = plain(line).chars().take(LINE_CHARS).collect();
            place.contains(begin.trim_end())
        })
}

/// C13: the file in hand, the last command, the newest failure, a question
/// that waits.
pub(super) fn in_flight(sheet: &mut Sheet<'_>, source: &Source, kept: &Kept, after: After) {
    let truth = &source.truth;
    if let Some(path) = &truth.file_in_hand {
        let named = names_file(&kept.text, path, &source.cwd, truth);
        sheet.note(Row::InFlight, named, || format!("file {path}"));
    }
    let ran = truth
        .runs
        .iter()
        .rev()
        .find(|run| run.status != Status::Refused);
    if let Some(run) = ran {
        let named = kept.spaced.contains(&naming(&run.command));
        sheet.note(Row::InFlight, named, || {
            format!("command {}", excerpt(&run.command))
        });
    }
    let verdicts = verdicts(&truth.runs);
    let fails = verdicts
        .values()
        .filter(|(verdict, _)| *verdict == Verdict::Must);
    if let Some((_, run)) = fails.max_by_key(|(_, run)| run.line) {
        let named = kept.spaced.contains(&naming(&run.command));
        sheet.note(Row::InFlight, named, || {
            format!("failing {}", excerpt(&run.command))
        });
    }
    let waiting = matches!(after, After::Replay | After::Forced(1));
    for question in truth.waiting.iter().filter(|_| waiting) {
        sheet.note(Row::InFlight, kept.mentions(question), || {
            format!("question {question}")
        });
    }
}
