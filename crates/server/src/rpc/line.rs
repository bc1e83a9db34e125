//! Lines of a stream, none longer than can be held.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The longest line that is read. A session is given whole now and then, with
/// all its pictures.
pub(super) const LONGEST: usize = 256 << 20;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its newline.
    Text(Vec<u8>),
    /// One that was too long; it was passed over up to its newline.
    TooLong,
    /// There are no more.
    End,
}

/// Reads the next line. What follows the last newline counts as one.
pub(super) async fn next(
    from: &mut (impl AsyncBufRead + Unpin),
    longest: usize,
) -> std::io::Result<Line> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let held = from.fill_buf().await?;
        if held.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Line::TooLong,
                (_, true) => Line::End,
                _ => Line::Text(line),
            });
        }
        let newline = held.iter().position(|byte| *byte == b'\n');
        let part = &held[..newline.unwrap_or(held.len())];
        if line.len() + part.len() > longest {
            too_long = true;
            line = Vec::new();
        }
        if !too_long {
            line.extend_from_slice(part);
        }
        let used = newline.map_or(held.len(), |at| at + 1);
        from.consume(used);
        if newline.is_some() {
            return Ok(match too_long {
                true => Line::TooLong,
                false => Line::Text(line),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let text = b"one\n\n0123456789abcdef\ntwo\nrest".as_slice();
        let mut from = tokio::io::BufReader::with_capacity(4, text);
        let mut lines = Vec::new();
        loop {
            match next(&mut from, 10).await.unwrap() {
                Line::End => break,
                line => lines.push(line),
            }
        }
        let text = |text: &str| Line::Text(text.as_bytes().to_vec());
        assert_eq!(
            lines,
            [
                text("one"),
                text(""),
                Line::TooLong,
                text("two"),
                text("rest")
            ]
        );
    }
}
