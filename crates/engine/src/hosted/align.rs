//! Where a host's messages stand in what was kept of them.
//!
//! The host's list says what the model is to be shown, the mirror what was ever
//! said. The list may have grown, lost its beginning to a limit on history, gone
//! back to an earlier point, had a message rewritten or taken out, or be another
//! conversation altogether. Which of these it is follows from the sequence of
//! what the messages say; when they were said only decides between two places
//! that say the same.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use longhaul_transcript::{Fingerprint, MessageView};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A message as it is told apart from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// What it says.
    pub(super) print: Fingerprint,
    /// Who says it.
    pub(super) speaker: Fingerprint,
    /// When it was said, as the host has it.
    pub(super) time: Option<i64>,
}

impl Seen {
    /// Looks at a message.
    pub(super) fn of(text: &str) -> Seen {
        let view = MessageView::parse(text);
        Seen {
            print: Fingerprint::of(&view),
            speaker: Fingerprint::of_speaker(&view),
            time: view.object().f64("timestamp").map(|time| time as i64),
        }
    }
}

/// A message of the mirror, as far as the alignment looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) seen: Seen,
    /// The host took it out of its list.
    pub(super) removed: bool,
}

/// What there is to do so that the mirror says what the list says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Alignment {
    /// For each message of the list its place in the mirror; none for those that
    /// are new.
    pub(super) places: Vec<Option<usize>>,
    /// Messages that say something else now: place in the list, in the mirror.
    pub(super) edits: Vec<(usize, usize)>,
    /// Messages of the mirror that the host took out.
    pub(super) removed: Vec<usize>,
    /// Messages that were taken out and are there again.
    pub(super) returned: Vec<usize>,
    /// New messages in front of others: place in the list, and in the mirror the
    /// message they stand before.
    pub(super) inserted: Vec<(usize, usize)>,
    /// New messages at the end of the list begin here.
    pub(super) appended: usize,
    /// What the mirror has behind the last message of the list. If the list has
    /// new ones there, they leave this behind them.
    pub(super) beyond: Option<usize>,
}

#[cfg(test)]
impl Alignment {
    /// Whether nothing has to be written.
    pub(super) fn is_level(&self) -> bool {
        self.edits.is_empty()
            && self.removed.is_empty()
            && self.returned.is_empty()
            && self.inserted.is_empty()
            && self.appended == self.places.len()
    }
}

/// Compares a list with the mirror. Where the list goes on like the one before,
/// the places of that part are known.
pub(super) fn align(mirror: &[Kept], list: &[Seen], known: &[Option<usize>]) -> Alignment {
    let places = pairs(mirror, list, known);
    interpret(mirror, list, places)
}

/// Messages that are the same in both, in order.
fn pairs(mirror: &[Kept], list: &[Seen], known: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut places = vec![None; list.len()];
    places[..known.len()].copy_from_slice(known);
    let Some(first) = list.first() else {
        return places;
    };
    let last_known = known.iter().rev().find_map(|place| *place);
    let start = start(mirror, first, list);
    let (mut at, mut from) = match last_known {
        Some(place) => (known.len(), place + 1),
        None => (0, start),
    };
    while at < list.len() {
        match next(mirror, from, list[at].print) {
            Some(place) => {
                places[at] = Some(place);
                (at, from) = (at + 1, place + 1);
            }
            None => break,
        }
    }
    if at == list.len() {
        // It may as well be the end of the mirror, its beginning left out.
        let behind = mirror[from..].iter().any(|kept| !kept.removed);
        if last_known.is_none()
            && start == 0
            && behind
            && let Some(tail) = as_tail(mirror, list)
        {
            return tail;
        }
        return places;
    }
    // Times tell turns apart that end in the same words; a host that begins its
    // list anew, behind a summary of its own, may have stamped all of it anew.
    let strict = at > 0;
    // Where every message says when it was said, that tells the same words of two
    // turns apart, unless all of them were stamped anew.
    let at_once = |seen: &Seen| (seen.print, seen.time);
    let told: HashSet<_> = mirror[from..].iter().map(|it| at_once(&it.seen)).collect();
    let timed = list[at..].iter().all(|seen| seen.time.is_some())
        && list[at..].iter().any(|seen| told.contains(&at_once(seen)));
    let key = |seen: &Seen| (seen.print, seen.time.filter(|_| timed));
    let kept: HashSet<_> = mirror[from..].iter().map(|it| key(&it.seen)).collect();
    let said: HashSet<_> = list[at..].iter().map(key).collect();
    // Only what is in both can be the same: that keeps the comparison short.
    let behind = (from..mirror.len()).filter(|at| said.contains(&key(&mirror[*at].seen)));
    let behind: Vec<usize> = behind.collect();
    let rest = (at..list.len()).filter(|at| kept.contains(&key(&list[*at])));
    let rest: Vec<usize> = rest.collect();
    let old: Vec<_> = behind.iter().map(|at| key(&mirror[*at].seen)).collect();
    let new: Vec<_> = rest.iter().map(|at| key(&list[*at])).collect();
    let (in_old, in_new) = (counts(&old), counts(&new));
    for same in capture_diff_slices(Algorithm::Patience, &old, &new) {
        let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = same
        else {
            continue;
        };
        let behind = behind[old_index..old_index + len].iter().copied();
        let run: Vec<(usize, usize)> = behind.zip(rest[new_index..].iter().copied()).collect();
        // Words that are said again and again ("Done.") show no place by themselves.
        let shows = |(_, at): &(usize, usize)| {
            let key = key(&list[*at]);
            timed || (in_old[&key] == 1 && in_new[&key] == 1)
        };
        if !run.iter().any(shows) {
            continue;
        }
        for (place, at) in run {
            // Behind a difference the same words may be those of another turn.
            if !(strict && is_apart(&list[at], &mirror[place].seen)) {
                places[at] = Some(place);
            }
        }
    }
    places
}

/// How often each stands there.
fn counts<T: Eq + Hash + Copy>(keys: &[T]) -> HashMap<T, usize> {
    let mut counts = HashMap::new();
    for key in keys {
        *counts.entry(*key).or_default() += 1;
    }
    counts
}

/// Whether two messages are known to have been said at different times.
pub(super) fn is_apart(one: &Seen, other: &Seen) -> bool {
    one.time.is_some() && other.time.is_some() && one.time != other.time
}

/// Where the mirror begins to be the list.
fn start(mirror: &[Kept], first: &Seen, list: &[Seen]) -> usize {
    let is = |kept: &Kept| {
        kept.seen.print == first.print && first.time.is_some() && kept.seen.time == first.time
    };
    let at_front = mirror.iter().find(|kept| !kept.removed);
    if at_front.is_some_and(is) {
        return 0;
    }
    // The same words at the front, but said at another time than these.
    let place = mirror.iter().position(is);
    match place {
        Some(place) if list.len() > 1 || place + 1 == mirror.len() => place,
        _ => 0,
    }
}

/// The next message of the mirror, if it says this. What was taken out may be
/// passed over.
fn next(mirror: &[Kept], from: usize, print: Fingerprint) -> Option<usize> {
    for (place, kept) in mirror.iter().enumerate().skip(from) {
        if kept.seen.print == print {
            return Some(place);
        }
        if !kept.removed {
            return None;
        }
    }
    None
}

/// The list as the end of the mirror, all of it.
fn as_tail(mirror: &[Kept], list: &[Seen]) -> Option<Vec<Option<usize>>> {
    let mut places = vec![None; list.len()];
    let mut left = mirror.iter().enumerate().rev();
    for at in (0..list.len()).rev() {
        let is = |kept: &Kept| kept.seen.print == list[at].print;
        let (place, kept) = left.find(|(_, kept)| is(kept) || !kept.removed)?;
        places[at] = is(kept).then_some(place);
        places[at]?;
    }
    Some(places)
}

/// Says what the differences mean.
fn interpret(mirror: &[Kept], list: &[Seen], mut places: Vec<Option<usize>>) -> Alignment {
    let same: Vec<(usize, usize)> = places
        .iter()
        .enumerate()
        .filter_map(|(at, place)| Some((at, (*place)?)))
        .collect();
    let mut out = Alignment::default();
    out.returned.extend(
        same.iter()
            .map(|pair| pair.1)
            .filter(|&at| mirror[at].removed),
    );
    let visible = |from: usize, until: usize| -> Vec<usize> {
        (from..until).filter(|&at| !mirror[at].removed).collect()
    };
    let related = |at: usize, place: usize| list[at].speaker == mirror[place].seen.speaker;
    let at_once = |at: usize, place: usize| {
        list[at].time.is_some() && list[at].time == mirror[place].seen.time
    };
    // In front of everything that is the same: what the mirror has more was left
    // out by the host's limit.
    if let Some(&(first, place)) = same.first() {
        let before = visible(0, place);
        let mut at = first;
        let mut behind = before.len();
        while at > 0 && behind > 0 {
            let other = before[behind - 1];
            if !related(at - 1, other) || is_apart(&list[at - 1], &mirror[other].seen) {
                break;
            }
            (at, behind) = (at - 1, behind - 1);
            out.edits.push((at, other));
            places[at] = Some(other);
        }
        out.inserted.extend((0..at).map(|at| (at, place)));
    }
    for pair in same.windows(2) {
        let [(left, lower), (right, upper)] = [pair[0], pair[1]];
        let gap = visible(lower + 1, upper);
        let mut rest = gap.as_slice();
        let between = places.iter_mut().enumerate().take(right).skip(left + 1);
        for (at, slot) in between {
            let same =
                |&place: &usize| related(at, place) && !is_apart(&list[at], &mirror[place].seen);
            match rest.iter().position(same) {
                Some(found) => {
                    out.removed.extend(&rest[..found]);
                    out.edits.push((at, rest[found]));
                    *slot = Some(rest[found]);
                    rest = &rest[found + 1..];
                }
                None => {
                    let before = rest.first().copied().unwrap_or(upper);
                    out.inserted.push((at, before));
                }
            }
        }
        out.removed.extend(rest);
    }
    let (mut at, from) = match same.last() {
        Some(&(at, place)) => (at + 1, place + 1),
        None => (0, 0),
    };
    let behind = visible(from, mirror.len());
    let mut rest = behind.as_slice();
    while let (true, Some(&place)) = (at < list.len(), rest.first())
        && related(at, place)
        && at_once(at, place)
    {
        out.edits.push((at, place));
        places[at] = Some(place);
        (at, rest) = (at + 1, &rest[1..]);
    }
    out.appended = at;
    out.beyond = rest.first().copied();
    out.edits.sort_unstable();
    out.places = places;
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, time: i64) -> Seen {
        let number = text
            .bytes()
            .fold(7u128, |sum, byte| sum * 257 + u128::from(byte));
        Seen {
            print: Fingerprint(number),
            speaker: Fingerprint(u128::from(text.as_bytes()[0].is_ascii_uppercase())),
            time: (time > 0).then_some(time),
        }
    }

    fn words(text: &str) -> Vec<Seen> {
        text.split_whitespace().map(|word| seen(word, 0)).collect()
    }

    fn kept(text: &str) -> Vec<Kept> {
        words(text)
            .into_iter()
            .map(|seen| Kept {
                seen,
                removed: false,
            })
            .collect()
    }

    fn places(mirror: &str, list: &str) -> (Vec<Option<usize>>, Alignment) {
        let aligned = align(&kept(mirror), &words(list), &[]);
        (aligned.places.clone(), aligned)
    }

    fn some(range: std::ops::Range<usize>) -> Vec<Option<usize>> {
        range.map(Some).collect()
    }

    #[test]
    fn a_list_that_grew_is_appended_to() {
        let (found, aligned) = places("A b", "A b C d");
        assert_eq!(found, [Some(0), Some(1), None, None]);
        assert_eq!((aligned.appended, aligned.beyond), (2, None));
    }

    #[test]
    fn the_same_list_again_changes_nothing() {
        let (found, aligned) = places("A b A b", "A b A b");
        assert_eq!(found, some(0..4));
        assert!(aligned.is_level() && aligned.beyond.is_none());
    }

    #[test]
    fn a_beginning_left_out_is_not_taken_out() {
        for (mirror, list, start) in [("A b C d", "C d", 2), ("A b A b", "A b", 2)] {
            let (found, aligned) = places(mirror, list);
            assert_eq!(found, some(start..4), "{mirror}");
            assert!(aligned.is_level() && aligned.beyond.is_none());
        }
        let (found, aligned) = places("A b C d", "C d E");
        assert_eq!(found, [Some(2), Some(3), None]);
        assert_eq!((aligned.appended, aligned.beyond), (2, None));
        assert!(aligned.removed.is_empty());
    }

    #[test]
    fn a_list_that_went_back_leaves_the_rest_behind() {
        let (_, aligned) = places("A b C d", "A b");
        assert!(aligned.is_level());
        assert_eq!(aligned.beyond, Some(2));
        let (found, aligned) = places("A b C d", "A b X y");
        assert_eq!(found, [Some(0), Some(1), None, None]);
        assert_eq!((aligned.appended, aligned.beyond), (2, Some(2)));
    }

    #[test]
    fn a_message_that_says_something_else_is_an_edit() {
        let (found, aligned) = places("A b C d", "A b X d");
        assert_eq!(found, some(0..4));
        assert_eq!(aligned.edits, [(2, 2)]);
        let (_, aligned) = places("A b C d", "X b C d");
        assert_eq!(aligned.edits, [(0, 0)]);
        let mut mirror = kept("A b");
        mirror[1].seen.time = Some(5);
        let mut list = words("A x");
        list[1].time = Some(5);
        assert_eq!(align(&mirror, &list, &[]).edits, [(1, 1)]);
        list[1].time = Some(6);
        let aligned = align(&mirror, &list, &[]);
        assert_eq!((aligned.appended, aligned.beyond), (1, Some(1)));
    }

    #[test]
    fn what_is_taken_out_of_the_middle_is_removed_and_may_return() {
        let (found, aligned) = places("A b C d E f", "A b E f");
        assert_eq!(found, [Some(0), Some(1), Some(4), Some(5)]);
        assert_eq!(aligned.removed, [2, 3]);
        let mut mirror = kept("A b C d E f");
        mirror[2].removed = true;
        mirror[3].removed = true;
        assert!(align(&mirror, &words("A b E f"), &[]).is_level());
        assert_eq!(align(&mirror, &words("A b C d E f"), &[]).returned, [2, 3]);
    }

    #[test]
    fn what_comes_in_between_is_inserted() {
        let (_, aligned) = places("A b E f", "A b C d E f");
        assert_eq!(aligned.inserted, [(2, 2), (3, 2)]);
        let (_, aligned) = places("A b", "x A b");
        assert_eq!(aligned.inserted, [(0, 0)]);
    }

    #[test]
    fn words_that_every_turn_ends_with_show_no_place() {
        let (found, aligned) = places("A n B n C n", "S D n");
        assert_eq!(found, [None; 3]);
        assert_eq!(aligned.appended, 0);
        let (found, aligned) = places("A n B n C n", "S C n D n");
        assert_eq!(found, [None, Some(4), Some(5), None, None]);
        assert_eq!((aligned.appended, aligned.beyond), (3, None));
        // Unless they tell when they were said.
        let mut mirror = kept("A n B n C n");
        for (at, kept) in mirror.iter_mut().enumerate() {
            kept.seen.time = Some(at as i64 + 1);
        }
        let list = [seen("S", 7), seen("n", 6), seen("D", 8), seen("n", 9)];
        let aligned = align(&mirror, &list, &[]);
        assert_eq!(aligned.places, [None, Some(5), None, None]);
        assert_eq!((aligned.inserted, aligned.appended), (vec![(0, 5)], 2));
    }

    #[test]
    fn another_conversation_begins_anew() {
        let (found, aligned) = places("A b C d", "W x Y z");
        assert_eq!(found, [None; 4]);
        assert_eq!((aligned.appended, aligned.beyond), (0, Some(0)));
        let (_, aligned) = places("A b", "");
        assert_eq!(aligned.beyond, Some(0));
    }

    #[test]
    fn the_time_decides_between_two_that_say_the_same() {
        let mut mirror = kept("A b A b");
        for (at, kept) in mirror.iter_mut().enumerate() {
            kept.seen.time = Some(at as i64 + 1);
        }
        let list = [seen("A", 3), seen("b", 4), seen("C", 5)];
        let aligned = align(&mirror, &list, &[]);
        assert_eq!(aligned.places, [Some(2), Some(3), None]);
        assert_eq!(aligned.beyond, None);
    }
}
