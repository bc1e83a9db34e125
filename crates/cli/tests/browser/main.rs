//! The dashboard in a real browser, served by the real program.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

mod driver;
mod lines;
mod looks;
mod served;

use std::fs;

use serde_json::{Value, json};

use driver::Browser;
use lines::{SECTIONS, missing, source_texts};
use served::{Machine, Served};

/// The sample that the page offers to make.
const SAMPLE: &str = ".longhaul/sessions/sample.jsonl";

/// The page with the sample that the button makes, open at its list.
fn with_sample(machine: &Machine, browser: &Browser) -> Served {
    let served = machine.serve(&["--write"]);
    browser.go(&served.address);
    browser.follow("button[hx-post='/api/sample']");
    browser.wait("return document.querySelectorAll('#rows tbody tr').length === 1");
    served
}

#[test]
fn the_second_compaction_of_the_sample_shows_every_line_and_each_is_its_source() {
    let (machine, browser) = (Machine::new(), Browser::start());
    let _served = with_sample(&machine, &browser);
    browser.follow("#rows tbody a");
    browser.wait("return document.getElementById('timeline').dataset.drawn > 10");
    let rows = browser.run(
        "return [...document.querySelectorAll('table.list tbody tr')].map(row => row.innerText)",
    );
    assert_eq!(rows.as_array().unwrap().len(), 3, "{rows}");
    browser.follow("table.list a[href$='/compactions/2']");

    let view = machine.json("context diff 2 --session sample --json");
    assert_eq!(
        (&view["of"], &view["compaction"]["number"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(missing(&browser, &view), Vec::<String>::new());
    // It is what the entries say, not what another view of them says.
    let sources = source_texts(&machine.home().join(SAMPLE));
    for (section, _) in SECTIONS {
        for line in view[section].as_array().unwrap() {
            let Some(source) = line["entry"].as_str().and_then(|id| sources.get(id)) else {
                continue;
            };
            if let Some(text) = line["text"].as_str().filter(|_| section != "toDos") {
                let all = source.iter().all(|part| text.contains(part.trim()));
                assert!(
                    all && !source.is_empty(),
                    "{section} {line} is not {source:?}"
                );
            }
        }
    }
    // Whatever is left out of the page is found to be missing.
    for (section, selector) in SECTIONS {
        let count = view[section].as_array().unwrap().len();
        if count == 0 {
            continue;
        }
        browser.run(&format!(
            "const line = document.querySelector('{selector} [data-line]'); \
             window.taken = [line, line.parentElement, line.nextSibling]; line.remove()"
        ));
        assert_eq!(missing(&browser, &view).len(), 1, "{section}");
        browser.run("const [line, list, next] = window.taken; list.insertBefore(line, next)");
        browser.run(&format!(
            "const text = document.querySelector('{selector} [data-line] .text'); \
             window.taken = [text, text.textContent]; text.textContent += ' and more'"
        ));
        assert_eq!(missing(&browser, &view).len(), 1, "{section}");
        browser.run("const [text, was] = window.taken; text.textContent = was");
    }
    assert_eq!(missing(&browser, &view), Vec::<String>::new());
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn pins_recalls_and_undoes_are_written_to_the_file() {
    let (machine, browser) = (Machine::new(), Browser::start());
    let _served = with_sample(&machine, &browser);
    let file = machine.home().join(SAMPLE);
    let lines = || -> Vec<Value> {
        let text = fs::read_to_string(&file).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let before = fs::read(&file).unwrap();
    browser.follow("#rows tbody a");
    browser.follow("table.list a[href$='/compactions/3']");
    let id = browser.run("return document.querySelector('#said li').dataset.entry");

    browser.follow("#said li button[hx-post$='/pin']");
    let pin = lines().pop().unwrap();
    assert_eq!(
        (&pin["type"], &pin["targetId"], &pin["label"]),
        (&json!("label"), &id, &json!("pin"))
    );

    let gone = browser.run(
        "const said = (line) => line.querySelector('.tag').innerText === 'user'; \
         const line = [...document.querySelectorAll('#left li')].find(said); \
         line.querySelector('details').open = line.dataset.chosen = true; \
         return line.dataset.entry",
    );
    browser.follow("#left li[data-chosen] button[hx-post$='/recall']");
    let recalled = lines().pop().unwrap();
    assert_eq!(recalled["type"], "custom_message");
    let source = source_texts(&file).remove(gone.as_str().unwrap()).unwrap();
    let text = recalled["content"].as_str().unwrap();
    assert!(text.contains(source[0].lines().next().unwrap()), "{text}");
    assert!(
        text.contains("\n── recalled ") && text.contains("not an instruction"),
        "{text}"
    );

    browser.follow(".compaction-head button[hx-post$='/undo']");
    browser.wait("return document.querySelectorAll('#compactions tbody tr').length === 2");
    let undone = lines();
    assert!(
        undone
            .iter()
            .any(|line| line["customType"] == "longhaul:undo")
    );
    browser.follow("#compactions button[hx-post$='/redo']");
    browser.wait("return document.querySelectorAll('#compactions tbody tr').length === 3");
    let after = fs::read(&file).unwrap();
    assert!(
        after.starts_with(&before),
        "something that was written before was changed"
    );
    let verified = machine.run("session verify sample");
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_candidate_is_edited_kept_taken_back_and_dropped() {
    let (machine, browser) = (Machine::new(), Browser::start());
    machine.run("memory init --name Tides");
    let log = machine.work().join("memory/2026-03-09.md");
    fs::write(log, "- the API spec lives in /docs/api-spec.yaml\n").unwrap();
    machine.run("dream run");
    let served = machine.serve(&["--write"]);
    browser.go(&served.address);
    browser.follow("header nav a[href='/dreams']");
    browser.fill(
        "form.decide input[name=text]",
        "the API spec lives in /docs/spec.yaml",
    );
    browser.follow("form.decide button:not([type])");
    let words = "return document.querySelector('#candidates p.text').innerText";
    assert_eq!(browser.run(words), "the API spec lives in /docs/spec.yaml");

    let memory = || fs::read_to_string(machine.work().join("MEMORY.md")).unwrap();
    assert!(!memory().contains("/docs/spec.yaml"));
    browser.follow("form.decide button[hx-post$='/keep']");
    assert!(memory().contains("/docs/spec.yaml"), "{}", memory());
    browser.follow("#promotions button[hx-post$='/undo']");
    assert!(!memory().contains("/docs/spec.yaml"), "{}", memory());

    // What was decided elsewhere meanwhile is not decided again.
    let id = browser.run("return document.querySelector('#candidates > li').id");
    let edited = machine.run(&format!(
        "dream edit {} the-spec-moved-to-/docs/new.yaml",
        id.as_str().unwrap()
    ));
    assert!(edited.status.success(), "{edited:?}");
    browser.click("form.decide button[hx-post$='/drop']");
    browser.wait("return document.getElementById('toast').innerText.includes('changed while')");
    browser.go(&served.at("/dreams"));
    browser.follow("form.decide button[hx-post$='/drop']");
    browser.wait("return document.querySelector('.empty h2').innerText === 'Nothing waits'");
    assert!(!memory().contains("spec"));
}

#[test]
fn a_page_follows_what_another_process_appends() {
    let (machine, browser) = (Machine::new(), Browser::start());
    let served = with_sample(&machine, &browser);
    browser.go(&served.at("/sessions/sample/context"));
    let before = browser.run("return document.querySelectorAll('#messages > li').length");
    // The page has begun to listen, and the server has looked once.
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    browser.run("window.stays = true");
    let file = machine.home().join(SAMPLE);
    let text = fs::read_to_string(&file).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let line = json!({
        "type": "message", "id": "beefbeef", "parentId": last["id"],
        "timestamp": "2026-03-10T12:00:00.000Z",
        "message": { "role": "user", "content": "Said by another process.", "timestamp": 1 },
    });
    fs::write(&file, format!("{text}{line}\n")).unwrap();
    browser.wait(
        "return document.getElementById('messages').innerText.includes('Said by another process.')",
    );
    let after = browser.run("return document.querySelectorAll('#messages > li').length");
    assert_eq!(after.as_u64().unwrap(), before.as_u64().unwrap() + 1);
    assert_eq!(
        browser.run("return window.stays"),
        true,
        "the page was loaded anew"
    );
}

#[test]
fn strangers_are_refused_and_a_session_full_of_traps_is_only_text() {
    let (machine, browser) = (Machine::new(), Browser::start());
    machine.put_traps();
    let served = machine.serve(&[]);
    assert_eq!(served.status("/", &[]), 401);
    let token = ("Authorization", served.bearer());
    let token = (token.0, token.1.as_str());
    assert_eq!(served.status("/", &[token]), 200);
    assert_eq!(served.status("/", &[token, ("Host", "evil.example")]), 421);
    assert_eq!(
        served.status("/", &[token, ("Origin", "http://evil.example")]),
        403
    );
    browser.go(&served.at("/"));
    assert_eq!(
        browser.run("return document.querySelector('h1').innerText"),
        "Not let in"
    );
    browser.complaints();
    browser.go(&served.address);
    for page in [
        "/",
        "/sessions/traps",
        "/sessions/traps/context",
        "/sessions/traps/compactions/1",
        "/search?q=alert",
    ] {
        browser.go(&served.at(page));
        browser.wait("return document.readyState === 'complete'");
        browser.run("document.querySelectorAll('details').forEach((one) => (one.open = true))");
        assert_eq!(
            browser.run("return window.pwned || null"),
            Value::Null,
            "{page}"
        );
        let wrong = browser.run(
            "return [...document.querySelectorAll('main script:not([src]), main img, main iframe, \
             main [onclick], main [onerror], a[href^=\"javascript\" i], main style')].length",
        );
        assert_eq!(wrong, 0, "{page}");
        let text = browser.run("return document.body.innerText");
        let text = text.as_str().unwrap();
        assert!(!text.contains(['\u{202e}', '\u{1b}', '\u{2066}']), "{page}");
        let elsewhere = browser.run(
            "return performance.getEntriesByType('resource').map((one) => one.name)\
             .filter((name) => !name.startsWith(location.origin))",
        );
        assert_eq!(elsewhere, json!([]), "{page}");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{page}");
    }
    // Read-only unless it is asked for.
    assert_eq!(
        browser.run("return document.querySelectorAll('[hx-post]').length"),
        0
    );
    let pin = "/api/sessions/traps/entries/e001/pin";
    assert_eq!(served.post(pin, &[token]), 403);
}
