//! Failures as advice: what went wrong, where, and what to do.

use std::fmt;
use std::process::ExitCode;

use longhaul_transcript::Error;

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) outcome: Outcome,
    pub(crate) message: String,
    pub(crate) details: Vec<String>,
    pub(crate) help: Option<String>,
}

/// How a command ended, apart from having done its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Failed,
    Usage,
    NothingToDo,
    Blocked,
}

impl Outcome {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Failed => 1,
            Outcome::Usage => 2,
            Outcome::NothingToDo => 3,
            Outcome::Blocked => 4,
        })
    }
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure {
            outcome: Outcome::Failed,
            message: message.into(),
            details: Vec::new(),
            help: None,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure {
            outcome: Outcome::Usage,
            ..Failure::new(message)
        }
    }

    pub(crate) fn nothing(message: impl Into<String>) -> Failure {
        Failure {
            outcome: Outcome::NothingToDo,
            ..Failure::new(message)
        }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Failure {
        self.details.push(detail.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Failure {
        self.help = Some(help.into());
        self
    }

    /// The failure as people read it, on standard error.
    pub(crate) fn print(&self) {
        let style = console::Style::new().for_stderr();
        if self.outcome == Outcome::NothingToDo {
            eprintln!("{}", self.message);
        } else {
            eprintln!("{} {}", style.clone().red().bold().apply_to("error:"), self.message);
        }
        for (at, detail) in self.details.iter().enumerate() {
            let branch = if at + 1 == self.details.len() { "╰─" } else { "├─" };
            eprintln!("  {} {detail}", style.clone().dim().apply_to(branch));
        }
        if let Some(help) = &self.help {
            eprintln!("{} {help}", style.cyan().bold().apply_to("help:"));
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let outcome = match &error {
            Error::Locked { .. } | Error::InUse { .. } => Outcome::Blocked,
            _ => Outcome::Failed,
        };
        Failure {
            outcome,
            help: error.remedy(),
            message: error.to_string(),
            details: Vec::new(),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::new(error.to_string())
    }
}
