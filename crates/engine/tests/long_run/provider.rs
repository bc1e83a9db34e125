//! The provider: follows the story, fails at random, reads every request as a
//! strict one would.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longhaul_model::{Content, Stop, ToolCall, Usage};
use longhaul_testkit::loopback::{Ending, Fault, Loopback, Recorded, Reply, Said};

use crate::WINDOW;
use crate::read::{Wire, read};
use crate::story::{Call, Dice, RULES, Story};

/// When a child is killed: so long after a request has arrived.
pub(crate) struct Moment {
    pub(crate) after: Duration,
}

pub(crate) struct Provider {
    server: Loopback,
    log: Arc<Mutex<Log>>,
}

/// What was seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    turns: usize,
    flushes: usize,
    summaries: usize,
    faults: std::collections::BTreeMap<&'static str, usize>,
    largest: u64,
    wrong: Vec<String>,
    lost_rules: Vec<String>,
}

struct Script {
    folder: PathBuf,
    story: Story,
    dice: Dice,
    kill: Sender<Moment>,
    /// The turn that was answered last, and in how many rounds.
    at: (String, usize),
    next_kill: usize,
    kills: usize,
    log: Arc<Mutex<Log>>,
}

impl Provider {
    pub(crate) fn start(folder: &Path, story: Story, kill: Sender<Moment>) -> Provider {
        let log: Arc<Mutex<Log>> = Arc::default();
        let script = Mutex::new(Script {
            folder: folder.to_owned(),
            dice: Dice::new(20_260_921),
            next_kill: 1,
            kills: 0,
            story,
            kill,
            at: Default::default(),
            log: Arc::clone(&log),
        });
        let server = Loopback::start(move |request| {
            let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
            script.reply(request)
        })
        .unwrap();
        Provider { server, log }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    pub(crate) fn requests(&self) -> usize {
        let log = self.log.lock().unwrap();
        log.turns + log.flushes + log.summaries
    }

    pub(crate) fn finish(self) -> Log {
        self.log.lock().unwrap().clone()
    }
}

impl Script {
    fn reply(&mut self, request: &Recorded) -> Reply {
        let wire = read(request.protocol().unwrap(), &request.json());
        let weight = request.body.len() as u64 / 4;
        let purpose = self.note(&wire, weight);
        self.maybe_kill();
        if let Some(fault) = self.fault(&purpose, weight, request) {
            return fault;
        }
        let usage = Usage {
            input: weight,
            output: 60,
            ..Usage::default()
        };
        let said = match purpose {
            Purpose::Summary => Said::text(
                "## Goal\n- helpers that return frames\n## Work done\n- helpers were looked \
                 after, one turn after the other\n## Pending work\n- the turns to come",
            ),
            Purpose::Flush => self.flush(&wire),
            Purpose::Turn => self.turn(),
        };
        let reply = said.usage(Some(usage)).reply(request);
        match self.dice.below(100) {
            0 => reply.in_pieces_of(700).slowly(Duration::from_millis(2)),
            1..=4 => reply.in_pieces_of(97),
            _ => reply,
        }
    }

    /// Reads a request as a strict provider would.
    fn note(&mut self, wire: &Wire, weight: u64) -> Purpose {
        let purpose = match &wire.text {
            text if text.contains("You write the summary that takes the place") => Purpose::Summary,
            text if text.contains("INTERNAL FLUSH PROMPT") => Purpose::Flush,
            _ => Purpose::Turn,
        };
        let turn = self.progress().0;
        let mut log = self.log.lock().unwrap();
        match purpose {
            Purpose::Turn => log.turns += 1,
            Purpose::Flush => log.flushes += 1,
            Purpose::Summary => log.summaries += 1,
        }
        log.largest = log.largest.max(weight);
        log.wrong.extend(
            wire.wrong
                .iter()
                .map(|wrong| format!("turn {turn}: {wrong}")),
        );
        if matches!(purpose, Purpose::Turn) {
            for (at, rule) in RULES {
                // Given in an earlier turn: it must stand in every request from then on.
                let said = self.story.rule_turn(at) < turn;
                if said && !wire.text.contains(rule) && self.was_said(self.story.rule_turn(at)) {
                    log.lost_rules.push(format!("turn {turn}: {rule}"));
                }
            }
        }
        purpose
    }

    /// Whether a turn's message reached the session before a kill.
    fn was_said(&self, turn: usize) -> bool {
        crate::child::session_file(&self.folder).is_some_and(|path| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.contains(&format!("Turn {turn}: "))
        })
    }

    /// The turn the child is at.
    fn progress(&self) -> (usize, String) {
        let text = std::fs::read_to_string(self.folder.join("turn")).unwrap_or_default();
        let turn = text.split(' ').next().and_then(|turn| turn.parse().ok());
        (turn.unwrap_or(0), text)
    }

    /// In the first three fifths of the story a child lives for a few turns only;
    /// then one lives to the end, so that growth would show.
    fn maybe_kill(&mut self) {
        let turn = self.progress().0;
        let span = self.story.turns * 3 / 5;
        if turn < self.next_kill || turn > span || self.kills >= 40 {
            return;
        }
        if !self.dice.chance(25) {
            return;
        }
        self.kills += 1;
        self.next_kill = turn + 1 + self.dice.below((span / 28).max(2));
        let after = Duration::from_micros(self.dice.below(60_000) as u64);
        let _ = self.kill.send(Moment { after });
        if self.dice.chance(30) {
            // It is dead before anything comes back.
            std::thread::sleep(after + Duration::from_millis(30));
        }
    }

    /// What goes wrong, if something does.
    fn fault(&mut self, purpose: &Purpose, weight: u64, request: &Recorded) -> Option<Reply> {
        let text = |text: &str| Said::text(text).reply(request);
        let (name, reply) = match (purpose, self.dice.below(100)) {
            (_, 0) => (
                "rate limit",
                Fault::RateLimited {
                    retry_after: Some("0".into()),
                }
                .reply(request),
            ),
            (_, 1) => ("internal error", Fault::Internal.reply(request)),
            (_, 2) => ("overloaded", Fault::Overloaded.reply(request)),
            (Purpose::Turn, 3) if weight > 14_000 => (
                "overflow with numbers",
                Fault::Overflow {
                    limit: u64::from(WINDOW),
                    requested: u64::from(WINDOW) + 100,
                }
                .reply(request),
            ),
            (Purpose::Turn, 4) if weight > 14_000 => (
                "overflow without numbers",
                Reply::json(
                    400,
                    &serde_json::json!({
                        "type": "error",
                        "error": {
                            "type": "invalid_request_error",
                            "message": "prompt is too long",
                            "code": "context_length_exceeded",
                        },
                    }),
                ),
            ),
            (_, 5) => {
                let whole = Said::text(self.story.answer(1)).reply(request);
                let bytes = whole.bytes().len();
                let from = self.dice.below(bytes);
                ("a cut in the middle", whole.only(from, Ending::Cut))
            }
            (Purpose::Turn, 6) => (
                "broken arguments",
                Said::call("call_broken", "read", r#"{"path": "src/m0"#).reply(request),
            ),
            (Purpose::Turn, 7) => ("an empty answer", Said::new(Vec::new()).reply(request)),
            (_, 8) => ("a page", Fault::Html.reply(request)),
            (Purpose::Turn, 9) => (
                "an answer cut at its longest",
                Said::call(
                    "call_cut",
                    "write",
                    r#"{"path":"src/m01.rs","content":"// ver"#,
                )
                .stop(Stop::Length)
                .reply(request),
            ),
            (Purpose::Summary, 10..=16) => ("an empty summary", text("")),
            (Purpose::Summary, 17..=23) => (
                "a refused summary",
                text("I'm sorry, I cannot help with that."),
            ),
            (Purpose::Summary, 24..=30) => (
                "a summary longer than its source",
                text(&(0..20_000).map(|at| format!("w{at} ")).collect::<String>()),
            ),
            _ => return None,
        };
        *self.log.lock().unwrap().faults.entry(name).or_default() += 1;
        Some(reply)
    }

    fn flush(&mut self, wire: &Wire) -> Said {
        // Whoever has saved something is done.
        if !wire.asked.contains("INTERNAL FLUSH PROMPT") || self.dice.chance(40) {
            return Said::text("NO_REPLY");
        }
        match self.dice.below(10) {
            0 => Said::call(
                "call_flush",
                "write",
                r#"{"path":"src/m00.rs","content":"x"}"#,
            ),
            1 => Said::call("call_flush", "memory_append", r#"{"text": "brok"#),
            _ if wire.text.contains("saved ") => Said::text("NO_REPLY"),
            _ => {
                let note = format!("**Task Progress:** at turn {}", self.progress().0);
                let arguments = serde_json::json!({ "text": note }).to_string();
                Said::call("call_flush", "memory_append", &arguments)
            }
        }
    }

    fn turn(&mut self) -> Said {
        let (turn, key) = self.progress();
        let round = match self.at.0 == key {
            true => self.at.1 + 1,
            false => 0,
        };
        self.at = (key, round);
        let folder = self.folder.join("work");
        let version = move |file: &str| {
            let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
            let line = text.lines().next().unwrap_or_default();
            let number = line.strip_prefix("// version ");
            number.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        match self.story.calls(turn, round, &version) {
            Some(calls) => Said::new(
                calls
                    .into_iter()
                    .enumerate()
                    .map(|(at, call)| block(turn, round, at, call))
                    .collect(),
            ),
            None => Said::text(self.story.answer(turn)),
        }
    }
}

fn block(turn: usize, round: usize, at: usize, (name, arguments): Call) -> Content {
    Content::ToolCall(ToolCall {
        id: format!("call_{turn}_{round}_{at}"),
        name,
        arguments,
    })
}

enum Purpose {
    Turn,
    Flush,
    Summary,
}

impl Log {
    /// Every request could be sent, and none had lost a rule.
    pub(crate) fn check(&self) {
        assert!(
            self.wrong.is_empty(),
            "C8: {} wrong, such as {:#?}",
            self.wrong.len(),
            &self.wrong[..self.wrong.len().min(5)]
        );
        assert!(
            self.lost_rules.is_empty(),
            "C4: {} times a rule was not in a request, such as {:#?}",
            self.lost_rules.len(),
            &self.lost_rules[..self.lost_rules.len().min(5)]
        );
        assert!(
            self.largest <= u64::from(WINDOW),
            "a request of {} tokens",
            self.largest
        );
        assert!(
            self.faults.len() >= 9,
            "not every fault happened: {:?}",
            self.faults
        );
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "requests: {} turns, {} flushes, {} summaries; the largest {} tokens; faults: {:?}",
            self.turns, self.flushes, self.summaries, self.largest, self.faults
        )
    }
}
