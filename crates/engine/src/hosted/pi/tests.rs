use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jiff::{Timestamp, Zoned, tz::TimeZone};
use longhaul_model::{Answer, CancellationToken, Content, Model};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Body, EntryId, Session as Stored};
use serde_json::{Value, json};

use super::*;
use crate::config::Config;
use crate::event::Event;
use crate::recall::{Hit, Query, full_text, recall};
use crate::session::{Clock, Departures};
use crate::survey::Keep;
use crate::tools::NoTools;

/// A clock that stands still and never names two things alike.
#[derive(Default)]
struct Counting(AtomicU64);

impl Clock for Counting {
    fn now(&self) -> Zoned {
        Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC)
    }

    fn new_id(&self) -> String {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        format!("00000000-0000-7000-8000-{number:012}")
    }
}

fn setup(folder: &Path) -> Setup {
    Setup {
        config: Config::default(),
        state_dir: folder.join("state"),
        workspace: folder.join("work"),
        environment: crate::prompt::Environment::default(),
        clock: Arc::new(Counting::default()),
        model: None,
        summaries: None,
        tools: Arc::new(NoTools),
        departures: None,
        subagent: None,
        max_rounds: Setup::MAX_ROUNDS,
    }
}

/// pi, as far as its file is concerned.
struct Pi {
    folder: tempfile::TempDir,
    path: PathBuf,
    leaf: Option<String>,
    written: u32,
    host: PiHost,
    setup: Arc<Setup>,
}

impl Pi {
    fn new() -> Pi {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let workspace = folder.path().join("work");
        fs::create_dir_all(&workspace).unwrap();
        fs::write(&path, header("one", &workspace)).unwrap();
        Pi {
            setup: Arc::new(setup(folder.path())),
            folder,
            path,
            leaf: None,
            written: 0,
            host: host(),
        }
    }

    fn append(&mut self, mut entry: Value) -> EntryId {
        self.written += 1;
        let id = format!("{:08x}", self.written);
        entry["id"] = json!(id);
        entry["parentId"] = json!(self.leaf);
        entry["timestamp"] = json!("2026-11-15T12:00:00.000Z");
        if entry["type"] == "compaction" && entry["firstKeptEntryId"].is_null() {
            entry["firstKeptEntryId"] = json!(id);
        }
        let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
        writeln!(file, "{entry}").unwrap();
        self.leaf = Some(id.clone());
        EntryId::new(id)
    }

    fn message(&mut self, message: Value) -> EntryId {
        self.append(json!({"type": "message", "message": message}))
    }

    fn user(&mut self, text: &str) -> EntryId {
        self.message(json!({"role": "user", "content": text, "timestamp": 0}))
    }

    /// A call of `read` and its result.
    fn round(&mut self, number: u32, text: &str) -> EntryId {
        self.reported_round(number, text, None)
    }

    /// The same, where the provider says how large its prompt was.
    fn reported_round(&mut self, number: u32, text: &str, prompt: Option<Tokens>) -> EntryId {
        let call = format!("call-{number}");
        let mut message = json!({
            "role": "assistant",
            "content": [{"type": "toolCall", "id": call, "name": "read",
                "arguments": {"path": format!("src/part_{number}.rs")}}],
            "stopReason": "toolUse", "timestamp": 0,
        });
        if let Some(prompt) = prompt {
            message["usage"] =
                json!({"input": prompt, "output": 50, "cacheRead": 0, "cacheWrite": 0});
        }
        self.message(message);
        self.message(json!({
            "role": "toolResult", "toolCallId": call, "toolName": "read",
            "content": [{"type": "text", "text": text}], "isError": false, "timestamp": 0,
        }))
    }

    fn open(&self) -> PiSession {
        PiSession::open(&self.setup, &self.path, self.at().as_ref()).unwrap()
    }

    fn at(&self) -> Option<EntryId> {
        self.leaf.as_deref().map(EntryId::from)
    }

    /// Ends a round as the extension does: what comes back is appended.
    fn end_turn(&mut self, session: &mut PiSession) -> (Vec<Value>, Vec<Event>) {
        let mut events = Vec::new();
        let mut sink = |event| events.push(event);
        let end = session
            .turn_end(
                self.at().as_ref(),
                self.host,
                &CancellationToken::new(),
                &mut sink,
            )
            .unwrap();
        for entry in &end.entries {
            self.append(entry.clone());
        }
        (end.entries, events)
    }

    fn kinds(&self) -> Vec<String> {
        let stored = Stored::open(&self.path).unwrap();
        let mut kinds = Vec::new();
        stored
            .each(&mut |entry| {
                kinds.push(entry.kind().as_str().to_owned());
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        kinds
    }
}

fn header(id: &str, cwd: &Path) -> String {
    let header = json!({"type": "session", "version": 3, "id": id,
        "timestamp": "2026-11-15T12:00:00.000Z", "cwd": cwd});
    format!("{header}\n")
}

fn host() -> PiHost {
    PiHost {
        window: Some(Tokens(24_000)),
        reserve: Some(Tokens(4_000)),
        compacts: true,
    }
}

/// A file of about so many tokens that no other is like.
fn file(number: u32, lines: u32) -> String {
    (0..lines)
        .map(|line| format!("    let value_{number}_{line} = compute({line}, \"{number}\");\n"))
        .collect()
}

fn recalled(path: &Path, query: Query) -> Vec<Hit> {
    recall(&Stored::open(path).unwrap(), &Keep::nowhere(), &query, 5).unwrap()
}

fn kinds_of(entries: &[Value]) -> Vec<&str> {
    entries
        .iter()
        .map(|entry| entry["type"].as_str().unwrap())
        .collect()
}

#[test]
fn what_pi_appends_is_read_on_as_if_all_were_read_at_once() {
    let mut pi = Pi::new();
    pi.user("Read the parts.");
    let mut session = pi.open();
    for number in 0..5 {
        pi.round(number, &file(number, 10));
        assert_eq!(
            session.follow(pi.at().as_ref(), host()).unwrap(),
            follow::Followed::On
        );
    }
    let anew = pi.open();
    let ids = |session: &PiSession| -> Vec<EntryId> {
        let entries = session.live().entries().iter();
        entries.map(|entry| entry.id.clone()).collect()
    };
    assert_eq!(ids(&session), ids(&anew));
    assert_eq!(
        session.live().context().to_json(),
        anew.live().context().to_json()
    );
    assert_eq!(
        session.live().ledger().files.len(),
        anew.live().ledger().files.len()
    );
}

#[test]
fn a_leaf_that_was_moved_is_followed_to_its_branch() {
    let mut pi = Pi::new();
    let first = pi.user("One way.");
    pi.round(1, "of one way");
    let mut session = pi.open();
    // Back to the first message, without a word in the file.
    let followed = session.follow(Some(&first), host()).unwrap();
    assert_eq!(followed, follow::Followed::Anew);
    assert_eq!(session.live().entries().len(), 1);
    pi.leaf = Some(first.as_str().to_owned());
    let other = pi.user("Another way.");
    session.follow(Some(&other), host()).unwrap();
    let shown: Vec<&str> = session
        .live()
        .entries()
        .iter()
        .map(|entry| entry.id.as_str())
        .collect();
    assert_eq!(shown, [first.as_str(), other.as_str()]);
}

#[test]
fn a_file_that_was_replaced_is_another_session() {
    let mut pi = Pi::new();
    pi.user("The first session.");
    let mut session = pi.open();
    let other = pi.folder.path().join("other.jsonl");
    fs::write(&other, header("two", pi.folder.path())).unwrap();
    fs::rename(&other, &pi.path).unwrap();
    pi.leaf = None;
    let leaf = pi.user("The second session.");
    session.follow(Some(&leaf), host()).unwrap();
    assert_eq!(session.key(), "two");
    assert_eq!(session.live().entries().len(), 1);

    // A leaf that the file does not have is an error that names both.
    let missing = session.follow(Some(&EntryId::from("ffffffff")), host());
    let said = missing.unwrap_err().to_string();
    assert!(said.contains("ffffffff"), "{said}");
    // And the session recovers from it.
    session.follow(Some(&leaf), host()).unwrap();
    assert_eq!(session.live().entries().len(), 1);
}

#[test]
fn a_file_of_another_agent_is_refused() {
    let pi = Pi::new();
    let path = pi.folder.path().join("claude.jsonl");
    let line = json!({"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "s",
        "timestamp": "2026-11-15T12:00:00.000Z", "cwd": "/", "version": "2.0.0",
        "message": {"role": "user", "content": "hello"}});
    fs::write(&path, format!("{line}\n")).unwrap();
    let refused = PiSession::open(&pi.setup, &path, None).err().unwrap();
    assert!(matches!(refused, Error::NotPi { .. }), "{refused}");
}

#[test]
fn a_long_session_is_compacted_again_and_again_and_the_file_verifies() {
    let mut pi = Pi::new();
    pi.user("Always answer in English. Read every part of src and list what it computes.");
    let mut session = pi.open();
    let (mut compacted, mut restored) = (0, 0);
    let mut saved = Vec::new();
    let results: Vec<(EntryId, String)> = (0..40)
        .map(|number| {
            let text = file(number, 60);
            let id = pi.round(number, &text);
            let (entries, events) = pi.end_turn(&mut session);
            compacted += usize::from(kinds_of(&entries).contains(&"compaction"));
            restored += usize::from(kinds_of(&entries).contains(&"custom_message"));
            saved.extend(events.into_iter().filter_map(|event| match event {
                Event::CheckpointWritten(checkpoint) => Some(checkpoint),
                _ => None,
            }));
            let size = session.size(None);
            assert!(size.tokens <= Tokens(24_000), "{}", size.tokens);
            (id, text)
        })
        .collect();
    assert!(compacted > 1, "{:?}", pi.kinds());
    assert_eq!(restored, compacted, "{:?}", pi.kinds());
    assert!(saved.len() >= compacted, "{} checkpoints", saved.len());

    let stored = Stored::open(&pi.path).unwrap();
    let report = longhaul_transcript::verify(&stored).unwrap();
    assert!(report.is_sound(), "{report:?}");
    // Opened again, it goes on from what the compaction entry carries.
    let again = pi.open();
    assert_eq!(again.live().epoch(), u32::try_from(compacted).unwrap());
    assert_eq!(session.live().epoch(), again.live().epoch());
    // Every byte can be had back.
    for (id, text) in results {
        let hits = recalled(&pi.path, Query::Id(id.as_str().to_owned()));
        assert!(full_text(&hits[0].entry).contains(text.trim_end()), "{id}");
    }
}

#[test]
fn old_output_is_hidden_where_a_summary_would_not_make_more_room() {
    let mut pi = Pi::new();
    pi.host = PiHost {
        window: Some(Tokens(60_000)),
        reserve: Some(Tokens(10_000)),
        compacts: true,
    };
    pi.user("Read every part of src and list what it computes.");
    let mut session = pi.open();
    let mut results = Vec::new();
    // The system prompt and the tools are not in the file.
    let fixed = Tokens(2_000);
    let mut prompt = fixed;
    let (entries, events) = loop {
        let number = u32::try_from(results.len()).unwrap();
        let text = file(number, 60);
        results.push((pi.reported_round(number, &text, Some(prompt)), text));
        let (entries, events) = pi.end_turn(&mut session);
        if !entries.is_empty() {
            break (entries, events);
        }
        let Bench { live, meter, .. } = &mut session.bench;
        prompt = fixed + meter.messages(live.messages());
    };
    let kinds = kinds_of(&entries);
    let (mark, edits) = kinds.split_last().unwrap();
    assert_eq!(*mark, "custom", "{kinds:?} at {prompt}");
    assert!(
        edits.iter().all(|kind| *kind == "context_edit"),
        "{edits:?}"
    );
    let pruned = events.iter().find_map(|event| match event {
        Event::Pruned {
            results,
            tokens_after,
            ..
        } => Some((*results, *tokens_after)),
        _ => None,
    });
    let (hidden, after) = pruned.unwrap();
    assert_eq!(hidden, edits.len());

    // pi has appended them: what it sends now is what was foreseen, and every byte
    // can be had back.
    session.follow(pi.at().as_ref(), pi.host).unwrap();
    assert_eq!(session.size(None).tokens, after);
    assert_eq!(session.live().epoch(), 0);
    let first = &session.live().messages()[2];
    assert!(
        first.json().contains("[pruned: read src/part_0.rs"),
        "{}",
        first.json()
    );
    for (id, text) in results {
        let hits = recalled(&pi.path, Query::Id(id.as_str().to_owned()));
        assert!(full_text(&hits[0].entry).contains(text.trim_end()), "{id}");
    }
    let report = longhaul_transcript::verify(&Stored::open(&pi.path).unwrap()).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn what_is_put_back_is_shown_until_it_is_written_and_never_twice() {
    let mut pi = Pi::new();
    pi.user("Read every part of src.");
    for number in 0..12 {
        pi.round(number, &file(number, 60));
    }
    let mut session = pi.open();
    let none = &mut |_| {};
    let made = session
        .before_compact(
            pi.at().as_ref(),
            Reason::Threshold,
            None,
            host(),
            &CancellationToken::new(),
            none,
        )
        .unwrap();
    let Offer::Compaction(made) = made else {
        panic!("{made:?}");
    };
    assert!(made.details["ledger"].is_string() || made.details["ledger"].is_object());
    assert!(made.details["checkpointId"].is_string());
    // pi has not written it: nothing of it is true yet.
    assert_eq!(session.live().epoch(), 0);
    let mut entry = serde_json::to_value(&made).unwrap();
    entry["type"] = json!("compaction");
    entry["fromHook"] = json!(true);
    pi.append(entry);

    let mut shown =
        |pi: &Pi, session: &mut PiSession| session.shown(pi.at().as_ref(), host(), none).unwrap();
    let restored = shown(&pi, &mut session).restored;
    let restored = restored.expect("an epoch has begun");
    assert!(restored.contains("<longhaul:checkpoint"), "{restored}");
    // Behind a last answer nothing is said.
    pi.message(
        json!({"role": "assistant", "stopReason": "stop", "timestamp": 0,
        "content": [{"type": "text", "text": "Done."}]}),
    );
    assert!(pi.end_turn(&mut session).0.is_empty());
    pi.user("Go on.");
    let again = shown(&pi, &mut session).restored;
    assert_eq!(again.as_ref(), Some(&restored));
    pi.round(12, "short");
    let (entries, _) = pi.end_turn(&mut session);
    assert_eq!(kinds_of(&entries), ["custom_message"]);
    assert_eq!(entries[0]["content"], json!(restored));
    assert_eq!(shown(&pi, &mut session).restored, None);
    pi.round(13, "short");
    assert!(pi.end_turn(&mut session).0.is_empty());
    let marks = session.live().entries().iter().filter(
        |entry| matches!(&entry.body, Body::CustomMessage { custom_type } if custom_type == RESTORE_MARK),
    );
    assert_eq!(marks.count(), 1);
}

#[test]
fn what_is_put_back_is_written_before_what_the_user_says_next() {
    let mut pi = Pi::new();
    pi.user("Read every part of src.");
    for number in 0..12 {
        pi.round(number, &file(number, 60));
    }
    let mut session = pi.open();
    let before_run = |pi: &Pi, session: &mut PiSession| {
        let written = session.before_run(pi.at().as_ref(), host(), &mut |_| {});
        written.unwrap()
    };
    assert_eq!(before_run(&pi, &mut session), None);
    let offer = session.before_compact(
        pi.at().as_ref(),
        Reason::Manual,
        None,
        host(),
        &CancellationToken::new(),
        &mut |_| {},
    );
    let Offer::Compaction(made) = offer.unwrap() else {
        panic!("nothing was offered");
    };
    // What the agent was doing is where the next one looks for it.
    let task = fs::read_to_string(pi.folder.path().join("work/memories/context.md"));
    let task = task.unwrap();
    assert!(task.contains("Read every part of src."), "{task}");
    let mut entry = serde_json::to_value(&made).unwrap();
    entry["type"] = json!("compaction");
    pi.append(entry);
    let message = before_run(&pi, &mut session).expect("an epoch has begun");
    let shown = session.shown(pi.at().as_ref(), host(), &mut |_| {});
    assert_eq!(message["content"], json!(shown.unwrap().restored.unwrap()));
    pi.append(message);
    pi.user("Go on.");
    assert_eq!(before_run(&pi, &mut session), None);
    let shown = session.shown(pi.at().as_ref(), host(), &mut |_| {});
    assert_eq!(shown.unwrap().restored, None);
    pi.round(12, "short");
    assert!(pi.end_turn(&mut session).0.is_empty());
}

/// Notes what it is told.
#[derive(Default)]
struct Noted(Mutex<Vec<EntryId>>);

impl Departures for Noted {
    fn left(&self, _: &Path, entries: &[EntryId]) {
        self.0.lock().unwrap().extend_from_slice(entries);
    }
}

#[test]
fn what_a_compaction_removes_is_told_once_pi_has_written_it() {
    let mut pi = Pi::new();
    let noted = Arc::new(Noted::default());
    pi.setup = Arc::new(Setup {
        departures: Some(Arc::<Noted>::clone(&noted)),
        ..setup(pi.folder.path())
    });
    let first = pi.user("Read every part of src.");
    let mut session = pi.open();
    for number in 0..40 {
        pi.round(number, &file(number, 60));
        let end = session
            .turn_end(
                pi.at().as_ref(),
                host(),
                &CancellationToken::new(),
                &mut |_| {},
            )
            .unwrap();
        let compacts = kinds_of(&end.entries).contains(&"compaction");
        assert!(noted.0.lock().unwrap().is_empty());
        for entry in end.entries {
            pi.append(entry);
        }
        if compacts {
            session.follow(pi.at().as_ref(), host()).unwrap();
            let left = noted.0.lock().unwrap();
            assert_eq!(left.first(), Some(&first));
            let here = session.live().entries();
            assert!(here.iter().all(|entry| !left.contains(&entry.id)));
            return;
        }
    }
    panic!("nothing was compacted");
}

#[test]
fn where_nothing_would_come_free_a_person_is_told_and_a_threshold_is_left_to_pi() {
    let mut pi = Pi::new();
    pi.user("Read one part.");
    pi.round(0, "short");
    let mut session = pi.open();
    let mut offer = |reason| {
        session
            .before_compact(
                pi.at().as_ref(),
                reason,
                None,
                host(),
                &CancellationToken::new(),
                &mut |_| {},
            )
            .unwrap()
    };
    assert_eq!(offer(Reason::Manual), Offer::Nothing);
    assert_eq!(offer(Reason::Threshold), Offer::Own);
}

#[test]
fn the_thresholds_come_before_those_of_pi() {
    let mut pi = Pi::new();
    pi.user("Hello.");
    let session = pi.open();
    let window = |host| session.window(host).unwrap();
    let usual = window(host());
    assert_eq!(usual.size(), Tokens(24_000));
    let early = window(PiHost {
        reserve: Some(Tokens(16_384)),
        ..host()
    });
    assert_eq!(early.activation(), Tokens(24_000 - 16_384));
    // Where pi does not compact, what it would keep free says nothing.
    let off = window(PiHost {
        reserve: Some(Tokens(16_384)),
        compacts: false,
        ..host()
    });
    assert_eq!(off.activation(), usual.activation());
    // Nor does a reserve that is larger than the window.
    let absurd = window(PiHost {
        reserve: Some(Tokens(30_000)),
        ..host()
    });
    assert_eq!(absurd.activation(), usual.activation());
}

#[test]
fn a_large_result_is_kept_whole_before_it_is_shown_in_part() {
    let mut pi = Pi::new();
    pi.user("Run it.");
    let mut session = pi.open();
    let small = [json!({"type": "text", "text": file(1, 20)})];
    let shown = session
        .tool_result("call-1", "bash", &small, false, host())
        .unwrap();
    assert_eq!(shown, None);
    assert_eq!(session.results(), None);

    let text = file(7, 900);
    let picture = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let large = [json!({"type": "text", "text": text}), picture.clone()];
    let shown = session
        .tool_result("call-2", "bash", &large, false, host())
        .unwrap()
        .expect("it is larger than a quarter of the window");
    let part = shown.content[0]["text"].as_str().unwrap();
    assert!(
        part.len() < text.len() / 2,
        "{} of {}",
        part.len(),
        text.len()
    );
    assert!(part.starts_with(&text[..1000]));
    assert!(part.ends_with(&text[text.len() - 500..]));
    assert!(
        part.contains(&format!("recall id={}", shown.entry)),
        "{part}"
    );
    assert_eq!(shown.content[1], picture);

    // In another process, by its id and by words of the part that is not shown.
    let kept = pi.open().results().unwrap();
    let by_id = recalled(&kept, Query::Id(shown.entry.clone()));
    assert!(full_text(&by_id[0].entry).contains(text.trim_end()));
    let words = "let value_7_600 = compute(600";
    assert!(!part.contains(words));
    let by_words = recalled(&kept, Query::Text(words.into()));
    assert_eq!(by_words[0].entry.id.as_str(), shown.entry);
}

/// A model that writes the same summary whatever it is asked, or fails.
struct Writer {
    info: longhaul_model::ModelInfo,
    fails: bool,
}

impl Model for Writer {
    fn info(&self) -> &longhaul_model::ModelInfo {
        &self.info
    }

    fn ask<'a>(
        &'a self,
        _: &'a longhaul_model::Request,
        _: &'a mut (dyn FnMut(longhaul_model::Delta) + Send),
        _: &'a CancellationToken,
    ) -> longhaul_model::BoxFuture<'a, Result<Answer, longhaul_model::Failure>> {
        let answer = Answer {
            content: match self.fails {
                true => Vec::new(),
                false => vec![Content::Text("## Work done\n- THE MODEL WROTE THIS".into())],
            },
            ..Answer::default()
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

#[test]
fn the_configured_model_writes_the_summary_and_one_that_fails_is_told() {
    for fails in [false, true] {
        let mut pi = Pi::new();
        pi.setup = Arc::new(Setup {
            summaries: Some(Arc::new(Writer {
                info: longhaul_model::ModelInfo {
                    provider: "test".into(),
                    name: "writer".into(),
                    ..Default::default()
                },
                fails,
            })),
            ..setup(pi.folder.path())
        });
        pi.user("Read every part of src.");
        for number in 0..12 {
            pi.round(number, &file(number, 60));
        }
        let mut session = pi.open();
        let mut fallbacks = 0;
        let cancel = CancellationToken::new();
        let offer = session.before_compact(
            pi.at().as_ref(),
            Reason::Manual,
            None,
            host(),
            &cancel,
            &mut |event| fallbacks += usize::from(matches!(event, Event::SummaryFallback { .. })),
        );
        let Offer::Compaction(made) = offer.unwrap() else {
            panic!("nothing was offered");
        };
        assert_eq!(made.summary.contains("THE MODEL WROTE THIS"), !fails);
        assert_eq!(fallbacks, usize::from(fails));
    }
}
