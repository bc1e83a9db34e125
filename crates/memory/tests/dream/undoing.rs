//! Promotions taken back in any order, whatever was edited by hand since.

use std::fs;

use longhaul_memory::dream::{Candidate, Left, Settings, Status, Undoing, Undone};
use longhaul_memory::files::Limits;
use longhaul_memory::{Error, Source};
use longhaul_tokens::{ContentKind, Counter, Estimator, Tokens};
use proptest::prelude::*;

use crate::{Place, TODAY, day, now, settings};

fn undo(place: &Place, number: u32) -> Result<Undone, Error> {
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    dreams.undo(&lock, Some(number), now().timestamp(), &settings())
}

/// How each promotion stands, the latest first.
fn standing(place: &Place) -> Vec<(u32, String)> {
    let past = place.dreams().past(&settings()).unwrap();
    past.iter()
        .map(|one| {
            let how = match &one.undoing {
                Undoing::Possible(left) => format!("possible, {} left", left.len()),
                Undoing::Done(by) => format!("done by {by}"),
                Undoing::Refused(error) => error.to_string(),
            };
            (one.change.number, how)
        })
        .collect()
}

/// Replaces a line of a file, as a person would.
fn edit(place: &Place, file: &str, from: &str, to: &str) {
    let text = place.read(file);
    assert!(text.contains(from), "{text}");
    place.write(file, &text.replace(from, to));
}

#[test]
fn a_hand_edit_stays_is_named_and_keeps_no_undo_from_being_done() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays.", "Always write tests first."]);
    let begun = place.read("MEMORY.md");
    let older = place.promote("Never push");
    let id = place.promote("Always write");
    edit(&place, "MEMORY.md", "tests first", "tests second");
    let told: Vec<_> = standing(&place);
    assert_eq!(
        told,
        [
            (2, "possible, 1 left".to_owned()),
            (1, "possible, 0 left".to_owned())
        ]
    );
    let undone = undo(&place, 2).unwrap();
    let memory = place.read("MEMORY.md");
    let line = memory.lines().position(|line| line.contains("second"));
    assert_eq!(
        undone.left,
        [Left {
            file: "MEMORY.md".into(),
            line: line.unwrap() + 1,
            text: "- Always write tests second.".into(),
        }]
    );
    assert!(!memory.contains(&id), "{memory}");
    assert!(!place.read("memories/project.md").contains(&id));
    assert_eq!(place.find("Always write").status, Status::Staged);
    // The older one is free.
    place.undo().unwrap();
    let memory = place.read("MEMORY.md");
    assert!(!memory.contains(&older), "{memory}");
    let rest = memory.replace("- Always write tests second.\n", "");
    assert_eq!(rest.lines().nth(3), begun.lines().nth(3));
    assert!(matches!(place.undo(), Err(Error::NothingToUndo)));
    // The line is a person's by now, and can be promoted beside it.
    place.promote("Never push");
    assert!(place.read("MEMORY.md").contains("tests second.\n"));
}

/// Channels, issues and colours begin as headings do, and so may a sentence.
#[test]
fn a_statement_that_begins_as_a_heading_does_is_closed_and_taken_back_whole() {
    let place = Place::new();
    let said = [
        "#deploys is our Slack channel for release notes.",
        "#4821 is our tracking issue.",
        "# of retries is 5 in the uploader.",
    ];
    for text in said {
        place.log(day(5), "Facts", text, Source::User);
    }
    place.dream(&settings());
    let other = place.promote("#deploys");
    let before = place.read("memories/project.md");
    for text in ["#4821", "# of retries"] {
        let id = place.promote(text);
        assert!(place.read("memories/project.md").contains(text));
        // Not as it was left, so that it is taken out line by line.
        edit(&place, "memories/project.md", "# Project", "# The project");
        place.undo().unwrap();
        edit(&place, "memories/project.md", "# The project", "# Project");
        assert_eq!(place.read("memories/project.md"), before, "{id}");
    }
    place.promote("# of retries");
    place.promote("#4821");
    place.log(
        day(1),
        "Facts",
        "#4999 is now our tracking issue, not #4821.",
        Source::User,
    );
    place.dream(&settings());
    let old = place.id("#4821 is our");
    place.merge("#4999", "#4821 is our");
    let new = place.promote("#4999");
    let page = place.read("memories/project.md");
    let (_, block) = page.split_once(&format!("### {old}\n")).unwrap();
    let closed = block.lines().find(|line| line.contains("; valid from "));
    let wanted = format!(" until {}, replaced by {new}", day(1));
    assert!(closed.unwrap().ends_with(&wanted), "{page}");
    assert!(page.contains(&other), "{page}");
    // What is on the page is known and not staged again.
    let staged = place.candidates().len();
    place.dream(&settings());
    assert_eq!(place.candidates().len(), staged);
}

#[test]
fn an_edited_statement_stays_below_a_heading_that_is_no_statements() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays.", "Always write tests first."]);
    let first = place.promote("Never push");
    let second = place.promote("Always write");
    edit(
        &place,
        "memories/project.md",
        "\nNever push on Fridays.\n",
        "\nNever push on Fridays, nor on Saturdays.\nAsk Ida.\n",
    );
    let undone = undo(&place, 1).unwrap();
    let said: Vec<&str> = undone.left.iter().map(|left| left.text.as_str()).collect();
    assert_eq!(
        said,
        ["Never push on Fridays, nor on Saturdays.", "Ask Ida."]
    );
    let project = place.read("memories/project.md");
    let heading = format!("### Edited by hand (was {first})\nNever push on Fridays, nor");
    assert!(project.contains(&heading), "{project}");
    assert!(!project.contains(&format!("### {first}\n")), "{project}");
    assert!(project.contains(&format!("### {second}\nAlways write tests first.\n\n- ")));
    assert!(!place.read("MEMORY.md").contains(&first));
    // What a person wrote there is known from now on.
    place.rule(TODAY, "Never push on Fridays, nor on Saturdays.");
    assert_eq!(place.dream(&settings()).consolidated.found, 0);
}

#[test]
fn only_lines_of_the_statement_that_lost_its_heading_are_named() {
    let rules = [
        "Never push on Fridays.",
        "Always write tests first.",
        "Never delete backups.",
    ];
    for heading in ["#### mine\n", "## Mine\n", ""] {
        let place = Place::begun_and_dreamt(&rules);
        for rule in ["Never push", "Always write", "Never delete"] {
            place.promote(rule);
        }
        let id = place.id("Always write");
        let own = format!("### {id}\n");
        edit(&place, "memories/project.md", &own, heading);
        let before = place.read("memories/project.md");
        let undone = undo(&place, 2).unwrap();
        assert_eq!(place.read("memories/project.md"), before);
        let start = before
            .lines()
            .position(|line| line.contains("Always write"));
        let lines: Vec<(usize, &str)> = undone
            .left
            .iter()
            .map(|left| (left.line, left.text.as_str()))
            .collect();
        let all: Vec<&str> = before.lines().collect();
        let at = start.unwrap();
        // The statement, what it is, its evidence.
        let wanted = [at, at + 2, at + 3].map(|at| (at + 1, all[at]));
        assert_eq!(lines, wanted, "{heading:?}\n{before}");
    }
}

#[test]
fn a_statement_that_was_moved_to_another_page_stays_there_and_is_named() {
    for page in ["memories/decisions.md", "memories/rules.md"] {
        let place = Place::begun_and_dreamt(&["Never push on Fridays.", "Never delete backups."]);
        let id = place.promote("Never push");
        place.promote("Never delete");
        let project = place.read("memories/project.md");
        let start = project.find(&format!("### {id}")).unwrap();
        let end = start + project[start..].find("\n\n### ").unwrap() + 1;
        place.write(page, &format!("# Mine\n\n{}", &project[start..end]));
        let rest = format!("{}{}", &project[..start], &project[end + 1..]);
        place.write("memories/project.md", &rest);
        let (moved, foretold) = (place.read(page), standing(&place));
        assert_eq!(foretold[1], (1, "possible, 1 left".to_owned()));
        let undone = undo(&place, 1).unwrap();
        assert_eq!(
            undone.left,
            [Left {
                file: page.into(),
                line: 3,
                text: format!("### {id}"),
            }]
        );
        assert_eq!(place.read(page), moved);
        assert_eq!(place.read("memories/project.md"), rest);
    }
}

#[test]
fn a_heading_leaves_with_the_last_line_below_it() {
    let place = Place::new();
    place.rule(day(2), "Never push on Fridays.");
    place.rule(day(2), "Always sign the tags.");
    place.dream(&settings());
    let first = place.promote("Never push");
    let second = place.promote("Always sign");
    undo(&place, 1).unwrap();
    let memory = place.read("MEMORY.md");
    assert_eq!(
        memory,
        format!(
            "# Memory Index\n\n## Key Constraints\n- Always sign the tags. | Details → \
             memories/project.md#{second}\n"
        )
    );
    let project = place.read("memories/project.md");
    assert!(project.starts_with(&format!("# Project\n\n### {second}\n")));
    assert!(!project.contains(&first));
    undo(&place, 2).unwrap();
    assert!(!place.memory.root().join("MEMORY.md").exists());
    assert!(!place.memory.root().join("memories/project.md").exists());
}

#[test]
fn what_others_were_built_upon_goes_after_them() {
    let place = Place::new();
    let value = |back: i8, minutes: u32, before: Option<u32>| {
        let text = format!("JWT access tokens expire after {minutes} minutes");
        place.log(day(back), "Facts", &text, Source::User);
        place.dream(&settings());
        if let Some(before) = before {
            place.merge(&text, &format!("expire after {before} minutes"));
        }
        place.promote(&text)
    };
    let old = value(5, 15, None);
    value(3, 30, Some(15));
    value(1, 60, Some(30));
    let Err(error) = undo(&place, 1) else {
        panic!("it was built upon")
    };
    assert_eq!(
        error.to_string(),
        "change 1 cannot be taken back alone: change 2 changed the same since"
    );
    assert_eq!(error.remedy().unwrap(), "`longhaul dream undo 2` first");
    assert!(matches!(
        undo(&place, 2).unwrap_err(),
        Error::BuiltUpon { first, .. } if first == [3]
    ));
    // Even where what says so was edited.
    edit(
        &place,
        "memories/project.md",
        &format!("fact, said by the user, in place of {old}; valid from 2026-11-12 until"),
        "fact, by Ida; valid from 2026-11-12 until",
    );
    for number in [3, 2] {
        undo(&place, number).unwrap();
    }
    assert!(place.read("MEMORY.md").contains(&old));
    assert!(!place.read("memories/project.md").contains(" until "));
    assert!(place.find("15 minutes").status.is_kept());
    undo(&place, 1).unwrap();
    assert!(matches!(
        undo(&place, 1).unwrap_err(),
        Error::TakenBack { number: 1, by: 6 }
    ));
    assert!(matches!(
        undo(&place, 9).unwrap_err(),
        Error::NoChange { number: 9 }
    ));
}

#[test]
fn a_pointer_comes_back_though_the_line_above_it_is_gone_or_its_rival_was_edited() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    place.promote("Never push");
    place.log(
        day(4),
        "User Preferences",
        "JWT access tokens expire after 15 minutes",
        Source::User,
    );
    place.dream(&settings());
    let old = place.promote("15 minutes");
    place.log(
        day(1),
        "User Preferences",
        "JWT access tokens expire after 30 minutes",
        Source::User,
    );
    place.dream(&settings());
    place.merge("30 minutes", "15 minutes");
    let new = place.promote("30 minutes");
    undo(&place, 1).unwrap();
    edit(
        &place,
        "MEMORY.md",
        "- JWT access tokens expire after 30",
        "- Tokens live for 30",
    );
    let undone = undo(&place, 3).unwrap();
    assert_eq!(undone.left.len(), 1);
    let memory = place.read("MEMORY.md");
    assert!(
        memory.contains("- Tokens live for 30 minutes\n"),
        "{memory}"
    );
    assert!(!memory.contains(&new), "{memory}");
    let heading = memory.find("## Key Constraints").unwrap();
    let pointer = memory.find(&old).unwrap();
    assert!(heading < pointer && pointer < memory.find("## Decisions").unwrap());
}

#[test]
fn what_left_to_make_room_stays_without_a_pointer_where_later_ones_took_the_room() {
    let place = Place::new();
    let rules = ["apple", "birch", "cedar"]
        .map(|word| format!("Never deploy the {word} service of team {word} on Fridays."));
    let short = ["Never rename zebra.", "Never skip yarrow."];
    for rule in rules.iter().map(String::as_str).chain(short) {
        place.rule(day(2), rule);
    }
    // Said twice, they are not what leaves.
    for rule in short {
        place.rule(day(1), rule);
    }
    place.dream(&settings());
    let promote = |word: &str, most: u32| {
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        let settings = Settings {
            limits: Limits {
                max_tokens: Tokens(most),
                ..Limits::default()
            },
            ..settings()
        };
        let change = dreams.promote(&lock, &place.id(word), &now(), &settings);
        (change.unwrap(), settings)
    };
    promote("apple", 800);
    promote("birch", 800);
    let full = Estimator::Heuristic.count(&place.read("MEMORY.md"), ContentKind::Prose);
    let (change, settings) = promote("zebra", full.0);
    assert_eq!(change.turns.len(), 2);
    promote("yarrow", full.0);
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let at = now().timestamp();
    dreams.undo(&lock, Some(3), at, &settings).unwrap();
    let memory = place.read("MEMORY.md");
    assert!(Estimator::Heuristic.count(&memory, ContentKind::Prose) <= full);
    let demoted = change.turns.iter().find(|turn| turn.id != change.candidate);
    let demoted = &demoted.unwrap().id;
    let all = place.candidates();
    let demoted = all.iter().find(|one| one.id == *demoted).unwrap();
    assert_eq!(
        memory.contains(&demoted.id),
        matches!(demoted.status, Status::Promoted { .. }),
        "{memory}"
    );
    assert!(demoted.status.is_kept());
}

#[test]
fn what_was_promoted_before_the_state_was_damaged_can_be_taken_back() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays.", "Always sign the tags."]);
    let first = place.promote("Never push");
    let second = place.promote("Always sign");
    let files = place.files();
    let state = files.keys().find(|path| path.ends_with("state.json"));
    fs::write(state.unwrap(), "{\n oops").unwrap();
    undo(&place, 1).unwrap();
    place.undo().unwrap();
    let memory = place.read("MEMORY.md");
    assert!(
        !memory.contains(&first) && !memory.contains(&second),
        "{memory}"
    );
}

#[test]
fn a_last_line_without_an_end_is_as_it_was_after_undos_in_any_order() {
    for (first, then) in [(1, 2), (2, 1)] {
        for newline in ["\n", "\r\n"] {
            let place = Place::dreamt(&["Never push on Fridays.", "Always sign the tags."]);
            let files = ["MEMORY.md", "memories/project.md"];
            let mine = ["# Mine", "", "- by hand"].join(newline);
            for file in files {
                place.write(file, &mine);
            }
            place.promote("Never push");
            place.promote("Always sign");
            undo(&place, first).unwrap();
            undo(&place, then).unwrap();
            for file in files {
                assert_eq!(place.read(file), mine, "{file}");
            }
        }
    }
}

#[test]
fn an_end_that_somebody_gave_to_a_last_line_below_a_promotion_stays() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    let mine = "# Memory Index\n\n## Key Constraints\n\n## My notes\nmy last line";
    place.write("MEMORY.md", mine);
    place.promote("Never push");
    let promoted = place.read("MEMORY.md");
    assert!(promoted.ends_with("\nmy last line"), "{promoted}");
    place.write("MEMORY.md", &format!("{promoted}\n"));
    place.undo().unwrap();
    assert_eq!(place.read("MEMORY.md"), format!("{mine}\n"));
}

#[test]
fn an_end_that_somebody_gave_to_the_last_line_since_stays() {
    let place = Place::dreamt(&["Never push on Fridays.", "Always sign the tags."]);
    let file = "memories/project.md";
    place.write(file, "# Mine\n\n- by hand");
    place.promote("Never push");
    place.undo().unwrap();
    place.write(file, "# Mine\n\n- by hand\n");
    place.promote("Never push");
    place.promote("Always sign");
    undo(&place, 3).unwrap();
    undo(&place, 4).unwrap();
    assert_eq!(place.read(file), "# Mine\n\n- by hand\n");
}

/// What every state of the memory has to fulfil.
fn whole(place: &Place, mine: &[String]) {
    let (memory, project) = (place.read("MEMORY.md"), place.read("memories/project.md"));
    let candidates: Vec<Candidate> = place.candidates();
    for one in &candidates {
        let pointers = memory.lines().filter(|line| line.contains(&one.id)).count();
        let blocks = project.matches(&format!("### {}\n", one.id)).count();
        let is_pointed = matches!(one.status, Status::Promoted { .. });
        assert_eq!(pointers, usize::from(is_pointed), "{one:#?}\n{memory}");
        let was_kept = blocks == 1;
        assert!(was_kept || !one.status.is_kept(), "{one:#?}\n{project}");
        if one.status == Status::Staged {
            assert_eq!(blocks, 0, "{one:#?}\n{project}");
        }
        if one.status.is_kept() {
            let block = project.split(&format!("### {}\n", one.id)).nth(1).unwrap();
            let standing = block.lines().find(|line| line.contains("; valid from "));
            assert!(!standing.unwrap().contains(" until "), "{project}");
        }
    }
    for line in mine {
        let stands = memory.lines().any(|one| one.starts_with(line.as_str()));
        assert!(stands, "{line} is lost:\n{memory}");
    }
    // Every pointer stands below a heading of its own topic.
    let below = memory.lines().take_while(|line| !line.starts_with("## "));
    assert_eq!(
        below.filter(|line| line.contains("#d-")).count(),
        0,
        "{memory}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn undone_in_any_order_the_memory_stays_whole(
        order in Just((1_u32..=6).collect::<Vec<_>>()).prop_shuffle(),
        edits in prop::collection::vec(0_usize..12, 0..3),
        begun in any::<bool>(),
        unended in any::<bool>(),
    ) {
        let place = if begun { Place::begun() } else { Place::new() };
        if unended {
            for file in ["MEMORY.md", "memories/project.md"] {
                place.write(file, &format!("{}\n- by hand", place.read(file)));
            }
        }
        let before = place.read("MEMORY.md");
        let project = place.read("memories/project.md");
        for (back, minutes) in [(6, 15), (4, 30)] {
            let text = format!("JWT access tokens expire after {minutes} minutes");
            place.log(day(back), "User Preferences", &text, Source::User);
            place.dream(&settings());
            place.promote(&format!("{minutes} minutes"));
        }
        for (section, text) in [
            ("User Preferences", "Never push on Fridays."),
            ("Facts", "The build server is called heron."),
            ("User Preferences", "Always sign the release tags."),
            ("Facts", "The staging database lives in Leipzig."),
        ] {
            place.log(day(2), section, text, Source::User);
            place.dream(&settings());
            place.promote(text);
        }
        let mut mine = Vec::new();
        for (at, edit) in edits.iter().enumerate() {
            let memory = place.read("MEMORY.md");
            let mut lines: Vec<String> = memory.lines().map(str::to_owned).collect();
            let line = edit % lines.len();
            if let Some(line) = lines.get_mut(line).filter(|line| line.starts_with("- ")) {
                *line = format!("- mine {at} {}", line.trim_start_matches("- "));
            } else {
                lines.insert(line + 1, format!("- mine {at}"));
            }
            mine.push(format!("- mine {at}"));
            mine.retain(|mine| lines.iter().any(|line| line.starts_with(mine.as_str())));
            place.write("MEMORY.md", &(lines.join("\n") + "\n"));
        }
        whole(&place, &mine);
        // Those that are refused have their turn once the others are undone.
        for number in order.iter().chain(&order) {
            let _ = undo(&place, *number);
            whole(&place, &mine);
        }
        let past = place.dreams().past(&settings()).unwrap();
        prop_assert!(past.iter().all(|one| matches!(one.undoing, Undoing::Done(_))));
        prop_assert!(!place.read("MEMORY.md").contains("#d-"));
        prop_assert!(!place.read("memories/project.md").contains("evidence"));
        if unended {
            prop_assert_eq!(place.read("memories/project.md"), project);
        }
        if mine.is_empty() {
            prop_assert_eq!(place.read("MEMORY.md").ends_with('\n'), before.ends_with('\n'));
            let timeless = |text: &str| -> String {
                let lines = text.lines().filter(|line| !line.starts_with("> Updated"));
                lines.collect::<Vec<_>>().join("\n")
            };
            prop_assert_eq!(timeless(&place.read("MEMORY.md")), timeless(&before));
        }
    }
}
