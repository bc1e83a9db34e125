//! The dialogue of a review: one screen for each candidate, with where it was said,
//! what may contradict it beside it, what would change, and a key for what becomes
//! of it.

use std::collections::HashSet;

use console::{Key, Term};
use jiff::Zoned;
use longhaul_memory::Source;
use longhaul_memory::dream::{Candidate, Dreams, Settings, waiting};

use super::change::shown;
use super::signals::Signals;
use super::{find, locked, recalls, settings};
use crate::failure::Outcome;
use crate::prelude::*;

/// What a person does with a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    Edit,
    Merge,
    Drop,
    Later,
    Back,
    Quit,
}

const KEYS: &str = "[k]eep  [e]dit  [d]rop  [l]ater  [b]ack  [q]uit";
const KEYS_OF_PAIR: &str =
    "[k]eep beside it  [m]erge: the newer one stays  [e]dit  [d]rop  [l]ater  [b]ack  [q]uit";

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
    fn unwrite(&self, line: &[char]) -> std::io::Result<()> {
        let line: String = line.iter().collect();
        let columns = usize::from(self.term.size().1).max(1);
        let rows = console::measure_text_width(&line).saturating_sub(1) / columns;
        self.term.move_cursor_up(rows)?;
        self.term.write_str("\r")?;
        self.term.clear_to_end_of_screen()
    }

    /// Begins a new screen.
    fn clear(&mut self) -> Result {
        self.term.clear_screen().map_err(Failure::output)
    }

    /// How many columns a line has.
    fn columns(&self) -> usize {
        usize::from(self.term.size().1).clamp(40, 120)
    }

    /// Shows a line.
    fn show(&mut self, line: &str) -> Result {
        let shown = self.term.write_line(&out::clean(line));
        shown.map_err(Failure::output)
    }

    /// Waits for whatever is typed; none when the person has gone.
    fn typed(&mut self) -> Result<Option<Key>> {
        if self.is_asked_to_end() {
            return Ok(None);
        }
        match self.term.read_key() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                self.is_asked_to_end();
                Ok(None)
            }
            key => Ok(Some(key?)),
        }
    }

    /// Waits for a key; none when the person has gone.
    fn key(&mut self) -> Result<Option<char>> {
        loop {
            match self.typed()? {
                Some(Key::Char(key)) => return Ok(Some(key)),
                None | Some(Key::Escape | Key::CtrlC | Key::Unknown) => return Ok(None),
                Some(_) => {}
            }
        }
    }

    /// Lets a text be edited; none when the person has gone.
    fn edit(&mut self, text: &str) -> Result<Option<String>> {
        let shown = out::clean(text);
        let mut line: Vec<char> = shown.chars().collect();
        self.term.write_str(&shown).map_err(Failure::output)?;
        loop {
            let written = match self.typed()? {
                None | Some(Key::Unknown) => return Ok(None),
                Some(Key::Enter) => break,
                Some(Key::Escape) => {
                    // Nothing is changed.
                    line.clear();
                    break;
                }
                Some(Key::Backspace) => match line.pop() {
                    Some(gone) => {
                        let width = console::measure_text_width(&gone.to_string());
                        self.term.clear_chars(width)
                    }
                    None => Ok(()),
                },
                Some(Key::Char(CTRL_U)) => self.unwrite(&std::mem::take(&mut line)),
                Some(Key::Char(key)) if !key.is_control() => {
                    line.push(key);
                    self.term.write_str(&key.to_string())
                }
                Some(_) => Ok(()),
            };
            written.map_err(Failure::output)?;
        }
        self.term.write_line("").map_err(Failure::output)?;
        Ok(Some(line.into_iter().collect()))
    }
}

/// How a review went.
#[derive(Debug, Default, PartialEq, Eq)]
struct Score {
    kept: u64,
    merged: u64,
    dropped: u64,
    later: u64,
}

/// Goes through what waits. The lock is held for each change only: a person
/// takes their time, and a dream at night must not wait for them.
pub(super) fn talk(app: &App, dreams: &Dreams<'_>, person: &mut Terminal) -> Result {
    let all = dreams.candidates()?;
    let order: Vec<String> = waiting(&all)
        .into_iter()
        .map(|one| one.id.clone())
        .collect();
    let recalls = recalls(dreams)?;
    let review = Review {
        dreams,
        settings: settings(app, &recalls),
        columns: person.columns(),
    };
    let mut score = Score::default();
    let mut later: HashSet<&str> = HashSet::new();
    let mut next = 0;
    // What was done is told on the screen that follows.
    let mut told: Vec<String> = Vec::new();
    'all: while let Some(id) = order.get(next) {
        let at = next;
        next += 1;
        loop {
            let candidates = dreams.candidates()?;
            // Another one may have taken its place meanwhile.
            let Some(one) = find(&candidates, id).filter(|one| one.is_waiting()) else {
                break;
            };
            let shown = review.describe(one, (at + 1, order.len()), app.zoned())?;
            person.clear()?;
            for line in told.drain(..).chain(shown.lines.iter().cloned()) {
                person.show(&line)?;
            }
            let verdict = ask(person, &shown)?;
            let decides = matches!(verdict, Verdict::Keep | Verdict::Merge | Verdict::Drop);
            let lock = match decides {
                true => Some(locked(dreams)?),
                false => None,
            };
            if decides && let Some(why) = review.is_no_more_as(&shown)? {
                told.push(why);
                continue;
            }
            match (verdict, lock) {
                (Verdict::Quit, _) => break 'all,
                (Verdict::Later, _) => {
                    later.insert(id);
                    break;
                }
                (Verdict::Back, _) => {
                    let mut before = order[..at].iter();
                    let waits =
                        |id: &String| find(&candidates, id).is_some_and(Candidate::is_waiting);
                    match before.rposition(waits) {
                        Some(before) => {
                            next = before;
                            break;
                        }
                        None => told.push(
                            "Nothing before it waits any more; `longhaul dream undo` takes a \
                             promotion back."
                                .to_owned(),
                        ),
                    }
                }
                (Verdict::Edit, _) => {
                    person
                        .show("The line as it should read (Enter takes it, Escape leaves it, Ctrl-U clears it):")?;
                    let Some(text) = person.edit(one.wording())? else {
                        break 'all;
                    };
                    if !text.trim().is_empty() {
                        let lock = locked(dreams)?;
                        if let Some(why) = review.is_no_more_as(&shown)? {
                            let typed = out::clean(text.trim());
                            told.extend([why, format!("What you wrote was: {typed}")]);
                            continue;
                        }
                        dreams.reword(&lock, id, text.trim())?;
                    }
                }
                (Verdict::Drop, Some(lock)) => {
                    dreams.reject(&lock, id, app.zoned().date())?;
                    score.dropped += 1;
                    let line = format!("{id} was dropped; it will not come back");
                    told.push(style(line).red().to_string());
                    break;
                }
                (Verdict::Merge, Some(lock)) => {
                    let Some(other) = &shown.beside else {
                        continue;
                    };
                    let stays = dreams.merge(&lock, id, other)?;
                    let leaves = if stays == *id { other } else { id };
                    score.merged += 1;
                    let line = format!("{stays} stays in the place of {leaves}");
                    told.push(style(line).green().to_string());
                }
                (Verdict::Keep, Some(lock)) => {
                    match dreams.promote(&lock, id, &app.zoned(), &review.settings) {
                        Ok(_) => {
                            score.kept += 1;
                            told.push(style(format!("{id} was kept")).green().to_string());
                        }
                        // Nothing was changed; the others can still be decided.
                        Err(error) => {
                            told.push(style(error.to_string()).red().to_string());
                            let remedy = error.remedy();
                            told.extend(remedy.map(|remedy| style(remedy).dim().to_string()));
                        }
                    }
                    break;
                }
                (Verdict::Keep | Verdict::Merge | Verdict::Drop, None) => {}
            }
        }
    }
    let candidates = dreams.candidates()?;
    // Whoever came back to one may have decided after all.
    let waits = |id: &&&str| find(&candidates, id).is_some_and(Candidate::is_waiting);
    score.later = later.iter().filter(waits).count() as u64;
    let left = waiting(&candidates).len() as u64;
    for line in told {
        person.show(&line)?;
    }
    person.show("")?;
    person.show(&format!(
        "{} kept, {} merged, {} dropped, {} left for later; {}.",
        score.kept,
        score.merged,
        score.dropped,
        score.later,
        match left {
            0 => "nothing waits any more".to_owned(),
            left => paint::waiting(left as usize),
        }
    ))?;
    if score.kept > 0 {
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
    can_be_kept: bool,
    /// What it can be merged with.
    beside: Option<String>,
}

/// What a review goes by.
struct Review<'a> {
    dreams: &'a Dreams<'a>,
    settings: Settings<'a>,
    columns: usize,
}

impl Review<'_> {
    /// Why a candidate is no longer what a person saw when they decided: another
    /// process may have changed it while they thought. It stays as it is for as long
    /// as the lock is held.
    fn is_no_more_as(&self, shown: &Shown) -> Result<Option<String>> {
        let candidates = self.dreams.candidates()?;
        let why = match find(&candidates, &shown.id) {
            Some(one) if one.is_waiting() => {
                let now = self.describe(one, shown.place, shown.when.clone())?;
                if now.lines == shown.lines {
                    return Ok(None);
                }
                "It was changed while it was shown, so nothing was done; this is how it is now:"
                    .to_owned()
            }
            Some(one) => format!(
                "{} became {} while it was shown, so nothing was done.",
                one.id, one.status
            ),
            None => format!(
                "{} stopped waiting while it was shown, so nothing was done.",
                shown.id
            ),
        };
        Ok(Some(style(why).yellow().to_string()))
    }

    /// A candidate, why it is believed, and what would change: one screen.
    fn describe(&self, one: &Candidate, place: (usize, usize), when: Zoned) -> Result<Shown> {
        let (at, all) = place;
        let known = self.dreams.candidates()?;
        let mut lines = vec![
            format!(
                "{}  {}  {}  {}",
                style(format!("{at} of {all}")).dim(),
                style(&one.id).cyan(),
                one.topic,
                style(format!("score {:.2}", one.confidence)).dim(),
            ),
            String::new(),
        ];
        lines.extend(self.wrapped(&out::clean(one.wording())));
        if one.wording.is_some() {
            let line = format!("in its source's words: {}", out::clean(&one.text));
            lines.extend(self.wrapped(&line));
        }
        if let Some(review) = one.review {
            lines.push(format!("  {}", style(review.why()).yellow()));
        }
        if !one.source.is_trusted() {
            let warning = match one.source {
                Source::Tool => "a tool said this: data, not an instruction",
                _ => {
                    "nobody vouches for this: written by hand, by another program, or changed since"
                }
            };
            lines.push(format!("  {}", style(warning).yellow()));
        }
        lines.push(String::new());
        for evidence in &one.evidence {
            let place = format!("{:<7} {}", evidence.source, out::clean(&evidence.place()));
            let words = out::clean(&evidence.words());
            let room = self
                .columns
                .saturating_sub(place.chars().count() + 6)
                .max(20);
            let words = paint::gist(&words, room);
            lines.push(format!("  {}  {words}", style(place).dim()));
        }
        for old in one.in_place_of(&known) {
            let line = format!("in place of {}", old.with_days());
            lines.push(format!("  {}", &line));
        }
        let others = one.may_contradict();
        let beside = others.iter().find_map(|id| {
            find(&known, id).filter(|other| other.is_waiting() || other.status.is_kept())
        });
        if let Some(other) = beside {
            lines.push(String::new());
            lines.extend(side_by_side(one, other, self.columns));
        }
        let rest = others.iter();
        for id in rest.filter(|id| beside.is_none_or(|other| other.id != **id)) {
            let said = find(&known, id).map(Candidate::with_days);
            let line = format!("may contradict {}", said.unwrap_or_else(|| id.to_string()));
            lines.push(format!("  {}", style(out::clean(&line)).yellow()));
        }
        lines.push(String::new());
        let planned = self.dreams.plan(&one.id, &when, &self.settings);
        let can_be_kept = planned.is_ok();
        match planned {
            Ok(planned) => {
                for page in &planned.pages {
                    let change = shown(page);
                    // The page of the evidence that stands above is named only.
                    if page.file == "MEMORY.md" {
                        lines.push(format!("  {}", style(&page.file).bold()));
                        lines.extend(change.into_iter().map(|line| format!("  {line}")));
                    } else {
                        let count = paint::plural(change.len() as u64, "line");
                        let line = format!("{}: {count}", page.file);
                        lines.push(format!("  {}", style(line).dim()));
                    }
                }
                for id in planned.demoted() {
                    let line = format!("{id} leaves MEMORY.md to make room");
                    lines.push(format!("  {}", style(line).yellow()));
                }
            }
            Err(error) => lines.push(format!("  {}", style(error.to_string()).red())),
        }
        let beside = beside.map(|other| other.id.clone());
        let id = one.id.clone();
        Ok(Shown {
            id,
            place,
            when,
            lines,
            can_be_kept,
            beside,
        })
    }

    fn wrapped(&self, text: &str) -> Vec<String> {
        let lines = wrap(text, self.columns.saturating_sub(4)).into_iter();
        lines
            .map(|line| format!("  {}", style(line).bold()))
            .collect()
    }
}

/// Two candidates that may contradict each other, the older one on the left.
fn side_by_side(one: &Candidate, other: &Candidate, columns: usize) -> Vec<String> {
    let (older, newer) = match one.last_day() <= other.last_day() {
        true => (one, other),
        false => (other, one),
    };
    let width = columns.saturating_sub(7) / 2;
    let column = |it: &Candidate| {
        let days = match it.last_day() {
            last if last == it.valid_from => last.to_string(),
            last => format!("{} to {last}", it.valid_from),
        };
        let kept = if it.status.is_kept() { ", kept" } else { "" };
        let own = if it.id == one.id { "this one" } else { &it.id };
        let mut lines = wrap(&format!("{own}, {days}{kept}"), width);
        lines.extend(wrap(&out::clean(it.wording()), width));
        lines
    };
    let (left, right) = (column(older), column(newer));
    let rows = (0..left.len().max(right.len())).map(|at| {
        let cell = |lines: &[String]| {
            let text = lines.get(at).cloned().unwrap_or_default();
            console::pad_str(&text, width, console::Alignment::Left, None).into_owned()
        };
        format!("  {} │ {}", cell(&left), cell(&right).trim_end())
    });
    let title = style("These may contradict each other:").yellow();
    std::iter::once(format!("  {title}")).chain(rows).collect()
}

/// A text in lines of at most so many columns.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let width = console::measure_text_width;
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        if let Some(line) = lines.last_mut() {
            let gap = usize::from(!line.is_empty());
            if width(line) + gap + width(&word) <= columns {
                line.push_str(&" ".repeat(gap));
                line.push_str(&word);
                continue;
            }
        }
        // Words that are not spaced are cut where the line ends.
        while width(&word) > columns {
            let head = console::truncate_str(&word, columns, "").into_owned();
            let rest = word[head.len()..].to_owned();
            if head.is_empty() {
                break;
            }
            lines.push(head);
            word = rest;
        }
        lines.push(word);
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn ask(person: &mut Terminal, shown: &Shown) -> Result<Verdict> {
    let keys = match shown.beside {
        Some(_) => KEYS_OF_PAIR,
        None => KEYS,
    };
    person.show("")?;
    person.show(keys)?;
    loop {
        let Some(key) = person.key()? else {
            return Ok(Verdict::Quit);
        };
        return Ok(match key.to_ascii_lowercase() {
            'k' if shown.can_be_kept => Verdict::Keep,
            'm' if shown.beside.is_some() => Verdict::Merge,
            'e' => Verdict::Edit,
            'd' => Verdict::Drop,
            'l' | ' ' => Verdict::Later,
            'b' => Verdict::Back,
            'q' => Verdict::Quit,
            'k' => {
                person.show("It cannot be kept now; see above.")?;
                continue;
            }
            _ => {
                person.show(keys)?;
                continue;
            }
        });
    }
}
