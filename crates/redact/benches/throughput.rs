//! How fast texts are redacted: sources and pages, logs, sessions.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;

use divan::Bencher;
use divan::counter::BytesCount;
use longhaul_redact::Redactor;

const BYTES: usize = 2_000_000;

fn main() {
    divan::main();
}

/// The project's own sources and pages.
fn project() -> String {
    let mut text = String::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut text);
    read(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src"),
        &mut text,
    );
    text
}

/// Real sessions, where they lie beside the project.
fn sessions() -> String {
    let mut text = String::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/transcripts");
    read(&folder, &mut text);
    text
}

fn read(folder: &Path, text: &mut String) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if text.len() >= BYTES {
            return;
        }
        let end = path.extension().and_then(|end| end.to_str());
        match end {
            Some("rs" | "md") => *text += &fs::read_to_string(&path).unwrap(),
            Some("gz") => {
                let file = fs::File::open(&path).unwrap();
                let mut bytes = Vec::new();
                let decoder = flate2::read::GzDecoder::new(file);
                decoder.take(BYTES as u64).read_to_end(&mut bytes).unwrap();
                *text += &String::from_utf8_lossy(&bytes);
            }
            None if path.is_dir() => read(&path, text),
            _ => {}
        }
    }
}

/// A server's log, with a key in every thousandth line.
fn log() -> String {
    let mut text = String::new();
    for number in 0.. {
        let (minute, id) = (number % 60, number * 7_919 % 100_003);
        writeln!(
            text,
            "2026-11-19T04:{minute:02}:07.{id:06}Z INFO http{{id={id} path=/v1/users/{id}/keys status=200}} served 10.2.{minute}.9 in {minute}.4 ms, cache key users:{id}"
        )
        .unwrap();
        if number % 1_000 == 0 {
            writeln!(text, "DEBUG API_TOKEN=q7Zt2kWm9LpXv4RbHd3Yc8{id}").unwrap();
        }
        if text.len() >= BYTES {
            return text;
        }
    }
    text
}

fn whole(bencher: Bencher<'_, '_>, text: &str) {
    let redactor = Redactor::default();
    bencher
        .counter(BytesCount::of_str(text))
        .bench(|| redactor.redact(text));
}

#[divan::bench]
fn sources_and_pages(bencher: Bencher<'_, '_>) {
    whole(bencher, &project());
}

#[divan::bench]
fn logs(bencher: Bencher<'_, '_>) {
    whole(bencher, &log());
}

#[divan::bench]
fn logs_in_chunks(bencher: Bencher<'_, '_>) {
    let (redactor, text) = (Redactor::default(), log());
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut stream = redactor.stream();
        let chunks = text.as_bytes().chunks(64 * 1024);
        let given: usize = chunks.map(|chunk| stream.push(chunk).len()).sum();
        given + stream.finish().0.len()
    });
}

/// Line by line, as JSON.
#[divan::bench]
fn lines_of_sessions(bencher: Bencher<'_, '_>) {
    let (redactor, text) = (Redactor::default(), sessions());
    if text.is_empty() {
        eprintln!("skipped: no sessions beside the project");
        return;
    }
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut document = redactor.document();
        text.lines()
            .map(|line| document.json(line).len())
            .sum::<usize>()
    });
}
