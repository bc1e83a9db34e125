//! Seeds and their mutations, the same in every run.

use std::fs;
use std::path::Path;

/// Files of a folder with one of these endings, in the order of their names.
pub fn seeds(folder: &Path, endings: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut seeds: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let wanted = endings.iter().any(|ending| name.ends_with(ending));
            wanted.then(|| fs::read(entry.path()).ok().map(|bytes| (name, bytes)))?
        })
        .collect();
    seeds.sort();
    seeds
}

/// A source of numbers that depend on nothing but the seed.
pub struct Numbers(u64);

impl Numbers {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// Bytes that have a meaning to one of the parsers.
const TOKENS: [&[u8]; 24] = [
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\\ud800",
    b"\0",
    b"{\"type\":",
    b"\"id\":",
    b"\"parentId\":null,",
    b"\"type\":\"compaction\",",
    b"true",
    b" ",
];

/// One to four changes of a seed, some of them with parts of another one.
pub fn mutate(seed: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=numbers.below(4) {
        let at = numbers.below(bytes.len() + 1);
        match numbers.below(10) {
            0 => change(&mut bytes, at, |byte| byte ^ 1 << (at % 8)),
            1 => {
                let new = numbers.below(256) as u8;
                change(&mut bytes, at, |_| new);
            }
            2 => bytes.truncate(at),
            3 => {
                let end = (at + numbers.below(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 | 5 => {
                let token = TOKENS[numbers.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            6 => {
                let from = numbers.below(other.len() + 1);
                let end = (from + numbers.below(200)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            _ => bytes = with_lines_changed(&bytes, other, numbers),
        }
    }
    bytes
}

fn change(bytes: &mut [u8], at: usize, new: impl Fn(u8) -> u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = new(*byte);
    }
}

fn with_lines_changed(bytes: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let others: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() || others.is_empty() {
        return bytes.to_vec();
    }
    let (a, b) = (numbers.below(lines.len()), numbers.below(lines.len()));
    match numbers.below(5) {
        0 => lines.insert(a, lines[b]),
        1 => lines.swap(a, b),
        2 => {
            lines.remove(a);
        }
        3 => lines.insert(a, others[numbers.below(others.len())]),
        // Two lines become one.
        _ => lines[a] = lines[a].trim_ascii_end(),
    }
    lines.concat()
}
