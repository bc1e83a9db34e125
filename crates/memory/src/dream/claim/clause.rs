//! Parts of sentences: what they say of what.

use super::parse::Item;
use super::sort::lead_of;
use super::words::{Mark, TOWARDS, Way};
use super::{Claim, Clause, Form, Words};

/// Prepositions that say of what: what follows belongs to the subject.
const OF: &str =
    " for of für von pour para por для per voor dla de du des di del della do da dos das van ";

/// The subject of what several say of themselves.
pub(super) const WE: &str = "§we";

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

fn is_towards(item: &Item) -> bool {
    matches!(item, Item::Lead(lead) if TOWARDS.contains(&format!(" {lead} ")))
}

/// The preposition with which something begins.
fn lead(items: &[Item]) -> Option<String> {
    let word = items.iter().find(|item| **item != Item::Mark(Mark::Now))?;
    match word {
        Item::Lead(lead) if lead != "and" => Some(lead_of(lead)),
        _ => None,
    }
}

/// Whether a single word without an article stands before a verb, as names of
/// people do. Not all languages have articles.
fn is_bare(before: &[Item]) -> bool {
    let tied = |item: &Item| matches!(item, Item::The | Item::Lead(_));
    let latin = |word: &String| word.chars().all(|c| c < '\u{0370}');
    let words = words_of(before);
    words.len() == 1 && words.iter().all(latin) && !before.iter().any(tied)
}

fn is_from(item: &Item) -> bool {
    matches!(item, Item::Lead(lead) if matches!(lead.as_str(), "from" | "von" | "de"))
}

/// Notes what a part of a sentence says.
pub(super) fn clause(items: &[Item], claim: &mut Claim) {
    let has = |wanted: fn(&Mark) -> bool| {
        items
            .iter()
            .any(|item| matches!(item, Item::Mark(mark) if wanted(mark)))
    };
    let denies = |item: &Item| matches!(item, Item::No | Item::Without);
    let begins_no = items
        .iter()
        .position(denies)
        .is_some_and(|at| words_of(&items[..at]).is_empty());
    let somebody = |item: &Item| matches!(item, Item::Me | Item::We | Item::It);
    claim.tells |= items.iter().any(somebody);
    let also = has(|mark| *mark == Mark::Also);
    let no = items.contains(&Item::No) || has(|mark| *mark == Mark::Not);
    let can = has(|mark| matches!(mark, Mark::May | Mark::Can));
    // "X may not be done" forbids it, and "only admins may do it" most of it.
    let bans = has(|mark| *mark == Mark::Ban) || (can && no);
    let narrows = can && items.contains(&Item::Only);
    if narrows
        && let Some(at) = items
            .iter()
            .position(|item| matches!(item, Item::Mark(Mark::May | Mark::Can)))
    {
        claim.kept_to.extend(words_of(&items[at..]));
    }
    let may = has(|mark| *mark == Mark::May) || (can && (also || has(|mark| *mark == Mark::Now)));
    let allows = may && !bans && !narrows;
    claim.adds |= also;
    claim.demands |=
        has(|mark| *mark == Mark::Must) || begins_no || bans || narrows || forbids(items, claim);
    claim.releases |= allows;
    claim.waives |= has(|mark| *mark == Mark::NeedNot);
    if allows {
        claim.leave.extend(words_of(items));
    }
    for around in items.windows(3) {
        if let [Item::Word(one), Item::Lead(and), Item::Word(other)] = around
            && and == "and"
        {
            claim.joined.extend([one.clone(), other.clone()]);
        }
    }
    let turns = |mark: &Mark| {
        matches!(
            mark,
            Mark::Now | Mark::NoLonger | Mark::Gone | Mark::Becomes(_)
        )
    };
    claim.changes |= has(turns);
    let forbidden = items.contains(&Item::No)
        || bans
        || forbids(items, claim)
        || (has(|mark| *mark == Mark::Not) && has(|mark| *mark == Mark::Must));
    claim.insists |= forbidden && items.contains(&Item::Without);
    let negative = forbidden || items.contains(&Item::Without);
    let negative = negative && !allows && !has(|mark| *mark == Mark::NeedNot);
    claim.negative |= negative;
    if !words_of(items).is_empty() {
        claim.parts.push((words_of(items), negative));
    }
    let must = items
        .iter()
        .position(|item| *item == Item::Mark(Mark::Must));
    if let Some(at) = must {
        claim.bearer.extend(words_of(&items[..at]));
    }
    denials(items, claim);
    // What is denied or gone is not said of anything.
    let until = items
        .iter()
        .position(|item| matches!(item, Item::Mark(Mark::NoLonger | Mark::Not | Mark::Gone)));
    let items = match until {
        Some(at) if words_of(&items[..at]).is_empty() => &items[at..],
        // "Eva hat bei X gekündigt" is no more of what she has.
        Some(at) if items[at] == Item::Mark(Mark::Gone) && has_before(&items[..at]) => &items[at..],
        Some(at) => &items[..at],
        None => items,
    };
    let ban = items.iter().position(|item| *item == Item::Mark(Mark::Ban));
    if let Some(at) = ban
        && !words_of(&items[..at]).is_empty()
    {
        claim.clauses.push(Clause::new(
            words_of(items),
            Words::from(["§ban".to_owned()]),
            Way::Plain,
            Form::Is,
        ));
        return;
    }
    // "X ist nach Y gezogen": the verb that says how comes last.
    let last = items.iter().rposition(|item| match item {
        Item::Mark(mark) => matches!(mark, Mark::Becomes(_)),
        _ => false,
    });
    let last =
        last.filter(|at| words_of(&items[*at..]).is_empty() && items[..*at].iter().any(is_towards));
    let verb = last.or_else(|| {
        items.iter().position(|item| {
            matches!(
                item,
                Item::Mark(Mark::Is(_) | Mark::Becomes(_) | Mark::Holds | Mark::HeldBy)
            )
        })
    });
    let made = match verb {
        Some(at) => verbal(items, at, claim),
        None => doing(items),
    };
    claim.clauses.extend(made);
}

fn has_before(items: &[Item]) -> bool {
    items.contains(&Item::Mark(Mark::Is(Way::Used)))
}

/// What a part of a sentence says is not it, or no longer.
fn denials(items: &[Item], claim: &mut Claim) {
    for (at, item) in items.iter().enumerate() {
        let Item::Mark(mark) = item else { continue };
        let (before, behind) = (&items[..at], &items[at + 1..]);
        // "No longer takes X", "ne prend plus de X".
        let verb = |item: &&Item| {
            matches!(item, Item::Mark(Mark::Is(_)) | Item::Lead(_)) && *mark == Mark::NoLonger
        };
        let behind = &behind[behind.iter().take_while(verb).count()..];
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

/// Whether a "not" tells somebody not to: "fass das nicht an", "ne touche pas".
fn forbids(items: &[Item], claim: &Claim) -> bool {
    let not = items.iter().position(|item| *item == Item::Mark(Mark::Not));
    not.is_some_and(|at| {
        let verb = |item: &Item| match item {
            Item::Mark(Mark::Is(way)) => *way != Way::Used,
            Item::Mark(Mark::Becomes(_)) | Item::Me | Item::We => true,
            _ => false,
        };
        let (before, behind) = items.split_at(at);
        let last = words_of(behind).is_empty() && claim.clauses.is_empty();
        !before.iter().any(verb) && (is_order(before, claim) || last)
    })
}

/// Whether a "not" that stands behind this forbids something.
fn is_order(before: &[Item], claim: &Claim) -> bool {
    let must = before.iter().any(|item| {
        matches!(
            item,
            Item::Mark(Mark::Must | Mark::May | Mark::Can | Mark::Ban | Mark::NeedNot)
        )
    });
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
    let again = behind.iter().position(|item| {
        matches!(
            item,
            Item::Mark(Mark::Is(_) | Mark::Becomes(_) | Mark::HeldBy)
        )
    });
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
    // Who lives somewhere and is not named is whoever speaks. Where several
    // moved to may be a tool as well.
    let me = || {
        let who = match before.contains(&Item::We) {
            true => WE,
            false => "§me",
        };
        Words::from([who.to_owned()])
    };
    match mark {
        // "Ich bin nach Jena gezogen": all of it stands before the verb.
        Mark::Becomes(way)
            if words_of(behind).is_empty()
                && let Some(to) = before.iter().rposition(is_towards) =>
        {
            let speaks = |item: &Item| matches!(item, Item::Me | Item::We);
            let subject = match before[..to].iter().any(speaks) {
                true => me(),
                false => words_of(&before[..to]),
            };
            Some(Clause::new(
                subject,
                words_of(&before[to..]),
                way,
                Form::Becomes,
            ))
        }
        Mark::Becomes(way @ Way::Placed)
            if subject.is_empty()
                && !before.contains(&Item::It)
                && behind
                    .first()
                    .is_some_and(|item| is_towards(item) && !is_from(item)) =>
        {
            Some(Clause::new(me(), words_of(behind), way, Form::Becomes))
        }
        Mark::Becomes(way) => {
            let mut value = value;
            // "We migrated X from A to B".
            if subject.is_empty()
                && let Some(from) = value.iter().position(is_from)
            {
                subject = words_of(&value[..from]);
                value = &value[from..];
            }
            if value.first().is_some_and(is_from) {
                let to = value[1..]
                    .iter()
                    .position(is_towards)
                    .map_or(value.len(), |to| to + 1);
                claim.denied.extend(words_of(&value[..to]));
                value = &value[to..];
            }
            if subject.is_empty()
                && let Some(to) = value.iter().position(is_towards)
            {
                subject = words_of(&value[..to]);
                value = &value[to..];
            } else if subject.is_empty() {
                // "We replaced X": what it became is not said.
                let named = words_of(value);
                return Some(Clause::new(named, Words::new(), way, Form::Becomes));
            }
            subject.extend(words_of(tail));
            Some(Clause::new(subject, words_of(value), way, Form::Becomes))
        }
        Mark::Is(Way::Named) if subject.is_empty() => {
            // "Call me Tom".
            Some(Clause::new(me(), words_of(value), Way::Named, Form::Is))
        }
        Mark::Is(way @ Way::Placed) if subject.is_empty() && !before.contains(&Item::It) => {
            Some(Clause::new(me(), words_of(behind), way, Form::Is).led_by(lead(behind)))
        }
        Mark::Is(way) => {
            let now = |item: &&Item| **item != Item::Mark(Mark::Now);
            // "Le lundi" is no part that somebody has.
            let day = words_of(value)
                .iter()
                .any(|word| claim.classes.iter().any(|one| one.2 == *word));
            let part = matches!(value.iter().find(now), Some(Item::The)) && !day;
            if part && way == Way::Plain && !subject.is_empty() && subject.len() <= 2 {
                let value = words_of(behind);
                return Some(Clause::new(subject, value, way, Form::Holds));
            }
            // "Dana is on call": a part that one has at a time.
            if !subject.is_empty() && words_of(behind).iter().any(|word| is_turn(word)) {
                return Some(Clause::new(
                    subject,
                    words_of(behind),
                    Way::Plain,
                    Form::Holds,
                ));
            }
            // "Use tabs in Makefiles" is about Makefiles.
            if way == Way::Used
                && subject.is_empty()
                && tail.is_empty()
                && let Some(lead) = value.iter().position(|item| matches!(item, Item::Lead(_)))
                && !words_of(&value[..lead]).is_empty()
            {
                return Some(Clause::new(
                    words_of(&value[lead..]),
                    words_of(&value[..lead]),
                    way,
                    Form::Is,
                ));
            }
            let (mut value, mut way) = (value, way);
            // "XはYを使っています": the verb that says how comes last.
            if way == Way::Plain && value.contains(&Item::Mark(Mark::Is(Way::Used))) {
                way = Way::Used;
            }
            // "We use Y for X" is about X.
            if way == Way::Used && subject.is_empty() && !words_of(tail).is_empty() {
                way = Way::Served;
            }
            // "is deployed on", "is built with": the verb belongs to what is
            // spoken of.
            let said = value.iter().position(|item| now(&item)).unwrap_or(0);
            if let [Item::Word(verb), Item::Lead(_), rest @ ..] = &value[said..]
                && is_done(verb, rest, claim)
            {
                subject.insert(verb.clone());
                value = &value[said + 1..];
                way = Way::Plain;
            }
            if is_bare(before) {
                claim.persons.extend(words_of(before));
            }
            subject.extend(words_of(tail));
            let (lead, value) = (lead(value), words_of(value));
            Some(Clause::new(subject, value, way, Form::Is).led_by(lead))
        }
        Mark::Holds => {
            // "Omar took over the mailer from Lena".
            let from = behind
                .iter()
                .position(|item| *item == Item::Lead("from".to_owned()));
            let (behind, former) = behind.split_at(from.unwrap_or(behind.len()));
            claim.denied.extend(words_of(former));
            let value = words_of(behind);
            Some(Clause::new(subject, value, Way::Plain, Form::Holds))
        }
        // "X wird von Y gewartet": the verb belongs to what is done.
        Mark::HeldBy
            if let Some((Item::Word(verb), who)) = behind.split_last()
                && !claim.names.contains(verb)
                && !words_of(who).is_disjoint(&claim.names) =>
        {
            subject.insert(verb.clone());
            Some(Clause::new(words_of(who), subject, Way::Plain, Form::Holds))
        }
        Mark::HeldBy => Some(Clause::new(
            words_of(behind),
            subject,
            Way::Plain,
            Form::Holds,
        )),
        _ => None,
    }
}

/// What is had by turns.
fn is_turn(root: &str) -> bool {
    [
        "call",
        "duty",
        "charg",
        "bereitschaft",
        "dienst",
        "zuständig",
        "verantwortlich",
        "guardia",
        "garde",
        "astreint",
        "turno",
        "plantão",
        "dienst",
        "dyżurz",
        "дежурств",
    ]
    .contains(&root)
}

/// Whether a word before a preposition says what is done with something.
fn is_done(verb: &str, behind: &[Item], claim: &Claim) -> bool {
    // "The limit is now fixed at 30" gives the limit.
    let counts = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    let behind = words_of(behind);
    let named = !behind.is_disjoint(&claim.names) && !behind.iter().any(counts);
    is_participle(verb) || claim.participles.contains(verb) && named
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
    let way = match &behind[0] {
        Item::Lead(lead)
            if matches!(
                lead.as_str(),
                "with" | "mit" | "avec" | "con" | "com" | "met"
            ) =>
        {
            Way::With
        }
        _ => Way::Plain,
    };
    Some(Clause::new(subject, value, way, Form::Does).led_by(self::lead(behind)))
}
