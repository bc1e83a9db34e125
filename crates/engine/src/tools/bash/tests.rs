use std::fs;
use std::time::Instant;

use super::*;

struct Ground {
    folder: tempfile::TempDir,
    settings: BashSettings,
    cancel: CancellationToken,
}

fn ground() -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let environment = vec![
        ("PATH".into(), path),
        ("GREETING".into(), "hello".into()),
        ("SOME_API_KEY".into(), "leaked".into()),
        ("GITHUB_TOKEN".into(), "leaked".into()),
    ];
    let mut settings = BashSettings::new(environment, folder.path().join("outputs"));
    settings.grace = Duration::from_millis(300);
    Ground {
        folder,
        settings,
        cancel: CancellationToken::new(),
    }
}

impl Ground {
    async fn run(&self, command: &str) -> Outcome {
        self.run_for(command, None).await
    }

    async fn run_for(&self, command: &str, timeout: Option<Duration>) -> Outcome {
        let workspace = self.folder.path();
        run(
            &self.settings,
            workspace,
            "call",
            command,
            timeout,
            &self.cancel,
        )
        .await
    }

    /// Waits for a file that a command writes, and reads a number from it.
    async fn number_in(&self, name: &str) -> i32 {
        let path = self.folder.path().join(name);
        loop {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if let Ok(number) = text.trim().parse()
                && text.ends_with('\n')
            {
                return number;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Whether a process is there and not merely waiting to be buried.
fn is_alive(process: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = status
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Waits for the system to bury a process that was killed.
async fn dies(process: i32) -> bool {
    for _ in 0..1000 {
        if !is_alive(process) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn output_and_errors_come_in_the_order_they_were_written() {
    let outcome = ground().run("echo a; echo b >&2; echo c").await;
    assert_eq!(outcome.text, "a\nb\nc");
    assert!(!outcome.is_error);
    assert_eq!(outcome.details.unwrap()["exitCode"], 0);
}

#[tokio::test]
async fn a_failing_command_is_an_error_with_its_code() {
    let outcome = ground().run("echo no; exit 3").await;
    assert_eq!(outcome.text, "no\n\nCommand exited with code 3");
    assert!(outcome.is_error);
}

#[tokio::test]
async fn a_command_that_says_nothing_is_no_empty_text() {
    assert_eq!(ground().run("true").await.text, "(no output)");
}

#[tokio::test]
async fn a_command_starts_in_the_workspace_with_nothing_to_read() {
    let ground = ground();
    fs::write(ground.folder.path().join("here"), "").unwrap();
    let outcome = ground.run("ls; cat; echo end").await;
    assert_eq!(outcome.text, "here\nend");
}

#[tokio::test]
async fn secrets_of_the_environment_are_not_passed_on() {
    let outcome = ground().run("env").await;
    assert!(outcome.text.contains("GREETING=hello"), "{}", outcome.text);
    assert!(!outcome.text.contains("leaked"), "{}", outcome.text);
}

#[test]
fn names_of_secrets_are_told_from_others() {
    for name in [
        "OPENAI_API_KEY",
        "anthropic_api_key",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "DB_PASS",
        "MYSQL_PWD",
        "NPM_AUTH",
        "GH_PAT",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SSH_AUTH_SOCK",
        "DATABASE_URL",
    ] {
        assert!(is_secret(OsStr::new(name)), "{name}");
    }
    for name in [
        "PATH",
        "HOME",
        "PWD",
        "OLDPWD",
        "LANG",
        "CARGO_HOME",
        "COMPASS",
        "TERM",
    ] {
        assert!(!is_secret(OsStr::new(name)), "{name}");
    }
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_and_keeps_its_output() {
    let ground = ground();
    let outcome = ground
        .run_for("echo begun; sleep 1000", Some(Duration::from_millis(300)))
        .await;
    assert!(outcome.is_error);
    assert!(
        outcome.text.starts_with("begun\n\nCommand timed out"),
        "{}",
        outcome.text
    );
}

#[tokio::test]
async fn no_command_gets_more_time_than_the_most() {
    let mut ground = ground();
    ground.settings.longest_timeout = Duration::from_millis(200);
    let outcome = ground
        .run_for("sleep 1000", Some(Duration::from_secs(5000)))
        .await;
    assert!(
        outcome.text.contains("timed out after 0.2 seconds"),
        "{}",
        outcome.text
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn children_that_ignore_being_asked_die_with_a_cancelled_command() {
    let ground = ground();
    let command = "trap '' TERM INT HUP; \
         (trap '' TERM INT HUP; echo $BASHPID > inner; while :; do sleep 1; done) & \
         echo $BASHPID > outer; while :; do sleep 1; done";
    let watch = async {
        let pair = (
            ground.number_in("inner").await,
            ground.number_in("outer").await,
        );
        assert!(is_alive(pair.0) && is_alive(pair.1));
        ground.cancel.cancel();
        pair
    };
    let (outcome, (inner, outer)) = tokio::join!(ground.run(command), watch);
    assert!(outcome.is_error);
    assert!(outcome.text.contains("cancelled"), "{}", outcome.text);
    assert!(dies(inner).await && dies(outer).await);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_in_a_session_of_its_own_dies_too() {
    let ground = ground();
    let command = "setsid bash -c 'trap \"\" TERM; echo $$ > away; while :; do sleep 1; done' \
         > /dev/null 2>&1 & while :; do sleep 1; done";
    let watch = async {
        let away = ground.number_in("away").await;
        assert!(is_alive(away));
        ground.cancel.cancel();
        away
    };
    let (outcome, away) = tokio::join!(ground.run(command), watch);
    assert!(outcome.is_error);
    assert!(dies(away).await);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_command_leaves_running_ends_with_it_and_holds_nothing_up() {
    let ground = ground();
    let begun = Instant::now();
    let outcome = ground
        .run("(echo $BASHPID > left; exec sleep 1000) & until [ -s left ]; do sleep 0.01; done; echo done")
        .await;
    assert!(!outcome.is_error, "{}", outcome.text);
    assert!(
        outcome.text.starts_with("done\n\n[Processes"),
        "{}",
        outcome.text
    );
    let left = ground.number_in("left").await;
    assert!(dies(left).await);
    // Far below the thousand seconds that the child would hold the pipe open.
    assert!(begun.elapsed() < Duration::from_secs(500));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_got_away_is_said_and_holds_nothing_up() {
    let ground = ground();
    // Without the mark and outside the group, it cannot be told from others.
    let outcome = ground
        .run(
            "env -i PATH=\"$PATH\" setsid bash -c 'echo $$ > away; exec sleep 1000' & \
             until [ -s away ]; do sleep 0.01; done; echo done",
        )
        .await;
    let away = ground.number_in("away").await;
    let alive = is_alive(away);
    let killed = std::process::Command::new("kill")
        .arg(away.to_string())
        .status();
    assert!(alive && killed.unwrap().success());
    assert!(!outcome.is_error, "{}", outcome.text);
    assert!(
        outcome
            .text
            .starts_with("done\n\n[A process that could not be ended"),
        "{}",
        outcome.text
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_call_that_nobody_waits_for_leaves_nothing_behind() {
    let ground = ground();
    let away = {
        let call = ground.run("sleep 1000 & echo $! > child; wait");
        tokio::pin!(call);
        tokio::select! {
            _ = &mut call => panic!("it must not end"),
            child = ground.number_in("child") => child,
        }
    };
    assert!(dies(away).await);
}

#[tokio::test]
async fn long_output_keeps_its_beginning_and_end_and_all_of_it_in_a_file() {
    let ground = ground();
    let outcome = ground.run("seq 1 100000").await;
    let text = &outcome.text;
    assert!(
        text.len() < ground.settings.shown_bytes + 1000,
        "{}",
        text.len()
    );
    assert!(text.starts_with("1\n2\n3\n"), "{text}");
    assert!(
        text.contains("\n99999\n100000\n\n[Showing the beginning"),
        "{text}"
    );
    let file = outcome.details.unwrap()["fullOutputPath"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.contains(&file), "{text}");
    let all: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert!(fs::read_to_string(&file).unwrap() == all);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(Path::new(&file)), 0o600);
        assert_eq!(mode(&ground.settings.outputs), 0o700);
    }
}

#[tokio::test]
async fn every_byte_is_shown_or_counted_at_every_length() {
    let mut ground = ground();
    ground.settings.shown_bytes = 30;
    for length in [1, 9, 10, 11, 29, 30, 31, 32, 100] {
        let outcome = ground
            .run(&format!("head -c {length} /dev/zero | tr '\\0' x"))
            .await;
        let shown = outcome.text.chars().filter(|c| *c == 'x').count() as u64;
        // The notice has an x of its own in the name of the file.
        let body = outcome.text.split("\n\n[Showing").next().unwrap();
        let body_shown = body.chars().filter(|c| *c == 'x').count() as u64;
        let left_out: u64 = body
            .split_once("[… ")
            .and_then(|(_, rest)| rest.split(' ').next())
            .map_or(0, |number| number.parse().unwrap());
        assert_eq!(body_shown + left_out, length, "{}", outcome.text);
        assert!(shown >= body_shown);
    }
}

#[tokio::test]
async fn a_hundred_megabytes_are_counted_and_kept_up_to_the_limit() {
    let mut ground = ground();
    ground.settings.kept_bytes = 1 << 20;
    let outcome = ground
        .run("head -c 104857600 /dev/zero | tr '\\0' x; echo; echo last")
        .await;
    assert!(!outcome.is_error, "{}", outcome.text);
    assert!(outcome.text.len() < ground.settings.shown_bytes + 1000);
    assert!(
        outcome.text.contains("\nlast\n\n["),
        "{}",
        &outcome.text[outcome.text.len() - 300..]
    );
    let details = outcome.details.unwrap();
    assert_eq!(details["bytes"], 104_857_606_u64);
    let file = details["fullOutputPath"].as_str().unwrap().to_owned();
    assert_eq!(fs::metadata(&file).unwrap().len(), 1 << 20);
    assert!(
        outcome.text.contains("The first 1048576 bytes"),
        "{}",
        outcome.text
    );
}

#[tokio::test]
async fn output_that_cannot_be_kept_is_said_and_the_command_goes_on() {
    let mut ground = ground();
    fs::write(ground.folder.path().join("file"), "").unwrap();
    ground.settings.outputs = ground.folder.path().join("file");
    let outcome = ground.run("seq 1 100000").await;
    assert!(!outcome.is_error);
    assert!(
        outcome.text.contains("could not be kept"),
        "{}",
        outcome.text
    );
}

#[tokio::test]
async fn a_shell_that_is_not_there_is_said() {
    let mut ground = ground();
    ground.settings.shell = "/no/such/shell".into();
    let outcome = ground.run("true").await;
    assert!(outcome.is_error);
    assert!(
        outcome.text.contains("\"/no/such/shell\" was not found"),
        "{}",
        outcome.text
    );
}

#[test]
fn output_is_cleaned_of_what_a_terminal_obeys() {
    assert_eq!(clean(b"\x1b[31mred\x1b[0m\n"), "red\n");
    assert_eq!(clean(b"\x1b]0;title\x07text"), "text");
    assert_eq!(clean(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
    assert_eq!(clean(b"a\r\nb\r\n"), "a\nb\n");
    assert_eq!(clean(b"10%\r50%\r100%\ndone\r"), "100%\ndone");
    assert_eq!(clean(b"bell\x07 \x00nul\ttab"), "bell nul\ttab");
    assert_eq!(clean(b"caf\xe9"), "caf\u{fffd}");
    assert_eq!(clean(b"\x1b["), "");
}
