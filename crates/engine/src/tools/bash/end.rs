//! The end of a command: everything it has started ends with it.
//!
//! The process group holds what stayed in it. A process that left (`setsid`, a
//! daemon) is found by the mark in its environment, where the system shows it.

#[cfg(target_os = "linux")]
use super::MARK;

/// The processes of one command.
pub(super) struct Family {
    mark: String,
    ended: bool,
    group: Option<rustix::process::Pid>,
}

impl Family {
    /// The family of a call.
    pub(super) fn new(id: &str) -> Family {
        use std::sync::atomic::{AtomicU64, Ordering};
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let id: String = id
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .take(24)
            .collect();
        let nth = CALLS.fetch_add(1, Ordering::Relaxed);
        let own = std::process::id();
        let random = std::hash::BuildHasher::hash_one(
            &std::collections::hash_map::RandomState::new(),
            (own, nth),
        );
        Family {
            mark: format!("{own}-{nth}-{random:016x}-{id}"),
            ended: false,
            group: None,
        }
    }

    /// The family that another process has started.
    pub(super) fn of(mark: &str, leader: Option<u32>) -> Family {
        let mut family = Family {
            mark: mark.to_owned(),
            ended: false,
            group: None,
        };
        family.lead(leader);
        family
    }

    /// What their environment has.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Names the process that leads the group.
    pub(super) fn lead(&mut self, process: Option<u32>) {
        self.group = process
            .and_then(|id| i32::try_from(id).ok())
            .and_then(rustix::process::Pid::from_raw);
    }

    /// Asks all of them to end.
    pub(super) fn ask_to_end(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends all of them; how many were left that had to be.
    pub(super) fn kill(&mut self) -> usize {
        self.ended = true;
        // What forks while it is being killed is met on the next round.
        const ROUNDS: usize = 20;
        let first = self.signal(rustix::process::Signal::KILL);
        let mut left = first;
        for _ in 1..ROUNDS {
            if left == 0 {
                break;
            }
            left = self.signal(rustix::process::Signal::KILL);
        }
        first
    }

    /// Signals all of them; how many are known to have been alive. A group may
    /// be made of the dead alone, so it counts only where there is no mark.
    fn signal(&self, signal: rustix::process::Signal) -> usize {
        let marked = self.marked();
        let group = self
            .group
            .is_some_and(|group| rustix::process::kill_process_group(group, signal).is_ok());
        for process in &marked {
            let _ = rustix::process::kill_process(*process, signal);
        }
        match cfg!(target_os = "linux") {
            true => marked.len(),
            false => usize::from(group),
        }
    }

    /// The processes with the mark in their environment.
    #[cfg(target_os = "linux")]
    fn marked(&self) -> Vec<rustix::process::Pid> {
        const ENVIRONMENT_BYTES: u64 = 4 << 20;
        let wanted = format!("{MARK}={}", self.mark);
        let Ok(processes) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        processes
            .flatten()
            .filter_map(|entry| {
                let id: i32 = entry.file_name().to_str()?.parse().ok()?;
                // The dead have no environment, so they are not counted.
                let environment =
                    longhaul_files::read(&entry.path().join("environ"), ENVIRONMENT_BYTES);
                let environment = environment.ok()?;
                environment
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == wanted.as_bytes())
                    .then(|| rustix::process::Pid::from_raw(id))?
            })
            .collect()
    }

    #[cfg(not(target_os = "linux"))]
    fn marked(&self) -> Vec<rustix::process::Pid> {
        Vec::new()
    }
}

/// A call that nobody waits for any more leaves nothing behind either.
impl Drop for Family {
    fn drop(&mut self) {
        if !self.ended {
            self.kill();
        }
    }
}
