//! Points in time as session files write them.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::json;

/// Milliseconds since 1970, the unit pi stores in messages.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub i64);

/// Below this a number is seconds: in milliseconds it would be 1973.
const SECONDS_BELOW: f64 = 100_000_000_000.0;

impl Millis {
    /// Reads a raw JSON value: an ISO string, milliseconds, or seconds.
    pub fn parse_json(raw: &str) -> Option<Millis> {
        match json::string(raw) {
            Some(text) => Millis::parse_iso(&text),
            None => {
                let number: f64 = raw.parse().ok()?;
                if !number.is_finite() {
                    None
                } else if number.abs() < SECONDS_BELOW {
                    Some(Millis((number * 1000.0) as i64))
                } else {
                    Some(Millis(number as i64))
                }
            }
        }
    }

    /// A file's time.
    pub fn of_file(time: std::time::SystemTime) -> Option<Millis> {
        let since = time
            .duration_since(std::time::SystemTime::UNIX_EPOCH)
            .ok()?;
        i64::try_from(since.as_millis()).ok().map(Millis)
    }

    /// Reads an ISO 8601 time, or an RFC 2822 one. Without an offset it is UTC.
    pub fn parse_iso(text: &str) -> Option<Millis> {
        parse_js_date(text.trim())
    }

    /// Reads a raw JSON value as JavaScript's `new Date(value)` does, because
    /// that is where the times of pi's synthetic messages come from.
    pub(crate) fn parse_js(raw: &str) -> Option<Millis> {
        match raw {
            "null" | "false" => Some(Millis(0)),
            "true" => Some(Millis(1)),
            _ => match json::string(raw) {
                Some(text) => parse_js_date(&text),
                None => {
                    let number: f64 = raw.parse().ok()?;
                    (number.abs() <= LAST_JS_TIME as f64).then_some(Millis(number as i64))
                }
            },
        }
    }

    /// The time as pi writes it: `2026-11-15T01:17:46.156Z`.
    pub fn to_iso(self) -> String {
        match Timestamp::from_millisecond(self.0) {
            Ok(time) => format!("{time:.3}"),
            Err(_) => String::from("1970-01-01T00:00:00.000Z"),
        }
    }
}

/// The last millisecond a JavaScript date can hold.
const LAST_JS_TIME: i64 = 8_640_000_000_000_000;

/// JavaScript's date grammar as far as agents use it: years, months, days, a
/// time to the minute or finer, any offset; days roll over into the next month.
fn parse_js_date(text: &str) -> Option<Millis> {
    let mut rest = text;
    let year = match rest.as_bytes().first()? {
        sign @ (b'+' | b'-') => {
            rest = &rest[1..];
            let year = digits(&mut rest, 6)?;
            match (sign, year) {
                (b'-', 0) => return None,
                (b'-', year) => -year,
                (_, year) => year,
            }
        }
        b'0'..=b'9' => digits(&mut rest, 4)?,
        _ => return parse_rfc2822(text),
    };
    let (mut month, mut day) = (1, 1);
    if take(&mut rest, '-') {
        month = digits(&mut rest, 2)?;
        if take(&mut rest, '-') {
            day = digits(&mut rest, 2)?;
        }
    }
    let (mut hour, mut minute, mut second, mut milli, mut offset) = (0, 0, 0, 0, 0);
    if take(&mut rest, 'T') || take(&mut rest, 't') || take(&mut rest, ' ') {
        hour = digits(&mut rest, 2)?;
        take(&mut rest, ':').then_some(())?;
        minute = digits(&mut rest, 2)?;
        if take(&mut rest, ':') {
            second = digits(&mut rest, 2)?;
            if take(&mut rest, '.') {
                milli = fraction(&mut rest)?;
            }
        }
        offset = zone(&mut rest)?;
    }
    let whole_day = hour == 24 && minute == 0 && second == 0 && milli == 0;
    let valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (hour < 24 || whole_day)
        && minute < 60
        && second < 60
        && rest.is_empty();
    if !valid {
        return None;
    }
    let days = days_from_civil(year, month) + day - 1;
    let time = (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + milli;
    (time.abs() <= LAST_JS_TIME).then_some(Millis(time))
}

fn parse_rfc2822(text: &str) -> Option<Millis> {
    let zoned = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(Millis(zoned.timestamp().as_millisecond()))
}

fn digits(rest: &mut &str, count: usize) -> Option<i64> {
    let (head, tail) = rest.split_at_checked(count)?;
    let all = head.bytes().all(|byte| byte.is_ascii_digit());
    *rest = tail;
    all.then(|| head.parse().ok()).flatten()
}

fn take(rest: &mut &str, expected: char) -> bool {
    match rest.strip_prefix(expected) {
        Some(tail) => {
            *rest = tail;
            true
        }
        None => false,
    }
}

/// The milliseconds of a fraction of a second; finer digits are cut off.
fn fraction(rest: &mut &str) -> Option<i64> {
    let length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (head, tail) = rest.split_at(length);
    *rest = tail;
    let mut head = head.to_owned();
    (length > 0).then_some(())?;
    head.push_str("00");
    head[..3].parse().ok()
}

/// The offset from UTC in minutes.
fn zone(rest: &mut &str) -> Option<i64> {
    if rest.is_empty() || take(rest, 'Z') || take(rest, 'z') {
        return Some(0);
    }
    let sign = if take(rest, '+') {
        1
    } else if take(rest, '-') {
        -1
    } else {
        return None;
    };
    let hours = digits(rest, 2)?;
    take(rest, ':');
    let minutes = digits(rest, 2)?;
    Some(sign * (hours * 60 + minutes))
}

/// Days from 1970-01-01 to the first of a month (Howard Hinnant's algorithm).
fn days_from_civil(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_iso())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_in_the_wild_is_read() {
        let expected = Some(Millis(1_769_178_103_537));
        assert_eq!(Millis::parse_json("\"2026-01-23T14:21:43.537Z\""), expected);
        assert_eq!(
            Millis::parse_json("\"2026-01-23T15:21:43.537+01:00\""),
            expected
        );
        assert_eq!(Millis::parse_json("1769178103537"), expected);
        assert_eq!(
            Millis::parse_json("1769178103"),
            Some(Millis(1_769_178_103_000))
        );
        assert_eq!(
            Millis::parse_json("\"2026-01-23\""),
            Some(Millis(1_769_126_400_000))
        );
        assert_eq!(Millis::parse_json("\"yesterday\""), None);
        assert_eq!(
            Millis(1_769_178_103_537).to_iso(),
            "2026-01-23T14:21:43.537Z"
        );
    }
}
