//! A long run: one session, hundreds or thousands of turns through a small
//! window, with a provider that fails in every way it can and a process that is
//! killed again and again. At the end nothing that matters is lost.
//!
//! The provider is a server on loopback in this process; the engine runs in a
//! child, which is this program again, so that it can be killed at any moment.
//! 300 turns, or 2,000 with `LONGHAUL_LONG` set.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

mod child;
mod judge;
mod provider;
mod read;
mod story;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use provider::{Moment, Provider};
use story::Story;

/// The size of the model's window.
const WINDOW: u32 = 32_000;

/// The test that a child process runs: nothing, unless it was given its part.
#[test]
fn a_child_process_plays_its_part() {
    child::play();
}

#[test]
fn a_long_run_with_failures_and_kills_loses_nothing() {
    let turns = match std::env::var_os("LONGHAUL_LONG") {
        Some(_) => 2_000,
        None => 300,
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("work")).unwrap();
    let story = Story::new(turns);
    let begun = Instant::now();
    let (kills, starts, provider) = run(folder.path(), &story);
    let log = provider.finish();
    eprintln!(
        "{turns} turns in {:.1} s, {starts} processes, {kills} killed",
        begun.elapsed().as_secs_f64()
    );
    eprintln!("{log}");
    log.check();
    assert!(kills >= 25, "only {kills} kills");
    judge::judge(folder.path(), &story, kills);
}

/// Lets the child play until the story is over; starts it again whenever it was
/// killed.
fn run(folder: &Path, story: &Story) -> (u32, u32, Provider) {
    let (kill, killing) = mpsc::channel();
    let provider = Provider::start(folder, story.clone(), kill);
    let (mut kills, mut starts) = (0, 0);
    loop {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["a_child_process_plays_its_part", "--exact", "--nocapture"])
            .env(child::FOLDER, folder)
            .env(child::URL, provider.url())
            // A session goes from one provider to the next.
            .env(child::PROTOCOL, (starts % 3).to_string())
            .env(child::TURNS, story.turns.to_string())
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        starts += 1;
        assert!(starts < 200, "it never comes to an end");
        let mut quiet = Instant::now();
        let mut seen = provider.requests();
        let killed = loop {
            match killing.recv_timeout(Duration::from_millis(20)) {
                Ok(Moment { after }) => {
                    std::thread::sleep(after);
                    // It may have come to its end by itself in the meantime.
                    let _ = child.kill();
                    child.wait().unwrap();
                    break true;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the provider lives on"),
            }
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "the child failed: {}", said(&mut child));
                break false;
            }
            let now = provider.requests();
            if now != seen {
                (quiet, seen) = (Instant::now(), now);
            }
            if quiet.elapsed() > Duration::from_secs(120) {
                let _ = child.kill();
                panic!("nothing happens any more: {}", said(&mut child));
            }
        };
        while killing.try_recv().is_ok() {}
        match killed {
            true => kills += 1,
            false => return (kills, starts, provider),
        }
    }
}

/// What a child said before its end.
fn said(child: &mut std::process::Child) -> String {
    use std::io::Read;
    let mut text = String::new();
    if let Some(stderr) = &mut child.stderr {
        let _ = stderr.read_to_string(&mut text);
    }
    text
}
