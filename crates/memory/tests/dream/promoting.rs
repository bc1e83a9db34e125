//! Promotions: what they write, what makes room, and how they are taken back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use longhaul_memory::dream::{Candidate, Settings, Status};
use longhaul_memory::files::{AgentsFile, Limits};
use longhaul_memory::{Error, Source};
use longhaul_tokens::{ContentKind, Counter, Estimator, Tokens};

use crate::{Place, TODAY, day, now, policy, settings};

#[test]
fn a_promotion_points_quotes_and_can_be_taken_back() {
    let place = Place::begun();
    let long = format!(
        "Never push on Fridays, {}",
        "because nobody is there at the weekend ".repeat(5)
    );
    place.rule(day(2), &long);
    place.dream(&settings());
    let before = place.files();
    let id = place.promote("Never push");
    let memory = place.read("MEMORY.md");
    let pointer = memory.lines().find(|line| line.contains(&id)).unwrap();
    assert!(
        pointer.starts_with("- Never push on Fridays, because"),
        "{pointer}"
    );
    assert!(
        pointer.ends_with(&format!("… | Details → memories/project.md#{id}")),
        "{pointer}"
    );
    assert!(pointer.chars().count() <= 150);
    let heading = memory.find("## Key Constraints").unwrap();
    assert!(
        heading < memory.find(&id).unwrap()
            && memory.find(&id).unwrap() < memory.find("## Decisions").unwrap()
    );
    let project = place.read("memories/project.md");
    assert!(
        project.contains(&format!("### {id}\n{}\n", long.trim())),
        "{project}"
    );
    assert!(project.contains("- preference, said by the user; valid from 2026-11-13\n- evidence: memory/2026-11-13.md:6 (user): “Never push"));
    assert_eq!(
        place.find("Never push").status,
        Status::Promoted { on: TODAY }
    );
    let lint = place
        .memory
        .lint(Limits::default(), &Estimator::Heuristic)
        .unwrap();
    assert_eq!(lint, []);
    place.undo().unwrap();
    let mut after = place.files();
    after.retain(|path, _| !path.to_string_lossy().contains("changes"));
    let memory_files = |files: &BTreeMap<PathBuf, String>| -> Vec<(PathBuf, String)> {
        let ours = ["state.json", "state.copy.json", "DREAMS.md"];
        let kept = files
            .iter()
            .filter(|(path, _)| !ours.iter().any(|name| path.ends_with(name)));
        kept.map(|(path, bytes)| (path.clone(), bytes.clone()))
            .collect()
    };
    assert_eq!(memory_files(&after), memory_files(&before));
    assert_eq!(place.find("Never push").status, Status::Staged);
    assert!(matches!(place.undo(), Err(Error::NothingToUndo)));
}

#[test]
fn files_that_a_promotion_made_go_with_it() {
    let place = Place::dreamt(&["Never push on Fridays."]);
    place.promote("Never push");
    assert!(place.memory.root().join("MEMORY.md").exists());
    place.undo().unwrap();
    assert!(!place.memory.root().join("MEMORY.md").exists());
    assert!(!place.memory.root().join("memories/project.md").exists());
}

#[test]
fn an_undo_leaves_what_others_wrote_since() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    let id = place.promote("Never push");
    let memory = place.read("MEMORY.md");
    place.write(
        "MEMORY.md",
        &memory.replace("## Decisions", "- mine, later\n\n## Decisions"),
    );
    place.undo().unwrap();
    let memory = place.read("MEMORY.md");
    assert!(memory.contains("- mine, later\n") && !memory.contains(&id));
}

#[test]
fn what_makes_room_is_shown_and_what_a_person_wrote_stays() {
    let place = Place::begun();
    let mine = "- my own line that must stay → memories/project.md\n";
    place.write(
        "MEMORY.md",
        &place
            .read("MEMORY.md")
            .replace("## Decisions\n", &format!("## Decisions\n{mine}")),
    );
    let words = [
        "apple", "birch", "cedar", "daisy", "elder", "fern", "grape", "hazel", "iris", "juniper",
        "kelp", "lilac", "maple", "nettle", "olive", "pine", "quince", "rose", "sage", "tulip",
        "umber", "violet", "willow", "yarrow", "zinnia", "aspen", "beech", "clover", "dahlia",
        "erica",
    ];
    for word in words {
        place.log(day(1), "Facts", &format!("The {word} service of team {word}-{word} lives in services/{word}.rs beside its {word} tests"), Source::User);
    }
    place.rule(day(1), "Never push on Fridays.");
    let policy = Settings {
        promote_at: Some(0.5),
        ..settings()
    };
    let report = place.dream_judged(&policy);
    assert_eq!(report.promoted.len(), words.len() + 1, "{report:?}");
    let memory = place.read("MEMORY.md");
    assert!(Estimator::Heuristic.count(&memory, ContentKind::Prose) <= Tokens(800));
    assert!(memory.contains(mine));
    assert!(memory.contains("Never push on Fridays"), "rules go last");
    let demoted: Vec<Candidate> = place
        .candidates()
        .into_iter()
        .filter(|one| matches!(one.status, Status::Demoted { .. }))
        .collect();
    assert!(demoted.len() > 3);
    let (dreams, project) = (place.read("DREAMS.md"), place.read("memories/project.md"));
    for one in &demoted {
        assert!(dreams.contains(&format!("| Details → memories/project.md#{}", one.id)));
        assert!(project.contains(&format!("### {}\n{}", one.id, one.text)));
    }
    let files = place.files();
    place.dream_judged(&policy);
    assert_eq!(place.files(), files);
}

#[test]
fn where_nothing_may_make_room_the_candidate_waits() {
    let place = Place::new();
    let full = "- a line of a person about this and that\n".repeat(120);
    place.write("MEMORY.md", &full);
    place.rule(day(1), "Never push on Fridays.");
    let policy = Settings {
        promote_at: Some(0.5),
        ..settings()
    };
    let report = place.dream_judged(&policy);
    assert_eq!(
        (report.promoted.len(), report.waiting, report.problems.len()),
        (0, 1, 1)
    );
    assert!(
        report.problems[0].contains("no room"),
        "{:?}",
        report.problems
    );
    assert_eq!(place.read("MEMORY.md"), full);
}

#[test]
fn the_policy_lets_nothing_surer_leave_and_keeps_what_has_no_room() {
    let place = Place::new();
    // Said on two days, these are surer than what was said once.
    for word in ["apple", "birch", "cedar"] {
        for back in [2, 3] {
            place.rule(
                day(back),
                &format!("Never deploy the {word} service of team {word} on Fridays."),
            );
        }
    }
    let policy = |most: u32| Settings {
        promote_at: Some(0.5),
        limits: Limits {
            max_tokens: Tokens(most),
            ..Limits::default()
        },
        ..settings()
    };
    assert_eq!(place.dream_judged(&policy(800)).promoted.len(), 3);
    let full = Estimator::Heuristic.count(&place.read("MEMORY.md"), ContentKind::Prose);
    let before = place.read("MEMORY.md");
    place.rule(day(1), "Never rename the zebra branches.");
    let report = place.dream_judged(&policy(full.0 + 2));
    assert_eq!((report.promoted.len(), report.problems.len()), (1, 0));
    assert_eq!(place.read("MEMORY.md"), before, "nothing left for it");
    let zebra = place.find("zebra");
    assert!(matches!(zebra.status, Status::Demoted { .. }), "{zebra:?}");
    assert!(place.read("memories/project.md").contains("zebra branches"));
    assert!(place.read("DREAMS.md").contains("zebra branches"));
    place.undo().unwrap();
    assert!(!place.read("memories/project.md").contains("zebra"));
    // What a person wants goes in, and what is least sure leaves.
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let wanted = policy(full.0 + 2);
    let change = dreams.promote(&lock, &zebra.id, &now(), &wanted).unwrap();
    assert!(place.read("MEMORY.md").contains("zebra branches"));
    assert_eq!(change.turns.len(), 2, "{:?}", change.turns);
    drop(lock);
    // What is surer takes the place of what is less so.
    for back in [1, 2, 3] {
        place.rule(day(back), "Never skip the violet checks.");
    }
    place.dream_judged(&wanted);
    let memory = place.read("MEMORY.md");
    assert!(
        memory.contains("violet") && !memory.contains("zebra"),
        "{memory}"
    );
}

#[test]
fn what_a_person_took_back_is_not_promoted_again_unseen() {
    let place = Place::new();
    place.rule(day(1), "Never push on Fridays.");
    assert_eq!(place.dream_judged(&policy()).promoted.len(), 1);
    place.undo().unwrap();
    place.rule(TODAY, "Never push on Fridays.");
    let report = place.dream_judged(&policy());
    assert_eq!((report.promoted.len(), report.waiting), (0, 1));
    assert!(
        place
            .read("DREAMS.md")
            .contains("Review: its promotion was taken back; never promoted unseen")
    );
    // A person may.
    place.promote("Never push");
    assert!(place.read("MEMORY.md").contains("Never push"));
}

#[test]
fn what_a_person_wrote_behind_the_time_of_the_index_or_in_its_place_stays() {
    for (own, renewed) in [
        ("2026-11-12 08:00 by Ida", "2026-11-15 20:00 by Ida"),
        ("yesterday, by Ida", "yesterday, by Ida"),
        ("2026-11-12", "2026-11-12"),
    ] {
        let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
        let memory = format!("# Memory\n\nsee > Updated: 2026-11-12 08:00\n> Updated: {own}\n");
        place.write("MEMORY.md", &memory);
        place.promote("Never push");
        let promoted = place.read("MEMORY.md");
        assert!(
            promoted.starts_with(&memory.replace(
                &format!("> Updated: {own}"),
                &format!("> Updated: {renewed}")
            )),
            "{promoted}"
        );
        // Also where a person wrote since, and it is not the file of before.
        place.write("MEMORY.md", &format!("{promoted}\nmine\n"));
        place.undo().unwrap();
        let undone = place.read("MEMORY.md");
        assert!(undone.starts_with(&memory), "{undone}");
        assert!(undone.ends_with("mine\n"), "{undone}");
    }
}

#[test]
fn a_promotion_renews_the_time_of_the_index_and_an_undo_gives_it_back() {
    let place = Place::new();
    place
        .memory
        .init(day(3).at(8, 0, 0, 0), "Tides", AgentsFile::Unwanted)
        .unwrap();
    place.rule(day(2), "Never push on Fridays.");
    place.dream(&settings());
    place.promote("Never push");
    assert!(
        place
            .read("MEMORY.md")
            .contains("> Updated: 2026-11-15 20:00\n")
    );
    place.undo().unwrap();
    assert!(
        place
            .read("MEMORY.md")
            .contains("> Updated: 2026-11-12 08:00\n")
    );
    // What somebody else wrote there stays.
    place.promote("Never push");
    let edited = place
        .read("MEMORY.md")
        .replace("2026-11-15 20:00", "2026-11-15 21:00");
    place.write("MEMORY.md", &edited);
    place.undo().unwrap();
    let memory = place.read("MEMORY.md");
    assert!(memory.contains("> Updated: 2026-11-15 21:00\n") && !memory.contains("Never push"));
}

#[test]
fn what_left_while_it_waited_is_quoted_by_what_came_in_its_place() {
    let place = Place::begun();
    let fact = |on, text| place.log(on, "Key Facts", text, Source::User);
    fact(day(4), "The archive is in Frankfurt until May.");
    fact(day(2), "The archive is now in Dublin.");
    place.dream(&settings());
    place.merge("Frankfurt", "Dublin");
    let (old, new) = (place.find("Frankfurt"), place.id("Dublin"));
    assert!(place.read("DREAMS.md").contains("In place of: "));
    place.promote("Dublin");
    let days = |one: &Candidate| (one.valid_from, one.valid_until().unwrap());
    let (from, until) = days(&old);
    let page = place.read("memories/project.md");
    let standing = format!(
        "### {new}\nThe archive is now in Dublin.\n\n- note, said by the user, in place of {} “The \
         archive is in Frankfurt until May.” (valid from {from} until {until}); valid from {until}\n",
        old.id
    );
    assert!(page.contains(&standing), "{page}");
    // It holds: what the memory says is known without the state of dreams, too.
    std::fs::remove_dir_all(place.state()).unwrap();
    fact(day(1), "The archive is now in Dublin");
    place.dream(&settings());
    let again = place.candidates();
    assert!(
        again.iter().all(|one| !one.text.contains("Dublin")),
        "{again:#?}"
    );
}

#[test]
fn what_was_kept_is_named_by_what_comes_in_its_place() {
    let place = Place::begun();
    let fact = |on, text| place.log(on, "Key Facts", text, Source::User);
    fact(day(4), "The archive is in Frankfurt.");
    place.dream(&settings());
    let old = place.promote("Frankfurt");
    fact(day(2), "The archive is now in Dublin.");
    place.dream(&settings());
    place.merge("Dublin", "Frankfurt");
    let new = place.promote("Dublin");
    let page = place.read("memories/project.md");
    assert!(page.contains(&format!(", replaced by {new}\n")), "{page}");
    let named = format!("- note, said by the user, in place of {old}; valid from ");
    assert!(page.contains(&named), "{page}");
    place.undo().unwrap();
    let page = place.read("memories/project.md");
    assert!(
        !page.contains("replaced by") && !page.contains("in place of"),
        "{page}"
    );
}
