//! When a provider says that it may be asked again.

use std::time::Duration;

use jiff::fmt::rfc2822;

/// Reads the headers. A date is compared with the answer's own `Date`, so that
/// the provider's clock is measured with the provider's clock.
pub(crate) fn from_headers<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    if let Some(wait) = header("retry-after-ms").and_then(|text| seconds(text, 1e-3)) {
        return Some(wait);
    }
    let text = header("retry-after")?.trim();
    if let Some(wait) = seconds(text, 1.0) {
        return Some(wait);
    }
    let then = rfc2822::parse(text).ok()?;
    let now = rfc2822::parse(header("date")?.trim()).ok()?;
    let wait = then.timestamp().duration_since(now.timestamp());
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// Reads the words: "Please try again in 6m0s", "retry in 250ms", and Google's
/// `retryDelay`.
pub(crate) fn from_words(text: &str) -> Option<Duration> {
    let text = text.to_lowercase();
    [
        "try again in ",
        "retry in ",
        "retry after ",
        "\"retrydelay\": \"",
        "\"retrydelay\":\"",
    ]
    .iter()
    .find_map(|lead| text.split_once(lead).and_then(|(_, rest)| spelt(rest)))
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(number * unit).ok()
}

/// `1h2m3.5s`, `250ms`, `20 seconds`.
fn spelt(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = None;
    loop {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let unit = match &after[..letters] {
            "ms" | "milliseconds" => 1e-3,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => return total,
        };
        let Some(wait) = seconds(number.trim_end_matches('.'), unit) else {
            return total;
        };
        total = Some(total.unwrap_or(Duration::ZERO).saturating_add(wait));
        rest = &after[letters..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &'static str)]) -> Option<Duration> {
        let pairs: Vec<(String, &'static str)> = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect();
        from_headers(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1))
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_read() {
        const DATE: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        type Case = (&'static [(&'static str, &'static str)], Option<u64>);
        let cases: &[Case] = &[
            (&[("retry-after", "7")], Some(7_000)),
            (&[("retry-after", " 0.5 ")], Some(500)),
            (
                &[("retry-after-ms", "250"), ("retry-after", "7")],
                Some(250),
            ),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), DATE],
                Some(30_000),
            ),
            (
                &[("retry-after", "Sun, 06 Nov 1994 08:40:07 GMT"), DATE],
                Some(0),
            ),
            (&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], None),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ];
        for (pairs, millis) in cases {
            assert_eq!(
                headers(pairs),
                millis.map(Duration::from_millis),
                "{pairs:?}"
            );
        }
    }

    #[test]
    fn waits_in_words_are_read() {
        let cases = [
            ("Please try again in 1.242s.", Some(1_242)),
            ("Please try again in 6m0s. Visit", Some(360_000)),
            ("try again in 20ms", Some(20)),
            ("Try again in 5 seconds", Some(5_000)),
            ("\"retryDelay\": \"34.5s\"", Some(34_500)),
            ("please try again in a while", None),
            ("nothing of the kind", None),
        ];
        for (text, millis) in cases {
            assert_eq!(
                from_words(text),
                millis.map(Duration::from_millis),
                "{text}"
            );
        }
    }
}
