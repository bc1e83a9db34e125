//! Subagents: a session of its own for a part of the work.
//!
//! It has the minimal prompt, its own file that names the parent, its own
//! window and budget; it never flushes memory and never dreams, because what
//! it learnt goes to the parent as its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use longhaul_assembly::{Subagent, SubagentLimits, Tool};
use longhaul_model::{CancellationToken, ToolCall};
use longhaul_transcript::Session as Stored;
use serde::Deserialize;
use serde_json::json;

use crate::checkpoints::Whose;
use crate::event::Event;
use crate::session::{Engine, Listener, Result, Setup, Turn};
use crate::tools::{Outcome, Toolbox};

/// The name of the tool that starts one.
pub const TASK: &str = "task";
/// Model calls of a task where none are asked for.
const ROUNDS: u32 = 40;

/// What a subagent left.
#[derive(Debug)]
pub struct Delegated {
    /// The key of its session.
    pub session: String,
    /// The file of it.
    pub path: PathBuf,
    /// How its turn ended.
    pub turn: Result<Turn>,
}

impl Engine {
    /// Has a part of the work of a session done by a subagent.
    pub async fn delegate(
        &self,
        parent: &Path,
        subagent: Subagent,
        cancel: &CancellationToken,
        listener: &mut dyn Listener,
    ) -> Result<Delegated> {
        let requester = Whose::of(&Stored::open(parent)?).key;
        // Below the parent's key, so that both are told apart and belong together.
        let name = format!("{requester}:subagent:{}", self.setup().clock.new_id());
        let task = subagent.task.clone();
        let setup = Setup {
            max_rounds: subagent.limits.rounds.unwrap_or(ROUNDS),
            subagent: Some(Subagent {
                requester: Some(requester.to_string()),
                session: Some(name.clone()),
                ..subagent
            }),
            ..self.setup().clone()
        };
        let engine = Engine::new(setup);
        let mut session = engine.create_below(Some(parent), Some(&name), listener)?;
        listener.event(&Event::SubagentStarted {
            session: name.clone(),
            parent: requester.to_string(),
            window: session.window().size(),
        });
        let turn = session.turn(&task, cancel, listener).await;
        Ok(Delegated {
            session: name,
            path: session.path().to_owned(),
            turn,
        })
    }
}

/// The tools of an agent, and the one by which it hands a part of its work to a
/// subagent that has the same tools but that one.
pub struct WithTasks {
    /// The engine of subagents, and by its tools those of the agent.
    engine: Engine,
    /// The file of the session at work.
    parent: Arc<dyn Fn() -> PathBuf + Send + Sync>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
    label: Option<String>,
    rounds: Option<u32>,
}

impl WithTasks {
    /// The tools that an engine has, and `task` beside them.
    pub fn new(engine: Engine, parent: Arc<dyn Fn() -> PathBuf + Send + Sync>) -> WithTasks {
        WithTasks { engine, parent }
    }

    async fn delegate(&self, call: &ToolCall, cancel: &CancellationToken) -> Outcome {
        let Arguments {
            task,
            label,
            rounds,
        } = match serde_json::from_str(&call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Outcome::failed(format!("The arguments are wrong: {error}")),
        };
        if task.trim().is_empty() {
            return Outcome::failed("The task is empty: say what is to be done.");
        }
        let rounds = rounds.unwrap_or(ROUNDS).clamp(1, Setup::MAX_ROUNDS);
        let subagent = Subagent {
            task,
            label,
            limits: SubagentLimits {
                rounds: Some(rounds),
                ..SubagentLimits::default()
            },
            ..Subagent::default()
        };
        let parent = (self.parent)();
        let done = match self
            .engine
            .delegate(&parent, subagent, cancel, &mut ())
            .await
        {
            Ok(done) => done,
            Err(error) => return Outcome::failed(format!("No subagent was started: {error}")),
        };
        let details = json!({
            "session": done.session,
            "file": done.path.to_string_lossy(),
            "rounds": done.turn.as_ref().map(|turn| turn.rounds).ok(),
            "spent": done.turn.as_ref().map(|turn| turn.spent).ok(),
        });
        let outcome = match done.turn {
            Ok(turn) => Outcome::done(turn.text),
            Err(error) => Outcome::failed(format!(
                "The subagent did not finish: {error}. Its session is {}.",
                done.session
            )),
        };
        outcome.with_details(details)
    }
}

impl Toolbox for WithTasks {
    fn definitions(&self) -> Vec<Tool> {
        let mut tools = self.engine.setup().tools.definitions();
        tools.push(Tool {
            name: TASK.into(),
            description: "Hands a part of the work to a subagent with a context of its own, and \
                gives back what it says at its end. For searches and jobs whose steps need not \
                stay in your context. It knows nothing of this conversation: say everything it \
                needs, and what to report."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "task": {"type": "string", "description": "What to do, and what to report"},
                    "label": {"type": "string", "description": "A short name for it"},
                    "rounds": {"type": "integer", "minimum": 1, "maximum": Setup::MAX_ROUNDS,
                        "description": format!("Model calls it may take ({ROUNDS})")},
                },
                "required": ["task"],
                "additionalProperties": false,
            })
            .to_string(),
        });
        tools
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Outcome> {
        match call.name == TASK {
            true => Box::pin(self.delegate(call, cancel)),
            false => self.engine.setup().tools.run(call, cancel),
        }
    }
}
