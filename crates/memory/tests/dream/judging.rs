//! A model's part: it judges, and quotes what it rests on.

use longhaul_memory::Source;
use longhaul_memory::dream::{Review, Status, Verdict};
use serde_json::json;

use crate::{Place, day, keeps_all, notes, policy, settings};

#[test]
fn without_a_model_nothing_is_judged_and_no_policy_promotes() {
    let place = Place::new();
    for back in [1, 2, 3] {
        place.rule(day(back), "Never push on Fridays.");
    }
    let report = place.dream(&policy());
    assert_eq!((report.promoted.len(), report.waiting), (0, 1));
    assert_eq!(place.find("Never push").verdict, None);
    let report = place.dream_judged(&policy());
    assert_eq!(report.promoted, [place.id("Never push")]);
}

#[test]
fn a_judgement_counts_where_it_quotes_its_line_and_a_wording_where_it_adds_nothing() {
    let place = Place::new();
    place.rule(
        day(1),
        "JWT tokens expire after 15 minutes in the auth service, we agreed",
    );
    place.rule(day(1), "The cellar holds the archive of the shop");
    place.rule(day(1), "Petra looks after the price tables");
    place.rule(day(1), "Look at the grey button on Safari");
    let report = place.dream_with(&settings(), &mut |question| {
        let answers = notes(question).into_iter().zip(1..).map(|(note, number)| {
            let (quote, keep, wording) = match note.split(' ').next().unwrap() {
                "JWT" => (
                    "expire after 15 minutes",
                    true,
                    "JWT tokens expire after 15 minutes",
                ),
                "The" => (
                    "archive of the shop",
                    true,
                    "The attic holds the archive of the shop",
                ),
                "Petra" => ("Petra left the company", true, "Petra left"),
                _ => ("the grey button", false, ""),
            };
            json!({"note": number, "keep": keep, "quote": quote, "wording": wording}).to_string()
        });
        Ok(answers.collect::<Vec<_>>().join("\n"))
    });
    let model = report.model.unwrap();
    assert_eq!((model.kept, model.left), (2, 1));
    assert_eq!((model.worded, model.ungrounded, model.unquoted), (1, 1, 1));
    let jwt = place.find("JWT");
    assert_eq!(jwt.wording(), "JWT tokens expire after 15 minutes");
    assert!(
        place
            .read("DREAMS.md")
            .contains("In its source's words: JWT tokens expire after 15")
    );
    assert_eq!(place.find("cellar").wording, None);
    assert_eq!(place.find("Petra").verdict, None);
    let button = place.find("button");
    assert_eq!(button.verdict, Some(Verdict::Leave));
    assert!(button.confidence < place.find("Petra").confidence);
}

#[test]
fn a_models_words_are_never_promoted_unseen() {
    let place = Place::new();
    place.rule(
        day(1),
        "JWT tokens expire after 15 minutes in the auth service",
    );
    place.dream_with(&policy(), &mut |question| {
        let wording = json!({"note": 1, "keep": true, "quote": notes(question)[0],
            "wording": "JWT tokens expire after 15 minutes"});
        Ok(wording.to_string())
    });
    let found = place.find("JWT");
    assert!(found.status.is_kept());
    assert_eq!(
        found.wording(),
        "JWT tokens expire after 15 minutes in the auth service"
    );
}

#[test]
fn a_pair_is_merged_left_or_parted_as_a_model_says_with_quotes_of_both() {
    for (verdict, quotes) in [
        ("same", ["port 8100", "port 9100"]),
        ("contradict", ["port 8100", "port 9100"]),
        ("apart", ["port 8100", "port 9100"]),
        ("same", ["port 8100", "no such words"]),
    ] {
        let place = Place::new();
        for (back, port) in [(2, 8100), (1, 9100)] {
            let text = format!("The relay of the shop listens on port {port}");
            place.log(day(back), "Facts", &text, Source::Agent);
        }
        let mut pairs = 0;
        let mut model = |question: &longhaul_memory::dream::Question| {
            if !question.prompt.contains("<pair ") {
                return Ok(keeps_all(question));
            }
            pairs += 1;
            Ok(json!({"pair": 1, "verdict": verdict, "quotes": quotes}).to_string())
        };
        let report = place.dream_with(&settings(), &mut model).model.unwrap();
        let again = place.dream_with(&settings(), &mut model).model.unwrap();
        assert_eq!((again.calls, pairs), (0, 1), "asked once");
        let (old, new) = (place.find("8100"), place.find("9100"));
        let is_quoted = quotes[1] == "port 9100";
        assert_eq!(report.unquoted, usize::from(!is_quoted));
        match (verdict, is_quoted) {
            ("same", true) => {
                assert!(matches!(old.status, Status::Superseded { .. }), "{old:?}");
                assert_eq!(new.review, Some(Review::Merged));
            }
            ("apart", _) => assert!(old.contradicts.is_empty() && new.contradicts.is_empty()),
            _ => assert_eq!(new.contradicts, [old.id]),
        }
    }
}

#[test]
fn a_model_that_fails_is_asked_about_the_rest_next_time_and_what_it_took_is_kept() {
    let place = Place::new();
    for at in 0..30 {
        place.rule(
            day(1),
            &format!("Crate number{at} stands in cellar{at} of house{at}"),
        );
    }
    let mut asked = 0;
    let report = place.dream_with(&settings(), &mut |question| {
        asked += 1;
        match asked {
            1 => Ok(keeps_all(question)),
            _ => Err("the model is away".to_owned()),
        }
    });
    let model = report.model.unwrap();
    assert_eq!((model.calls, model.kept), (2, 20));
    assert_eq!(model.failure.as_deref(), Some("the model is away"));
    let report = place.dream_judged(&settings());
    assert_eq!(report.model.unwrap().kept, 10, "nothing is asked twice");
    assert_eq!(place.dreams().paid().unwrap().requests, 2);
}
