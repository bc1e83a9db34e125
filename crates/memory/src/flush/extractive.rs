//! The flush without a model: a view on the ledger.

use std::collections::{HashMap, HashSet};

use longhaul_ledger::{
    AnchorKind, Decision, FileChange, ItemState, Ledger, Provenance, Rule, RuleKind, Sentence,
    Speaker, Trouble, agrees_or_chooses,
};
use longhaul_transcript::EntryId;

use crate::Source;
use crate::files::{Body, Mention, Note, Section};

/// Characters of a note; the transcript has the rest.
const MOST_CHARS: usize = 300;
/// Notes of a section. Others' words give way before the user's, and of each the
/// newest stay; the user's own rules are all logged.
const MOST_NOTES: usize = 40;
/// The title over rules.
const RULES: &str = "User Preferences";

/// Stands between a short reply and what it replies to.
pub(crate) const REPLY: &str = " ← ";

/// Stands before a permission, or what takes a rule back, where the session
/// does not know which rule is meant.
pub(crate) const CHANGE: &str = "Change: ";

/// Stands in the note of a failure that was followed by a success.
pub(crate) const PASSED: &str = "failed (passed later)";

/// What the ledger has found since `before`, the ledger at the last flush or
/// compaction: rules and decisions, what was done, learnt and went wrong. The
/// same ledgers give the same body. `None` when there is nothing new.
pub fn extractive(now: &Ledger, before: Option<&Ledger>) -> Option<Body> {
    let empty = Ledger::default();
    let before = before.unwrap_or(&empty);
    let sections: Vec<Section> = [
        section(RULES, rules(now, before), rules_left(now, before)),
        section("Important Decisions", decisions(now, before), 0),
        section("Facts", facts(now, before), 0),
        section("Task Progress", progress(now, before), 0),
        section("Issues Found", issues(now, before), 0),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!sections.is_empty()).then_some(Body::Sections(sections))
}

/// Only the user's own rules that are new since `before`, word for word. Beside
/// a flush by the model, so that they stand in the log as the user's words and
/// not only as the agent's account of them.
pub fn words_of_the_user(now: &Ledger, before: Option<&Ledger>) -> Option<Body> {
    let empty = Ledger::default();
    let before = before.unwrap_or(&empty);
    section(RULES, rules(now, before), rules_left(now, before))
        .map(|list| Body::Sections(vec![list]))
}

/// Rules that the session itself no longer lists.
fn rules_left(now: &Ledger, before: &Ledger) -> usize {
    let left = now.rules_left().saturating_sub(before.rules_left());
    usize::try_from(left).unwrap_or(usize::MAX)
}

/// A section of at most so many notes, and a line that counts the others, with
/// those that were left out before.
fn section(title: &str, mut notes: Vec<Note>, left: usize) -> Option<Section> {
    let mut over = notes.len().saturating_sub(MOST_NOTES);
    let count = notes.len();
    notes.retain(|note| {
        let leaves = over > 0 && note.source != Source::User;
        over -= usize::from(leaves);
        !leaves
    });
    if title != RULES {
        notes.drain(..over);
    }
    let out = left.saturating_add(count - notes.len());
    if out > 0 {
        notes.insert(
            0,
            note(
                format!("({out} older ones are in the transcript)"),
                Source::Agent,
                None,
            ),
        );
    }
    (!notes.is_empty()).then(|| Section {
        title: title.to_owned(),
        notes,
    })
}

fn note(text: impl Into<String>, source: Source, entry: Option<&EntryId>) -> Note {
    let text = text.into();
    let text = match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    Note {
        text,
        source,
        entry: entry.cloned(),
        said: None,
        first: None,
    }
}

/// Who vouches for something in the user's name, and where.
struct Vouched<'a> {
    /// At most this source: what something else put in the user's place is nobody's
    /// word.
    most: Source,
    /// The latest entry that says it: what was said again holds from then on too,
    /// whatever was said in between.
    entry: Option<&'a EntryId>,
    /// The first that says it, where that is another one.
    first: Option<&'a EntryId>,
}

impl<'a> Vouched<'a> {
    fn of(now: &Ledger, provenance: &'a Provenance) -> Vouched<'a> {
        let is_users = |entry: &&EntryId| !now.others.contains(*entry);
        let mut entries = provenance.entries.iter().filter(is_users);
        match (entries.next(), entries.next_back()) {
            (None, _) if provenance.entries.is_empty() => Vouched {
                most: Source::User,
                entry: None,
                first: None,
            },
            (None, _) => Vouched {
                most: Source::Unknown,
                entry: provenance.first(),
                first: None,
            },
            (Some(first), last) => Vouched {
                most: Source::User,
                entry: last.or(Some(first)),
                first: last.map(|_| first),
            },
        }
    }

    /// Whether it was said once more since the ledger had this of it.
    fn is_later(&self, known: &Provenance) -> bool {
        let later = |entry| !known.entries.contains(entry);
        self.most == Source::User && self.entry.is_some_and(later)
    }

    /// A note of it. Where it was noted before, it says only when it was said again.
    fn note(&self, text: String, source: Source, is_known: bool) -> Note {
        let first = self.first.filter(|_| !is_known).cloned();
        Note {
            first: first.map(|entry| Mention { entry, day: None }),
            ..note(text, source.min(self.most), self.entry)
        }
    }
}

/// Whose word something is. What looks pasted is nobody's: it stands in the
/// user's message, and may be what a page or a tool says.
fn source(by: Speaker, pasted: bool) -> Source {
    match pasted {
        true => Source::from(by).min(Source::Unknown),
        false => Source::from(by),
    }
}

fn said(rule: &Rule) -> &str {
    &rule.text
}

fn rules(now: &Ledger, before: &Ledger) -> Vec<Note> {
    let live = before.rules.iter().filter(|rule| rule.revoked.is_none());
    let known: HashMap<&str, &Rule> = live.map(|rule| (said(rule), rule)).collect();
    let over = before.rules.iter().filter(|rule| rule.revoked.is_some());
    let over: HashSet<&str> = over.map(said).collect();
    let mut notes = Vec::new();
    for rule in &now.rules {
        let text = rule.text.as_str();
        let known = known.get(text);
        let vouched = Vouched::of(now, &rule.provenance);
        // What was pasted before and is typed now is the user's word from now on.
        let is_noted = known.is_some_and(|known| rule.pasted || !known.pasted);
        let again = |known: &&Rule| !rule.pasted && vouched.is_later(&known.provenance);
        match &rule.revoked {
            None if !is_noted || known.is_some_and(again) => {
                let kind = match rule.kind {
                    RuleKind::Constraint => "Constraint",
                    RuleKind::Preference => "Preference",
                };
                let text = format!("{kind}: {}", rule.in_frame());
                let source = source(Speaker::User, rule.pasted);
                notes.push(vouched.note(text, source, is_noted));
            }
            // What was made and taken back since may be a rule of another session.
            Some(by) if !over.contains(text) => {
                let source = match now.others.contains(by) {
                    true => Source::Unknown,
                    false => Source::User,
                };
                notes.push(note(format!("No longer: {text}"), source, Some(by)));
            }
            _ => {}
        }
    }
    // Which rule they mean only the memory can tell, so they are only logged.
    for lift in &now.lifts {
        if !before.lifts.iter().any(|known| known.text == lift.text) {
            notes.push(note(
                format!("{CHANGE}{}", lift.text),
                source(Speaker::User, lift.pasted),
                lift.provenance.first(),
            ));
        }
    }
    notes
}

fn decisions(now: &Ledger, before: &Ledger) -> Vec<Note> {
    let held = before.decisions.iter();
    let held = held.filter(|decision| decision.superseded.is_none());
    let held: HashMap<&str, &Decision> = held
        .map(|decision| (decision.what.as_str(), decision))
        .collect();
    let mut notes = Vec::new();
    for decision in &now.decisions {
        let what = decision.what.as_str();
        let reply = what.split_once(REPLY);
        if reply.is_some_and(|(reply, answer)| !is_settled_by(now, reply, answer)) {
            continue;
        }
        // A short reply stands with the gist of the answer it replies to, and
        // those are not the user's words.
        let source = match what.contains(REPLY) {
            true => Source::from(decision.by).min(Source::Agent),
            false => source(decision.by, decision.pasted),
        };
        let vouched = Vouched::of(now, &decision.provenance);
        let known = held.get(what);
        let again =
            |known: &&Decision| source == Source::User && vouched.is_later(&known.provenance);
        match &decision.superseded {
            None if known.is_none_or(again) => {
                // The reason is often a part of what was said.
                let text = match &decision.reason {
                    Some(reason) if !what.contains(reason.as_str()) => {
                        format!("{what} (because {reason})")
                    }
                    _ => what.to_owned(),
                };
                notes.push(vouched.note(text, source, known.is_some()));
            }
            Some(by) if known.is_some() => {
                let source = match now.others.contains(by) {
                    true => source.min(Source::Unknown),
                    false => source.min(vouched.most),
                };
                notes.push(note(format!("No longer: {what}"), source, Some(by)));
            }
            _ => {}
        }
    }
    notes
}

/// Whether a short reply settles what the answer before it asked or proposed. A
/// rule is logged as such, and what was merely done or understood leaves nothing
/// to decide.
fn is_settled_by(now: &Ledger, reply: &str, answer: &str) -> bool {
    let mut rules = now.rules.iter().map(said);
    let is_rule = rules.any(|rule| reply.contains(rule) || rule.contains(reply));
    let mut lifts = now.lifts.iter().map(|lift| lift.text.as_str());
    let lifts = lifts.any(|lift| reply.contains(lift) || lift.contains(reply));
    !is_rule && !lifts && agrees_or_chooses(reply) && (proposes(answer) || !reports(answer))
}

/// Whether an answer asks, or names a way to go.
fn proposes(answer: &str) -> bool {
    let lower = answer.to_lowercase();
    let words = [
        "could",
        "should",
        "would",
        "shall",
        "option",
        "suggest",
        "recommend",
        "propos",
        "either",
        "instead",
        "könnte",
        "sollte",
        "vorschlag",
        "schlage",
        "empfehl",
        "pourr",
        "devrait",
        "podría",
        "podemos",
        "opción",
        "suger",
        "poderia",
        "opção",
        "potremmo",
        "potrei",
        "opzione",
        "zou",
        "optie",
        "можно",
        "предлаг",
        "вариант",
        "лучше",
        "建议",
        "可以",
        "方案",
        "提案",
        "案",
        "제안",
        "방법",
        "اقتر",
        "يمكن",
    ];
    answer.contains(['?', '？', '؟']) || words.iter().any(|word| lower.contains(word))
}

/// Whether an answer begins by saying that something is understood or done.
fn reports(answer: &str) -> bool {
    let lower = answer
        .trim_start_matches(['*', '_', '#', ' ', '✅', '✓'])
        .to_lowercase();
    let starts = [
        "understood",
        "done",
        "ok",
        "got it",
        "noted",
        "sure",
        "alright",
        "all right",
        "thanks",
        "thank you",
        "all done",
        "finished",
        "i have ",
        "i've ",
        "will do",
        "verstanden",
        "erledigt",
        "fertig",
        "in ordnung",
        "alles klar",
        "ich habe ",
        "compris",
        "d'accord",
        "entendu",
        "c'est fait",
        "terminé",
        "entendido",
        "hecho",
        "listo",
        "vale",
        "de acuerdo",
        "feito",
        "certo",
        "capito",
        "fatto",
        "va bene",
        "begrepen",
        "klaar",
        "понял",
        "понятно",
        "готово",
        "сделано",
        "хорошо",
        "zrozumia",
        "gotowe",
        "好的",
        "明白",
        "了解",
        "已完成",
        "完成",
        "收到",
        "わかりました",
        "承知",
        "完了",
        "알겠",
        "완료",
        "مفهوم",
        "تم ",
    ];
    starts.iter().any(|start| lower.starts_with(start))
}

/// Whether a sentence is logged as a rule or a decision already. One that only
/// shows a value is cut where it is long.
fn is_said_elsewhere(now: &Ledger, text: &str) -> bool {
    let text = text.trim_matches(['…', ' ']);
    let rules = now
        .rules
        .iter()
        .filter(|rule| rule.revoked.is_none())
        .map(said);
    let decisions = now.decisions.iter();
    let decisions = decisions.filter(|one| one.superseded.is_none() && !one.what.contains(REPLY));
    let lifts = now.lifts.iter().map(|lift| lift.text.as_str());
    let mut all = rules
        .chain(decisions.map(|one| one.what.as_str()))
        .chain(lifts);
    !text.is_empty() && all.any(|known| known.contains(text))
}

fn facts(now: &Ledger, before: &Ledger) -> Vec<Note> {
    let learnt = now.learnings.iter();
    let mut notes: Vec<Note> = learnt
        .filter(|learnt| !before.learnings.contains(learnt))
        .map(|learnt| note(learnt, Source::Agent, None))
        .collect();
    for stated in &now.statements {
        let mut known = before.statements.iter();
        let known = known.find(|known| known.text == stated.text);
        let vouched = Vouched::of(now, &stated.provenance);
        let again = |known: &Sentence| !stated.pasted && vouched.is_later(&known.provenance);
        if known.is_none_or(again) && !is_said_elsewhere(now, &stated.text) {
            let source = source(Speaker::User, stated.pasted);
            notes.push(vouched.note(stated.text.clone(), source, known.is_some()));
        }
    }
    // What the user said with a number, an address or an id in it.
    let mut anchors: Vec<_> = now
        .anchors
        .values()
        .filter(|anchor| anchor.by == Speaker::User && anchor.superseded.is_none())
        .filter(|anchor| !matches!(anchor.kind, AnchorKind::Name | AnchorKind::Path))
        .filter(|anchor| !before.anchors.contains_key(&anchor.text))
        .collect();
    anchors.sort_by(|a, b| a.rank.cmp(&b.rank).then_with(|| a.text.cmp(&b.text)));
    for anchor in anchors {
        let is_known = notes.iter().any(|known| known.text == anchor.about);
        if !is_known && !is_said_elsewhere(now, &anchor.about) {
            // Its sentence is the first; later ones may say something else of it.
            let vouched = Vouched::of(now, &anchor.provenance);
            let source = source(Speaker::User, anchor.pasted).min(vouched.most);
            let entry = vouched.first.or(vouched.entry);
            notes.push(note(&anchor.about, source, entry));
        }
    }
    notes
}

fn progress(now: &Ledger, before: &Ledger) -> Vec<Note> {
    let mut notes = Vec::new();
    for item in &now.items {
        let was = before.items.iter().find(|known| known.text == item.text);
        if was.is_some_and(|known| known.state == item.state) {
            continue;
        }
        let state = match item.state {
            ItemState::Open => "Remaining",
            ItemState::InProgress => "In progress",
            ItemState::Done => "Completed",
            ItemState::Dropped => "Dropped",
        };
        notes.push(note(
            format!("{state}: {}", item.text),
            Source::Agent,
            item.provenance.last(),
        ));
    }
    for file in now.modified_files() {
        let was = before.files.get(&file.path);
        if was.is_some_and(|known| known.changes == file.changes && known.last == file.last) {
            continue;
        }
        let what = match (file.last, file.changes) {
            (FileChange::Deleted, _) => "deleted".to_owned(),
            (FileChange::Moved, _) => match &file.moved_to {
                Some(to) => format!("moved to {to}"),
                None => "moved".to_owned(),
            },
            (_, 1) if file.created => "created".to_owned(),
            (_, 1) => "changed".to_owned(),
            (_, times) => format!("changed {times} times"),
        };
        // A path may have been chosen by whoever wrote the tool's answer.
        notes.push(note(
            format!("File {}: {what}", file.path),
            Source::Tool,
            file.provenance.last(),
        ));
    }
    notes
}

fn issues(now: &Ledger, before: &Ledger) -> Vec<Note> {
    let same = |a: &Trouble, b: &Trouble| a.line == b.line && a.cause == b.cause;
    let mut notes = Vec::new();
    for trouble in &now.troubles {
        let was = before.troubles.iter().find(|known| same(known, trouble));
        if was.is_some_and(|known| known.resolved.is_some() == trouble.resolved.is_some()) {
            continue;
        }
        let end = match trouble.resolved {
            Some(_) => PASSED,
            None => "failed (not resolved)",
        };
        notes.push(note(
            format!("`{}` {end}: {}", trouble.cause, trouble.line),
            Source::Tool,
            last(&trouble.provenance),
        ));
    }
    notes
}

fn last(provenance: &Provenance) -> Option<&EntryId> {
    provenance.last()
}
