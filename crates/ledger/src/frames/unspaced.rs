//! Frames in scripts without spaces.

use super::Frame;
use crate::text::{first_chars, is_cjk};
use crate::words::others::frames::{
    UNSPACED_COMES, UNSPACED_OWN, UNSPACED_SAYS, UNSPACED_SOURCES, UNSPACED_TASKS,
};

/// Whether a sentence without spaces tells what another says, without a colon.
pub(crate) fn tells_unspaced(sentence: &str) -> bool {
    if !sentence.chars().any(is_cjk) || UNSPACED_OWN[..].iter().any(|own| sentence.starts_with(own))
    {
        return false;
    }
    ["によると", "에 따르면"]
        .iter()
        .any(|by| sentence.contains(by))
        || ["根据", "根據", "据"].iter().any(|by| {
            sentence.strip_prefix(by).is_some_and(|rest| {
                let near = first_chars(rest, 10);
                UNSPACED_SOURCES.iter().any(|name| near.contains(name))
            })
        })
        || UNSPACED_SOURCES.iter().any(|name| {
            sentence.find(name).is_some_and(|at| {
                // "文档里说不要…", "ドキュメントには…と書いてある".
                let behind = &sentence[at + name.len()..];
                let near = first_chars(behind, 5);
                let says = ["说", "說", "写着", "写道", "声称", "提到"];
                says.iter().any(|verb| near.contains(verb))
                    || [
                        "と書い",
                        "と書か",
                        "と言っ",
                        "라고 적",
                        "라고 말",
                        "라고 했",
                        "라고 쓰",
                    ]
                    .iter()
                    .any(|verb| behind.contains(verb))
            })
        })
}

pub(super) fn unspaced(head: &str) -> Option<Frame> {
    if UNSPACED_OWN.iter().any(|own| head.contains(own)) {
        return None;
    }
    let has = |list: &[&str]| list.iter().any(|part| head.contains(part));
    let tells = UNSPACED_SAYS
        .iter()
        .any(|verb| head.find(verb).is_some_and(|at| at > 0));
    if has(&UNSPACED_TASKS) {
        return Some(Frame::Task);
    }
    let named = has(&UNSPACED_SOURCES) || head.starts_with(|c: char| c.is_ascii_uppercase());
    (tells || (named && has(&UNSPACED_COMES))).then_some(Frame::Shown)
}
