//! Days that are read in parts and in any order come to the same.

use std::collections::{BTreeMap, BTreeSet};

use jiff::ToSpan;
use jiff::civil::Date;
use longhaul_memory::dream::{Candidate, Days, Remark, Settings, Status, consolidate, of_log};
use longhaul_memory::files::{Body, Note, Origin, Section, read_log};
use longhaul_memory::{MemoryFolder, Seal, Source};
use longhaul_transcript::EntryId;
use proptest::prelude::*;

use crate::{Place, TODAY, settings};

/// A day so many days ago.
fn ago(days: i32) -> Date {
    TODAY.checked_sub(days.days()).unwrap()
}

/// What is staged, by its words: ids are made of the words that were found first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    text: String,
    status: String,
    by: Option<String>,
    valid: (Date, Option<Date>),
    days: Vec<Date>,
    replaces: BTreeSet<String>,
    contradicts: BTreeSet<String>,
    mentions: usize,
    ends: bool,
}

fn shown(candidates: &[Candidate]) -> Vec<Shown> {
    let of: BTreeMap<&str, String> = candidates
        .iter()
        .map(|one| (one.id.as_str(), format!("{} {}", one.text, one.valid_from)))
        .collect();
    let said = |id: &String| of.get(id.as_str()).unwrap_or(id).clone();
    let mut all: Vec<Shown> = candidates
        .iter()
        .map(|one| Shown {
            text: one.text.clone(),
            status: one.status.name().to_owned(),
            by: match &one.status {
                Status::Superseded { by: Some(by), .. } => Some(said(by)),
                _ => None,
            },
            valid: (one.valid_from, one.valid_until),
            days: one.days.clone(),
            replaces: one.replaces.iter().map(said).collect(),
            contradicts: one.contradicts.iter().map(said).collect(),
            mentions: one.mentions(),
            ends: one.ends,
        })
        .collect();
    all.sort();
    all
}

fn within(lookback_days: u32) -> Settings<'static> {
    Settings {
        lookback_days,
        ..settings()
    }
}

#[test]
fn seven_days_and_then_thirty_are_thirty_at_once() {
    let logged = || {
        let place = Place::new();
        for (back, minutes) in [(25, 10), (20, 15), (12, 20), (2, 30)] {
            let text = format!("JWT access tokens expire after {minutes} minutes");
            place.log(ago(back), "Facts", &text, Source::User);
        }
        place.rule(ago(22), "Never push on Fridays.");
        place.change(ago(15), "You may push on Fridays from now on.");
        place.rule(ago(3), "Never push on Fridays.");
        place
    };
    let (once, twice) = (logged(), logged());
    once.dream(&within(30));
    twice.dream(&within(7));
    let id = twice.id("30 minutes");
    let done = twice.dream(&within(30)).consolidated;
    // The three older values, and the rule that was lifted.
    assert_eq!(done.superseded, 4, "{done:?}");
    assert_eq!(shown(&twice.candidates()), shown(&once.candidates()));
    assert_eq!(twice.id("30 minutes"), id);
    assert_eq!(twice.find("30 minutes").replaces, [twice.id("20 minutes")]);
    // And the next one changes nothing.
    let files = twice.files();
    twice.dream(&within(30));
    assert_eq!(twice.files(), files);
    // Whoever rejects the newest one finds the one before it, and no other.
    for place in [&once, &twice] {
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        dreams
            .reject(&lock, &place.id("30 minutes"), TODAY)
            .unwrap();
    }
    assert_eq!(shown(&twice.candidates()), shown(&once.candidates()));
    assert_eq!(twice.find("20 minutes").status, Status::Staged);
    assert!(matches!(
        twice.find("15 minutes").status,
        Status::Superseded { .. }
    ));
}

#[test]
fn what_is_kept_stays_kept_and_what_turns_out_to_be_between_is_closed() {
    let place = Place::new();
    let say = |back: i32, text: &str| place.log(ago(back), "Facts", text, Source::User);
    say(20, "JWT access tokens expire after 15 minutes");
    say(12, "JWT access tokens expire after 20 minutes");
    say(2, "JWT access tokens expire after 15 minutes");
    place.dream(&within(7));
    let kept = place.promote("15 minutes");
    let memory = place.read("MEMORY.md");
    place.dream(&within(30));
    let all = place.candidates();
    let old = all.iter().find(|one| one.valid_from == ago(20)).unwrap();
    assert_eq!(old.valid_until, Some(ago(12)), "{all:#?}");
    assert_ne!(old.id, kept);
    let between = place.find("20 minutes");
    assert_eq!(between.valid_until, Some(ago(2)));
    let kept = all.iter().find(|one| one.id == kept).unwrap();
    assert!(kept.status.is_kept());
    assert_eq!(kept.valid_from, ago(2));
    assert_eq!(kept.replaces, [between.id]);
    assert_eq!(place.read("MEMORY.md"), memory);
}

#[test]
fn what_was_rejected_or_worded_stays_so_when_older_days_are_read() {
    let place = Place::new();
    place.rule(ago(20), "Never push on Fridays.");
    place.rule(ago(20), "Always sign the release tags.");
    place.rule(ago(3), "Never push on Fridays!");
    place.rule(ago(3), "Always sign the release tags, please.");
    place.dream(&within(7));
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let (push, sign) = (place.id("push"), place.id("sign"));
    dreams.reject(&lock, &push, TODAY).unwrap();
    dreams.reword(&lock, &sign, "Sign every tag.").unwrap();
    drop(lock);
    place.dream(&within(30));
    let all = place.candidates();
    assert_eq!(all.len(), 2, "{all:#?}");
    assert!(matches!(place.find("push").status, Status::Rejected { .. }));
    let sign = all.iter().find(|one| one.id == sign).unwrap();
    assert_eq!(sign.wording(), "Sign every tag.");
    assert_eq!((sign.valid_from, sign.mentions()), (ago(20), 2));
}

/// What people say, and take back, and say again.
const LINES: [(&str, &str); 16] = [
    ("Facts", "JWT access tokens expire after 15 minutes"),
    ("Facts", "JWT access tokens expire after 30 minutes"),
    ("Facts", "JWT access tokens expire after 60 minutes now"),
    ("Facts", "The build server is called heron."),
    ("Facts", "The build server is now called plover."),
    ("User Preferences", "Constraint: Never push on Fridays."),
    (
        "User Preferences",
        "Constraint: No pushes on Fridays, please.",
    ),
    (
        "User Preferences",
        "Change: You may push on Fridays from now on.",
    ),
    ("User Preferences", "No longer: Never push on Fridays."),
    ("User Preferences", "Constraint: Always use tabs."),
    ("User Preferences", "Constraint: Never use tabs."),
    (
        "User Preferences",
        "Constraint: Never lend the saw to anybody.",
    ),
    ("User Preferences", "Change: You may lend the saw to Ida."),
    ("Decisions", "We deploy with Kubernetes."),
    ("Decisions", "We deploy with Nomad instead of Kubernetes."),
    ("Decisions", "We keep the price list in Postgres."),
];

fn said(lines: &[(i32, usize)]) -> BTreeMap<Date, Vec<Remark>> {
    let folder = tempfile::tempdir().unwrap();
    let seal = Some(Seal::new([7; 32]));
    let memory = MemoryFolder::open(folder.path(), seal).unwrap();
    for (at, (back, line)) in lines.iter().enumerate() {
        let (title, text) = LINES[*line];
        let body = Body::Sections(vec![Section {
            title: title.into(),
            notes: vec![Note {
                text: text.into(),
                source: Source::User,
                entry: Some(EntryId::new(format!("entry-{at:04}"))),
                said: None,
                first: None,
            }],
        }]);
        let session = format!("s{back}");
        let origin = Origin {
            session: Some(&session),
            epoch: None,
        };
        let time = ago(*back).at(10, 0, 0, 0);
        memory.append_log(time, "Flush", origin, &body).unwrap();
    }
    let mut all = BTreeMap::new();
    for (date, _) in memory.logs().unwrap() {
        let text = memory.read(&MemoryFolder::log_name(date)).unwrap().unwrap();
        let lines = read_log(&text, date, memory.seal());
        all.insert(date, of_log(date, &lines).remarks);
    }
    all
}

fn read(candidates: &mut Vec<Candidate>, remarks: &[Remark]) {
    let days = Days {
        newest: TODAY,
        today: TODAY,
    };
    consolidate(candidates, remarks, &[], &|_| 0, days);
}

/// Lines about one thing.
const ABOUT: [std::ops::Range<usize>; 6] = [0..3, 3..5, 5..9, 9..11, 11..13, 13..15];

/// Promotes all that was found.
fn keep(candidates: &mut [Candidate]) {
    for one in candidates.iter_mut().filter(|one| one.is_ripe()) {
        one.status = Status::Promoted { on: TODAY };
    }
}

/// What is kept and what waits, and what that would take the place of.
fn standing(candidates: &[Candidate]) -> Vec<(String, &'static str, BTreeSet<String>)> {
    let kept = |id: &String| {
        let one = candidates.iter().find(|one| one.id == *id)?;
        one.status.is_kept().then(|| one.text.clone())
    };
    let stands = candidates
        .iter()
        .filter(|one| one.is_ripe() || one.status.is_kept());
    let mut all: Vec<_> = stands
        .map(|one| {
            let replaces = match one.is_ripe() {
                true => one.replaces.iter().filter_map(kept).collect(),
                false => BTreeSet::new(),
            };
            (one.text.clone(), one.status.name(), replaces)
        })
        .collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn days_read_in_any_parts_and_order_come_to_the_same(
        lines in prop::collection::vec((0_i32..12, 0_usize..LINES.len()), 1..14),
        parts in prop::collection::vec(0_usize..4, 12),
        order in Just((0_usize..4).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let days = said(&lines);
        let all: Vec<Remark> = days.values().flatten().cloned().collect();
        let mut once = Vec::new();
        read(&mut once, &all);
        let mut apart = Vec::new();
        for part in order {
            let of = |date: &Date| parts[(TODAY - *date).get_days() as usize] == part;
            let some: Vec<Remark> = days
                .iter()
                .filter(|(date, _)| of(date))
                .flat_map(|(_, remarks)| remarks.clone())
                .collect();
            read(&mut apart, &some);
        }
        prop_assert_eq!(shown(&apart), shown(&once));
        let before = apart.clone();
        read(&mut apart, &all);
        prop_assert_eq!(shown(&apart), shown(&before));
    }

    #[test]
    fn after_what_is_kept_the_rest_read_in_any_parts_and_order_waits_alike(
        about in prop::sample::select(ABOUT.to_vec()),
        // One a day: what is said on one day after another is not told apart.
        lines in prop::collection::btree_map(0_i32..6, 0_usize..4, 1..6),
        parts in prop::collection::vec(0_usize..4, 6),
        order in Just((0_usize..4).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let line = |at: usize| about.start + at % about.len();
        let mut all = vec![(7, line(0))];
        all.extend(lines.iter().map(|(back, at)| (*back, line(*at))));
        let mut days = said(&all);
        let mut first = Vec::new();
        read(&mut first, &days.remove(&ago(7)).unwrap());
        keep(&mut first);
        let mut once = first.clone();
        let rest: Vec<Remark> = days.values().flatten().cloned().collect();
        read(&mut once, &rest);
        let mut apart = first;
        for part in order {
            let of = |date: &Date| parts[(TODAY - *date).get_days() as usize] == part;
            let some = days.iter().filter(|(date, _)| of(date));
            let some: Vec<Remark> = some.flat_map(|(_, remarks)| remarks.clone()).collect();
            read(&mut apart, &some);
        }
        prop_assert_eq!(standing(&apart), standing(&once));
        prop_assert_eq!(shown(&apart), shown(&once));
    }
}
