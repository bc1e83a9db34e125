//! Triggers: when a dream is due.

use std::str::FromStr;

use croner::Cron;
use jiff::{SignedDuration, Timestamp, Zoned};
use longhaul_tokens::Spent;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// What starts a dream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "DreamTrigger")]
pub enum Trigger {
    /// At fixed times.
    Schedule {
        /// Minute, hour, day of month, month, day of week.
        cron: String,
    },
    /// When a session has been idle.
    SessionIdle {
        /// For this many minutes.
        #[schemars(range(min = 1))]
        idle_minutes: u32,
    },
    /// When today's log has grown.
    DailyLogSize {
        /// Beyond this many kilobytes.
        #[schemars(range(min = 1))]
        threshold_kb: u32,
    },
}

/// Why a dream runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "lowercase")]
pub enum Cause {
    /// It was time.
    Schedule,
    /// A session was idle.
    #[strum(to_string = "session idle")]
    SessionIdle,
    /// Today's log was large.
    #[strum(to_string = "daily log size")]
    DailyLogSize,
    /// Somebody asked for it.
    #[default]
    Manual,
}

/// The last dream of a workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastRun {
    /// When it ended.
    pub at: Timestamp,
    /// Why it ran.
    pub cause: Cause,
    /// Bytes of that day's log.
    pub log_bytes: u64,
    /// What its model took, where one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<Spent>,
}

/// The moment in which is asked whether a dream is due.
#[derive(Debug, Clone)]
pub struct Moment<'a> {
    /// Now, where the user is.
    pub now: &'a Zoned,
    /// When something last happened in a session.
    pub last_activity: Option<Timestamp>,
    /// Bytes of today's log.
    pub log_bytes: u64,
}

/// The first trigger that asks for a dream now. Nothing is due twice for the
/// same reason: a schedule once for each of its times, an idle session once for
/// each time it was busy, a log again when it has grown as much again.
pub fn due(
    triggers: &[Trigger],
    last: Option<&LastRun>,
    moment: &Moment<'_>,
) -> Result<Option<Cause>> {
    let now = moment.now.timestamp();
    // A dream of a time to come was dreamt by a clock that went wrong. It must
    // not keep all others from being due until then.
    let last = last.filter(|last| last.at <= now);
    for trigger in triggers {
        let cause = match trigger {
            Trigger::Schedule { cron: text } => {
                let cron = schedule(text)?;
                let previous = cron
                    .find_previous_occurrence(moment.now, true)
                    .map_err(|error| bad(text, &error))?;
                // A workspace that never dreamt waits for the next time, but
                // does not miss one that was slept through last night.
                let since = match last {
                    Some(last) => last.at,
                    None => now - SignedDuration::from_hours(24),
                };
                (previous.timestamp() > since).then_some(Cause::Schedule)
            }
            Trigger::SessionIdle { idle_minutes } => moment.last_activity.and_then(|active| {
                let idle = SignedDuration::from_mins(i64::from(*idle_minutes));
                let is_new = last.is_none_or(|last| last.at < active);
                (is_new && now.duration_since(active) >= idle).then_some(Cause::SessionIdle)
            }),
            Trigger::DailyLogSize { threshold_kb } => {
                let zone = moment.now.time_zone().clone();
                let before = last
                    .filter(|last| last.at.to_zoned(zone.clone()).date() == moment.now.date())
                    .map_or(0, |last| last.log_bytes);
                let grown = moment.log_bytes.saturating_sub(before);
                (grown > u64::from(*threshold_kb) * 1024).then_some(Cause::DailyLogSize)
            }
        };
        if cause.is_some() {
            return Ok(cause);
        }
    }
    Ok(None)
}

/// The next time at which a schedule asks for a dream.
pub fn next(triggers: &[Trigger], now: &Zoned) -> Result<Option<Zoned>> {
    let mut next: Option<Zoned> = None;
    for trigger in triggers {
        if let Trigger::Schedule { cron: text } = trigger {
            let at = schedule(text)?
                .find_next_occurrence(now, false)
                .map_err(|error| bad(text, &error))?;
            if next.as_ref().is_none_or(|known| at < *known) {
                next = Some(at);
            }
        }
    }
    Ok(next)
}

fn schedule(text: &str) -> Result<Cron> {
    Cron::from_str(text).map_err(|error| bad(text, &error))
}

fn bad(text: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Schedule {
        text: text.to_owned(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        format!("{text}[Europe/Berlin]").parse().unwrap()
    }

    fn ran(text: &str, log_bytes: u64) -> LastRun {
        LastRun {
            at: at(text).timestamp(),
            cause: Cause::Manual,
            log_bytes,
            paid: None,
        }
    }

    fn ask(
        trigger: Trigger,
        last: Option<LastRun>,
        now: &str,
        active: Option<&str>,
        bytes: u64,
    ) -> Option<Cause> {
        let now = at(now);
        let moment = Moment {
            now: &now,
            last_activity: active.map(|text| at(text).timestamp()),
            log_bytes: bytes,
        };
        due(&[trigger], last.as_ref(), &moment).unwrap()
    }

    #[test]
    fn a_schedule_is_due_once_for_each_of_its_times() {
        let three = || Trigger::Schedule {
            cron: "0 3 * * *".into(),
        };
        let ask = |last: Option<&str>, now: &str| {
            ask(three(), last.map(|text| ran(text, 0)), now, None, 0)
        };
        assert_eq!(ask(Some("2026-11-14T12:00"), "2026-11-15T02:59"), None);
        assert_eq!(
            ask(Some("2026-11-14T12:00"), "2026-11-15T03:00"),
            Some(Cause::Schedule)
        );
        assert_eq!(ask(Some("2026-11-15T03:00:05"), "2026-11-15T23:00"), None);
        // Slept through several nights: one dream, not several.
        assert_eq!(
            ask(Some("2026-11-01T03:01"), "2026-11-15T09:00"),
            Some(Cause::Schedule)
        );
        assert_eq!(ask(None, "2026-11-15T09:00"), Some(Cause::Schedule));
    }

    #[test]
    fn a_schedule_follows_the_clock_on_the_wall_through_a_change_of_time() {
        let half_past_two = Trigger::Schedule {
            cron: "30 2 * * *".into(),
        };
        // 02:30 does not exist on this day in Berlin.
        let due = ask(
            half_past_two,
            Some(ran("2026-03-28T12:00", 0)),
            "2026-03-29T12:00",
            None,
            0,
        );
        assert_eq!(due, Some(Cause::Schedule));
    }

    #[test]
    fn an_idle_session_asks_once_until_it_is_busy_again() {
        let ask = |last: Option<&str>, now: &str| {
            let last = last.map(|text| ran(text, 0));
            ask(
                Trigger::SessionIdle { idle_minutes: 30 },
                last,
                now,
                Some("2026-11-15T10:00"),
                0,
            )
        };
        assert_eq!(ask(None, "2026-11-15T10:29"), None);
        assert_eq!(ask(None, "2026-11-15T10:30"), Some(Cause::SessionIdle));
        assert_eq!(ask(Some("2026-11-15T10:31"), "2026-11-15T12:00"), None);
        assert_eq!(
            ask(Some("2026-11-15T09:00"), "2026-11-15T12:00"),
            Some(Cause::SessionIdle)
        );
    }

    #[test]
    fn a_large_log_asks_again_when_it_has_grown_as_much_again() {
        let ask = |last: Option<LastRun>, bytes: u64| {
            ask(
                Trigger::DailyLogSize { threshold_kb: 50 },
                last,
                "2026-11-15T12:00",
                None,
                bytes,
            )
        };
        let kb = 1024;
        assert_eq!(ask(None, 50 * kb), None);
        assert_eq!(ask(None, 51 * kb), Some(Cause::DailyLogSize));
        let today = || Some(ran("2026-11-15T11:00", 51 * kb));
        assert_eq!(ask(today(), 100 * kb), None);
        assert_eq!(ask(today(), 102 * kb), Some(Cause::DailyLogSize));
        assert_eq!(
            ask(Some(ran("2026-11-14T23:00", 500 * kb)), 51 * kb),
            Some(Cause::DailyLogSize)
        );
    }

    #[test]
    fn a_dream_of_a_time_to_come_keeps_no_other_from_being_due() {
        let ahead = || Some(ran("2100-01-01T12:00", 900 * 1024));
        let now = "2026-11-15T12:00";
        let night = Trigger::Schedule {
            cron: "0 3 * * *".into(),
        };
        assert_eq!(ask(night, ahead(), now, None, 0), Some(Cause::Schedule));
        assert_eq!(
            ask(
                Trigger::SessionIdle { idle_minutes: 30 },
                ahead(),
                now,
                Some("2026-11-15T10:00"),
                0
            ),
            Some(Cause::SessionIdle)
        );
        let later_today = Some(ran("2026-11-15T23:00", 900 * 1024));
        assert_eq!(
            ask(
                Trigger::DailyLogSize { threshold_kb: 50 },
                later_today,
                now,
                None,
                60 * 1024
            ),
            Some(Cause::DailyLogSize)
        );
    }

    #[test]
    fn a_schedule_that_is_none_is_told() {
        let now = at("2026-11-15T12:00");
        let moment = Moment {
            now: &now,
            last_activity: None,
            log_bytes: 0,
        };
        let error = due(
            &[Trigger::Schedule {
                cron: "every night".into(),
            }],
            None,
            &moment,
        )
        .unwrap_err();
        assert!(error.to_string().contains("every night"), "{error}");
        assert!(error.remedy().is_some());
    }
}
