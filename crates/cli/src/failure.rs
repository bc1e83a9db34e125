//! Failures as advice: what went wrong, where, and what to do.

use std::process::ExitCode;
use std::{fmt, io};

use longhaul_engine::{checkpoints, export, session};
use longhaul_transcript::Error;

/// Failures in so many words, one for each outcome that has some.
macro_rules! failing {
    ($d:tt: $($name:ident $made:ident;)*) => {$(
        macro_rules! $name {
            ($d($d part:tt)*) => { $crate::failure::Failure::$made(format!($d($d part)*)) };
        }
    )*};
}
failing! { $: fail new; usage usage; nothing nothing; }

/// What commands come to.
pub(crate) type Result<T = (), E = Failure> = std::result::Result<T, E>;

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
            ..fail!("cannot write the output: {error}")
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
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Errors of the rooms below: their words, their advice, and how a command ends that
/// meets them.
macro_rules! failures {
    ($($error:ty: $found:ident => $outcome:expr;)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                let $found = &error;
                Failure {
                    outcome: $outcome,
                    help: error.remedy().into(),
                    ..Failure::new(error.to_string())
                }
            }
        }
    )*};
}

failures! {
    Error: error => of_session(error);
    checkpoints::Error: error => match error {
        checkpoints::Error::Store(error) => of_store(error),
        checkpoints::Error::Write(error) => of_session(error),
        _ => Outcome::Blocked,
    };
    longhaul_checkpoint::Error: error => of_store(error);
    longhaul_memory::Error: error => match error {
        longhaul_memory::Error::ReadOnly { .. }
        | longhaul_memory::Error::Dreaming { .. }
        | longhaul_memory::Error::NoRoom { .. } => Outcome::Blocked,
        _ => Outcome::Failed,
    };
    longhaul_model::Error: error => of_model(error);
    longhaul_server::mcp::Error: _error => Outcome::Failed;
    longhaul_server::hook::Error: _error => Outcome::Failed;
    export::Error: error => match error {
        export::Error::Session(error) => of_session(error),
        _ => Outcome::Failed,
    };
    session::Error: error => match error {
        session::Error::Cancelled => Outcome::Stopped,
        session::Error::NoModel => Outcome::Usage,
        session::Error::Busy(_) | session::Error::ReadOnly => Outcome::Blocked,
        session::Error::Model(failed) => of_model(&failed.error),
        session::Error::Transcript(error) => of_session(error),
        _ => Outcome::Failed,
    };
}

fn of_session(error: &Error) -> Outcome {
    match error {
        Error::Locked { .. } | Error::InUse { .. } => Outcome::Blocked,
        _ => Outcome::Failed,
    }
}

fn of_store(error: &longhaul_checkpoint::Error) -> Outcome {
    match error {
        longhaul_checkpoint::Error::Locked { .. } => Outcome::Blocked,
        _ => Outcome::Failed,
    }
}

/// A model that cannot even be meant is a wrong command line.
fn of_model(error: &longhaul_model::Error) -> Outcome {
    match error {
        longhaul_model::Error::BadSpec { .. } => Outcome::Usage,
        _ => Outcome::Failed,
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
