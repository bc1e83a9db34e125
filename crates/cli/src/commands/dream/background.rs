//! Dreams beside a chat: while nobody types, on a thread of their own so that no
//! turn waits for one, and at its end. Only the former ask a model, if one is
//! configured: nobody waits for them.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use longhaul_engine::session::Clock;
use longhaul_memory::MemoryFolder;
use longhaul_memory::dream::{Ask, Cause, Dreams, Moment, Settings, Trigger, due};
use longhaul_memory::files::Limits;
use longhaul_model::Model;
use longhaul_tokens::Estimator;

use super::{model, recalls, triggers, writing};
use crate::prelude::*;

/// What a dream needs that nobody waits for.
#[derive(Clone)]
pub(crate) struct Background {
    parts: Option<Arc<Parts>>,
    /// What a dream in the background has to tell.
    told: Arc<Mutex<Option<String>>>,
}

struct Parts {
    state_dir: PathBuf,
    memory: MemoryFolder,
    triggers: Vec<Trigger>,
    lookback_days: u32,
    promote_at: Option<f64>,
    limits: Limits,
    estimator: Estimator,
    model: Option<Arc<dyn Model>>,
    clock: Arc<dyn Clock>,
}

/// Nobody types: as long as it lives, a dream may come.
pub(crate) struct Waiting {
    _end: Option<Sender<()>>,
}

impl Background {
    /// Nothing is dreamt where dreaming is off, and where the workspace is
    /// read-only.
    pub(crate) fn new(app: &App) -> Background {
        let triggers = triggers(app);
        let wanted = !triggers.is_empty() && !app.config.sandbox.read_only;
        let memory = wanted.then(|| writing(app).ok()).flatten();
        let dreaming = &app.config.dreaming;
        // A chat has a --model of its own, which is not asked for dreams.
        let model = memory.as_ref().and_then(|_| model::configured(app));
        let parts = memory.map(|memory| Parts {
            state_dir: app.state_dir.clone(),
            memory,
            triggers,
            lookback_days: dreaming.lookback_days,
            promote_at: dreaming.promote_at_confidence,
            limits: app.config.memory_limits(),
            estimator: app.config.tokens.estimator,
            model,
            clock: app.clock(),
        });
        Background {
            parts: parts.map(Arc::new),
            told: Arc::default(),
        }
    }

    /// From now on nobody types. After as many minutes as the configuration
    /// says, a dream runs, once.
    pub(crate) fn wait(&self) -> Waiting {
        let parts = self.parts.iter();
        let minutes = parts
            .flat_map(|parts| &parts.triggers)
            .find_map(|trigger| match trigger {
                Trigger::SessionIdle { idle_minutes } => Some(*idle_minutes),
                _ => None,
            });
        match minutes {
            Some(minutes) => self.wait_for(Duration::from_secs(u64::from(minutes) * 60)),
            None => Waiting { _end: None },
        }
    }

    fn wait_for(&self, idle: Duration) -> Waiting {
        let Some(parts) = self.parts.clone() else {
            return Waiting { _end: None };
        };
        let (end, ended) = channel::<()>();
        let told = Arc::clone(&self.told);
        let since = parts.clock.now().timestamp();
        let thread = std::thread::Builder::new().name("longhaul-dream".into());
        // Without a thread there is no dream now; the next trigger asks again.
        let _ = thread.spawn(move || {
            if ended.recv_timeout(idle) == Err(RecvTimeoutError::Timeout)
                && let Some(line) = parts.run(Some(since))
            {
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
            }
        });
        Waiting { _end: Some(end) }
    }

    /// What a dream in the background had to tell, once.
    pub(crate) fn told(&self) -> Option<String> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.take()
    }

    /// At the end of a session: a dream, if the day's log has grown enough.
    pub(crate) fn at_the_end(&self) -> Option<String> {
        self.parts.as_ref()?.run(None)
    }
}

impl Parts {
    /// Dreams if it is due: with `idle`, because nothing happened since then;
    /// without, for the size of the log. One line about it.
    fn run(&self, idle: Option<Timestamp>) -> Option<String> {
        match self.dream(idle) {
            Ok(line) => line,
            // Another process dreams: it does what this one would have done.
            Err(longhaul_memory::Error::Dreaming { .. }) => None,
            Err(error) => Some(format!("no dream: {error}")),
        }
    }

    fn dream(&self, idle: Option<Timestamp>) -> longhaul_memory::Result<Option<String>> {
        let dreams = Dreams::new(&self.state_dir, &self.memory);
        let now = self.clock.now();
        let logs = self.memory.logs()?;
        if logs.is_empty() {
            return Ok(None);
        }
        let today = logs.iter().find(|(date, _)| *date == now.date());
        let moment = Moment {
            now: &now,
            last_activity: idle,
            log_bytes: today.map_or(0, |(_, bytes)| *bytes),
        };
        let asking = self.triggers.iter().filter(|trigger| match trigger {
            Trigger::SessionIdle { .. } => idle.is_some(),
            Trigger::DailyLogSize { .. } => true,
            // That is for cron or a timer: nobody ends a chat to dream.
            Trigger::Schedule { .. } => false,
        });
        let asking: Vec<Trigger> = asking.cloned().collect();
        let last = dreams.last_run()?;
        let cause = match idle {
            // The waiting is over; a stopped clock would not tell.
            Some(since) if last.as_ref().is_none_or(|last| last.at <= since) => {
                Some(Cause::SessionIdle)
            }
            _ => due(&asking, last.as_ref(), &moment)?,
        };
        let Some(cause) = cause else {
            return Ok(None);
        };
        let recalls = recalls(&dreams)?;
        let settings = Settings {
            lookback_days: self.lookback_days,
            promote_at: self.promote_at,
            limits: self.limits,
            counter: &self.estimator,
            recalls: &recalls,
            meaning: None,
        };
        let lock = dreams.lock()?;
        // Without a runtime there is no wording, which can be made up for.
        let model = self.model.clone().filter(|_| idle.is_some());
        let mut model = model.and_then(|model| model::asking(model).ok());
        let ask = model.as_mut().map(|ask| &mut **ask as &mut Ask<'_>);
        let report = dreams.run(&lock, &now, cause, &settings, ask)?;
        let new = report.consolidated.found;
        Ok(match (new, report.promoted.len()) {
            (0, 0) => lock.notes().first().cloned(),
            (new, promoted) => Some(format!(
                "dreamt ({}): {new} new, {promoted} promoted, {} · longhaul dream review",
                cause,
                paint::waiting(report.waiting)
            )),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> jiff::Zoned {
            "2026-03-10T12:00[UTC]".parse().unwrap()
        }

        fn new_id(&self) -> String {
            String::from("none")
        }
    }

    #[test]
    fn a_dream_comes_while_nobody_types_and_never_after_somebody_did() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        std::fs::create_dir_all(work.join("memory")).unwrap();
        std::fs::write(
            work.join("memory/2026-03-10.md"),
            "## User Preferences\n- Constraint: never push on Fridays\n",
        )
        .unwrap();
        let beside = Background {
            parts: Some(Arc::new(Parts {
                state_dir: folder.path().join("state"),
                memory: MemoryFolder::open(&work, None).unwrap(),
                triggers: vec![Trigger::SessionIdle { idle_minutes: 30 }],
                lookback_days: 7,
                promote_at: None,
                limits: Limits::default(),
                estimator: Estimator::default(),
                model: None,
                clock: Arc::new(Stopped),
            })),
            told: Arc::default(),
        };
        // Half an hour does not pass in this test.
        drop(beside.wait());
        // Nothing is due at the end, either: the log is short.
        assert_eq!(beside.at_the_end(), None);
        assert!(!work.join("DREAMS.md").exists());
        let waiting = beside.wait_for(Duration::ZERO);
        let told = loop {
            match beside.told() {
                Some(told) => break told,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        drop(waiting);
        assert!(told.starts_with("dreamt (session idle): 1 new"), "{told}");
        assert!(work.join("DREAMS.md").exists());
    }
}
