//! Servers that keep the index of memory files up to date while they wait.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hosting_client;
use crate::machine::Machine;
use crate::mcp;

/// The index as `memory status` tells of it, which changes nothing in it.
fn index(machine: &Machine) -> Value {
    let ran = machine.run_line("memory status --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()["index"].clone()
}

/// Waits until everything in the workspace is indexed, which nobody searched.
fn wait_until_current(machine: &Machine, records: u64) {
    let begun = Instant::now();
    loop {
        let index = index(machine);
        let behind = &index["behind"];
        let sum: u64 = ["new", "changed", "gone"]
            .iter()
            .filter_map(|kind| behind[*kind].as_u64())
            .sum();
        if index["records"] == records && sum == 0 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{index}");
        sleep(Duration::from_millis(100));
    }
}

fn note(machine: &Machine, name: &str, text: &str) {
    let path = machine.work().join("memories").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn follows_notes(machine: &Machine) {
    wait_until_current(machine, 1);
    note(machine, "errors.md", "The crane fails below zero.\n");
    wait_until_current(machine, 2);
    let work = machine.work().join("memories");
    fs::rename(work.join("errors.md"), work.join("faults.md")).unwrap();
    wait_until_current(machine, 2);
    fs::remove_file(work.join("faults.md")).unwrap();
    wait_until_current(machine, 1);
}

#[test]
fn notes_that_change_beside_an_mcp_server_are_indexed_before_anybody_searches() {
    let machine = mcp::machine();
    note(&machine, "project.md", "The harbour master is Ada.\n");
    let client = mcp::Client::start(&machine);
    follows_notes(&machine);
    assert_eq!(client.end().0, 0);
}

#[test]
fn notes_that_change_beside_a_host_are_indexed_before_anybody_searches() {
    let machine = Machine::new();
    note(&machine, "project.md", "The harbour master is Ada.\n");
    let client = hosting_client::Client::ready(&machine);
    follows_notes(&machine);
    assert!(client.end());
}

#[test]
fn where_no_index_is_wanted_no_server_makes_one() {
    let machine = mcp::machine();
    note(&machine, "project.md", "The harbour master is Ada.\n");
    let settings = json!({ "memory": { "index": { "enabled": false } } });
    machine.put(".longhaul/longhaul.json5", settings.to_string(), 1);
    let mut client = mcp::Client::start(&machine);
    let found = client.text("recall", json!({ "text": "harbour" }));
    assert!(!found.is_empty());
    assert_eq!(client.end().0, 0);
    let client = hosting_client::Client::ready(&machine);
    assert!(client.end());
    let made: Vec<PathBuf> = machine.files().into_keys().collect();
    let is_index = |path: &PathBuf| path.to_string_lossy().contains(".sqlite");
    assert!(!made.iter().any(is_index), "{made:?}");
}
