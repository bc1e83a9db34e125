//! Bytes a second of each counter on the kinds of text agents produce.
//!
//! The texts repeat themselves, which the tokenizer's memory of pieces rewards:
//! compare the rows with each other, and expect less of real sessions.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use longhaul_tokens::{ContentKind, Counter, Estimator, Fragment, FragmentKind, Tokens};

fn main() {
    // Loading a vocabulary is paid once a process, not per count.
    for estimator in Estimator::ALL {
        estimator.count("warm", ContentKind::Prose);
    }
    divan::main();
}

const SIZE: usize = 1 << 20;

const ENGLISH: &str = "The context engine keeps what matters of a long session: requests, \
    decisions, files and errors. It never rewrites history, and it says how much room is left. ";
const CODE: &str = "    pub fn level(&self, context: Tokens) -> Level {\n        \
    match context.0 {\n            0..=139_999 => Level::Calm,\n            \
    _ => self.thresholds[3].level(),\n        }\n    }\n\n";
const CJK: &str = "上下文引擎会保留长会话中重要的内容,例如请求、决定、文件和错误。\
    コンテキストは縮めても、約束は失われない。";

#[derive(Clone, Copy, Debug)]
enum Text {
    English,
    Code,
    Cjk,
    RepeatedChar,
    Base64,
}

impl Text {
    const ALL: [Text; 5] = [
        Text::English,
        Text::Code,
        Text::Cjk,
        Text::RepeatedChar,
        Text::Base64,
    ];

    /// One mebibyte of it. The seed is fixed: every run counts the same bytes.
    fn make(self) -> String {
        match self {
            Text::English => ENGLISH.repeat(SIZE / ENGLISH.len()),
            Text::Code => CODE.repeat(SIZE / CODE.len()),
            Text::Cjk => CJK.repeat(SIZE / CJK.len()),
            Text::RepeatedChar => "a".repeat(SIZE),
            Text::Base64 => {
                let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                let mut state = 1_u32;
                let mut next = || {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    char::from(digits[(state >> 26) as usize])
                };
                (0..SIZE).map(|_| next()).collect()
            }
        }
    }
}

fn count(bencher: Bencher<'_, '_>, text: Text, estimator: Estimator) {
    let text = text.make();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| estimator.count(black_box(&text), ContentKind::Code));
}

#[divan::bench(args = Text::ALL, sample_count = 10)]
fn o200k(bencher: Bencher<'_, '_>, text: Text) {
    count(bencher, text, Estimator::O200k);
}

#[divan::bench(args = Text::ALL, sample_count = 10)]
fn heuristic(bencher: Bencher<'_, '_>, text: Text) {
    count(bencher, text, Estimator::Heuristic);
}

/// pi's estimate, for comparison: UTF-16 units / 4, as its runtime counts length.
#[divan::bench(args = Text::ALL, sample_count = 10)]
fn pi_chars_by_four(bencher: Bencher<'_, '_>, text: Text) {
    let text = text.make();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| Tokens::saturating(black_box(&text).encode_utf16().count().div_ceil(4)));
}

#[divan::bench(args = Text::ALL, sample_count = 10)]
fn cut_a_key_file(bencher: Bencher<'_, '_>, text: Text) {
    let text = text.make();
    bencher.bench(|| {
        Fragment::new(
            FragmentKind::KeyFile,
            black_box(text.as_str()),
            &Estimator::O200k,
        )
    });
}
