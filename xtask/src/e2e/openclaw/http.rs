//! One request over a connection of its own: all that is asked of a gateway.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::Result;

/// The status and body of an answer.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Sends a request to a port of this machine.
pub(super) fn ask(port: u16, head: &str, body: &str, patience: Duration) -> Result<Answer> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(patience))?;
    write!(
        stream,
        "{head}\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    parse(&String::from_utf8_lossy(&bytes)).ok_or_else(|| "an answer that is not HTTP".into())
}

fn parse(text: &str) -> Option<Answer> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let chunked = head
        .to_ascii_lowercase()
        .contains("\r\ntransfer-encoding: chunked");
    let body = if chunked {
        unchunked(body)?
    } else {
        body.to_owned()
    };
    Some(Answer { status, body })
}

fn unchunked(mut rest: &str) -> Option<String> {
    let mut whole = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n")?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.push_str(after.get(..size)?);
        rest = after.get(size..)?.strip_prefix("\r\n")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_whole_and_in_pieces() {
        let whole = parse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").unwrap();
        assert_eq!((whole.status, whole.body.as_str()), (200, "hi"));
        let pieces =
            "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n";
        let pieces = parse(pieces).unwrap();
        assert_eq!((pieces.status, pieces.body.as_str()), (404, "hi!"));
    }
}
