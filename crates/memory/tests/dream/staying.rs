//! What is rejected stays so, and a note is one wherever it stands in its log.

use longhaul_memory::Error;
use longhaul_memory::dream::{Candidate, Consolidated, Status};

use crate::{Place, TODAY, now, settings};

#[test]
fn what_was_rejected_never_comes_back() {
    let place = Place::dreamt(&["Never push on Fridays."]);
    let id = place.id("Never push");
    {
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        dreams.reject(&lock, &id, TODAY).unwrap();
        assert!(matches!(
            dreams.reject(&lock, &id, TODAY),
            Err(Error::NotStaged { .. })
        ));
        assert!(matches!(
            dreams.promote(&lock, &id, &now(), &settings()),
            Err(Error::NotStaged { .. })
        ));
        assert!(matches!(
            dreams.reject(&lock, "d-nothing", TODAY),
            Err(Error::NoCandidate { .. })
        ));
    }
    place.rule(TODAY, "Never push on Fridays!");
    let report = place.dream(&settings());
    assert_eq!(
        (
            report.waiting,
            report.consolidated.rejected,
            place.candidates().len()
        ),
        (0, 1, 1)
    );
    assert!(!place.read("DREAMS.md").contains("push"));
}
#[test]
fn several_are_rejected_or_none_of_them() {
    let place = Place::dreamt(&["Never push on Fridays.", "Always sign the tags."]);
    let ids = ["Never push", "Always sign"].map(|text| place.id(text));
    place.promote("Always sign");
    let before = place.files();
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let error = dreams.reject_all(&lock, &ids, TODAY).unwrap_err();
    assert!(matches!(error, Error::NotStaged { .. }), "{error}");
    assert_eq!(place.files(), before);
    dreams.reject_all(&lock, &ids[..1], TODAY).unwrap();
    let rejected = Status::Rejected { on: TODAY };
    assert_eq!(place.find("Never push").status, rejected);
}

#[test]
fn a_note_counts_once_wherever_it_moves_in_its_log() {
    let place = Place::new();
    let log = "memory/2026-11-13.md";
    let notes = "- The API spec lives in /docs/api-spec.yaml\n\n- The CFO is Dana Reyes\n";
    place.write(log, notes);
    place.dream(&settings());
    let before = ["API spec", "Dana Reyes"].map(|text| place.find(text));
    for above in ["hello\n", "hello\n\nworld\n", ""] {
        place.write(log, &format!("{above}{notes}"));
        let report = place.dream(&settings());
        assert_eq!(report.consolidated, Consolidated::default(), "{above:?}");
        let moved = above.lines().count();
        for before in &before {
            let now = place.find(&before.text);
            assert_eq!(now.mentions(), 1, "{above:?}");
            let lines = |one: &Candidate| one.evidence.iter().map(|one| one.line).collect();
            let was: Vec<Option<usize>> = lines(before);
            let was: Vec<_> = was
                .iter()
                .map(|line| line.map(|line| line + moved))
                .collect();
            let now: Vec<Option<usize>> = lines(&now);
            assert_eq!(now, was, "{above:?}");
        }
        let files = place.files();
        place.dream(&settings());
        assert_eq!(place.files(), files, "{above:?}");
    }
}

#[test]
fn notes_of_the_same_words_keep_their_order_when_they_move() {
    let notes =
        "- The API runs on port 8080\n- The API runs on port 9090\n- The API runs on port 8080\n";
    let log = "memory/2026-11-13.md";
    let standing = |place: &Place| -> Vec<(String, Status, usize)> {
        let all = place.candidates().into_iter();
        all.map(|one| (one.text.clone(), one.status.clone(), one.mentions()))
            .collect()
    };
    let place = Place::new();
    place.write(log, notes);
    place.dream(&settings());
    let before = standing(&place);
    place.write(log, &format!("hello\n\n{notes}"));
    let report = place.dream(&settings());
    assert_eq!(report.consolidated, Consolidated::default());
    assert_eq!(standing(&place), before);
    // What is written once more was said once more.
    place.write(
        log,
        &format!("hello\n\n{notes}- The API runs on port 9090\n"),
    );
    assert_ne!(
        place.dream(&settings()).consolidated,
        Consolidated::default()
    );
}

#[test]
fn what_we_say_of_a_cut_entry_is_no_note() {
    let place = Place::new();
    place.write(
        "memory/2026-11-14.md",
        "**Facts:**\n- The shop listens on port 8080.\n[11652 bytes more are in the transcript]\n",
    );
    place.dream(&settings());
    let all = place.candidates();
    assert!(all.iter().any(|one| one.text.contains("8080")), "{all:?}");
    assert!(
        !all.iter().any(|one| one.text.contains("bytes more")),
        "{all:?}"
    );
}
