//! Asking the person at the terminal.

use console::{Key, Term};
use futures::future::BoxFuture;
use longhaul_engine::tools::{Approval, Approver, Ask};

use super::screen::Screen;
use crate::style::Style;

/// Asks with one key.
pub(super) struct AtTerminal {
    pub(super) screen: Screen,
}

impl Approver for AtTerminal {
    fn approve<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            self.screen.ask(&question(ask));
            // One key at a time, so that a question that was taken back cannot
            // swallow a line that is typed later.
            let key = tokio::task::spawn_blocking(|| Term::stderr().read_key()).await;
            let answer = match key {
                Ok(Ok(Key::Char('y' | 'Y'))) => Approval::Once,
                Ok(Ok(Key::Char('a' | 'A'))) => Approval::Always,
                Ok(Ok(_)) => Approval::Denied("they said no".into()),
                Ok(Err(_)) | Err(_) => Approval::Denied("they did not answer".into()),
            };
            self.screen.ask(match answer {
                Approval::Once => "yes\n",
                Approval::Always => "always\n",
                Approval::Denied(_) => "no\n",
            });
            answer
        })
    }
}

fn question(ask: &Ask) -> String {
    let style = || Style::new().for_stderr();
    let mut text = format!(
        "{} wants to {}\n",
        style().bold().apply_to(&ask.tool),
        ask.what
    );
    // All of it: what is not shown cannot be allowed.
    for line in ask.preview.lines() {
        let line = match line.as_bytes().first() {
            Some(b'+') => style().green().apply_to(line),
            Some(b'-') => style().red().apply_to(line),
            _ => style().apply_to(line),
        };
        text.push_str(&format!("  {line}\n"));
    }
    if let Some(caution) = &ask.caution {
        text.push_str(&format!("{}\n", style().yellow().apply_to(caution)));
    }
    text.push_str(&format!(
        "allow it? [y]es, [a]lways ({}), [n]o: ",
        ask.always
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_shows_everything_and_obeys_nothing() {
        let ask = Ask {
            tool: "bash".into(),
            what: "run a command".into(),
            preview: "echo \u{1b}[2Jhidden\nrm -rf x".into(),
            caution: Some("not confined".into()),
            always: "this very command".into(),
        };
        let question = question(&ask);
        let plain = console::strip_ansi_codes(&question);
        assert!(!plain.contains('\u{1b}'), "{plain}");
        assert!(plain.contains("  rm -rf x\n"), "{plain}");
        assert!(plain.contains("not confined"), "{plain}");
        assert!(plain.contains("[a]lways (this very command)"), "{plain}");
    }
}
