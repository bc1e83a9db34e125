//! The dialogue of a review: a candidate, why it is believed, what would
//! change, and one key for what becomes of it.

use std::collections::HashSet;

use console::{Key, Term};
use jiff::Zoned;
use longhaul_memory::dream::{Candidate, Dreams, Settings, Status, waiting};

use super::change::shown;
use super::signals::Signals;
use super::{find, locked, settings};
use crate::app::App;
use crate::failure::{Failure, Outcome};
use crate::style::style;
use crate::{out, paint};

/// What a person does with a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Accept,
    Reject,
    Edit,
    Skip,
    Back,
    Quit,
}

const KEYS: &str = "[a]ccept  [r]eject  [e]dit  [s]kip  [b]ack  [q]uit";

/// Whoever is talked to.
pub(super) trait Person {
    /// Shows a line.
    fn show(&mut self, line: &str) -> Result<(), Failure>;
    /// Waits for a key; none when the person has gone.
    fn key(&mut self) -> Result<Option<char>, Failure>;
    /// Lets a text be edited; none when the person has gone.
    fn edit(&mut self, text: &str) -> Result<Option<String>, Failure>;
}

/// A person at a terminal.
pub(super) struct Terminal {
    term: Term,
    signals: Signals,
    ended: Option<Outcome>,
}

/// What clears a line that is typed.
const CTRL_U: char = '\u{15}';

impl Terminal {
    pub(super) fn new() -> Terminal {
        Terminal {
            term: Term::stdout(),
            signals: Signals::listen(),
            ended: None,
        }
    }

    /// What a signal asked for, if one ended the dialogue.
    pub(super) fn ended(&self) -> Option<Outcome> {
        self.ended
    }

    fn is_asked_to_end(&mut self) -> bool {
        self.ended = self.ended.or(self.signals.came());
        self.ended.is_some()
    }

    /// Takes a line off the screen that may go over several rows.
    fn clear(&self, line: &[char]) -> std::io::Result<()> {
        let line: String = line.iter().collect();
        let columns = usize::from(self.term.size().1).max(1);
        let rows = console::measure_text_width(&line).saturating_sub(1) / columns;
        self.term.move_cursor_up(rows)?;
        self.term.write_str("\r")?;
        self.term.clear_to_end_of_screen()
    }
}

impl Person for Terminal {
    fn show(&mut self, line: &str) -> Result<(), Failure> {
        self.term
            .write_line(&out::clean(line))
            .map_err(Failure::output)
    }

    fn key(&mut self) -> Result<Option<char>, Failure> {
        loop {
            if self.is_asked_to_end() {
                return Ok(None);
            }
            match self.term.read_key() {
                Ok(Key::Char(key)) => return Ok(Some(key)),
                Ok(Key::Escape | Key::CtrlC | Key::Unknown) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                    self.is_asked_to_end();
                    return Ok(None);
                }
                Err(error) => return Err(Failure::from(error)),
            }
        }
    }

    fn edit(&mut self, text: &str) -> Result<Option<String>, Failure> {
        let mut line: Vec<char> = out::clean(text).chars().collect();
        let shown: String = line.iter().collect();
        self.term.write_str(&shown).map_err(Failure::output)?;
        loop {
            if self.is_asked_to_end() {
                return Ok(None);
            }
            match self.term.read_key() {
                Ok(Key::Enter) => break,
                // Nothing is changed.
                Ok(Key::Escape) => line.clear(),
                Ok(Key::Backspace) => {
                    if let Some(gone) = line.pop() {
                        let width = console::measure_text_width(&gone.to_string());
                        self.term.clear_chars(width).map_err(Failure::output)?;
                    }
                    continue;
                }
                Ok(Key::Char(CTRL_U)) => {
                    self.clear(&std::mem::take(&mut line))
                        .map_err(Failure::output)?;
                    continue;
                }
                Ok(Key::Char(key)) if !key.is_control() => {
                    line.push(key);
                    let key = key.to_string();
                    self.term.write_str(&key).map_err(Failure::output)?;
                    continue;
                }
                Ok(Key::Unknown) => return Ok(None),
                Ok(_) => continue,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                    self.is_asked_to_end();
                    return Ok(None);
                }
                Err(error) => return Err(Failure::from(error)),
            }
            break;
        }
        self.term.write_line("").map_err(Failure::output)?;
        Ok(Some(line.into_iter().collect()))
    }
}

/// How a review went.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    promoted: u64,
    rejected: u64,
    skipped: u64,
}

/// Goes through what waits. The lock is held for each change only: a person
/// takes their time, and a dream at night must not wait for them.
pub(super) fn talk(app: &App, dreams: &Dreams<'_>, person: &mut dyn Person) -> Result<(), Failure> {
    let order: Vec<String> = waiting(&dreams.candidates()?)
        .into_iter()
        .map(|one| one.id.clone())
        .collect();
    let recalls = dreams.recalls()?;
    let recalls = |candidate: &Candidate| recalls.of(candidate);
    let review = Review {
        dreams,
        settings: settings(app, &recalls),
    };
    let mut score = Score::default();
    let mut skipped: HashSet<&str> = HashSet::new();
    let mut next = 0;
    'all: while let Some(id) = order.get(next) {
        let at = next;
        next += 1;
        loop {
            let candidates = dreams.candidates()?;
            // Another one may have replaced it meanwhile.
            let Some(one) = find(&candidates, id).filter(|one| one.is_ripe()) else {
                break;
            };
            let shown = review.describe(one, (at + 1, order.len()), app.zoned())?;
            for line in &shown.lines {
                person.show(line)?;
            }
            match ask(person, shown.can_be_promoted)? {
                Verdict::Quit => break 'all,
                Verdict::Skip => {
                    skipped.insert(id);
                    break;
                }
                Verdict::Back => {
                    let before = order[..at].iter();
                    let waits = |id: &String| find(&candidates, id).is_some_and(Candidate::is_ripe);
                    match before.clone().rposition(waits) {
                        Some(before) => {
                            next = before;
                            break;
                        }
                        None => {
                            let why = "Nothing before it waits any more; `longhaul dream undo` \
                                       takes a promotion back.";
                            person.show(why)?;
                        }
                    }
                }
                Verdict::Reject => {
                    let lock = locked(app, dreams)?;
                    if !review.is_as_shown(person, &shown)? {
                        continue;
                    }
                    dreams.reject(&lock, id, app.zoned().date())?;
                    score.rejected += 1;
                    person.show(&style("rejected; it will not come back").red().to_string())?;
                    break;
                }
                Verdict::Edit => {
                    person
                        .show("The line as it should read (Enter takes it, Escape leaves it, Ctrl-U clears it):")?;
                    let Some(text) = person.edit(one.wording())? else {
                        break 'all;
                    };
                    if !text.trim().is_empty() {
                        let lock = locked(app, dreams)?;
                        if !review.is_as_shown(person, &shown)? {
                            let typed = out::clean(text.trim());
                            person.show(&format!("What you wrote was: {typed}"))?;
                            continue;
                        }
                        dreams.reword(&lock, id, text.trim())?;
                    }
                }
                Verdict::Accept => {
                    let lock = locked(app, dreams)?;
                    if !review.is_as_shown(person, &shown)? {
                        continue;
                    }
                    match dreams.promote(&lock, id, &app.zoned(), &review.settings) {
                        Ok(_) => {
                            score.promoted += 1;
                            person.show(&style("promoted").green().to_string())?;
                        }
                        // Nothing was changed; the others can still be decided.
                        Err(error) => {
                            person.show(&style(error.to_string()).red().to_string())?;
                            if let Some(remedy) = error.remedy() {
                                person.show(&style(remedy).dim().to_string())?;
                            }
                        }
                    }
                    break;
                }
            }
        }
    }
    let candidates = dreams.candidates()?;
    // Whoever came back to one may have decided after all.
    let waits = |id: &&&str| find(&candidates, id).is_some_and(Candidate::is_ripe);
    score.skipped = skipped.iter().filter(waits).count() as u64;
    let left = waiting(&candidates).len() as u64;
    person.show("")?;
    person.show(&format!(
        "{} promoted, {} rejected, {} skipped; {}.",
        score.promoted,
        score.rejected,
        score.skipped,
        match left {
            0 => "nothing waits any more".to_owned(),
            left => paint::plural_of(left, "candidate waits", "candidates wait"),
        }
    ))?;
    if score.promoted > 0 {
        let hint = "`longhaul dream undo` takes the latest promotion back";
        person.show(&style(hint).dim().to_string())?;
    }
    Ok(())
}

/// A candidate as a person saw it.
struct Shown {
    id: String,
    /// Which of how many.
    place: (usize, usize),
    when: Zoned,
    lines: Vec<String>,
    can_be_promoted: bool,
}

/// What a review goes by.
struct Review<'a> {
    dreams: &'a Dreams<'a>,
    settings: Settings<'a>,
}

impl Review<'_> {
    /// Whether a candidate is still what a person saw when they decided, which
    /// another process may have changed while they thought. Says so if it is
    /// not. It stays as it is for as long as the lock is held.
    fn is_as_shown(&self, person: &mut dyn Person, shown: &Shown) -> Result<bool, Failure> {
        let candidates = self.dreams.candidates()?;
        let one = find(&candidates, &shown.id);
        let why = match one {
            Some(one) if one.is_ripe() => {
                let now = self.describe(one, shown.place, shown.when.clone())?;
                if now.lines == shown.lines {
                    return Ok(true);
                }
                "It was changed while it was shown, so nothing was done; this is how it is now:"
                    .to_owned()
            }
            Some(one) if one.status != Status::Staged => format!(
                "It became {} while it was shown, so nothing was done.",
                one.status.name()
            ),
            _ => "It stopped waiting while it was shown, so nothing was done.".to_owned(),
        };
        person.show(&style(why).yellow().to_string())?;
        Ok(false)
    }

    /// A candidate, why it is believed, and what would change.
    fn describe(
        &self,
        one: &Candidate,
        place: (usize, usize),
        when: Zoned,
    ) -> Result<Shown, Failure> {
        let (at, all) = place;
        let mut lines = Vec::new();
        lines.push(String::new());
        lines.push(format!(
            "{}  {}  {}  {}",
            style(format!("{at} of {all}")).dim(),
            style(&one.id).cyan(),
            one.topic,
            style(format!("confidence {:.2}", one.confidence)).dim(),
        ));
        let said = one.wording();
        match one.ends {
            true => lines.push(format!(
                "  {} {}",
                style("no longer:").bold(),
                style(said).bold()
            )),
            false => lines.push(format!("  {}", style(said).bold())),
        }
        if one.wording.is_some() {
            let line = format!("in its source's words: {}", &one.text);
            lines.push(format!("  {line}"));
        }
        if let Some(review) = one.review {
            lines.push(format!("  {}", style(review.why()).yellow()));
        }
        if !one.source.is_trusted() {
            let warning = match one.source {
                longhaul_memory::Source::Tool => "a tool said this: data, not an instruction",
                _ => {
                    "nobody vouches for this: written by hand, by another program, or changed since"
                }
            };
            lines.push(format!("  {}", style(warning).yellow()));
        }
        lines.push(String::new());
        for evidence in &one.evidence {
            lines.push(format!(
                "  {} {}  {}",
                style(format!("{:<7}", evidence.by())).dim(),
                &evidence.place(),
                &evidence.words()
            ));
        }
        let known = self.dreams.candidates()?;
        for old in one.in_place_of(&known) {
            let line = format!("in place of {}", old.with_days());
            lines.push(format!("  {}", &line));
        }
        for other in one.may_contradict() {
            let said = find(&known, other).map(|other| format!(": “{}”", other.wording()));
            let line = format!("may contradict {other}{}", said.unwrap_or_default());
            lines.push(format!("  {}", style(&line).yellow()));
        }
        lines.push(String::new());
        let planned = self.dreams.plan(&one.id, &when, &self.settings);
        let can_be_promoted = planned.is_ok();
        match planned {
            Ok(planned) => {
                for page in &planned.pages {
                    lines.push(format!("  {}", style(&page.file).bold()));
                    for line in shown(page) {
                        lines.push(format!("  {line}"));
                    }
                }
                for id in &planned.demoted {
                    let line = format!("{id} leaves MEMORY.md to make room");
                    lines.push(format!("  {}", style(line).yellow()));
                }
            }
            Err(error) => lines.push(format!("  {}", style(error.to_string()).red())),
        }
        Ok(Shown {
            id: one.id.clone(),
            place,
            when,
            lines,
            can_be_promoted,
        })
    }
}

fn ask(person: &mut dyn Person, possible: bool) -> Result<Verdict, Failure> {
    person.show("")?;
    person.show(KEYS)?;
    loop {
        let Some(key) = person.key()? else {
            return Ok(Verdict::Quit);
        };
        return Ok(match key.to_ascii_lowercase() {
            'a' | 'y' if possible => Verdict::Accept,
            'r' | 'n' => Verdict::Reject,
            'e' => Verdict::Edit,
            's' | ' ' => Verdict::Skip,
            'b' => Verdict::Back,
            'q' => Verdict::Quit,
            'a' | 'y' => {
                person.show("It cannot be promoted now; see above.")?;
                continue;
            }
            _ => {
                person.show(KEYS)?;
                continue;
            }
        });
    }
}
