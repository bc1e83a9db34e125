//! How entries are called: by their ids, as people and summaries write those.

use longhaul_transcript::EntryId;

use super::wording::PARTS;

/// So much of an id is shown in summaries.
const SHOWN: usize = 8;

/// An id without what stands around it in summaries, in what a search prints and
/// in what people copy: `·7f34aa1c`, `"7f34aa1c…"`, `7f34aa1c:1-12`.
pub fn plain_id(name: &str) -> &str {
    let around = |c: char| c.is_whitespace() || "·\"'`“”«»()[]<>,;…".contains(c);
    let name = name.trim_matches(around);
    let lines = |lines: &str| {
        let number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
        lines
            .split_once('-')
            .is_some_and(|(from, to)| number(from) && number(to))
    };
    match name.rsplit_once(':') {
        Some((id, rest)) if lines(rest) || PARTS.contains(&rest) => id,
        _ => name,
    }
}

/// Whether an entry has this id, whatever its case and what stands around it.
pub(super) fn is_called(id: &EntryId, name: &str) -> bool {
    id.as_str() == name || id.as_str().eq_ignore_ascii_case(plain_id(name))
}

/// Whether an entry's id begins so, whatever its case and what stands around
/// it.
pub fn begins(id: &EntryId, name: &str) -> bool {
    let plain = plain_id(name).as_bytes();
    let head = id.as_str().as_bytes().get(..plain.len());
    let folded = head.is_some_and(|head| head.eq_ignore_ascii_case(plain));
    !name.is_empty() && id.as_str().starts_with(name)
        || !plain.is_empty() && folded
        || ends(id.as_str().as_bytes(), plain)
}

/// Whether an id that begins with the time is meant by its end, as summaries show
/// it: all that were given in one moment begin alike.
fn ends(id: &[u8], name: &[u8]) -> bool {
    let is_timed = id.len() == 36 && id[14] == b'7' && name.len() == SHOWN;
    is_timed && id[id.len() - SHOWN..].eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_begins_with_the_time_is_known_by_its_end() {
        let id = EntryId::from("01a1ec43-ed10-728f-8982-189d895c05f3");
        for name in ["895c05f3", "·895C05F3", "01a1ec43"] {
            assert!(begins(&id, name), "{name}");
        }
        let random = EntryId::from("3e88f9c7-ed10-428f-8982-189d895c05f3");
        assert!(!begins(&random, "895c05f3") && begins(&random, "3e88f9c7"));
    }
}
