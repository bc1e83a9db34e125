//! How the pages look: accessible, nothing cut off, and their pictures for the book.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::driver::Browser;
use crate::served::Machine;
use crate::with_sample;

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// What `axe-core` finds serious or critical, with where.
const FAULTS: &str = "
    axe.run(document, { resultTypes: ['violations'] }).then((found) => done(found.violations
        .filter((one) => one.impact === 'serious' || one.impact === 'critical')
        .map((one) => one.id + ': ' + one.nodes.map((node) => node.target.join(' ')).slice(0, 5).join(' | '))),
        (error) => done(['axe: ' + error]));";

#[test]
fn pages_are_accessible_and_fit_at_every_width_light_and_dark() {
    let axe = target().join("tools/axe/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(&axe).unwrap_or_else(|error| {
        panic!(
            "axe-core is not at {} ({error}): `cargo xtask test` installs it",
            axe.display()
        )
    });
    let (machine, browser) = (Machine::new(), Browser::start());
    machine.run("memory init --name Tides");
    let log = machine.work().join("memory/2026-03-09.md");
    std::fs::write(log, "- the API spec lives in /docs/api-spec.yaml\n").unwrap();
    machine.run("dream run");
    browser.looks(1280, "light");
    let empty = machine.serve(&[]);
    browser.go(&empty.address);
    browser.picture(&target().join("screenshots/empty-1280-light.png"));
    drop(empty);
    let served = with_sample(&machine, &browser);
    let pages = [
        ("sessions", "/"),
        ("timeline", "/sessions/sample"),
        ("compactions", "/sessions/sample/compactions"),
        ("compaction", "/sessions/sample/compactions/2"),
        ("context", "/sessions/sample/context"),
        ("search", "/search?q=failing"),
        ("memory", "/memory"),
        ("dreams", "/dreams"),
        ("error", "/nowhere"),
    ];
    for (width, theme) in [
        (1280, "light"),
        (1280, "dark"),
        (390, "light"),
        (390, "dark"),
    ] {
        browser.looks(width, theme);
        for (name, path) in pages {
            browser.go(&served.at(path));
            browser.wait("return document.readyState === 'complete'");
            if name == "timeline" {
                browser.wait("return document.getElementById('timeline').dataset.drawn > 10");
            }
            let file = format!("screenshots/{name}-{width}-{theme}.png");
            browser.picture(&target().join(file));
            let wide = browser.run("return document.documentElement.scrollWidth");
            assert!(
                wide.as_u64().unwrap() <= u64::from(width),
                "{name} is {wide} wide at {width}"
            );
            browser.run(&format!("{axe}; return true"));
            assert_eq!(
                browser.run_to_end(FAULTS),
                json!([]),
                "{name} at {width}, {theme}"
            );
        }
    }
    // Those of the book, which say nothing of the machine.
    browser.looks(1000, "light");
    browser.go(&served.at("/sessions/sample"));
    browser.wait("return document.getElementById('timeline').dataset.drawn > 10");
    browser.picture_of(
        ".chart-card",
        &target().join("screenshots/book/timeline.png"),
    );
    browser.go(&served.at("/sessions/sample/compactions/2"));
    browser.picture(&target().join("screenshots/book/compaction.png"));
    // Nothing moves once it is there.
    browser.looks(1280, "light");
    browser.go(&served.at("/sessions/sample"));
    browser.wait("return document.getElementById('timeline').dataset.drawn > 10");
    let shift = browser.run_to_end(
        "new PerformanceObserver((list) => done(list.getEntries().reduce((sum, one) => sum + one.value, 0)))\
         .observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(0), 300)",
    );
    assert!(
        shift.as_f64().unwrap_or(1.0) < 0.1,
        "the page jumps by {shift}"
    );
    assert_ne!(shift, Value::Null);
}
