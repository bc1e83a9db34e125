//! Failures as advice: what went wrong, where, and what to do.

use std::process::ExitCode;
use std::{fmt, io};

use longhaul_engine::checkpoints;
use longhaul_transcript::Error;

use crate::app::App;
use crate::out::remark;

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
    /// The user stopped it.
    Stopped,
    /// Somebody asked the program to end.
    Ended,
    /// The terminal has gone.
    HungUp,
    /// Somebody asked the program to end at once.
    Quit,
    /// The reader of the output has gone.
    Unheard,
}

impl Outcome {
    /// What a shell reports of a program that SIGINT ended.
    pub(crate) const STOPPED: i32 = 130;

    /// What a shell reports of a program that SIGTERM ended.
    pub(crate) const ENDED: i32 = 143;

    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Failed => 1,
            Outcome::Usage => 2,
            Outcome::NothingToDo => 3,
            Outcome::Blocked => 4,
            Outcome::Stopped => Outcome::STOPPED as u8,
            Outcome::Ended => Outcome::ENDED as u8,
            // What a shell reports of programs that SIGHUP and SIGQUIT ended.
            Outcome::HungUp => 129,
            Outcome::Quit => 131,
            // What a shell reports of a program that SIGPIPE ended.
            Outcome::Unheard => 141,
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

    /// Something forbids it for now.
    pub(crate) fn blocked(message: impl Into<String>) -> Failure {
        Failure {
            outcome: Outcome::Blocked,
            ..Failure::new(message)
        }
    }

    /// The output could not be written.
    pub(crate) fn output(error: io::Error) -> Failure {
        Failure {
            outcome: match error.kind() {
                io::ErrorKind::BrokenPipe => Outcome::Unheard,
                _ => Outcome::Failed,
            },
            ..Failure::new(format!("cannot write the output: {error}"))
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

    /// The failure as people read it, on standard error. A provider may quote
    /// the key it was sent, and what is printed ends up in logs.
    pub(crate) fn print(&self) {
        let redacted = |text: &String| App::redact(text);
        let message = redacted(&self.message);
        let style = crate::style::Style::new().for_stderr();
        match self.outcome {
            Outcome::Unheard => return,
            Outcome::NothingToDo
            | Outcome::Stopped
            | Outcome::Ended
            | Outcome::HungUp
            | Outcome::Quit => remark(&message),
            Outcome::Failed | Outcome::Usage | Outcome::Blocked => {
                let error = style.clone().red().bold().apply_to("error:");
                remark(format_args!("{error} {message}"));
            }
        }
        for (at, detail) in self.details.iter().enumerate() {
            let branch = if at + 1 == self.details.len() {
                "╰─"
            } else {
                "├─"
            };
            remark(format_args!(
                "  {} {}",
                style.clone().dim().apply_to(branch),
                redacted(detail)
            ));
        }
        if let Some(help) = &self.help {
            remark(format_args!(
                "{} {}",
                style.cyan().bold().apply_to("help:"),
                redacted(help)
            ));
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

impl From<checkpoints::Error> for Failure {
    fn from(error: checkpoints::Error) -> Failure {
        match error {
            checkpoints::Error::Store(error) => error.into(),
            checkpoints::Error::Write(error) => error.into(),
            error => Failure {
                outcome: Outcome::Blocked,
                help: error.remedy(),
                message: error.to_string(),
                details: Vec::new(),
            },
        }
    }
}

impl From<longhaul_checkpoint::Error> for Failure {
    fn from(error: longhaul_checkpoint::Error) -> Failure {
        Failure {
            outcome: match &error {
                longhaul_checkpoint::Error::Locked { .. } => Outcome::Blocked,
                _ => Outcome::Failed,
            },
            help: error.remedy(),
            message: error.to_string(),
            details: Vec::new(),
        }
    }
}

impl From<longhaul_memory::Error> for Failure {
    fn from(error: longhaul_memory::Error) -> Failure {
        Failure {
            outcome: match &error {
                longhaul_memory::Error::ReadOnly { .. }
                | longhaul_memory::Error::Dreaming { .. }
                | longhaul_memory::Error::NoRoom { .. } => Outcome::Blocked,
                _ => Outcome::Failed,
            },
            help: error.remedy(),
            message: error.to_string(),
            details: Vec::new(),
        }
    }
}

impl From<longhaul_files::Error> for Failure {
    fn from(error: longhaul_files::Error) -> Failure {
        Error::from(error).into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::new(error.to_string())
    }
}
