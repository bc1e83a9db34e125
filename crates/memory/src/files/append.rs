//! Appending by several processes at once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use longhaul_files::{Sharing, Wait};

use crate::{Error, Result};

/// How appended lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// As they are given: what is sealed counts its bytes.
    AsGiven,
    /// As those of the file do.
    AsInFile,
}

/// Appends `text` as a whole, durably. A new file begins with `head`. What a
/// crash left without its line end gets one, so that nothing runs into it.
pub(super) fn append(path: &Path, head: &str, text: &str, ends: Ends) -> Result<()> {
    let mut file = longhaul_files::append_or_create(path)?;
    // The others hold it for one write each.
    longhaul_files::lock(&file, path, Sharing::Alone, Wait::Always)?;
    write(&mut file, head, text, ends).map_err(Error::io("write", path))
}

/// Bytes at the end of a file by which its line ends are known.
const TAIL: u64 = 4_096;

/// Whether the last line of a file that ends does so in CR and LF.
fn ends_in_crlf(file: &mut File, bytes: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let end = tail.iter().rposition(|byte| *byte == b'\n');
    Ok(end.is_some_and(|at| at > 0 && tail[at - 1] == b'\r'))
}

fn write(file: &mut File, head: &str, text: &str, ends: Ends) -> io::Result<()> {
    let before = file.metadata()?.len();
    let mut whole = String::with_capacity(head.len() + text.len() + 1);
    if before == 0 {
        whole.push_str(head);
    } else {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            whole.push('\n');
        }
    }
    whole.push_str(text);
    if ends == Ends::AsInFile && before > 0 && ends_in_crlf(file, before)? {
        whole = whole.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    let written = file
        .write_all(whole.as_bytes())
        .and_then(|()| file.sync_data());
    if let Err(error) = written {
        // A full disk leaves no half entry; if even that fails, the next
        // append heals the tail.
        let _ = file.set_len(before);
        return Err(error);
    }
    Ok(())
}
