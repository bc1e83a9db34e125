//! Sessions of any size that end alike, made once and kept for the next run.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::plan::{Compactions, Plan, Size};
use super::story::generate;

const MEGABYTE: u64 = 1_000_000;

/// A session of so many megabytes in this folder, compacted whenever its context
/// was full. All of them end with the same megabyte, in which they are
/// compacted, so that opening any of them asks for the same work.
pub fn alike(folder: &Path, megabytes: u64) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let file = folder.join(format!("alike-{megabytes}mb.jsonl"));
    if file.exists() {
        return Ok(file);
    }
    let unfinished = file.with_extension("unfinished");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
    let plan = |seed, bytes| Plan {
        seed,
        size: Size::AtLeastBytes(bytes),
        compactions: Compactions::Every(160_000),
        ..Plan::default()
    };
    let mut end = Vec::new();
    generate(&plan(2, MEGABYTE), &mut end)?;
    let mut tip = None;
    if megabytes > 1 {
        let mut last = LastLine::new(&mut out);
        generate(&plan(1, (megabytes - 1) * MEGABYTE), &mut last)?;
        let line: Value = serde_json::from_slice(&last.line)?;
        tip = line["id"].as_str().map(str::to_owned);
    }
    for line in String::from_utf8_lossy(&end).lines() {
        let is_header = line.starts_with("{\"type\":\"session\"");
        match &tip {
            // What follows goes on where the longer part ended.
            Some(_) if is_header => {}
            Some(tip) => {
                let parent = format!("\"parentId\":\"{tip}\"");
                writeln!(out, "{}", line.replacen("\"parentId\":null", &parent, 1))?;
            }
            None => writeln!(out, "{line}")?,
        }
    }
    out.flush()?;
    fs::rename(&unfinished, &file)?;
    Ok(file)
}

/// Hands on what is written, and keeps the last whole line of it.
struct LastLine<W> {
    to: W,
    line: Vec<u8>,
    ended: bool,
}

impl<W: Write> LastLine<W> {
    fn new(to: W) -> LastLine<W> {
        LastLine {
            to,
            line: Vec::new(),
            ended: true,
        }
    }
}

impl<W: Write> Write for LastLine<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write_all(bytes)?;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.ended {
                self.line.clear();
            }
            self.line.extend_from_slice(piece);
            self.ended = piece.ends_with(b"\n");
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_kept_however_it_is_written() {
        let mut out = LastLine::new(Vec::new());
        for piece in ["one\ntw", "o\nth", "ree", "\n"] {
            out.write_all(piece.as_bytes()).unwrap();
        }
        assert_eq!(out.line, b"three\n");
        assert_eq!(out.to, b"one\ntwo\nthree\n");
    }
}
