//! Parts of sentences: what they say of what.

use super::parse::Item;
use super::words::{Mark, TOWARDS, Way};
use super::{Claim, Clause, Form, Words};

/// Prepositions that say of what: what follows belongs to the subject.
const OF: &str = " for of für von pour para por для per voor dla ";

fn words_of<'a>(items: impl IntoIterator<Item = &'a Item>) -> Words {
    let word = |item: &Item| match item {
        Item::Word(word) => Some(word.clone()),
        _ => None,
    };
    items.into_iter().filter_map(word).collect()
}

fn is_of(item: &Item) -> bool {
    matches!(item, Item::Lead(lead) if OF.contains(&format!(" {lead} ")))
}

/// Notes what a part of a sentence says.
pub(super) fn clause(items: &[Item], claim: &mut Claim) {
    let has = |wanted: fn(&Mark) -> bool| {
        items
            .iter()
            .any(|item| matches!(item, Item::Mark(mark) if wanted(mark)))
    };
    let begins_no = items
        .iter()
        .position(|item| *item == Item::No)
        .is_some_and(|at| words_of(&items[..at]).is_empty());
    claim.adds |= has(|mark| *mark == Mark::Also);
    claim.demands |= has(|mark| *mark == Mark::Must) || begins_no;
    claim.releases |= has(|mark| *mark == Mark::May);
    claim.waives |= has(|mark| *mark == Mark::NeedNot);
    let turns = |mark: &Mark| {
        matches!(
            mark,
            Mark::Now | Mark::NoLonger | Mark::Gone | Mark::Becomes(_)
        )
    };
    claim.changes |= has(turns);
    let negative = items.contains(&Item::No)
        || (has(|mark| *mark == Mark::Not) && has(|mark| *mark == Mark::Must));
    claim.negative |= negative && !has(|mark| matches!(mark, Mark::May | Mark::NeedNot));
    denials(items, claim);
    // What is denied or gone is not said of anything.
    let until = items
        .iter()
        .position(|item| matches!(item, Item::Mark(Mark::NoLonger | Mark::Not | Mark::Gone)));
    let items = match until {
        Some(at) if words_of(&items[..at]).is_empty() => &items[at..],
        Some(at) => &items[..at],
        None => items,
    };
    let verb = items.iter().position(|item| {
        matches!(
            item,
            Item::Mark(Mark::Is(_) | Mark::Becomes(_) | Mark::Holds)
        )
    });
    let made = match verb {
        Some(at) => verbal(items, at, claim),
        None => doing(items),
    };
    claim.clauses.extend(made);
}

/// What a part of a sentence says is not it, or no longer.
fn denials(items: &[Item], claim: &mut Claim) {
    for (at, item) in items.iter().enumerate() {
        let Item::Mark(mark) = item else { continue };
        let (before, behind) = (&items[..at], &items[at + 1..]);
        let ends = |item: &Item| matches!(item, Item::Mark(_)) || is_of(item);
        let end = behind.iter().position(ends).unwrap_or(behind.len());
        let behind = words_of(&behind[..end]);
        let denied = match mark {
            Mark::NoLonger if before.contains(&Item::No) => continue,
            Mark::NoLonger => behind,
            Mark::Gone => match words_of(before) {
                before if before.is_empty() => behind,
                before => before,
            },
            // "Do not X" forbids; "Y, not X" says what it is not.
            Mark::Not if behind.len() <= 3 && !is_order(before, claim) => behind,
            _ => continue,
        };
        claim.denied.extend(denied);
    }
}

/// Whether a "not" that stands behind this forbids something.
fn is_order(before: &[Item], claim: &Claim) -> bool {
    let must = before
        .iter()
        .any(|item| matches!(item, Item::Mark(Mark::Must | Mark::May | Mark::NeedNot)));
    // Nothing was said yet that could be it instead.
    must || (words_of(before).is_empty() && claim.clauses.is_empty())
}

/// "X is Y", "X became Y", "we switched X to Y", "we use Y for X".
fn verbal(items: &[Item], at: usize, claim: &mut Claim) -> Option<Clause> {
    let Item::Mark(mark) = items[at] else {
        return None;
    };
    let (before, behind) = (&items[..at], &items[at + 1..]);
    let mut subject = words_of(before);
    if subject.is_empty() && items.first() == Some(&Item::Ditto) {
        let last = claim.clauses.last();
        subject = last.map(|last| last.subject.clone()).unwrap_or_default();
    }
    let mut behind = behind;
    // "is now called", "are now written in": the last verb says how.
    let again = behind
        .iter()
        .position(|item| matches!(item, Item::Mark(Mark::Is(_) | Mark::Becomes(_))));
    let mut mark = mark;
    if let Some(next) = again
        && words_of(&behind[..next]).is_empty()
        && let Item::Mark(other) = behind[next]
    {
        mark = other;
        behind = &behind[next + 1..];
    }
    let of = behind.iter().position(is_of).unwrap_or(behind.len());
    let (value, tail) = behind.split_at(of);
    let towards =
        |item: &Item| matches!(item, Item::Lead(lead) if TOWARDS.contains(&format!(" {lead} ")));
    match mark {
        Mark::Becomes(way) => {
            let mut value = value;
            if matches!(value.first(), Some(Item::Lead(lead)) if lead == "from" || lead == "von" || lead == "de")
            {
                let to = value[1..]
                    .iter()
                    .position(towards)
                    .map_or(value.len(), |to| to + 1);
                claim.denied.extend(words_of(&value[..to]));
                value = &value[to..];
            }
            if subject.is_empty()
                && let Some(to) = value.iter().position(towards)
            {
                subject = words_of(&value[..to]);
                value = &value[to..];
            } else if subject.is_empty() {
                // "We replaced X": what it became is not said.
                let named = words_of(value);
                return Some(Clause {
                    subject: named,
                    value: Words::new(),
                    way,
                    form: Form::Becomes,
                });
            }
            subject.extend(words_of(tail));
            Some(Clause {
                subject,
                value: words_of(value),
                way,
                form: Form::Becomes,
            })
        }
        Mark::Is(Way::Named) if subject.is_empty() => {
            // "Call me Tom".
            subject.insert("§me".to_owned());
            Some(Clause {
                subject,
                value: words_of(value),
                way: Way::Named,
                form: Form::Is,
            })
        }
        Mark::Is(way) => {
            let part = matches!(value.first(), Some(Item::The));
            if part && way == Way::Plain && !subject.is_empty() && subject.len() <= 2 {
                let value = words_of(behind);
                return Some(Clause {
                    subject,
                    value,
                    way,
                    form: Form::Holds,
                });
            }
            // "is deployed on", "is built with": the verb belongs to what is
            // spoken of.
            let (mut value, mut way) = (value, way);
            if let [Item::Word(verb), Item::Lead(_), ..] = value
                && is_participle(verb)
            {
                subject.insert(verb.clone());
                value = &value[1..];
                way = Way::Plain;
            }
            subject.extend(words_of(tail));
            let value = words_of(value);
            Some(Clause {
                subject,
                value,
                way,
                form: Form::Is,
            })
        }
        Mark::Holds => {
            let value = words_of(behind);
            Some(Clause {
                subject,
                value,
                way: Way::Plain,
                form: Form::Holds,
            })
        }
        _ => None,
    }
}

/// A verb that lost its ending when it was read.
fn is_participle(root: &str) -> bool {
    [
        "deploy", "built", "host", "stor", "kept", "sent", "sign", "rotat", "manag", "track",
        "releas", "generat", "publish", "run", "call", "test", "monitor", "log", "locat", "bas",
        "licens", "encrypt", "cach", "written",
    ]
    .contains(&root)
}

/// "We release on Thursdays", "answer in German".
fn doing(items: &[Item]) -> Option<Clause> {
    let first = items
        .iter()
        .position(|item| matches!(item, Item::Word(_)))?;
    let lead = items[first..].iter().position(|item| {
        matches!(item, Item::Lead(lead) if lead != "and" && !OF.contains(&format!(" {lead} ")))
    })?;
    let lead = first + lead;
    let (before, behind) = items.split_at(lead);
    let of = behind.iter().position(is_of).unwrap_or(behind.len());
    let mut subject = words_of(before);
    let value = words_of(&behind[..of]);
    if subject.is_empty() || value.is_empty() {
        return None;
    }
    subject.extend(words_of(&behind[of..]));
    Some(Clause {
        subject,
        value,
        way: Way::Plain,
        form: Form::Does,
    })
}
