//! The lines of earlier days, one a line with its line ends escaped, in the form
//! that rustyline gives them.

use std::path::Path;

use longhaul_files::{Result, optional, read_text, replace};

const HEAD: &str = "#V2";
pub(super) const MOST_LINES: usize = 1000;
const MOST_BYTES: usize = 1 << 20;

/// The lines, oldest first.
pub(super) fn lines(file: &Path) -> Result<Vec<String>> {
    Ok(stored(file)?.iter().map(|line| typed(line)).collect())
}

/// Keeps one more line, beside what another chat kept meanwhile.
pub(super) fn keep(file: &Path, line: &str) -> Result<()> {
    let mut lines = stored(file)?;
    lines.push(line.replace('\\', r"\\").replace('\n', r"\n"));
    let mut bytes = HEAD.len() + 1;
    let fit = lines.iter().rev().take(MOST_LINES).take_while(|line| {
        bytes += line.len() + 1;
        bytes <= MOST_BYTES
    });
    let first = lines.len() - fit.count();
    replace(
        file,
        format!("{HEAD}\n{}\n", lines[first..].join("\n")).as_bytes(),
    )
}

fn stored(file: &Path) -> Result<Vec<String>> {
    let text = optional(read_text(file, MOST_BYTES as u64))?.unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && *line != HEAD);
    Ok(lines.map(str::to_owned).collect())
}

fn typed(stored: &str) -> String {
    let pieces: Vec<String> = stored
        .split(r"\\")
        .map(|piece| piece.replace(r"\n", "\n"))
        .collect();
    pieces.join("\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_as_they_were_typed_and_old_ones_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chat-history");
        let all = ["one", "two\nlines\\", r"a\nb \\n", "\\\n\\"];
        for line in all {
            keep(&file, line).unwrap();
        }
        assert_eq!(lines(&file).unwrap(), all);
        for at in 0..MOST_LINES {
            keep(&file, &format!("line {at}")).unwrap();
        }
        assert_eq!(lines(&file).unwrap().len(), MOST_LINES);
        keep(&file, &"x".repeat(MOST_BYTES - 12)).unwrap();
        keep(&file, "last").unwrap();
        assert_eq!(lines(&file).unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_history_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (canary, link) = (folder.path().join("a"), folder.path().join("b"));
        longhaul_files::create(&canary, b"canary\n").unwrap();
        std::os::unix::fs::symlink(&canary, &link).unwrap();
        assert!(lines(&link).is_err());
        assert!(keep(&link, "line").is_err());
        assert_eq!(read_text(&canary, 9).unwrap(), "canary\n");
    }
}
