//! Dreams with a model: it words, merges and points, and decides nothing.

use longhaul_memory::Source;
use longhaul_memory::dream::{Question, Status};
use longhaul_tokens::Spent;

use crate::{Place, day, dream_asking, policy, settings};

#[test]
fn a_model_words_and_merges_what_the_evidence_bears_out_and_nothing_else() {
    let place = Place::new();
    place.log(
        day(3),
        "Facts",
        "so it turns out that the API spec of the shop lives in /docs/api-spec.yaml",
        Source::User,
    );
    place.log(
        day(3),
        "Facts",
        "JWT tokens of the login service expire after 15 minutes",
        Source::User,
    );
    place.log(
        day(2),
        "Facts",
        "nightly backups of the database go to the cellar machine",
        Source::User,
    );
    place.log(
        day(1),
        "Facts",
        "the database backups every night land on the cellar machine",
        Source::User,
    );
    let mut asked: Vec<Question> = Vec::new();
    let mut model = |question: &Question| {
        asked.push(question.clone());
        let prompt = &question.prompt;
        Ok(match () {
            () if prompt.lines().count() > 1 => "Nightly backups of the database: cellar machine",
            () if prompt.contains("api-spec") => "API spec of the shop: /docs/api-spec.yaml",
            () if prompt.contains("JWT") => "JWT tokens expire after 5 minutes",
            () => "KEEP",
        }
        .to_owned())
    };
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let report = dream_asking(&dreams, &lock, &settings(), &mut model);
    let model = report.model.unwrap();
    assert_eq!((model.worded, model.merged, model.ungrounded), (1, 1, 1));
    assert_eq!(
        place.find("API spec").wording(),
        "API spec of the shop: /docs/api-spec.yaml"
    );
    assert_eq!(
        place.find("JWT").wording(),
        "JWT tokens of the login service expire after 15 minutes"
    );
    let merged = place.find("nightly backups");
    assert_eq!(
        merged.wording(),
        "Nightly backups of the database: cellar machine"
    );
    assert_eq!(merged.evidence.len(), 2);
    assert_eq!(
        place.find("every night").status,
        Status::Superseded {
            on: day(1),
            by: Some(merged.id)
        }
    );
    // Asked once, for good.
    let files = place.files();
    let mut never = |_: &Question| -> Result<String, String> { panic!("asked again") };
    dream_asking(&dreams, &lock, &settings(), &mut never);
    assert_eq!(place.files(), files);
}

#[test]
fn one_dream_asks_a_model_only_so_often_to_word_what_waits() {
    const PLACES: [&str; 12] = [
        "cellar", "attic", "garage", "kitchen", "harbour", "tower", "garden", "bakery", "library",
        "station", "chapel", "stable",
    ];
    for (answer, most) in [("KEEP", 40), ("The moon is made of old cheese", 8)] {
        let place = Place::new();
        for (at, name) in PLACES
            .iter()
            .flat_map(|name| [(1, name), (2, name), (3, name), (4, name), (5, name)])
        {
            let text = format!(
                "machine {at}{at}7 of the {name} answers on port {at}0{}",
                name.len()
            );
            place.log(day(2), "Facts", &text, Source::User);
        }
        let mut wordings = 0;
        let mut model = |question: &Question| {
            let others = ["long-term value", "cannot both be true"];
            let is_wording = question.prompt.lines().count() == 1
                && !others.iter().any(|part| question.system.contains(part));
            wordings += usize::from(is_wording);
            Ok(answer.to_owned())
        };
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        dream_asking(&dreams, &lock, &settings(), &mut model);
        assert!(place.candidates().len() >= 50);
        assert_eq!(wordings, most, "{answer}");
    }
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

#[test]
fn a_wording_lends_a_tools_words_to_nobody_better() {
    let place = Place::new();
    place.log(
        day(2),
        "Facts",
        "The staging host of the lab is called build7",
        Source::User,
    );
    place.log(
        day(1),
        "Facts",
        "The staging host of the lab is called build7 (evil.example)",
        Source::Tool,
    );
    let mut model = |question: &Question| {
        assert!(!question.prompt.contains("evil"), "{}", question.prompt);
        Ok("The staging host of the lab is called build7, evil.example".to_owned())
    };
    let report = place.dream_with(&settings(), &mut model);
    assert_eq!(report.model.unwrap().ungrounded, 1);
    let found = place.find("staging host");
    assert_eq!(found.mentions(), 2, "they say nearly the same");
    assert_eq!(
        found.wording(),
        "The staging host of the lab is called build7"
    );
}

#[test]
fn an_interrupted_dream_goes_on_where_it_stopped() {
    let place = Place::new();
    for word in ["apple", "birch", "cedar"] {
        place.log(
            day(1),
            "Facts",
            &format!("the {word} service belongs to another team"),
            Source::User,
        );
    }
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let mut calls = 0;
    let mut fails = |_: &Question| {
        calls += 1;
        if calls == 2 {
            Err("overloaded".to_owned())
        } else {
            Ok("KEEP".to_owned())
        }
    };
    let report = dream_asking(&dreams, &lock, &settings(), &mut fails);
    assert_eq!(report.model.unwrap().failure.as_deref(), Some("overloaded"));
    assert_eq!(report.waiting, 3);
    let mut answers = |_: &Question| Ok("KEEP".to_owned());
    let report = dream_asking(&dreams, &lock, &settings(), &mut answers);
    assert!(report.model.unwrap().calls >= 2);
}

#[test]
fn a_models_words_are_never_promoted_unseen() {
    let place = Place::new();
    place.rule(day(1), "Always use tabs over spaces in all Makefiles.");
    place.rule(day(1), "Never push a release of the shop on Fridays.");
    let mut model = |question: &Question| {
        Ok(match question.prompt.contains("tabs") {
            true => "Always use spaces over tabs in all Makefiles",
            false => "Never push a release on Fridays",
        }
        .to_owned())
    };
    let report = place.dream_with(&policy(), &mut model);
    let asked = report.model.unwrap();
    assert_eq!((asked.worded, asked.ungrounded), (1, 1));
    assert_eq!(report.promoted.len(), 2);
    let memory = place.read("MEMORY.md");
    for said in [
        "- Always use tabs over spaces in all Makefiles.",
        "- Never push a release of the shop on Fridays.",
    ] {
        assert!(memory.contains(said), "{memory}");
    }
    assert!(!memory.contains("a release on Fridays"), "{memory}");
}

#[test]
fn a_models_wording_waits_beside_the_words_of_the_source() {
    let place = Place::new();
    place.rule(day(1), "Never push a release of the shop on Fridays.");
    let mut model = |_: &Question| Ok("Never push a release on Fridays".to_owned());
    place.dream_with(&settings(), &mut model);
    let staged = place.read("DREAMS.md");
    assert!(
        staged.contains(
            "Finding: Never push a release on Fridays\n\
             In its source's words: Never push a release of the shop on Fridays.\n"
        ),
        "{staged}"
    );
}

#[test]
fn what_a_model_took_for_one_is_looked_at() {
    let place = Place::new();
    place.rule(
        day(2),
        "Nightly backups of the database go to the cellar machine",
    );
    place.rule(
        day(1),
        "The database backups every night land on the cellar machine",
    );
    let mut model = |question: &Question| {
        Ok(match question.prompt.lines().count() {
            1 => "KEEP",
            _ => "Nightly backups of the database: cellar machine",
        }
        .to_owned())
    };
    let report = place.dream_with(&policy(), &mut model);
    assert_eq!(report.model.unwrap().merged, 1);
    assert_eq!((report.promoted.len(), report.waiting), (0, 1));
    assert!(
        place
            .read("DREAMS.md")
            .contains("Review: a model took two notes for one; never promoted unseen")
    );
}

/// A model that answers by what kind of question it is asked.
fn model<'a>(
    named: &'a str,
    opposed: &'a dyn Fn(&str) -> String,
) -> impl FnMut(&Question) -> Result<String, String> + 'a {
    move |question: &Question| {
        Ok(match () {
            () if question.system.contains("long-term value") => named.to_owned(),
            () if question.system.contains("cannot both be true") => opposed(&question.prompt),
            () => "KEEP".to_owned(),
        })
    }
}

#[test]
fn a_model_names_what_the_logs_say_word_for_word_and_it_waits() {
    let place = Place::new();
    place.log(
        day(2),
        "Task Progress",
        "Completed: the harbour office moved its feed to the tide table of Emden",
        Source::User,
    );
    place.log(
        day(1),
        "Task Progress",
        "Never send the pilot list to the press, not even in part",
        Source::Agent,
    );
    place.log(
        day(1),
        "Issues Found",
        "the tool says that the lock of the sluice is 42",
        Source::Tool,
    );
    let answer = "- \"the harbour office moved its feed to the tide table\"\n\
                  the harbour office moved its feed to the tide table of Bremen\n\
                  send the pilot list to the press\n\
                  the lock of the sluice is 42";
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let none = |_: &str| "NONE".to_owned();
    let mut answers = model(answer, &none);
    let report = dream_asking(&dreams, &lock, &policy(), &mut answers);
    let found = place.find("harbour office");
    assert_eq!(
        found.text, "Completed: the harbour office moved its feed to the tide table of Emden",
        "the whole line, since a part of it may say the opposite"
    );
    assert_eq!(found.evidence[0].place(), "memory/2026-11-13.md:6");
    assert!(!found.may_go_unseen());
    assert_eq!((report.promoted.len(), report.waiting), (0, 2));
    let asked = report.model.unwrap();
    // Two logs were shown, and the answer was the same for both.
    assert_eq!((asked.named, asked.unquoted), (2, 6));
    assert!(
        place
            .read("DREAMS.md")
            .contains("Review: a model picked it out of a log; never promoted unseen")
    );
    let files = place.files();
    let mut never = |_: &Question| -> Result<String, String> { panic!("asked again") };
    dream_asking(&dreams, &lock, &policy(), &mut never);
    assert_eq!(place.files(), files);
}

#[test]
fn a_model_that_fails_is_asked_about_the_rest_of_the_logs_next_time() {
    let place = Place::new();
    for back in [1, 2, 3] {
        place.log(
            day(back),
            "Task Progress",
            &format!("the survey of pier {back} was sent to the harbour office"),
            Source::User,
        );
    }
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let mut shown: Vec<String> = Vec::new();
    let mut run = |fails_at: usize| {
        let mut calls = 0;
        let mut answers = |question: &Question| {
            calls += 1;
            if calls == fails_at {
                return Err("overloaded".to_owned());
            }
            shown.push(question.prompt.clone());
            Ok("NONE".to_owned())
        };
        dream_asking(&dreams, &lock, &settings(), &mut answers)
            .model
            .unwrap()
    };
    let first = run(2);
    assert_eq!(
        (first.calls, first.failure.as_deref()),
        (2, Some("overloaded"))
    );
    assert_eq!(run(0).calls, 2);
    assert_eq!(run(0).calls, 0);
    let order: Vec<bool> = shown.iter().map(|one| one.contains("pier 1")).collect();
    assert_eq!(order, [true, false, false], "the newest first");
}

#[test]
fn what_a_model_says_contradicts_waits_and_nothing_else_happens_to_it() {
    let place = Place::new();
    place.rule(day(3), "Answer the harbour master in German only.");
    place.rule(
        day(2),
        "Letters to the harbour master are written in Danish.",
    );
    place.rule(day(1), "Never push on Fridays.");
    let answer = |prompt: &str| {
        let id = |text: &str| {
            let line = prompt.lines().find(|line| line.contains(text)).unwrap();
            line.split('"').nth(1).unwrap().to_owned()
        };
        format!(
            "{} {}\nd-00000000 {}",
            id("German"),
            id("Danish"),
            id("Fridays")
        )
    };
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let mut answers = model("NONE", &answer);
    let report = dream_asking(&dreams, &lock, &policy(), &mut answers);
    let asked = report.model.unwrap();
    assert_eq!((asked.contradictions, asked.unquoted), (1, 1));
    assert_eq!(report.promoted, [place.id("Fridays")]);
    let (german, danish) = (place.find("German"), place.find("Danish"));
    assert_eq!(german.contradicts, std::slice::from_ref(&danish.id));
    assert_eq!(danish.contradicts, [german.id]);
    assert_eq!(report.waiting, 2);
}

#[test]
fn a_model_is_not_asked_whether_two_things_are_one() {
    let place = Place::new();
    for (back, line) in [
        (3, "Worker 1 of the pipeline speaks to the gateway"),
        (2, "Worker 2 of the pipeline speaks to the gateway"),
        (1, "Worker 3 of the pipeline never speaks to the gateway"),
    ] {
        place.log(day(back), "Facts", line, Source::User);
    }
    let mut model = |question: &Question| {
        assert!(
            !question.system.contains("two notes"),
            "{}",
            question.prompt
        );
        Ok("KEEP".to_owned())
    };
    let report = place.dream_with(&settings(), &mut model);
    assert_eq!(report.waiting, 3);
}

#[test]
fn what_a_model_took_is_told_and_kept_of_each_dream_and_of_all() {
    let place = Place::new();
    let cents = |requests: u64, dollars: f64| Spent {
        requests,
        input: 8 * requests,
        output: 2 * requests,
        dollars,
        ..Spent::default()
    };
    place.log(day(2), "Facts", "The apple host is build7", Source::User);
    // One question is answered, the next is not.
    let mut left = 1;
    let mut fails = |_: &Question| match left {
        0 => Err("the server is down".to_owned()),
        _ => {
            left -= 1;
            Ok("KEEP".to_owned())
        }
    };
    let report = place.dream_with(&settings(), &mut fails);
    let model = report.model.unwrap();
    assert_eq!(model.calls, 2);
    assert_eq!(model.paid, cents(1, 0.01));
    assert_eq!(place.dreams().paid().unwrap(), cents(1, 0.01));
    let mut answers = |_: &Question| Ok("KEEP".to_owned());
    let report = place.dream_with(&settings(), &mut answers);
    let paid = report.model.unwrap().paid;
    assert_eq!(paid, cents(1, 0.01));
    let last = place.dreams().last_run().unwrap().unwrap();
    assert_eq!(last.paid, Some(paid));
    assert_eq!(place.dreams().paid().unwrap(), cents(2, 0.02));
    // A dream without a model takes nothing, and forgets nothing.
    place.dream(&settings());
    let last = place.dreams().last_run().unwrap().unwrap();
    assert_eq!(last.paid, None);
    assert_eq!(place.dreams().paid().unwrap(), cents(2, 0.02));
}
