//! Summaries by a model: in stages, checked, or extracted after all.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use longhaul_compaction::Layer;
use longhaul_engine::compactor::{EXTRACTIVE, FREE_MODEL, SummaryChoice, summary_model};
use longhaul_engine::config::Config;
use longhaul_engine::event::{CompactedEvent, Event};
use longhaul_engine::session::Error;
use longhaul_model::{CancellationToken, Request};
use longhaul_testkit::loopback::Fault;

use crate::support::{Heard, Purpose, Rig, Said, Scripted, plainly, prose, run, words};

const WINDOW: u32 = 24_000;
const GOOD: &str = "## Goal\n- a parser for sessions\n## Work done\n- the seventh note was weighed";

/// A session with a good deal in it, and somebody who writes its summaries.
fn talked(
    window: u32,
    script: impl Fn(&Request) -> Said + Send + Sync + 'static,
) -> (Rig, Arc<Scripted>) {
    let writer = Scripted::named("summaries", window, None, script);
    let chosen = Arc::clone(&writer);
    let mut rig = Rig::new(
        WINDOW,
        move |setup| {
            setup.summaries = Some(chosen.clone());
            setup.config.compaction.memory_flush.enabled = false;
        },
        plainly,
    );
    rig.say("Never force-push. We decided to use SQLite because it needs no server.")
        .unwrap();
    for at in 0..12 {
        rig.say(&prose(at, 500)).unwrap();
    }
    (rig, writer)
}

fn compact(rig: &mut Rig, focus: Option<&str>) -> Result<(), Error> {
    let cancel = CancellationToken::new();
    run(rig
        .session
        .compact(Layer::Summarize, focus, &cancel, &mut rig.heard))
}

fn made(heard: &Heard) -> &CompactedEvent {
    let mut events = heard.0.iter().rev();
    let found = events.find_map(|event| match event {
        Event::Compacted(made) => Some(made),
        _ => None,
    });
    found.unwrap()
}

fn context(rig: &mut Rig) -> String {
    words(&rig.session.assemble(&mut ()).unwrap())
}

#[test]
fn a_summary_by_a_model_stands_in_the_context_and_names_its_writer() {
    let (mut rig, writer) = talked(200_000, |_| Said::text(GOOD));
    compact(&mut rig, None).unwrap();
    assert_eq!(made(&rig.heard).summarizer, "openai-compatible/summaries");
    assert!(context(&mut rig).contains("the seventh note was weighed"));
    let asked = writer.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].temperature, Some(0.3));
    assert!(asked[0].max_output.unwrap() <= 4_000);
    assert!(asked[0].tools.is_empty());
}

#[test]
fn a_small_window_takes_several_requests_each_with_the_summary_so_far() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (mut rig, writer) = talked(8_000, move |_| {
        let number = count.fetch_add(1, Ordering::Relaxed) + 1;
        Said::text(format!("## Work done\n- stage {number} was read"))
    });
    compact(&mut rig, None).unwrap();
    let requests = writer.requests();
    assert!(requests.len() >= 2, "{}", requests.len());
    for (at, request) in requests.iter().enumerate().skip(1) {
        assert!(words(request).contains(&format!("stage {at} was read")));
    }
    assert!(context(&mut rig).contains(&format!("stage {} was read", requests.len())));
}

#[test]
fn what_the_user_said_stands_whatever_the_model_leaves_out() {
    let (mut rig, _) = talked(200_000, |_| Said::text("## Work done\n- nothing of note"));
    compact(&mut rig, None).unwrap();
    let fidelity = &made(&rig.heard).fidelity;
    assert!(!fidelity.lost_something(), "{fidelity}");
    let context = context(&mut rig);
    let (_, words) = context
        .split_once("## What the user said (word for word, oldest first; answered unless marked)")
        .unwrap();
    assert!(
        words.contains("Never force-push. We decided to use SQLite because it needs no server.")
    );
}

#[test]
fn a_focus_is_handed_to_the_model() {
    let (mut rig, writer) = talked(200_000, |_| Said::text(GOOD));
    compact(&mut rig, Some("the migration of the index")).unwrap();
    assert!(words(&writer.requests()[0]).contains("the migration of the index"));
}

#[test]
fn a_useless_summary_is_replaced_by_an_extracted_one_visibly() {
    let endless = (0..9_000).map(|at| format!("word{at} "));
    let endless = format!("## Goal\n{}", endless.collect::<String>());
    let useless: [(&str, Said, &str); 5] = [
        ("empty", Said::text(""), "empty"),
        (
            "refusal",
            Said::text("I'm sorry, I cannot help with that."),
            "no summary",
        ),
        ("refusal by name", Said::Refuses("No.".into()), "refused"),
        ("too long", Said::text(endless), "longer"),
        ("error", Said::Fails(Fault::Overloaded), "overloaded"),
    ];
    for (name, said, why) in useless {
        let (mut rig, _) = talked(200_000, move |_| said.clone());
        compact(&mut rig, None).unwrap();
        assert_eq!(made(&rig.heard).summarizer, EXTRACTIVE, "{name}");
        let reasons: Vec<&String> = rig
            .heard
            .0
            .iter()
            .filter_map(|event| match event {
                Event::SummaryFallback { reason } => Some(reason),
                _ => None,
            })
            .collect();
        assert_eq!(reasons.len(), 1, "{name}");
        assert!(reasons[0].contains(why), "{name}: {}", reasons[0]);
        // The compaction itself went well.
        assert!(rig.session.status().brakes.breaker.is_none());
        assert_eq!(
            rig.heard
                .count(|event| matches!(event, Event::Failed { .. })),
            0,
            "{name}"
        );
        assert!(context(&mut rig).contains("Never force-push."));
        rig.say("Go on.").unwrap();
    }
}

/// A writer that stops the compaction at its second part, once.
fn stops_at_part_two(stop: CancellationToken) -> impl Fn(&Request) -> Said + Send + Sync {
    let asked = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    move |_| {
        let number = asked.fetch_add(1, Ordering::Relaxed) + 1;
        if number == 2 && !stopped.swap(true, Ordering::Relaxed) {
            stop.cancel();
            return Said::Silence;
        }
        Said::text(format!("## Work done\n- request {number} was answered"))
    }
}

#[test]
fn a_compaction_that_is_stopped_leaves_the_session_as_it_was() {
    let stop = CancellationToken::new();
    let (mut rig, _) = talked(8_000, stops_at_part_two(stop.clone()));
    let (file, before) = (rig.file(), rig.conversation());
    let ended = run(rig
        .session
        .compact(Layer::Summarize, None, &stop, &mut rig.heard));
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    assert_eq!(rig.file(), file);
    assert_eq!(rig.conversation(), before);
    assert!(rig.session.status().brakes.breaker.is_none());
    assert_eq!(rig.compactions(), 0);
}

#[test]
fn what_was_finished_before_a_stop_is_not_asked_for_again_even_after_a_restart() {
    let stop = CancellationToken::new();
    let (mut rig, writer) = talked(8_000, stops_at_part_two(stop.clone()));
    let _ = run(rig
        .session
        .compact(Layer::Summarize, None, &stop, &mut rig.heard));
    assert_eq!(writer.requests().len(), 2);
    rig.restart();
    compact(&mut rig, None).unwrap();
    let requests = writer.requests();
    let first: Vec<&Request> = requests
        .iter()
        .filter(|request| words(request) == words(&requests[0]))
        .collect();
    assert_eq!(first.len(), 1, "the first part was paid for twice");
    assert_eq!(words(&requests[1]), words(&requests[2]));
}

#[test]
fn an_answer_of_no_use_is_not_kept_for_the_next_attempt() {
    let away: Arc<Mutex<Option<(PathBuf, PathBuf)>>> = Arc::default();
    let moved = Arc::clone(&away);
    let (mut rig, writer) = talked(200_000, move |_| {
        // The first time the answer is empty, and the entry cannot be written.
        match moved.lock().unwrap().take() {
            Some((from, to)) => {
                std::fs::rename(from, to).unwrap();
                Said::text("")
            }
            None => Said::text(GOOD),
        }
    });
    let file = rig.session.path().to_owned();
    let aside = file.with_extension("aside");
    *away.lock().unwrap() = Some((file.clone(), aside.clone()));
    assert!(compact(&mut rig, None).is_err());
    std::fs::rename(&aside, &file).unwrap();
    rig.restart();
    compact(&mut rig, None).unwrap();
    assert_eq!(writer.requests().len(), 2);
    assert_eq!(made(&rig.heard).summarizer, "openai-compatible/summaries");
}

/// A key as a provider would draw it.
fn key() -> String {
    format!("ghp_{}", "a7Bq2Zx9Lm4Tn8Vw".repeat(3).split_at(36).0)
}

/// The files of the state folder that are no session, with their texts.
fn kept_beside(rig: &Rig) -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.push((path, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
    let mut found = Vec::new();
    collect(&rig.place.folder.path().join("state"), &mut found);
    let session = rig.session.path().file_stem().unwrap().to_owned();
    found.retain(|(path, _)| path.file_stem() != Some(&session));
    found
}

#[test]
fn an_answer_that_is_kept_for_the_next_attempt_is_kept_without_secrets() {
    let stop = CancellationToken::new();
    let stopping = stops_at_part_two(stop.clone());
    let (mut rig, writer) = talked(8_000, move |request| match stopping(request) {
        Said::Text(text) => Said::Text(format!("{text}, with {} as its key", key())),
        other => other,
    });
    let _ = run(rig
        .session
        .compact(Layer::Summarize, None, &stop, &mut rig.heard));
    assert_eq!(writer.requests().len(), 2);
    let kept = kept_beside(&rig);
    let answers = kept
        .iter()
        .find(|(path, _)| path.ends_with("summaries.json"));
    let (_, answers) = answers.unwrap();
    assert!(
        answers.contains("request 1 was answered, with [redacted:github-token#1] as its key"),
        "{answers}"
    );
    for (path, text) in kept {
        assert!(!text.contains(&key()), "{}", path.display());
    }
}

#[test]
fn the_focus_of_a_compaction_that_broke_off_is_kept_without_secrets() {
    let away: Arc<Mutex<Option<(PathBuf, PathBuf)>>> = Arc::default();
    let moved = Arc::clone(&away);
    let (mut rig, _) = talked(200_000, move |_| {
        // The entry cannot be written, so that what is intended stays.
        if let Some((from, to)) = moved.lock().unwrap().take() {
            std::fs::rename(from, to).unwrap();
        }
        Said::text(GOOD)
    });
    let file = rig.session.path().to_owned();
    *away.lock().unwrap() = Some((file.clone(), file.with_extension("aside")));
    let focus = format!("the narwhal gate, which {} opens", key());
    assert!(compact(&mut rig, Some(&focus)).is_err());
    let kept = kept_beside(&rig);
    let focus = "the narwhal gate, which [redacted:github-token#1] opens";
    assert!(
        kept.iter().any(|(_, text)| text.contains(focus)),
        "{kept:?}"
    );
    for (path, text) in kept {
        assert!(!text.contains(&key()), "{}", path.display());
    }
}

#[test]
fn summaries_by_themselves_are_asked_for_at_the_threshold() {
    let (mut rig, writer) = talked(200_000, |_| Said::text(GOOD));
    for at in 100..180 {
        rig.say(&prose(at, 400)).unwrap();
        if rig.compactions() > 0 {
            break;
        }
    }
    assert_eq!(made(&rig.heard).summarizer, "openai-compatible/summaries");
    assert!(rig.model.asked(Purpose::Summary).is_empty());
    assert!(!writer.requests().is_empty());
}

#[test]
fn who_writes_summaries_is_settled_by_config_then_key_then_session() {
    let with = |provider: Option<&str>, model: Option<&str>| {
        let mut config = Config::default();
        config.compaction.model.provider = provider.map(str::to_owned);
        config.compaction.model.model_name = model.map(str::to_owned);
        config
    };
    let other = |provider: &str, model: &str| SummaryChoice::Other {
        provider: provider.into(),
        model: model.into(),
    };
    let session = Some(("anthropic", "claude"));
    type Row<'a> = (
        Option<&'a str>,
        Option<&'a str>,
        bool,
        Option<(&'a str, &'a str)>,
        SummaryChoice,
    );
    let table: [Row<'_>; 11] = [
        (
            Some("openai"),
            Some("mini"),
            true,
            session,
            other("openai", "mini"),
        ),
        (
            Some("extractive"),
            None,
            true,
            session,
            SummaryChoice::Extractive,
        ),
        (
            Some("extractive"),
            Some("x"),
            true,
            session,
            SummaryChoice::Extractive,
        ),
        (
            Some("openrouter"),
            None,
            false,
            session,
            other("openrouter", FREE_MODEL),
        ),
        (
            Some("anthropic"),
            None,
            false,
            session,
            other("anthropic", "claude"),
        ),
        (
            None,
            Some("haiku"),
            false,
            session,
            other("anthropic", "haiku"),
        ),
        (
            None,
            Some("openai/mini"),
            false,
            None,
            other("openai", "mini"),
        ),
        (None, Some("mini"), false, None, SummaryChoice::Extractive),
        (None, None, true, session, other("openrouter", FREE_MODEL)),
        (None, None, false, session, SummaryChoice::Session),
        (None, None, false, None, SummaryChoice::Extractive),
    ];
    for (provider, model, key, session, wanted) in table {
        let chosen = summary_model(&with(provider, model), key, session);
        assert_eq!(
            chosen, wanted,
            "{provider:?} {model:?} key {key} session {session:?}"
        );
    }
}
