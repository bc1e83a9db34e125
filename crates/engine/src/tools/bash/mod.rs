//! `bash`: a command line in the workspace.
//!
//! A command runs in a process group of its own with nothing to read, and
//! whatever it starts ends with it: on time-out and cancellation the group is
//! asked to end and then made to, along with processes that left the group. Its
//! output is bounded in memory; the whole of it goes to a file.
//!
//! A command is **not** confined to the workspace: without a sandbox of the
//! system's, it can do whatever the user can.

mod end;
mod guard;
mod output;

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

pub use self::guard::guard_commands;

use self::end::Family;
use self::guard::Guard;
use self::output::{Output, clean};
use super::toolbox::Outcome;

/// How commands are run.
#[derive(Debug, Clone)]
pub struct BashSettings {
    /// The shell; it is given `-c` and the command.
    pub shell: PathBuf,
    /// The environment of the user. Variables whose names look like those of
    /// secrets are left out.
    pub environment: Vec<(OsString, OsString)>,
    /// Time for a command that does not ask for another.
    pub timeout: Duration,
    /// The most a command may ask for.
    pub longest_timeout: Duration,
    /// Time between asking processes to end and making them.
    pub grace: Duration,
    /// Bytes of output that the model sees: a third from the beginning, the
    /// rest from the end.
    pub shown_bytes: usize,
    /// Bytes of output that are kept in the file.
    pub kept_bytes: u64,
    /// Folder for outputs that are not shown whole.
    pub outputs: PathBuf,
    /// Program and arguments of a guard, which is given a mark and calls
    /// [`guard_commands`] with it and its standard input: should this process be
    /// killed, the guard ends what it was running. Empty for none.
    pub guard: Vec<OsString>,
}

impl BashSettings {
    /// The usual limits.
    pub fn new(environment: Vec<(OsString, OsString)>, outputs: PathBuf) -> BashSettings {
        BashSettings {
            shell: "bash".into(),
            environment,
            timeout: Duration::from_secs(120),
            longest_timeout: Duration::from_secs(3600),
            grace: Duration::from_secs(2),
            shown_bytes: 30 * 1024,
            kept_bytes: 256 << 20,
            outputs,
            guard: Vec::new(),
        }
    }
}

/// The variable by which the processes of a command are known.
const MARK: &str = "LONGHAUL_COMMAND";
/// Time for output that is still in the pipe when the shell has ended.
const STRAGGLERS: Duration = Duration::from_millis(300);
/// Time for the rest of it, once everything that could write has been killed.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How a command ended.
enum End {
    Exited(ExitStatus),
    TimedOut(Duration),
    Cancelled,
}

/// Runs a command line.
pub(super) async fn run(
    settings: &BashSettings,
    workspace: &Path,
    id: &str,
    command: &str,
    timeout: Option<Duration>,
    cancel: &CancellationToken,
) -> Outcome {
    let timeout = timeout
        .unwrap_or(settings.timeout)
        .min(settings.longest_timeout);
    let mut family = Family::new(id);
    let mut guard = Guard::start(&settings.guard, family.mark());
    let (mut child, output) = match start(settings, workspace, command, &family) {
        Ok(started) => started,
        Err(why) => return Outcome::failed(why),
    };
    family.lead(child.id());
    if let Some(guard) = &mut guard {
        guard.lead(child.id());
    }
    let end = tokio::select! {
        // A command that has ended is not called cancelled.
        biased;
        status = child.wait() => match status {
            Ok(status) => End::Exited(status),
            Err(error) => {
                family.kill();
                return Outcome::failed(format!("The command cannot be waited for: {error}."));
            }
        },
        () = cancel.cancelled() => End::Cancelled,
        () = tokio::time::sleep(timeout) => End::TimedOut(timeout),
    };
    if !matches!(end, End::Exited(_)) {
        family.ask_to_end();
        let _ = tokio::time::timeout(settings.grace, child.wait()).await;
    }
    let Reading { kept, mut done } = output;
    // What the pipe still holds is there at once, unless something that the
    // shell has left behind keeps it open.
    let mut finished = tokio::time::timeout(STRAGGLERS, &mut done).await.is_ok();
    let left_behind = family.kill();
    if !finished {
        // The dead hold no pipe, so this is long only where the machine is busy,
        // or where a process got away.
        finished = tokio::time::timeout(LAST_WORDS, done).await.is_ok();
    }
    let _ = child.wait().await;
    if let Some(guard) = guard {
        guard.dismiss().await;
    }
    let output = {
        let mut output = kept.lock().unwrap_or_else(PoisonError::into_inner);
        output.close()
    };
    let rest = Rest {
        left_behind,
        finished,
    };
    report(settings, end, &output, rest)
}

/// The output, while it is being read.
struct Reading {
    kept: Arc<Mutex<Output>>,
    done: oneshot::Receiver<()>,
}

fn start(
    settings: &BashSettings,
    workspace: &Path,
    command: &str,
    family: &Family,
) -> Result<(Child, Reading), String> {
    let shell = settings.shell.display();
    let cannot = |error: std::io::Error| format!("The command cannot be started: {error}.");
    let (mut reader, writer) = std::io::pipe().map_err(cannot)?;
    let mut process = Command::new(&settings.shell);
    process
        .arg("-c")
        .arg(command)
        .current_dir(workspace)
        .env_clear()
        .envs(
            settings
                .environment
                .iter()
                .filter(|(name, _)| !is_secret(name))
                .map(|(name, value)| (name, value)),
        )
        .env(MARK, family.mark())
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .stdout(writer.try_clone().map_err(cannot)?)
        .stderr(writer)
        .kill_on_drop(true);
    process.process_group(0);
    let child = process.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("The shell \"{shell}\" was not found, so no command can run.")
        }
        _ => cannot(error),
    })?;
    // The writing ends inside `process` must go, or the pipe never ends.
    drop(process);
    let kept = Arc::new(Mutex::new(Output::new(settings, family.mark())));
    let (send, done) = oneshot::channel();
    let sink = Arc::clone(&kept);
    // A thread of its own: a process that escaped may hold the pipe open for
    // ever, and must not hold up the runtime's end.
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
                    if !sink.push(&buffer[..count]) {
                        break;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        let _ = send.send(());
    });
    Ok((child, Reading { kept, done }))
}

/// The values of variables that look like secrets. Short ones are words.
pub(super) fn secrets(settings: &BashSettings) -> Vec<String> {
    const SHORTEST: usize = 12;
    let variables = settings.environment.iter();
    let secret = variables.filter(|(name, _)| is_secret(name));
    let values = secret.filter_map(|(_, value)| value.to_str());
    let values = values.filter(|value| value.len() >= SHORTEST);
    values.map(str::to_owned).collect()
}

/// Whether a variable's name looks like that of a secret.
fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    // Sockets and files that lead to keys are no keys, but are as good as some.
    const WHOLE: &[&str] = &["SSH_AUTH_SOCK", "GPG_AGENT_INFO", "NETRC", "PGPASSFILE"];
    const PARTS: &[&str] = &[
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "COOKIE",
        "PRIVATE",
        "BEARER",
        "AUTH",
        "DSN",
        "CONNECTION_STRING",
        "DATABASE_URL",
    ];
    const WORDS: &[&str] = &["PASS", "PAT", "PWD"];
    // The working folder is no password.
    if matches!(name.as_str(), "PWD" | "OLDPWD") {
        return false;
    }
    WHOLE.contains(&name.as_str())
        || PARTS.iter().any(|part| name.contains(part))
        || name.split('_').any(|word| WORDS.contains(&word))
}

/// What there is to say beside output and end.
struct Rest {
    /// Processes that had to be ended.
    left_behind: usize,
    /// Whether the output was read to its end.
    finished: bool,
}

fn report(settings: &BashSettings, end: End, output: &output::Closed, rest: Rest) -> Outcome {
    let mut text = match output.shown(settings.shown_bytes) {
        Some(shown) => clean(&shown),
        None => String::new(),
    };
    while text.ends_with('\n') {
        text.pop();
    }
    let mut add = |line: &str| {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(line);
    };
    if let Some(notice) = output.notice() {
        add(&notice);
    }
    if !rest.finished {
        add("[A process that could not be ended holds the output open; there may be more.]");
    }
    if rest.left_behind > 0 {
        add("[Processes that the command left running were ended with it.]");
    }
    let (failed, code) = match end {
        End::Exited(status) => match status.code() {
            Some(0) => (false, Some(0)),
            Some(code) => {
                add(&format!("Command exited with code {code}"));
                (true, Some(code))
            }
            None => {
                add(&format!("Command was ended by {status}"));
                (true, None)
            }
        },
        End::TimedOut(after) => {
            add(&format!(
                "Command timed out after {} seconds and was ended with everything it started. \
                 Give a larger timeout if it needs one.",
                after.as_secs_f64()
            ));
            (true, None)
        }
        End::Cancelled => {
            add("Command was cancelled by the user and ended with everything it started");
            (true, None)
        }
    };
    if text.is_empty() {
        text.push_str("(no output)");
    }
    let mut details = json!({ "bytes": output.total });
    if let Some(code) = code {
        details["exitCode"] = json!(code);
    }
    if let Some(file) = output.file.as_deref() {
        details["fullOutputPath"] = json!(file.to_string_lossy());
    }
    Outcome {
        text,
        is_error: failed,
        details: Some(details),
    }
}

#[cfg(test)]
mod tests;
