//! `memory model use`: which of several installed models is used, and why.

use std::fs;
use std::path::PathBuf;

use longhaul_testkit::encoder;
use serde_json::{Value, json};

use crate::machine::Machine;

/// The folder of a static model with a few words.
pub(crate) fn static_model(machine: &Machine, name: &str, step: usize) -> PathBuf {
    let folder = machine.home().join(name);
    encoder::put(&folder, 9, step);
    folder
}

/// A machine with three static models.
fn machine() -> Machine {
    let machine = Machine::new();
    for (name, step) in [("alder", 7919), ("birch", 104_729), ("cedar", 1_299_709)] {
        let from = static_model(&machine, name, step);
        let ran = machine.run(["memory", "model", "add", from.to_str().unwrap()]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    machine
}

/// Which model is active, without its hash, and why.
fn active(machine: &Machine) -> (String, String) {
    let status = machine.run_line("memory status --json").json();
    let embedding = &status["embedding"];
    let model = embedding["model"].as_str().unwrap_or("none@");
    let name = model.split('@').next().unwrap().to_owned();
    (
        name,
        embedding["why"].as_str().unwrap_or_default().to_owned(),
    )
}

fn configure(machine: &Machine, embedding: Value) {
    let config = json!({ "memory": { "embedding": embedding } });
    machine.put(".longhaul/longhaul.json5", config.to_string(), 1);
}

#[test]
fn of_several_models_the_chosen_one_is_used_until_it_is_chosen_no_more() {
    let machine = machine();
    let (name, why) = active(&machine);
    assert_eq!(name, "alder");
    assert!(why.contains("first by name of 3"), "{why}");
    let ran = machine.run_line("memory model use birch");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("birch@"), "{ran:?}");
    let (name, why) = active(&machine);
    assert_eq!(name, "birch");
    assert!(why.contains("memory model use"), "{why}");
    let shown = machine.run_line("memory status").out;
    assert!(shown.contains("birch@") && shown.contains(&why), "{shown}");
    let listed = machine.run_line("memory model list").out;
    assert!(listed.starts_with("birch@"), "{listed}");
    let ran = machine.run_line("memory model use --auto");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(active(&machine).0, "alder");
}

#[test]
fn where_nothing_is_installed_nothing_is_chosen_and_that_is_said() {
    let machine = Machine::new();
    let ran = machine.run_line("memory model use --auto");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("no model is active"), "{ran:?}");
    assert!(ran.out.contains("words alone"), "{ran:?}");
}

#[test]
fn the_configuration_goes_before_the_choice_and_says_so() {
    let machine = machine();
    configure(&machine, json!({ "model": "cedar" }));
    let (name, why) = active(&machine);
    assert_eq!(name, "cedar");
    assert!(why.contains("memory.embedding.model"), "{why}");
    let ran = machine.run_line("memory model use birch");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("birch was chosen and is not active"),
        "{ran:?}"
    );
    // A name that fits nothing here may be that of an endpoint's model.
    configure(&machine, json!({ "model": "text-embedding-3-small" }));
    assert_eq!(active(&machine).0, "birch");
    let reasons = machine.run_line("memory status --json").json()["embedding"]["reasons"].clone();
    assert!(
        reasons.to_string().contains("text-embedding-3-small"),
        "{reasons}"
    );
    // Asked for by kind and name, nothing takes its place.
    configure(&machine, json!({ "provider": "static", "model": "pine" }));
    assert_eq!(active(&machine).0, "none");
    configure(&machine, json!({ "provider": "static" }));
    assert_eq!(active(&machine).0, "birch");
}

#[test]
fn a_model_that_is_not_there_is_not_chosen_and_one_that_goes_is_told() {
    let machine = machine();
    let ran = machine.run_line("memory model use pine");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("alder, birch, cedar"), "{ran:?}");
    assert_eq!(machine.run_line("memory model use").code, 2);
    assert_eq!(machine.run_line("memory model use birch").code, 0);
    fs::remove_dir_all(machine.home().join(".longhaul/models/birch")).unwrap();
    // Its vectors are in the index: those of another would not go with them.
    assert_eq!(active(&machine).0, "none");
    let shown = machine.run_line("memory status").out;
    assert!(
        shown.contains("no model is called \"birch\" any more"),
        "{shown}"
    );
    assert_eq!(machine.run_line("memory model use cedar").code, 0);
    assert_eq!(machine.run_line("memory model remove cedar").code, 0);
    assert_eq!(active(&machine).0, "alder");
}
