//! What a session cost, for people.

use longhaul_engine::session::{Spending, Spent};

use crate::prelude::*;

/// US dollars: to the cent where there are any, finer below.
pub(crate) fn dollars(spent: &Spent) -> String {
    let amount = match spent.dollars {
        0.0 => "$0.00".to_owned(),
        amount if amount < 0.01 => format!("${amount:.4}"),
        amount => format!("${amount:.2}"),
    };
    match spent.unpriced {
        0 => amount,
        unpriced if unpriced == spent.requests => "no price known".into(),
        unpriced => format!(
            "{amount} and {} without a price",
            paint::plural(unpriced, "request")
        ),
    }
}

/// Tokens and money in one line.
pub(crate) fn line(spent: &Spent) -> String {
    let mut line = format!(
        "{} in, {} out, cache {} read, {} written; {} ({})",
        paint::number(spent.input),
        paint::number(spent.output),
        paint::number(spent.cache_read),
        paint::number(spent.cache_write),
        dollars(spent),
        paint::plural(spent.requests, "request"),
    );
    if spent.unreported > 0 {
        line.push_str(&format!(
            "; {} without a count",
            paint::plural(spent.unreported, "request")
        ));
    }
    line
}

/// Tokens and money: the last turn, the turns, what was asked in silence, all.
pub(crate) fn print(spending: &Spending) -> Result {
    out::row("Cost: last turn", line(&spending.last_turn))?;
    out::row("Cost: turns", line(&spending.turns))?;
    if spending.flushes.requests > 0 {
        out::row("Cost: silent", line(&spending.flushes))?;
    }
    if spending.compactions.requests > 0 {
        out::row("Cost: compaction", line(&spending.compactions))?;
    }
    out::row("Cost: session", line(&spending.total()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_as_finely_as_it_needs() {
        let spent = |dollars: f64, requests, unpriced| Spent {
            dollars,
            requests,
            unpriced,
            ..Spent::default()
        };
        assert_eq!(dollars(&spent(0.0, 0, 0)), "$0.00");
        assert_eq!(dollars(&spent(0.0012, 1, 0)), "$0.0012");
        assert_eq!(dollars(&spent(1.234, 1, 0)), "$1.23");
        assert_eq!(dollars(&spent(0.0, 2, 2)), "no price known");
        assert_eq!(
            dollars(&spent(0.5, 3, 1)),
            "$0.50 and 1 request without a price"
        );
    }

    #[test]
    fn a_line_names_every_kind_of_token() {
        let spent = Spent {
            requests: 2,
            input: 1200,
            output: 34,
            cache_read: 5,
            cache_write: 6,
            dollars: 0.5,
            unpriced: 0,
            unreported: 1,
        };
        assert_eq!(
            line(&spent),
            "1,200 in, 34 out, cache 5 read, 6 written; $0.50 (2 requests); 1 request without a \
             count"
        );
    }
}
