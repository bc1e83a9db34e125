//! Vectors that an endpoint makes: whether it is asked, what it gets, and what
//! its faults cost.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use longhaul_testkit::loopback::{Loopback, Recorded, Reply};
use serde_json::json;

use crate::hosting_client;
use crate::machine::Machine;
use crate::mcp;
use crate::searching::machine;

/// Vectors by what a text is about: boats, food, or something else.
fn embeddings(request: &Recorded) -> Reply {
    let body = request.json();
    let texts = body["input"].as_array().unwrap();
    let vector = |text: &str| match text.to_lowercase() {
        text if text.contains("vessel") || text.contains("boat") => [1.0, 0.0, 0.0],
        text if text.contains("soup") => [0.0, 1.0, 0.0],
        _ => [0.0, 0.0, 1.0],
    };
    let data: Vec<serde_json::Value> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| json!({ "index": at, "embedding": vector(text.as_str().unwrap()) }))
        .collect();
    Reply::json(200, &json!({ "data": data }))
}

fn configure(machine: &Machine, embedding: serde_json::Value) {
    let config = json!({ "memory": { "embedding": embedding } });
    machine.put(".longhaul/longhaul.json5", config.to_string(), 1);
}

#[test]
fn an_endpoint_that_is_named_finds_other_words_and_gets_no_secret() {
    let machine = machine();
    let work = machine.work();
    fs::write(
        work.join("memories/project.md"),
        "The vessel sails at dawn.\n",
    )
    .unwrap();
    fs::write(
        work.join("memories/context.md"),
        "Soup is served at noon.\n",
    )
    .unwrap();
    let server = Loopback::start(embeddings).unwrap();
    let settings = json!({ "baseUrl": server.url(), "model": "toy", "apiKeyEnv": "TOY_KEY" });
    configure(&machine, settings);
    let run = |line: &[&str]| {
        let mut command = machine.command();
        machine.finish(command.env("TOY_KEY", "a-key-of-the-user").args(line))
    };
    let indexed = run(&["memory", "index", "--json"]).json();
    assert_eq!(indexed["vectorsMissing"], 0, "{indexed:#}");
    let name = format!("toy@{}/v1/embeddings", server.url());
    assert_eq!(indexed["model"], *name);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let question = format!("boats {secret}");
    let found = run(&["memory", "search", &question, "--json"]).json();
    assert_eq!(
        found["hits"][0]["source"], "memories/project.md",
        "{found:#}"
    );
    assert_eq!(found["hits"][0]["why"]["vector"], 1.0);
    assert_eq!([&found["model"], &found["embedding"]["model"]], [&*name; 2]);
    assert_eq!(found["embedding"]["active"], "openai-compatible");
    let asked = server.requests();
    assert!(asked.iter().all(|one| one.path == "/v1/embeddings"
        && one.header("authorization") == Some("Bearer a-key-of-the-user")));
    assert!(
        asked
            .iter()
            .all(|one| !String::from_utf8_lossy(&one.body).contains(&secret))
    );
    // What it told is nowhere on disk.
    for (path, (bytes, _)) in machine.files() {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains("a-key-of-the-user"), "{}", path.display());
    }
}

#[test]
fn an_endpoint_that_changes_the_length_of_its_vectors_has_them_all_made_anew() {
    let machine = machine();
    let halved = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&halved);
    let server = Loopback::start(move |request| {
        let half = asked.load(Ordering::SeqCst);
        let texts = request.json()["input"].as_array().unwrap().len();
        let vector = if half { vec![0.5; 4] } else { vec![0.5; 8] };
        let data: Vec<serde_json::Value> = (0..texts)
            .map(|at| json!({ "index": at, "embedding": vector }))
            .collect();
        Reply::json(200, &json!({ "data": data }))
    })
    .unwrap();
    configure(&machine, json!({ "baseUrl": server.url(), "model": "toy" }));
    let index = || {
        let indexed = machine.run_line("memory index --json").json();
        let chunks = indexed["chunks"].as_u64().unwrap();
        assert!(chunks > 1, "{indexed:#}");
        assert_eq!(indexed["vectors"], chunks, "{indexed:#}");
    };
    index();
    halved.store(true, Ordering::SeqCst);
    let found = machine.run_line("memory search deploy --json").json();
    let notes = found["notes"].to_string();
    assert!(notes.contains("no chunk has a vector"), "{found:#}");
    index();
    let found = machine.run_line("memory search deploy --json").json();
    assert_eq!(found["notes"], json!([]), "{found:#}");
    assert_eq!(found["embedding"]["active"], "openai-compatible");
}

#[test]
fn an_endpoint_that_answers_with_zeros_is_not_used_and_told() {
    let machine = machine();
    let server = Loopback::start(|request| {
        let texts = request.json()["input"].as_array().unwrap().len();
        let data: Vec<serde_json::Value> = (0..texts)
            .map(|at| json!({ "index": at, "embedding": [0.0, 0.0, 0.0] }))
            .collect();
        Reply::json(200, &json!({ "data": data }))
    })
    .unwrap();
    configure(&machine, json!({ "baseUrl": server.url(), "model": "toy" }));
    let ran = machine.run_line("memory index --json");
    assert!(ran.err.contains("all zeros"), "{ran:?}");
    assert_eq!(ran.json()["vectors"], 0, "{ran:?}");
}

#[test]
fn texts_that_an_endpoint_refuses_are_counted_and_keep_no_other_from_its_vector() {
    let machine = machine();
    let memories = machine.work().join("memories");
    for number in 0..40 {
        let note = format!("Note {number} is about boats.\n");
        fs::write(memories.join(format!("note-{number}.md")), note).unwrap();
    }
    fs::write(memories.join("hashes.md"), "0xUNTAKEN\n").unwrap();
    let server = Loopback::start(|request| {
        let body = request.json();
        let texts = body["input"].as_array().unwrap();
        if texts.len() > 10 {
            let message = "batch size is invalid, it should not be larger than 10";
            return Reply::json(400, &json!({ "error": { "message": message } }));
        }
        if texts
            .iter()
            .any(|text| text.as_str().unwrap().contains("0x"))
        {
            let message = "input (531 tokens) is too large to process. increase the physical \
                           batch size (current batch size: 512)";
            return Reply::json(500, &json!({ "error": { "message": message } }));
        }
        embeddings(request)
    })
    .unwrap();
    configure(&machine, json!({ "baseUrl": server.url(), "model": "toy" }));
    for _ in 0..2 {
        let indexed = machine.run_line("memory index --json").json();
        let chunks = indexed["chunks"].as_u64().unwrap();
        assert_eq!(indexed["vectors"], chunks - 1, "{indexed:#}");
        assert_eq!(indexed["vectorsMissing"], 0, "{indexed:#}");
        assert_eq!(indexed["vectorsRefused"], 1, "{indexed:#}");
    }
    let status = machine.run_line("memory status");
    assert!(
        status.out.contains("; 1 refused by the model"),
        "{status:?}"
    );
}

#[test]
fn an_endpoint_that_is_away_costs_the_vectors_and_is_told() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    let server =
        Loopback::start(|_| Reply::json(401, &json!({ "error": { "message": "no such key" } })))
            .unwrap();
    configure(&machine, json!({ "baseUrl": server.url(), "model": "toy" }));
    let ran = machine.run_line("memory search deploy --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("the endpoint is not used"), "{ran:?}");
    let embedding = &ran.json()["embedding"];
    assert_eq!(
        [&embedding["active"], &embedding["model"]],
        [&json!("none"), &json!(null)]
    );
    let status = machine.run_line("memory status");
    assert!(
        status.out.contains("no local encoder is installed"),
        "{status:?}"
    );
    assert!(status.out.contains("no such key"), "{status:?}");
    assert!(
        status.out.contains("no static model is installed"),
        "{status:?}"
    );
}

#[test]
fn a_host_is_served_whether_its_endpoint_is_well_or_not() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    for is_well in [false, true] {
        let server = Loopback::start(move |request| match is_well {
            true => embeddings(request),
            false => Reply::json(500, &json!({ "error": { "message": "out of order" } })),
        })
        .unwrap();
        configure(&machine, json!({ "baseUrl": server.url(), "model": "toy" }));
        assert!(hosting_client::Client::ready(&machine).end());
        let mut client = mcp::Client::start(&machine);
        let found = client.text("memory_search", json!({ "query": "deploy" }));
        assert!(found.contains("deploy"), "{found}");
        assert_eq!(client.end().0, 0);
        assert!(!server.requests().is_empty());
    }
}

#[test]
fn an_endpoint_that_was_away_when_a_host_began_is_used_once_it_answers() {
    let machine = machine();
    let server = Loopback::start(|request| match request.number {
        0 => Reply::json(500, &json!({ "error": { "message": "out of order" } })),
        _ => embeddings(request),
    })
    .unwrap();
    configure(&machine, json!({ "baseUrl": server.url(), "model": "toy" }));
    let mut client = mcp::Client::start(&machine);
    let mut search = || client.text("memory_search", json!({ "query": "deploy" }));
    let found = search();
    assert!(found.contains("words alone for now: "), "{found}");
    let is_back = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        search().contains("(found by toy@")
    });
    assert!(is_back, "{}", server.requests().len());
    assert_eq!(client.end().0, 0);
}

#[test]
fn a_search_asks_an_endpoint_that_hangs_once_and_goes_by_words() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    let server = Loopback::start(|_| Reply::silence()).unwrap();
    configure(&machine, json!({ "baseUrl": server.url(), "model": "toy" }));
    let ran = machine.run_line("memory search deploy --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("the endpoint is not used"), "{ran:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn nothing_is_sent_anywhere_unless_an_endpoint_is_named() {
    let machine = machine();
    let server = Loopback::start(embeddings).unwrap();
    let run = |line: &str| {
        let mut command = machine.command();
        command
            .env("OPENAI_API_KEY", "k")
            .env("HTTPS_PROXY", server.url());
        machine.finish(command.args(line.split_whitespace()))
    };
    assert_eq!(run("memory index").code, 0);
    assert_eq!(run("memory search deploy").code, 0);
    let url = server.url();
    configure(
        &machine,
        json!({ "provider": "none", "baseUrl": url, "model": "toy" }),
    );
    assert_eq!(run("memory search deploy").code, 0);
    let status = run("memory status --json").json();
    assert_eq!(status["embedding"]["active"], "none");
    assert_eq!(
        status["embedding"]["reasons"],
        json!(["`memory.embedding.provider` is none"])
    );
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn the_status_says_how_many_vectors_are_made() {
    let machine = machine();
    let server = Loopback::start(embeddings).unwrap();
    configure(&machine, json!({ "baseUrl": server.url(), "model": "toy" }));
    let indexed = machine.run_line("memory index --no-vectors --json").json();
    let chunks = indexed["chunks"].as_u64().unwrap();
    let index = || machine.run_line("memory status --json").json()["index"].clone();
    assert_eq!(index()["vectors"], 0);
    let shown = machine.run_line("memory status");
    assert!(
        shown.out.contains(&format!(", 0 of {chunks} chunks made")),
        "{shown:?}"
    );
    assert_eq!(machine.run_line("memory index").code, 0);
    assert_eq!(index()["vectors"], chunks);
}
