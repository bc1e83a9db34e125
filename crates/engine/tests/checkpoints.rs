//! Compactions with checkpoints: stopped after every write and run again, put
//! back once per epoch, and never stopped by what is wrong with a checkpoint.
#![allow(clippy::unwrap_used, missing_docs)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use longhaul_assembly::{BootstrapLimits, FileCache, RestoreLimits, Workspace};
use longhaul_checkpoint::{
    Checkpoint, CheckpointId, CheckpointStore, Draft as CheckpointDraft, FileStore, Latest, Listed,
    Policy, Recovery, State, Trigger as Why, Turn, Written,
};
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::checkpoints::{
    Carried, Checkpoints, Error, FileNotebook, Intent, Job, News, Notebook, Occasion, Putting,
    Restoration, Result, Sequence, Whose, turn,
};
use longhaul_engine::event::Event;
use longhaul_engine::live::{CompactionRequest, CompactionRules, Live};
use longhaul_engine::measure::Meter;
use longhaul_tokens::{
    CheckpointNote, Estimator, FragmentKind, Heuristic, Tokens, Window, WindowSettings,
};
use longhaul_transcript::sample::{Plan, Size, generate};
use longhaul_transcript::{
    Body, Draft, Durability, EntryId, Header, Millis, Session, SessionKey, Stamp, Writer,
};

const NOON: i64 = 1_790_000_000_000;

/// Kills the process, as far as a test can tell, after so many writes.
#[derive(Default)]
struct Countdown {
    left: Option<AtomicI64>,
}

struct Killed;

impl Countdown {
    fn after(writes: i64) -> Countdown {
        Countdown {
            left: Some(AtomicI64::new(writes)),
        }
    }

    /// A place where the process may die.
    fn tick(&self) {
        if let Some(left) = &self.left
            && left.fetch_sub(1, Ordering::SeqCst) <= 0
        {
            resume_unwind(Box::new(Killed));
        }
    }

    /// One write, before and after which it may die.
    fn around<T>(&self, write: impl FnOnce() -> T) -> T {
        self.tick();
        let done = write();
        self.tick();
        done
    }
}

struct Store<'a>(FileStore, &'a Countdown);

impl CheckpointStore for Store<'_> {
    fn recover(&self, key: &SessionKey) -> longhaul_checkpoint::Result<Recovery> {
        self.1.around(|| self.0.recover(key))
    }
    fn state(&self, key: &SessionKey) -> longhaul_checkpoint::Result<Option<State>> {
        self.0.state(key)
    }
    fn save_state(&self, key: &SessionKey, state: &State) -> longhaul_checkpoint::Result<()> {
        self.1.around(|| self.0.save_state(key, state))
    }
    fn write(
        &self,
        key: &SessionKey,
        draft: CheckpointDraft,
    ) -> longhaul_checkpoint::Result<Written> {
        self.1.around(|| self.0.write(key, draft))
    }
    fn latest(&self, key: &SessionKey) -> longhaul_checkpoint::Result<Latest> {
        self.0.latest(key)
    }
    fn list(&self, key: &SessionKey) -> longhaul_checkpoint::Result<Vec<Listed>> {
        self.0.list(key)
    }
    fn get(&self, key: &SessionKey, id: CheckpointId) -> longhaul_checkpoint::Result<Checkpoint> {
        self.0.get(key, id)
    }
}

struct Notes<'a>(FileNotebook, &'a Countdown);

impl Notebook for Notes<'_> {
    fn read(&self, name: &str) -> Result<Option<String>> {
        self.0.read(name)
    }
    fn write(&self, name: &str, text: &str) -> Result<()> {
        self.1.around(|| self.0.write(name, text))
    }
    fn remove(&self, name: &str) -> Result<()> {
        self.1.around(|| self.0.remove(name))
    }
    fn set_aside(&self, name: &str) -> Result<String> {
        self.0.set_aside(name)
    }
}

/// A session in a workspace, and the state folder.
struct Place {
    folder: tempfile::TempDir,
    key: String,
}

/// What a process saw.
struct Saw {
    events: Vec<Event>,
    carried: Option<Carried>,
}

impl Place {
    fn new() -> Place {
        Place::of("agent:main:main")
    }

    fn of(key: &str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            folder,
            key: key.into(),
        };
        let plan = Plan {
            size: Size::Turns(3),
            ..Plan::default()
        };
        let mut file = fs::File::create(place.session()).unwrap();
        generate(&plan, &mut file).unwrap();
        fs::create_dir_all(place.workspace().join("memories")).unwrap();
        fs::write(place.workspace().join("MEMORY.md"), "- remember this\n").unwrap();
        let rules = "# Rules\n## Red Lines\n- never push\n## Other\n- x\n";
        fs::write(place.workspace().join("AGENTS.md"), rules).unwrap();
        place
    }

    fn session(&self) -> PathBuf {
        self.folder.path().join("s.jsonl")
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("w")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn key(&self) -> SessionKey {
        SessionKey::new(self.key.as_str())
    }

    fn store(&self) -> FileStore {
        FileStore::new(&self.state(), Policy::default())
    }

    fn notebook(&self) -> FileNotebook {
        FileNotebook::new(&self.state(), &self.key())
    }

    fn whose(&self, file: &Path) -> Whose {
        Whose {
            key: self.key(),
            session_file: file.to_string_lossy().into_owned(),
            channel: "cli".into(),
            agent: "main".into(),
        }
    }

    /// Runs with everything that putting back needs.
    fn putting<T>(
        &self,
        seen: &dyn Fn(&EntryId) -> Option<Millis>,
        work: impl FnOnce(&mut Putting<'_>) -> T,
    ) -> T {
        let mut cache = FileCache::new();
        let now = SystemTime::now() + Duration::from_secs(60);
        let limits = BootstrapLimits::default();
        let (workspace, _) = Workspace::load(&self.workspace(), &limits, now, &mut cache).unwrap();
        work(&mut Putting {
            workspace: Some(&workspace),
            limits: &RestoreLimits::default(),
            spiral_warning_at: 4,
            seen,
            counter: &Heuristic,
            now,
            cache: &mut cache,
        })
    }

    /// A process: completes what was interrupted, then compacts a session that
    /// never was compacted.
    fn process(
        &self,
        hour: i64,
        countdown: &Countdown,
        events: &RefCell<Vec<Event>>,
    ) -> Option<Carried> {
        let (store, notes) = (
            Store(self.store(), countdown),
            Notes(self.notebook(), countdown),
        );
        let session = Session::open(&self.session()).unwrap();
        let whose = self.whose(&self.session());
        let sequence = Sequence {
            checkpoints: Checkpoints {
                store: &store,
                whose: &whose,
                redact: &str::to_owned,
            },
            notebook: &notes,
            writes_checkpoints: true,
        };
        let tree = session.tree().unwrap();
        let times: HashMap<EntryId, Option<Millis>> = tree
            .nodes()
            .iter()
            .map(|node| (node.id.clone(), node.time))
            .collect();
        let mut live = Live::open(&session).unwrap();
        let mut sink = |event| events.borrow_mut().push(event);
        self.putting(&|id| times.get(id).copied().flatten(), |putting| {
            let pending = sequence
                .recover(&live, &|id| times.contains_key(id), putting, &mut sink)
                .unwrap();
            if live.epoch() > 0 {
                assert_eq!(pending, None);
                return None;
            }
            let mut meter = Meter::new(Estimator::default());
            let tokens = live.explain(&mut meter).total;
            let window = window();
            let compacted = live
                .compact(
                    &mut meter,
                    &CompactionRequest {
                        layer: Layer::Summarize,
                        trigger: Trigger::Manual,
                        focus: None,
                        window: &window,
                        protect: window.scaled(Tokens(25_000)),
                        overhead: Tokens::ZERO,
                        tokens_before: tokens,
                        rules: CompactionRules::default(),
                        is_stored: &|id| times.contains_key(id),
                    },
                )
                .unwrap();
            let at = Millis(NOON + hour * 3_600_000);
            let intent = Intent {
                entry: EntryId::new(format!("compaction-{hour}")),
                at,
                layer: Layer::Summarize,
                trigger: Trigger::Manual,
                focus: None,
                leaf: live.entries().last().map(|entry| entry.id.clone()),
            };
            let path = self.session();
            let mut append = |draft: &Draft, stamp: Stamp| {
                countdown.around(|| Writer::open(&path, Durability::Os)?.append(draft, stamp))
            };
            let job = Job {
                draft: &compacted.draft,
                occasion: Occasion {
                    at,
                    trigger: Why::Compaction,
                    tokens,
                    window: window.size(),
                    turn: turn(&live, compacted.splits_turn),
                },
                append: &mut append,
            };
            Some(
                sequence
                    .carry_out(&mut live, intent, job, putting, &mut sink)
                    .unwrap(),
            )
        })
    }

    fn runs(&self, hour: i64) -> Saw {
        let events = RefCell::default();
        let carried = self.process(hour, &Countdown::default(), &events);
        Saw {
            events: events.into_inner(),
            carried,
        }
    }

    /// Runs until it is killed; whether it was, and what it said before.
    fn killed_after(&self, hour: i64, writes: i64) -> (bool, Vec<Event>) {
        let (countdown, events) = (Countdown::after(writes), RefCell::default());
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.process(hour, &countdown, &events);
        }));
        let killed = match ended {
            Ok(()) => false,
            Err(payload) if payload.is::<Killed>() => true,
            Err(payload) => resume_unwind(payload),
        };
        (killed, events.into_inner())
    }

    fn restore(
        &self,
        file: &Path,
        seen: &dyn Fn(&EntryId) -> Option<Millis>,
    ) -> (Restoration, Vec<Event>) {
        let (store, notebook, whose) = (self.store(), self.notebook(), self.whose(file));
        let checkpoints = Checkpoints {
            store: &store,
            whose: &whose,
            redact: &str::to_owned,
        };
        let live = Live::open(&Session::open(file).unwrap()).unwrap();
        let mut events = Vec::new();
        let restored = self.putting(seen, |putting| {
            checkpoints
                .restore(&notebook, &live, putting, &mut |event| events.push(event))
                .unwrap()
        });
        (restored, events)
    }

    /// Compaction entries in the session's file, and the checkpoints they name.
    fn compactions(&self) -> Vec<(EntryId, Option<String>)> {
        let mut found = Vec::new();
        let session = Session::open(&self.session()).unwrap();
        session
            .each(&mut |entry| {
                if matches!(entry.body, Body::Compaction(_)) {
                    let value: serde_json::Value = serde_json::from_str(entry.raw()).unwrap();
                    let id = value["details"]["checkpointId"].as_str().map(str::to_owned);
                    found.push((entry.id.clone(), id));
                }
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        found
    }

    fn checkpoint_ids(&self) -> Vec<String> {
        let list = self.store().list(&self.key()).unwrap();
        list.iter().map(|listed| listed.id.to_string()).collect()
    }

    /// The notes that are there, by the start of their names.
    fn notes(&self) -> Vec<String> {
        let folder = self
            .state()
            .join("context/state")
            .join(self.key().folder_name());
        let mut names: Vec<String> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with('.') && name != "set-aside")
            .map(|name| name.split('-').next().unwrap().to_owned())
            .collect();
        names.sort();
        names
    }
}

fn window() -> Window {
    Window::new(&WindowSettings::of(Tokens(16_000))).unwrap()
}

fn never(_: &EntryId) -> Option<Millis> {
    None
}

#[test]
fn a_compaction_saves_its_work_first_and_names_the_checkpoint() {
    let place = Place::new();
    let saw = place.runs(0);
    let carried = saw.carried.unwrap();
    assert_eq!(
        place.compactions(),
        [(EntryId::new("compaction-0"), Some("cp_001".into()))]
    );
    assert_eq!(carried.checkpoint.unwrap().to_string(), "cp_001");
    assert_eq!(carried.restored.news, News::First);
    let kinds: Vec<FragmentKind> = carried
        .restored
        .fragments
        .iter()
        .map(|fragment| fragment.kind())
        .collect();
    assert_eq!(
        kinds,
        [
            FragmentKind::Checkpoint,
            FragmentKind::Memory,
            FragmentKind::AgentsSection
        ]
    );
    assert_eq!(place.notes(), ["restored"], "the journal is gone");
    let names: Vec<&str> = saw.events.iter().map(name).collect();
    assert_eq!(names, ["stateSaved", "checkpointWritten", "restored"]);
    assert!(place.runs(1).events.is_empty(), "nothing is done twice");
}

/// The name of an event as programs see it.
fn name(event: &Event) -> &'static str {
    match event {
        Event::StateSaved { .. } => "stateSaved",
        Event::CheckpointWritten(_) => "checkpointWritten",
        Event::CheckpointUnchanged { .. } => "checkpointUnchanged",
        Event::CheckpointTrouble { .. } => "checkpointTrouble",
        Event::CheckpointsRecovered { .. } => "checkpointsRecovered",
        Event::SequenceResumed { .. } => "sequenceResumed",
        Event::SequenceSuperseded { .. } => "sequenceSuperseded",
        Event::Restored { .. } => "restored",
        _ => "other",
    }
}

/// What must hold in the end, wherever it was stopped.
fn check_complete(place: &Place, at: &str) {
    let compactions = place.compactions();
    assert_eq!(compactions.len(), 1, "{at}: {compactions:?}");
    assert_eq!(compactions[0].1.as_deref(), Some("cp_001"), "{at}");
    assert_eq!(place.checkpoint_ids(), ["cp_001"], "{at}");
    assert_eq!(place.notes(), ["restored"], "{at}");
    let (again, events) = place.restore(&place.session(), &never);
    assert_eq!((again.news, events.len()), (News::Same, 0), "{at}");
}

#[test]
fn stopped_after_any_write_it_is_completed_when_started_again() {
    let mut writes = 0;
    loop {
        let place = Place::new();
        let (killed, mut events) = place.killed_after(0, writes);
        let at = format!("stopped after {writes} writes");
        // Hours later: the work rests by then, and the checkpoint is the same.
        let saw = place.runs(5);
        check_complete(&place, &at);
        events.extend(saw.events);
        let count = |wanted: &str| events.iter().filter(|event| name(event) == wanted).count();
        assert!(count("checkpointWritten") <= 1, "{at}: {events:?}");
        assert!(count("checkpointTrouble") == 0, "{at}: {events:?}");
        assert!(count("sequenceSuperseded") == 0, "{at}: {events:?}");
        if !killed {
            break;
        }
        writes += 1;
    }
    // Journal, state, journal, checkpoint, journal, entry, journal, what was
    // put back, journal removed: before and after each.
    assert_eq!(writes, 18);
}

#[test]
fn stopped_again_while_it_is_completed_nothing_is_doubled_or_lost() {
    for first in (0..18).step_by(2) {
        let mut second = 0;
        loop {
            let place = Place::new();
            assert!(place.killed_after(0, first).0);
            let (killed, _) = place.killed_after(3, second);
            place.runs(7);
            check_complete(
                &place,
                &format!("stopped after {first}, then after {second}"),
            );
            if !killed {
                break;
            }
            second += 1;
        }
    }
}

#[test]
fn a_session_that_went_on_is_compacted_anew() {
    let place = Place::new();
    // Killed after the checkpoint, before the entry.
    assert!(place.killed_after(0, 10).0);
    assert!(place.compactions().is_empty());
    let mut writer = Writer::open(&place.session(), Durability::Os).unwrap();
    let stamp = Stamp {
        id: EntryId::new("later"),
        time: Millis(NOON + 1),
    };
    let draft = Draft::user("Also never touch the billing folder.", stamp.time);
    writer.append(&draft, stamp).unwrap();
    let saw = place.runs(1);
    assert_eq!(name(&saw.events[0]), "sequenceSuperseded");
    // The work moved on, so the checkpoint of before is not the one of now.
    assert_eq!(
        place.compactions(),
        [(EntryId::new("compaction-1"), Some("cp_002".into()))]
    );
    assert_eq!(place.notes(), ["restored"]);
}

#[test]
fn a_store_that_refuses_does_not_stop_the_compaction() {
    let place = Place::new();
    // Where the folder should be there is a file.
    fs::create_dir_all(place.state().join("context")).unwrap();
    fs::write(place.state().join("context/checkpoints"), "in the way").unwrap();
    let saw = place.runs(0);
    assert_eq!(place.compactions(), [(EntryId::new("compaction-0"), None)]);
    let trouble = saw.events.iter().find_map(|event| match event {
        Event::CheckpointTrouble { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    assert!(
        trouble.unwrap().contains("context/checkpoints"),
        "{trouble:?}"
    );
    assert!(saw.carried.is_some());
}

#[test]
fn a_note_that_cannot_be_kept_does_not_take_what_is_put_back_with_it() {
    let place = Place::new();
    let before = fs::read(place.session()).unwrap();
    let expected = place.runs(0).carried.unwrap().restored.fragments;
    assert!(!expected.is_empty());
    let folder = place
        .state()
        .join("context/state")
        .join(place.key().folder_name());
    let note = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("/restored-"))
        .unwrap();
    // The same once more, but where the note should be there is a folder.
    fs::remove_dir_all(place.state()).unwrap();
    fs::create_dir_all(note.join("in the way")).unwrap();
    fs::write(place.session(), before).unwrap();
    let saw = place.runs(0);
    let restored = saw.carried.unwrap().restored;
    assert_eq!(restored.fragments, expected);
    assert!(restored.unrecorded);
    let troubles = saw.events.iter().filter(
        |event| matches!(event, Event::CheckpointTrouble { reason, .. } if reason.contains("restored-")),
    );
    assert_eq!(troubles.count(), 2, "{:?}", saw.events);
    // It is new once more, and given as long as it could not be noted down.
    let (again, events) = place.restore(&place.session(), &never);
    assert_eq!((again.news, again.fragments), (News::First, expected));
    assert!(!events.is_empty());
    fs::remove_dir_all(&note).unwrap();
    assert_eq!(place.restore(&place.session(), &never).0.news, News::First);
    assert_eq!(place.restore(&place.session(), &never).0.news, News::Same);
}

#[test]
fn a_checkpoint_edited_into_nonsense_is_passed_over_and_told() {
    let place = Place::new();
    place.runs(0);
    let store = place.store();
    let before = store.latest(&place.key()).unwrap().checkpoint.unwrap();
    let folder = place
        .state()
        .join("context/checkpoints")
        .join(place.key().folder_name());
    fs::write(
        folder.join("cp_002.yaml"),
        "meta: [this is\nno: checkpoint\n",
    )
    .unwrap();
    let whose = place.whose(&place.session());
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &str::to_owned,
    };
    let mut events = Vec::new();
    let latest = checkpoints.latest(&mut |event| events.push(event)).unwrap();
    assert_eq!(latest, Some(before));
    let Event::CheckpointTrouble { reason, remedy } = &events[0] else {
        panic!("{events:?}");
    };
    assert!(
        reason.contains("cp_002.yaml") && reason.contains("line"),
        "{reason}"
    );
    assert!(
        remedy
            .as_deref()
            .unwrap()
            .contains("the checkpoint before it is used")
    );
}

#[test]
fn a_damaged_journal_is_set_aside() {
    let place = Place::new();
    assert!(place.killed_after(0, 2).0);
    let folder = place
        .state()
        .join("context/state")
        .join(place.key().folder_name());
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("sequence") {
            fs::write(&path, "{ half").unwrap();
        }
    }
    let saw = place.runs(1);
    assert_eq!(name(&saw.events[0]), "checkpointTrouble");
    assert_eq!(place.compactions().len(), 1);
}

#[test]
fn what_changed_is_put_back_again_and_nothing_else() {
    let place = Place::new();
    place.runs(0);
    let path = place.session();
    assert_eq!(place.restore(&path, &never).0.news, News::Same);
    fs::write(place.workspace().join("MEMORY.md"), "- remember that\n").unwrap();
    let (changed, events) = place.restore(&path, &never);
    assert_eq!(changed.news, News::Changed(vec![1]));
    assert_eq!(changed.fresh()[0].kind(), FragmentKind::Memory);
    assert_eq!(changed.fragments.len(), 3);
    assert!(
        matches!(&events[0], Event::Restored { epoch: 1, fragments, .. } if fragments.len() == 1)
    );
    assert_eq!(place.restore(&path, &never).0.news, News::Same);
    // A checkpoint of later in the epoch does not replace the one of its start.
    let store = place.store();
    let whose = place.whose(&path);
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &str::to_owned,
    };
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let occasion = Occasion {
        at: Millis(NOON + 10_000_000),
        trigger: Why::Threshold,
        tokens: Tokens(24_000),
        window: Tokens(30_000),
        turn: Turn::Whole,
    };
    assert_eq!(checkpoints.note(None, 1), CheckpointNote::None);
    let id = checkpoints.write(&live, &occasion, &mut |_| {}).unwrap();
    assert_eq!(id.to_string(), "cp_002");
    let latest = checkpoints.latest(&mut |_| {}).unwrap();
    assert_eq!(checkpoints.note(latest.as_ref(), 1), CheckpointNote::Saved);
    assert_eq!(checkpoints.note(latest.as_ref(), 2), CheckpointNote::None);
    assert_eq!(place.restore(&path, &never).0.news, News::Same);
}

/// A session that reads and edits one file of the workspace.
fn with_key_file(place: &Place) -> PathBuf {
    let path = place.folder.path().join("k.jsonl");
    let header = Header {
        id: "k".into(),
        version: 3,
        time: Some(Millis(NOON)),
        cwd: Some(place.workspace()),
        parent_session: None,
    };
    fs::write(place.workspace().join("plan.md"), "the plan\n").unwrap();
    let file = place.workspace().join("plan.md");
    let mut writer = Writer::create(&path, &header, Durability::Os).unwrap();
    let mut add = |id: &str, message: serde_json::Value| {
        let stamp = Stamp {
            id: EntryId::new(id),
            time: Millis(NOON),
        };
        writer
            .append(&Draft::Message(message.to_string()), stamp)
            .unwrap();
    };
    add(
        "u1",
        serde_json::json!({"role": "user", "content": "Read the plan."}),
    );
    add(
        "a1",
        serde_json::json!({"role": "assistant", "content": [{"type": "toolCall", "id": "c1",
            "name": "read", "arguments": {"path": file}}]}),
    );
    add(
        "r1",
        serde_json::json!({"role": "toolResult", "toolCallId": "c1", "toolName": "read",
            "isError": false, "content": [{"type": "text", "text": "the plan"}]}),
    );
    let compaction = Draft::Compaction {
        summary: "The plan was read.".into(),
        first_kept: Some(EntryId::new("u1")),
        tokens_before: 1000,
        details: None,
    };
    let stamp = Stamp {
        id: EntryId::new("c1"),
        time: Millis(NOON),
    };
    writer.append(&compaction, stamp).unwrap();
    path
}

#[test]
fn a_key_file_is_news_when_somebody_else_changed_it() {
    let place = Place::new();
    let path = with_key_file(&place);
    let now = Millis::of_file(SystemTime::now()).unwrap();
    let long_ago = |_: &EntryId| Some(Millis(NOON));
    let in_the_future = |_: &EntryId| Some(Millis(now.0 + 1_000_000));
    let text = |restored: &Restoration| {
        let file = restored
            .fragments
            .iter()
            .find(|f| f.kind() == FragmentKind::KeyFile);
        file.unwrap().text().to_owned()
    };
    let (first, _) = place.restore(&path, &in_the_future);
    assert_eq!(first.news, News::First);
    assert!(text(&first).ends_with("as it is on disk now]\nthe plan\n"));

    // The agent itself wrote it, after what it saw: no news to it.
    let file = place.workspace().join("plan.md");
    fs::write(&file, "the agent's plan\n").unwrap();
    assert_eq!(place.restore(&path, &in_the_future).0.news, News::Same);

    // Somebody else did.
    fs::write(&file, "another plan\n").unwrap();
    let changed = Millis(NOON.max(now.0 + 2_000_000));
    fs::File::options()
        .append(true)
        .open(&file)
        .unwrap()
        .set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(changed.0 as u64))
        .unwrap();
    let (again, _) = place.restore(&path, &long_ago);
    assert!(
        matches!(&again.news, News::Changed(places) if places.len() == 1),
        "{:?}",
        again.news
    );
    assert!(text(&again).contains("changed since you last saw it]\nanother plan"));
    assert_eq!(place.restore(&path, &long_ago).0.news, News::Same);
}

#[test]
fn a_new_session_of_the_same_key_starts_with_the_checkpoint() {
    let place = Place::new();
    // Its own checkpoint is no news to a session that was never compacted.
    let path = place.folder.path().join("next.jsonl");
    let header = Header {
        id: "next".into(),
        version: 3,
        time: Some(Millis(NOON)),
        cwd: Some(place.workspace()),
        parent_session: None,
    };
    Writer::create(&path, &header, Durability::Os).unwrap();
    assert!(
        place.restore(&path, &never).0.fragments.is_empty(),
        "nothing before it"
    );

    place.runs(0);
    let (restored, _) = place.restore(&path, &never);
    assert_eq!(restored.news, News::First);
    assert_eq!(restored.checkpoint.unwrap().to_string(), "cp_001");
    assert_eq!(restored.fragments[0].kind(), FragmentKind::Checkpoint);
    assert!(restored.fragments[0].tokens() <= Tokens(700));
    // Its own next checkpoint does not take that away again.
    let (store, whose) = (place.store(), place.whose(&path));
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &str::to_owned,
    };
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let occasion = Occasion {
        at: Millis(NOON + 20_000_000),
        trigger: Why::Manual,
        tokens: Tokens(9_000),
        window: Tokens(30_000),
        turn: Turn::Whole,
    };
    checkpoints.write(&live, &occasion, &mut |_| {}).unwrap();
    let (later, _) = place.restore(&path, &never);
    assert_eq!(later.news, News::Same);
    assert_eq!(later.checkpoint.unwrap().to_string(), "cp_001");
}

#[test]
fn secrets_are_taken_out_of_state_and_checkpoint() {
    let place = Place::new();
    let (store, whose) = (place.store(), place.whose(&place.session()));
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &|text| text.replace(|c: char| c.is_ascii_lowercase(), "*"),
    };
    let live = Live::open(&Session::open(&place.session()).unwrap()).unwrap();
    let occasion = Occasion {
        at: Millis(NOON),
        trigger: Why::Manual,
        tokens: Tokens(9_000),
        window: Tokens(30_000),
        turn: Turn::Whole,
    };
    checkpoints
        .save_state(&live, &occasion, &mut |_| {})
        .unwrap();
    let state = store.state(&place.key()).unwrap().unwrap();
    assert!(!state.files.thread.topic.is_empty());
    assert!(
        !state
            .files
            .thread
            .topic
            .contains(|c: char| c.is_ascii_lowercase())
    );
    checkpoints.write(&live, &occasion, &mut |_| {}).unwrap();
    let checkpoint = store.latest(&place.key()).unwrap().checkpoint.unwrap();
    assert!(
        !checkpoint
            .working
            .topic
            .contains(|c: char| c.is_ascii_lowercase())
    );
}

#[test]
fn the_texts_of_a_checkpoint_are_redacted_together() {
    let place = Place::new();
    let (store, whose) = (place.store(), place.whose(&place.session()));
    let asked = std::cell::RefCell::new(Vec::new());
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &|text| {
            asked.borrow_mut().push(text.to_owned());
            text.to_owned()
        },
    };
    let live = Live::open(&Session::open(&place.session()).unwrap()).unwrap();
    let occasion = Occasion {
        at: Millis(NOON),
        trigger: Why::Manual,
        tokens: Tokens(9_000),
        window: Tokens(30_000),
        turn: Turn::Whole,
    };
    let redacted = checkpoints.draft(&live, &occasion).state();
    let asked = asked.take();
    let [whole] = asked.as_slice() else {
        panic!("asked {} times", asked.len());
    };
    // So one text can tell what another shows, and each stays in its place.
    let thread = &redacted.files.thread;
    assert!(!thread.topic.is_empty() && !thread.summary.is_empty());
    for text in [&thread.topic, &thread.summary] {
        assert!(whole.contains(text.as_str()), "{text}");
    }
    let parts: Vec<&str> = whole.split('\u{1e}').collect();
    assert!(parts.len() > 3, "{whole}");
}

#[cfg(unix)]
#[test]
fn sessions_whose_keys_look_alike_do_not_meet() {
    let shared = tempfile::tempdir().unwrap();
    let keys = ["a:b", "a_b", "A_b", "a/b"];
    std::thread::scope(|scope| {
        for key in keys {
            let state = shared.path().to_owned();
            scope.spawn(move || {
                let place = Place::of(key);
                std::os::unix::fs::symlink(&state, place.state()).unwrap();
                place.runs(0);
                assert_eq!(place.checkpoint_ids(), ["cp_001"]);
                let checkpoint = place.store().latest(&place.key()).unwrap().checkpoint;
                assert_eq!(checkpoint.unwrap().meta.session_key, place.key());
                assert_eq!(place.notes(), ["restored"]);
            });
        }
    });
}

#[test]
fn one_process_compacts_a_session_at_a_time() {
    let place = Place::new();
    let lock = place.notebook().lock().unwrap();
    let error = place.notebook().lock().unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert!(error.remedy().is_some());
    drop(lock);
    place.notebook().lock().unwrap();
}

/// A session that was compacted so often, without any checkpoint.
fn compacted(place: &Place, times: u32) -> PathBuf {
    let path = place.folder.path().join(format!("c{times}.jsonl"));
    let header = Header {
        id: "c".into(),
        version: 3,
        time: Some(Millis(NOON)),
        cwd: Some(place.workspace()),
        parent_session: None,
    };
    let mut writer = Writer::create(&path, &header, Durability::Os).unwrap();
    for n in 0..times {
        let stamp = |kind: &str| Stamp {
            id: EntryId::new(format!("{kind}{n}")),
            time: Millis(NOON),
        };
        let user = Draft::user("Go on.", Millis(NOON));
        writer.append(&user, stamp("u")).unwrap();
        let compaction = Draft::Compaction {
            summary: "So far.".into(),
            first_kept: Some(EntryId::new(format!("u{n}"))),
            tokens_before: 1000,
            details: None,
        };
        writer.append(&compaction, stamp("c")).unwrap();
    }
    path
}

#[test]
fn from_the_fourth_compaction_on_the_agent_is_warned_once() {
    let place = Place::new();
    let (third, _) = place.restore(&compacted(&place, 3), &never);
    assert!(
        third
            .fragments
            .iter()
            .all(|f| f.kind() != FragmentKind::Warning)
    );
    let path = compacted(&place, 4);
    let (alone, _) = place.restore(&path, &never);
    assert_eq!(alone.fragments[0].kind(), FragmentKind::Warning);
    assert!(alone.fragments[0].text().contains("compacted 4 times"));

    // With a checkpoint the warning is a part of its text.
    let (store, whose) = (place.store(), place.whose(&path));
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &str::to_owned,
    };
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let occasion = Occasion {
        at: Millis(NOON),
        trigger: Why::Manual,
        tokens: Tokens(9_000),
        window: Tokens(30_000),
        turn: Turn::Whole,
    };
    checkpoints.write(&live, &occasion, &mut |_| {}).unwrap();
    let other = compacted(&place, 5);
    let (with, _) = place.restore(&other, &never);
    assert_eq!(with.fragments[0].kind(), FragmentKind::Checkpoint);
    assert!(with.fragments[0].text().contains("Warning: compaction 5"));
    assert!(
        with.fragments
            .iter()
            .all(|f| f.kind() != FragmentKind::Warning)
    );
}

#[test]
fn the_gauge_comes_last_and_the_advisory_at_the_checkpoint_threshold() {
    let place = Place::new();
    let path = compacted(&place, 1);
    let (store, whose) = (place.store(), place.whose(&path));
    let checkpoints = Checkpoints {
        store: &store,
        whose: &whose,
        redact: &str::to_owned,
    };
    let live = Live::open(&Session::open(&path).unwrap()).unwrap();
    let window = Window::new(&WindowSettings::of(Tokens(200_000))).unwrap();
    let kinds = |tokens: u32| -> Vec<FragmentKind> {
        let notes = checkpoints.notes(Tokens(tokens), &window, &live, &Heuristic, &mut |_| {});
        notes.iter().map(|note| note.kind()).collect()
    };
    assert_eq!(kinds(139_999), []);
    assert_eq!(kinds(140_000), [FragmentKind::Gauge]);
    assert_eq!(
        kinds(160_000),
        [FragmentKind::Advisory, FragmentKind::Gauge]
    );
}
