//! The index as a file: made by several processes, cut short, damaged, locked,
//! not to be written, and its size.

use std::fs;
#[cfg(unix)]
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use crate::machine::Machine;
#[cfg(unix)]
use crate::machine::Ran;
use crate::searching::machine;
use crate::talk::compacted;

#[test]
fn a_second_run_writes_nothing_and_a_rebuild_all() {
    let machine = machine();
    let first = machine.run_line("memory index --json").json();
    let second = machine.run_line("memory index --json").json();
    let rebuilt = machine.run_line("memory index --rebuild --json").json();
    assert_eq!(second["written"], json!(0));
    assert_eq!(second["unchanged"], first["written"]);
    assert_eq!(rebuilt["written"], first["written"]);
}

/// Texts in many files, so that indexing them takes a while.
fn many(machine: &Machine, files: usize) {
    let folder = machine.work().join("memories/many");
    fs::create_dir_all(&folder).unwrap();
    for at in 0..files {
        let text = format!(
            "# File {at}\n\n{}",
            format!("lantern number {at} ").repeat(400)
        );
        fs::write(folder.join(format!("{at}.md")), text).unwrap();
    }
}

pub(crate) fn records(machine: &Machine) -> u64 {
    let ran = machine.run_line("memory index --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.json();
    assert_eq!(answer["setAside"], json!(null), "{answer:#}");
    answer["records"].as_u64().unwrap()
}

#[test]
fn two_processes_index_at_once_and_nothing_is_lost_or_doubled() {
    let machine = machine();
    many(&machine, 200);
    let spawn = || {
        let mut command = machine.command();
        command
            .args(["memory", "index", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let running: Vec<_> = (0..3).map(|_| spawn()).collect();
    for child in running {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
    let together = records(&machine);
    let rebuilt = machine.run_line("memory index --rebuild --json").json();
    assert_eq!(rebuilt["records"], together);
}

/// Runs a command and kills it after so many milliseconds; on a fast machine it
/// may have ended by itself.
fn killed_after(machine: &Machine, args: &[&str], pause: u64) {
    let mut child = machine
        .command()
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(pause));
    let _ = child.kill();
    child.wait().unwrap();
}

#[test]
fn an_index_whose_making_was_killed_is_completed_by_the_next() {
    let machine = machine();
    many(&machine, 300);
    for pause in [5, 20, 60, 120] {
        killed_after(&machine, &["memory", "index"], pause);
    }
    let completed = records(&machine);
    let rebuilt = machine.run_line("memory index --rebuild --json").json();
    assert_eq!(rebuilt["records"], completed);
    assert_eq!(machine.run_line("memory search lantern").code, 0);
}

#[test]
fn a_damaged_index_is_set_aside_and_a_locked_one_is_waited_for_and_told() {
    let machine = machine();
    let before = records(&machine);
    let index = index_file(&machine);
    // Another program keeps it.
    let keeper = rusqlite::Connection::open(&index).unwrap();
    keeper.execute_batch("BEGIN EXCLUSIVE").unwrap();
    fs::write(machine.work().join("memories/new.md"), "a new lantern\n").unwrap();
    let ran = machine.run_line("memory index");
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.err.contains("memory") && ran.err.contains(".sqlite"),
        "{ran:?}"
    );
    // What is in it is searched.
    let ran = machine.run_line("memory search deploy");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("TIDE-6943") && ran.err.contains("is locked"),
        "{ran:?}"
    );
    // Recall goes on without it.
    let ran = machine.run(["recall", "--session", "s", "missing header"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    keeper.execute_batch("ROLLBACK").unwrap();
    drop(keeper);
    assert_eq!(records(&machine), before + 1);
    fs::write(&index, "this is no database, and was one a moment ago").unwrap();
    let ran = machine.run_line("memory index");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("the index was damaged"), "{ran:?}");
    assert_eq!(records(&machine), before + 1);
}

/// Overwrites the page of the texts, which nothing reads before a search does.
pub(crate) fn spoil_texts(machine: &Machine) {
    let index = index_file(machine);
    let connection = rusqlite::Connection::open(&index).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'text'";
    let page: u32 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    let sql = "PRAGMA page_size";
    let bytes_a_page: u32 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = fs::read(&index).unwrap();
    let bytes_a_page = bytes_a_page as usize;
    let end = page as usize * bytes_a_page;
    bytes[end - bytes_a_page..end].fill(0xa5);
    fs::write(&index, bytes).unwrap();
}

pub(crate) fn index_file(machine: &Machine) -> std::path::PathBuf {
    fs::read_dir(machine.home().join(".longhaul/memory"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "sqlite"))
        .unwrap()
}

#[test]
fn damage_that_a_search_meets_is_told_and_costs_it_nothing() {
    let machine = machine();
    records(&machine);
    spoil_texts(&machine);
    let ran = machine.run_line("memory search deploy");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("memories/errors.md"), "{ran:?}");
    assert_eq!(ran.err.matches("was damaged").count(), 1, "{ran:?}");
    assert!(ran.err.contains(".corrupt-1"), "{ran:?}");
    let again = machine.run_line("memory search deploy");
    assert!(!again.err.contains("damaged"), "{again:?}");
}

#[test]
fn damage_that_only_sessions_meet_costs_no_second_command() {
    let machine = machine();
    let before = records(&machine);
    // Where the words are kept is spoilt, and another session is to be put in:
    // opening the file and looking at unchanged ones sees nothing of it.
    let spoilt = rusqlite::Connection::open(index_file(&machine)).unwrap();
    spoilt
        .execute_batch("UPDATE words_data SET block = x'ffffffffffff' WHERE id = 10")
        .unwrap();
    drop(spoilt);
    let session = compacted("t", &machine.work().to_string_lossy());
    machine.put_pi("t", session.text(), 1);
    // The one memory file, and two sessions of the same length.
    let all = 2 * before - 1;
    let ran = machine.run_line("memory index --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.json();
    assert_eq!(answer["records"], all, "{answer:#}");
    let aside = answer["setAside"].as_str().unwrap();
    let note = answer["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with("the index turned out damaged")
            && note.contains(aside.rsplit('/').next().unwrap())
            && note.ends_with("everything was indexed again"),
        "{note}"
    );
    assert_eq!(records(&machine), all);
    assert_eq!(machine.run_line("memory search header").code, 0);
}

#[cfg(unix)]
#[test]
fn a_state_folder_that_cannot_be_written_is_told_and_words_are_still_recalled() {
    use std::os::unix::fs::PermissionsExt;
    let machine = machine();
    let state = machine.home().join(".longhaul");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write anywhere; there is nothing to see then.
    let is_root = fs::write(state.join("probe"), "").is_ok();
    if is_root {
        eprintln!("skipped: this user may write anywhere");
    } else {
        let ran = machine.run_line("memory index");
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("/home/.longhaul/memory"), "{ran:?}");
        let ran = machine.run(["recall", "--session", "s", "missing header"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.starts_with("── recalled e03 "), "{ran:?}");
    }
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(unix)]
#[test]
fn an_index_that_may_only_be_read_is_searched_and_not_written() {
    use std::os::unix::fs::PermissionsExt;
    let machine = machine();
    records(&machine);
    let folder = machine.home().join(".longhaul/memory");
    let set = |folder_mode, file_mode| {
        for file in fs::read_dir(&folder).unwrap() {
            let mode = fs::Permissions::from_mode(file_mode);
            fs::set_permissions(file.unwrap().path(), mode).unwrap();
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(folder_mode)).unwrap();
    };
    set(0o500, 0o400);
    // Root may write anywhere; there is nothing to see then.
    if fs::write(folder.join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write anywhere");
    } else {
        let ran = machine.run_line("memory search deploy");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains("TIDE-6943"), "{ran:?}");
        let ran = machine.run_line("memory get memories/errors.md");
        assert_eq!(ran.code, 0, "{ran:?}");
        fs::write(machine.work().join("memories/new.md"), "a new lantern\n").unwrap();
        let ran = machine.run_line("memory search deploy");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ran.err.contains("memory files may have changed") && ran.err.contains("is read-only"),
            "{ran:?}"
        );
        let status = machine.run_line("memory status --json").json();
        assert_eq!(status["index"]["behind"]["new"], 1, "{status:#}");
        let ran = machine.run_line("memory index");
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("is read-only"), "{ran:?}");
        assert!(ran.err.contains("--state-dir"), "{ran:?}");
    }
    set(0o700, 0o600);
}

/// Runs a command that may not write to any file beyond so many blocks, as on a
/// full disk.
#[cfg(unix)]
pub(crate) fn with_room(machine: &Machine, blocks: u64, line: &str) -> Ran {
    let own = machine.command();
    let mut command = Command::new("sh");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    command.arg("-c").arg(script).arg(own.get_program());
    command.args(own.get_args()).args(line.split_whitespace());
    command.env_clear();
    let set = own.get_envs();
    command.envs(set.filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = own.get_current_dir() {
        command.current_dir(folder);
    }
    machine.finish(&mut command)
}

#[cfg(unix)]
#[test]
fn an_index_on_a_full_disk_is_searched_and_never_set_aside() {
    let machine = machine();
    let all = records(&machine);
    let index = index_file(&machine);
    let before = fs::read(&index).unwrap();
    let ran = with_room(&machine, 0, "memory search deploy");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("TIDE-6943"), "{ran:?}");
    assert!(
        ran.err.contains("was searched as it is") && ran.err.contains("the disk may be full"),
        "{ran:?}"
    );
    let status = with_room(&machine, 0, "memory status --json").json();
    assert_eq!(status["index"]["records"], all, "{status:#}");
    for line in ["memory index", "memory index --rebuild"] {
        let ran = with_room(&machine, 0, line);
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(ran.err.contains("the disk may be full"), "{line}: {ran:?}");
    }
    assert!(fs::read(&index).unwrap() == before, "the index has changed");
    let names = fs::read_dir(index.parent().unwrap()).unwrap();
    let mut names = names.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(!names.any(|name| name.contains("corrupt")));
    assert_eq!(records(&machine), all);
}

#[test]
fn a_search_makes_a_damaged_index_anew_and_the_status_says_that_it_is() {
    let machine = machine();
    let status = || machine.run_line("memory status --json").json()["index"].clone();
    assert_eq!(status()["state"], "none");
    records(&machine);
    let index = index_file(&machine);
    fs::write(&index, "this is no database, and was one a moment ago").unwrap();
    assert_eq!(status()["state"], "damaged");
    let shown = machine.run_line("memory status");
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("damaged ("), "{shown:?}");
    let ran = machine.run_line("memory search deploy");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("TIDE-6943") && ran.err.contains("was damaged"),
        "{ran:?}"
    );
    // Sessions are missing until they are taken in again, and that is told.
    for _ in 0..2 {
        assert_eq!(status()["state"], "incomplete");
        let ran = machine.run_line("memory search deploy");
        assert!(ran.err.contains("the index is incomplete"), "{ran:?}");
    }
    machine.run_line("memory index --no-sessions");
    assert_eq!(status()["state"], "incomplete");
    let ran = machine.run_line("memory index");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(status()["state"], "current");
    // Damage that only the search itself meets.
    let spoilt = rusqlite::Connection::open(&index).unwrap();
    let spoil = "UPDATE words_data SET block = x'ffffffffffff' WHERE id = 10";
    spoilt.execute_batch(spoil).unwrap();
    drop(spoilt);
    let ran = machine.run_line("memory search deploy");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("TIDE-6943") && ran.err.contains("was damaged"),
        "{ran:?}"
    );
}

#[test]
fn an_index_whose_file_was_deleted_or_emptied_is_incomplete_before_a_search_too() {
    let machine = machine();
    records(&machine);
    let status = || machine.run_line("memory status --json").json()["index"].clone();
    let index = index_file(&machine);
    assert_eq!(status()["state"], "current");
    fs::write(&index, "").unwrap();
    assert_eq!(status()["state"], "incomplete");
    fs::remove_file(&index).unwrap();
    assert_eq!(status()["state"], "incomplete");
    let shown = machine.run_line("memory status");
    assert!(
        shown.out.contains("incomplete: its file was deleted"),
        "{shown:?}"
    );
    machine.run_line("memory index");
    assert_eq!(status()["state"], "current");
}

#[cfg(unix)]
#[test]
fn sessions_that_were_not_all_taken_in_are_told_until_they_are() {
    let machine = machine();
    records(&machine);
    let work = machine.work().to_string_lossy().into_owned();
    let mut text = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"t\",\"cwd\":{}}}\n",
        json!(work)
    );
    for at in 0..4_000_u32 {
        // Words that cannot be packed.
        let words: Vec<String> = (0..60)
            .map(|one| format!("{:08x}", (at * 60 + one).wrapping_mul(2_654_435_761)))
            .collect();
        text.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"m{at}\",\"message\":{{\"role\":\"user\",\
             \"content\":\"{}\"}}}}\n",
            words.join(" ")
        ));
    }
    machine.put_pi("t", text, 1);
    let ran = with_room(&machine, 1_000, "memory index");
    assert_eq!(ran.code, 1, "{ran:?}");
    let state = || machine.run_line("memory status --json").json()["index"]["state"].clone();
    assert_eq!(state(), "incomplete");
    let ran = machine.run_line("memory search deploy");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("the index is incomplete"), "{ran:?}");
    records(&machine);
    assert_eq!(state(), "current");
}

#[test]
fn the_size_that_is_told_is_the_size_that_stays() {
    let machine = machine();
    many(&machine, 60);
    let told = machine.run_line("memory index --json").json();
    let stays = fs::metadata(index_file(&machine)).unwrap().len();
    assert_eq!(told["diskBytes"], json!(stays));
}

#[test]
fn a_rebuild_that_was_cut_short_is_told_until_it_is_completed() {
    let machine = machine();
    many(&machine, 300);
    let all = records(&machine);
    for pause in [20, 60, 120, 240, 480] {
        killed_after(&machine, &["memory", "index", "--rebuild"], pause);
        let index = &machine.run_line("memory status --json").json()["index"];
        let ran = machine.run_line("memory search lantern --json");
        let told = format!("{}{}", ran.out, ran.err);
        match index["state"] == "incomplete" {
            true => {
                assert!(told.contains("the index is incomplete"), "{told}");
                let shown = machine.run_line("memory status");
                assert!(
                    shown.out.contains("`longhaul memory index` completes it"),
                    "{shown:?}"
                );
            }
            false => assert_eq!(index["records"], all, "{index:#}"),
        }
    }
    assert_eq!(records(&machine), all);
    let index = &machine.run_line("memory status --json").json()["index"];
    assert_eq!(index["state"], "current", "{index:#}");
}
