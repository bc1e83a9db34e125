//! Text that can be written back as it was read, whatever bytes are in it.
//!
//! People keep lines in memory files that are no UTF-8, such as Latin-1 of an
//! old editor. To work on the lines around them as text and keep every byte,
//! each byte that is no UTF-8 is read as a character that stands for it and
//! becomes that byte again when the text is written. These characters are the
//! last of the last area for private use. A file that has one of them for
//! itself is read byte by byte there as well, so that every file comes back as
//! it was; what we write ourselves has none of them ([`crate::provenance`]).

/// What a byte is added to. Bytes that are no UTF-8 have 0x80 to 0xFF.
const FIRST: u32 = 0x10_FF00;

/// The byte that a character stands for.
fn byte(c: char) -> Option<u8> {
    let byte = u8::try_from((c as u32).checked_sub(FIRST)?).ok()?;
    (!byte.is_ascii()).then_some(byte)
}

/// The text of a file, from which [`bytes`] makes the file again.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let stand_ins = |bytes: &[u8], out: &mut String| {
        let each = bytes.iter().map(|byte| FIRST + u32::from(*byte));
        out.extend(each.filter_map(char::from_u32));
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte(c) {
                None => out.push(c),
                Some(_) => stand_ins(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut out),
            }
        }
        stand_ins(chunk.invalid(), &mut out);
    }
    out
}

/// The bytes of the file that was read as this text.
pub(super) fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte(c) {
            Some(byte) => out.push(byte),
            None => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

/// The text as people are shown it.
pub(crate) fn shown(text: &str) -> String {
    String::from_utf8_lossy(&bytes(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_file_comes_back_as_it_was(file in any::<Vec<u8>>()) {
            prop_assert_eq!(bytes(&text(&file)), file);
        }

        #[test]
        fn text_that_is_utf8_is_read_as_it_is(file in "[a-zäöü→\r\n\u{e000}\u{10ff7f}]{0,40}") {
            prop_assert_eq!(text(file.as_bytes()), file);
        }
    }

    #[test]
    fn a_file_with_a_character_that_stands_for_a_byte_keeps_it() {
        let file = "a \u{10fff6} \u{10ff80}\u{10ffff}\n".as_bytes();
        let text = text(file);
        assert_eq!(bytes(&text), file);
        assert_eq!(shown(&text).as_bytes(), file);
    }

    #[test]
    fn people_are_shown_that_a_byte_is_no_text() {
        assert_eq!(shown(&text(b"Gr\xf6\xdfe")), "Gr\u{fffd}\u{fffd}e");
    }
}
