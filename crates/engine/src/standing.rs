//! How a session stands: how full its context is, how worn it is, what was
//! saved of it, and what to do next. Every door answers that question, and each
//! with the same words and the same numbers.

use std::path::Path;

use longhaul_checkpoint::{Checkpoint, FileStore};
use longhaul_compaction::Degradation;
use longhaul_redact::Redactor;
use longhaul_tokens::{Level, ResolvedWindow, Tokens, Window};
use longhaul_transcript::{Context, Epoch, Fault, Format, Loaded, Session};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::catalog::{agent, id_of};
use crate::checkpoints::{Checkpoints, Whose};
use crate::compactor::Brakes;
use crate::config::Config;
use crate::event::Event;
use crate::live::worn_by;
use crate::measure::{Meter, Reading};
use crate::session::{Spending, window_source};
use crate::state::SessionState;
use crate::survey::Keep;

/// A session with its context measured against a window.
#[derive(Debug)]
pub struct Measured {
    /// The session.
    pub session: Session,
    /// What was loaded of it.
    pub loaded: Loaded,
    /// The context that it makes.
    pub context: Context,
    /// Its size.
    pub reading: Reading,
    /// What it is measured against.
    pub window: Window,
    /// Who says so.
    pub origin: ResolvedWindow,
}

impl Measured {
    /// Measures what was loaded of a session; `window` says what against.
    pub fn of<E>(
        session: Session,
        loaded: Loaded,
        mut meter: Meter,
        window: impl FnOnce(&Session, &Reading) -> Result<(Window, ResolvedWindow), E>,
    ) -> Result<Measured, E> {
        let context = Context::build(&loaded);
        let reading = meter.context(&loaded, &context);
        let (window, origin) = window(&session, &reading)?;
        Ok(Measured {
            session,
            loaded,
            context,
            reading,
            window,
            origin,
        })
    }

    /// How large the context is.
    pub fn tokens(&self) -> Tokens {
        self.reading.measurement.tokens
    }

    /// The same in percent of the window.
    pub fn percent(&self) -> f64 {
        percent(&self.window, self.tokens())
    }

    /// The last threshold that was passed.
    pub fn level(&self) -> Level {
        self.window.level(self.tokens())
    }
}

/// How a session stands.
#[derive(Debug)]
pub struct Standing {
    /// Compactions on the path.
    pub epoch: Epoch,
    /// How worn it is.
    pub degradation: Degradation,
    /// Whether the loss was measured; else it is a rule of thumb.
    pub loss_measured: bool,
    /// Who says how large the window is, and how to change it.
    pub window_source: String,
    /// What to do next.
    pub advice: String,
    /// What keeps compaction from happening by itself.
    pub brakes: Brakes,
    /// What was asked in silence; only of sessions that ran here is it known.
    pub spending: Option<Spending>,
    /// The newest checkpoint that can be read.
    pub checkpoint: Option<Checkpoint>,
    /// What is wrong with its checkpoints.
    pub troubles: Vec<Event>,
}

impl Standing {
    /// Looks at a session.
    pub fn of(
        seen: &Measured,
        config: &Config,
        state_dir: &Path,
    ) -> longhaul_transcript::Result<Standing> {
        let keep = Keep::of(&seen.session, config, state_dir);
        let (epoch, wear) = worn_by(&seen.session, &seen.loaded, &keep)?;
        let degradation = Degradation::of(epoch.count(), &wear, &config.risk_rules());
        let whose = Whose::of(&seen.session);
        let own = SessionState::load(state_dir, &whose.key.to_string()).0;
        let store = FileStore::new(state_dir, config.checkpoint_policy());
        let checkpoints = Checkpoints {
            store: &store,
            whose: &whose,
            redact: &|text| Redactor::default().redact(text).text,
        };
        let mut troubles = Vec::new();
        let latest = checkpoints.latest(&mut |event| troubles.push(event));
        let checkpoint = latest.unwrap_or_else(|error| {
            troubles.push(error.event());
            None
        });
        let reading = &seen.reading;
        let info = reading
            .model
            .as_deref()
            .map(|model| config.model_info(reading.provider.as_deref(), model));
        Ok(Standing {
            epoch,
            window_source: window_source(seen.origin.origin, info.as_ref()),
            advice: advice(seen.level(), &degradation),
            degradation,
            loss_measured: wear.loss_percent.is_some(),
            brakes: Brakes::of(config, &own, &wear),
            spending: (own.spending != Spending::default()).then_some(own.spending),
            checkpoint,
            troubles,
        })
    }

    /// The same for programs. `docs/src/json.md` describes it.
    pub fn to_json(&self, seen: &Measured, model: Option<&str>, state_dir: &Path) -> Value {
        json!({
            "session": About::of(&seen.session, state_dir),
            "tokens": seen.tokens(),
            "tokensFrom": seen.reading.measurement.source.to_string(),
            "window": seen.window.size(),
            "windowFrom": seen.origin.origin.to_string(),
            "windowSource": self.window_source,
            "percent": seen.percent(),
            "level": seen.level(),
            "model": model,
            "messages": seen.context.census(),
            "compactions": self.epoch,
            "lastCompaction": seen.loaded.last_compaction().map(|time| time.to_iso()),
            "risk": self.degradation.risk,
            "lossPercent": self.degradation.loss_percent,
            "recommendation": self.advice,
            "autocompact": self.brakes.autocompact,
            "breaker": self.brakes.breaker,
            "guard": self.brakes.guard,
            "spending": self.spending,
            "checkpoint": self.checkpoint.as_ref().map(|checkpoint| json!({
                "id": checkpoint.meta.checkpoint_id.to_string(),
                "time": checkpoint.meta.created_at,
                "trigger": checkpoint.meta.trigger,
                "tokens": checkpoint.meta.token_usage.input_tokens,
                "compactions": checkpoint.meta.compaction_count,
            })),
            "thresholds": Thresholds::of(&seen.window),
            "faults": faults(&seen.loaded.faults),
        })
    }
}

/// The share of the window, in percent with one decimal.
pub fn percent(window: &Window, tokens: Tokens) -> f64 {
    (window.fullness(tokens) * 1000.0).round() / 10.0
}

/// What every answer says about its session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// Its id.
    pub id: String,
    /// Its key, of agents that have one.
    pub key: Option<String>,
    /// Whose session it is.
    pub agent: &'static str,
    /// The form of its file.
    #[schemars(with = "String")]
    pub format: Format,
    /// The file.
    pub path: String,
    /// The folder it works in.
    pub workspace: Option<String>,
    /// When it began.
    pub started: Option<String>,
    /// The session that it came from.
    pub parent_session: Option<String>,
}

impl About {
    /// What there is to say about a session.
    pub fn of(session: &Session, state_dir: &Path) -> About {
        let header = session.header();
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        About {
            id: id_of(session.reference()),
            key: session.reference().key.clone(),
            agent: agent(session.path(), session.format(), state_dir),
            format: session.format(),
            path: shown(session.path()),
            workspace: header.cwd.as_deref().map(shown),
            started: header.time.map(|time| time.to_iso()),
            parent_session: header.parent_session.clone(),
        }
    }
}

/// Faults with their place, their kind's own fields, and the sentence that
/// people read.
pub fn faults(faults: &[Fault]) -> Value {
    let each = faults.iter().map(|fault| {
        let mut value = json!({ "line": fault.line, "offset": fault.offset });
        if let (Value::Object(all), Ok(Value::Object(kind))) =
            (&mut value, serde_json::to_value(&fault.kind))
        {
            all.extend(kind);
            all.insert("message".into(), json!(fault.kind.to_string()));
            all.insert("loss".into(), json!(fault.kind.is_loss()));
        }
        value
    });
    Value::Array(each.collect())
}

/// A threshold of a window.
#[derive(Debug, Clone, Copy)]
pub struct Threshold {
    /// What it is called.
    pub name: &'static str,
    /// Where it is.
    pub at: Tokens,
    /// What happens there.
    pub what: &'static str,
}

/// The thresholds of a window, the lowest first. For programs each is its name and
/// where it is.
#[derive(Debug, Clone)]
pub struct Thresholds(pub [Threshold; 6]);

impl Thresholds {
    /// Those of a window.
    pub fn of(window: &Window) -> Thresholds {
        let all = [
            ("gauge", window.gauge(), "the gauge appears"),
            ("checkpoint", window.checkpoint(), "a checkpoint is due"),
            ("prune", window.prune(), "old tool output is hidden"),
            ("activation", window.activation(), "compaction is due"),
            ("hard", window.hard(), "no request may leave"),
            (
                "full",
                window.full(),
                "the whole conversation becomes a summary",
            ),
        ];
        Thresholds(all.map(|(name, at, what)| Threshold { name, at, what }))
    }

    /// The next one that a context of this size comes to.
    pub fn next(&self, tokens: Tokens) -> String {
        match self.0.iter().find(|threshold| tokens < threshold.at) {
            Some(Threshold { at, what, .. }) => {
                format!("{what} at {at}, {} from here", *at - tokens)
            }
            None => "past every threshold".into(),
        }
    }
}

impl Serialize for Thresholds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = self.0.iter();
        serializer.collect_map(named.map(|threshold| (threshold.name, threshold.at)))
    }
}

/// A full window is more pressing than a worn session.
fn advice(level: Level, state: &Degradation) -> String {
    match level {
        Level::Hard | Level::Full => "compact before the next request; it would not fit".into(),
        Level::Activation => "compact now, or let the agent do it with its next turn".into(),
        Level::Calm | Level::Gauge | Level::Checkpoint => state.recommendation.clone(),
    }
}
