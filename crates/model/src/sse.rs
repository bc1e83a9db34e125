//! Server-sent events, decoded from bytes that may be cut anywhere: within a
//! character, between the two halves of a line end, within a field.

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The `event` field; empty if there was none.
    pub(crate) name: String,
    /// The `data` fields, joined by line feeds.
    pub(crate) data: String,
}

/// A line longer than this is no event of any provider: the largest there are
/// carry one encrypted thought or one whole answer.
const MAX_LINE: usize = 32 << 20;

/// Decodes a stream. Lines end with CR, LF or both; comments are skipped; bytes
/// that are not UTF-8 become replacement characters.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    /// The last byte was a CR, so that an LF now belongs to the same line end.
    after_cr: bool,
    begun: bool,
    event: Event,
    has_data: bool,
}

/// A line grew past every reasonable length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTooLong;

impl Decoder {
    /// Takes the next bytes; hands out the events that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, LineTooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            let cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if cr {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            let line = std::mem::take(&mut self.line);
            events.extend(self.line(&line));
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > MAX_LINE {
            return Err(LineTooLong);
        }
        Ok(events)
    }

    /// The stream is over. An event whose closing empty line is missing counts
    /// all the same: several servers leave it out before they close.
    pub(crate) fn finish(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let last = if line.is_empty() {
            None
        } else {
            self.line(&line)
        };
        last.or_else(|| self.dispatch())
    }

    fn line(&mut self, line: &[u8]) -> Option<Event> {
        let line = if self.begun {
            line
        } else {
            line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
        };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            // A comment: a keep-alive.
            Some(0) => return None,
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(&String::from_utf8_lossy(value));
            }
            // `id` and `retry` are for browsers that connect again.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(decoder.push(piece).unwrap());
        }
        events.extend(decoder.finish());
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event {
            name: name.into(),
            data: data.into(),
        }
    }

    #[test]
    fn fields_comments_and_line_ends_are_read_as_the_standard_says() {
        let text = "\u{feff}: OPENROUTER PROCESSING\n\nevent: a\ndata: 1\ndata:2\n\ndata\n\nid: 7\nretry: 3\n\ndata:  two spaces\r\n\r\nevent: lone\r\rdata: end";
        assert_eq!(
            decode(&[text.as_bytes()]),
            [
                event("a", "1\n2"),
                event("", ""),
                event("", " two spaces"),
                event("", "end")
            ]
        );
    }

    #[test]
    fn a_line_end_cut_in_two_is_one_line_end() {
        assert_eq!(
            decode(&[b"data: a\r", b"\n\r", b"\n", b"data: b\r", b"\r"]),
            [event("", "a"), event("", "b")]
        );
    }

    #[test]
    fn a_line_without_end_is_refused_before_memory_is() {
        let mut decoder = Decoder::default();
        let piece = vec![b'x'; 1 << 20];
        let refused = (0..64).any(|_| decoder.push(&piece).is_err());
        assert!(refused);
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            "data: ?[a-zß水🦀: ]{0,12}",
            "event: ?[a-z_.]{0,8}",
            ": ?[a-z ]{0,8}",
            Just(String::new()),
            Just(String::new()),
        ];
        let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
        proptest::collection::vec((line, end), 0..24).prop_map(|lines| {
            lines
                .into_iter()
                .flat_map(|(line, end)| (line + end).into_bytes())
                .collect()
        })
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_events(
            bytes in stream(),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            at.extend([0, bytes.len()]);
            at.sort_unstable();
            let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decode(&pieces), decode(&[&bytes]));
        }

        #[test]
        fn no_bytes_whatever_make_the_decoder_fail(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8),
        ) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            decode(&pieces);
        }
    }
}
