//! Tokenizers of embedding models, from their `tokenizer.json`.
//!
//! WordPiece as BERT has it, byte-pair encoding as Llama has it, and unigrams
//! as SentencePiece has them: what the models in question use. Another one is
//! refused by name rather than approximated.
//!
//! The crate `tokenizers` reads every such file there is, trains them too, and brings
//! 34 crates that nothing else here needs, two engines for regular expressions and a
//! pool of threads among them. These three algorithms are a page each.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::error::IndexError;

/// Turns text into the numbers of a model's vocabulary.
pub(super) struct Tokenizer {
    vocabulary: HashMap<String, u32>,
    kind: Kind,
    unknown: Option<u32>,
    /// Put before and after, where the model wants it.
    #[cfg_attr(not(feature = "encoder"), allow(dead_code))]
    pub(super) first: Option<u32>,
    #[cfg_attr(not(feature = "encoder"), allow(dead_code))]
    pub(super) last: Option<u32>,
    size: usize,
}

enum Kind {
    WordPiece { lowercase: bool },
    Pairs { ranks: Ranks },
    Unigrams { scores: Vec<f32>, longest: usize },
}

/// A part of a word while pairs are joined.
#[derive(Clone, Copy)]
struct Part {
    /// None once it was joined to the one before it.
    id: Option<u32>,
    before: Option<usize>,
    after: Option<usize>,
}

/// The parts with their pairs joined, the one that was learnt first before the
/// others and of equal ones the first in the word. A word may be long, so pairs
/// wait in a heap; one of which a part has changed since is passed over.
fn joined(parts: &[u32], ranks: &Ranks) -> Vec<u32> {
    let last = parts.len().saturating_sub(1);
    let mut chain: Vec<Part> = parts
        .iter()
        .enumerate()
        .map(|(at, id)| Part {
            id: Some(*id),
            before: at.checked_sub(1),
            after: (at < last).then_some(at + 1),
        })
        .collect();
    let pair = |chain: &[Part], at: usize| {
        let (one, two) = (chain[at], chain[chain[at].after?]);
        let ids = (one.id?, two.id?);
        let (rank, id) = *ranks.get(&ids)?;
        Some(Reverse((rank, at, ids, id)))
    };
    let mut waiting: BinaryHeap<_> = (0..last).filter_map(|at| pair(&chain, at)).collect();
    while let Some(Reverse((rank, at, ids, id))) = waiting.pop() {
        if pair(&chain, at) != Some(Reverse((rank, at, ids, id))) {
            continue;
        }
        let Some(gone) = chain[at].after else {
            continue;
        };
        let after = chain[gone].after;
        chain[gone].id = None;
        chain[at].id = Some(id);
        chain[at].after = after;
        if let Some(after) = after {
            chain[after].before = Some(at);
        }
        let around = chain[at].before.into_iter().chain([at]);
        waiting.extend(around.filter_map(|at| pair(&chain, at)));
    }
    chain.into_iter().filter_map(|part| part.id).collect()
}

/// Pairs that are joined: when they were learnt, and what they become.
type Ranks = HashMap<(u32, u32), (u32, u32)>;

/// SentencePiece's sign for a space.
const SPACE: char = '▁';

/// A word of more letters than this is unknown to WordPiece.
const LONGEST_WORD: usize = 100;

impl Tokenizer {
    /// The tokenizer that a file describes.
    pub(super) fn read(path: &Path, text: &str) -> Result<Tokenizer, IndexError> {
        const REMEDY: &str = "WordPiece, BPE with byte fallback and Unigram tokenizers can be used";
        Tokenizer::parse(text).map_err(|reason| IndexError::model(path, reason, REMEDY))
    }

    fn parse(text: &str) -> Result<Tokenizer, String> {
        let json: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let model = &json["model"];
        let mut vocabulary = HashMap::new();
        let mut scores = Vec::new();
        match &model["vocab"] {
            Value::Object(entries) => {
                for (token, id) in entries {
                    let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
                    vocabulary.insert(token.clone(), id.ok_or("a token without a number")?);
                }
            }
            Value::Array(entries) => {
                for (id, entry) in (0u32..).zip(entries) {
                    let token = entry[0].as_str().ok_or("a piece without text")?;
                    vocabulary.insert(token.to_owned(), id);
                    scores.push(entry[1].as_f64().ok_or("a piece without a score")? as f32);
                }
            }
            _ => return Err(String::from("its tokenizer has no vocabulary")),
        }
        let kind = match model["type"].as_str().unwrap_or("WordPiece") {
            "WordPiece" => Kind::WordPiece {
                lowercase: json["normalizer"]["lowercase"].as_bool().unwrap_or(true),
            },
            "BPE" if model["byte_fallback"] == Value::Bool(true) => Kind::Pairs {
                ranks: ranks(&model["merges"], &vocabulary)?,
            },
            "Unigram" => Kind::Unigrams {
                longest: vocabulary
                    .keys()
                    .map(String::len)
                    .max()
                    .unwrap_or(1)
                    .min(256),
                scores,
            },
            other => return Err(format!("its tokenizer is of the type {other}")),
        };
        let unknown = match (&model["unk_token"], &model["unk_id"]) {
            (Value::String(token), _) => vocabulary.get(token).copied(),
            (_, id) => id.as_u64().and_then(|id| u32::try_from(id).ok()),
        };
        let size = vocabulary
            .values()
            .max()
            .map_or(0, |most| *most as usize + 1);
        let bert = |token: &str| {
            matches!(kind, Kind::WordPiece { .. })
                .then(|| vocabulary.get(token).copied())
                .flatten()
        };
        Ok(Tokenizer {
            first: bert("[CLS]"),
            last: bert("[SEP]"),
            vocabulary,
            kind,
            unknown,
            size,
        })
    }

    /// One more than the highest number it gives.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether this number stands for what the vocabulary does not have.
    pub(super) fn is_unknown(&self, id: u32) -> bool {
        self.unknown == Some(id)
    }

    /// The first `limit` tokens of a text, without those put around it.
    pub(super) fn tokens(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        // No token is shorter than a byte, so this much is always enough.
        let text = &text[..text.floor_char_boundary(limit.saturating_mul(64))];
        match &self.kind {
            Kind::WordPiece { lowercase } => {
                for word in bert_words(text, *lowercase) {
                    self.word_pieces(&word, &mut ids);
                    if ids.len() >= limit {
                        break;
                    }
                }
            }
            Kind::Pairs { ranks } => {
                for word in spaced_words(text) {
                    self.pairs(&word, ranks, &mut ids);
                    if ids.len() >= limit {
                        break;
                    }
                }
            }
            Kind::Unigrams { scores, longest } => {
                for word in text.split_whitespace() {
                    let word: String = word.nfkc().collect();
                    self.unigrams(&format!("{SPACE}{word}"), scores, *longest, &mut ids);
                    if ids.len() >= limit {
                        break;
                    }
                }
            }
        }
        ids.truncate(limit);
        ids
    }

    /// The longest token the word begins with, then of the rest, and so on.
    fn word_pieces(&self, word: &str, ids: &mut Vec<u32>) {
        let before = ids.len();
        let mut rest = word;
        let mut piece = String::new();
        if word.chars().count() > LONGEST_WORD {
            ids.extend(self.unknown);
            return;
        }
        while !rest.is_empty() {
            let mut ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let found = ends.find_map(|end| {
                piece.clear();
                if rest.len() < word.len() {
                    piece.push_str("##");
                }
                piece.push_str(&rest[..end]);
                self.vocabulary.get(&piece).map(|id| (*id, end))
            });
            let Some((id, end)) = found else {
                ids.truncate(before);
                ids.extend(self.unknown);
                return;
            };
            ids.push(id);
            rest = &rest[end..];
        }
    }

    /// Joins the pair that was learnt first, again and again.
    fn pairs(&self, word: &str, ranks: &Ranks, ids: &mut Vec<u32>) {
        let mut parts: Vec<u32> = Vec::new();
        let mut letter = [0; 4];
        for c in word.chars() {
            let text = c.encode_utf8(&mut letter);
            match self.vocabulary.get(&*text) {
                Some(id) => parts.push(*id),
                None => {
                    for byte in text.bytes() {
                        let token = format!("<0x{byte:02X}>");
                        parts.extend(self.vocabulary.get(&token).copied().or(self.unknown));
                    }
                }
            }
        }
        ids.extend(joined(&parts, ranks));
    }

    /// The division whose pieces are likeliest.
    fn unigrams(&self, word: &str, scores: &[f32], longest: usize, ids: &mut Vec<u32>) {
        const UNLIKELY: f32 = -100.0;
        let bounds: Vec<usize> = word
            .char_indices()
            .map(|(at, _)| at)
            .chain([word.len()])
            .collect();
        let mut best: Vec<(f32, usize, Option<u32>)> = vec![(f32::MIN, 0, None); bounds.len()];
        best[0].0 = 0.0;
        for end in 1..bounds.len() {
            for begin in (0..end).rev() {
                if bounds[end] - bounds[begin] > longest {
                    break;
                }
                let id = self
                    .vocabulary
                    .get(&word[bounds[begin]..bounds[end]])
                    .copied();
                let score = match id {
                    Some(id) => scores.get(id as usize).copied().unwrap_or(UNLIKELY),
                    None if end == begin + 1 => UNLIKELY,
                    None => continue,
                };
                let sum = best[begin].0 + score;
                if sum > best[end].0 {
                    best[end] = (sum, begin, id.or(self.unknown));
                }
            }
        }
        let mut found = Vec::new();
        let mut at = bounds.len() - 1;
        while at > 0 {
            found.extend(best[at].2);
            at = best[at].1;
        }
        ids.extend(found.into_iter().rev());
    }
}

fn ranks(merges: &Value, vocabulary: &HashMap<String, u32>) -> Result<Ranks, String> {
    let merges = merges.as_array().ok_or("its tokenizer has no merges")?;
    let mut ranks = HashMap::new();
    for (rank, merge) in (0u32..).zip(merges) {
        let (left, right) = match merge {
            Value::String(pair) => pair.split_once(' ').ok_or("a merge that is no pair")?,
            Value::Array(pair) => (
                pair.first()
                    .and_then(Value::as_str)
                    .ok_or("a merge that is no pair")?,
                pair.get(1)
                    .and_then(Value::as_str)
                    .ok_or("a merge that is no pair")?,
            ),
            _ => return Err(String::from("a merge that is no pair")),
        };
        let id = |token: &str| vocabulary.get(token).copied();
        if let (Some(a), Some(b), Some(whole)) =
            (id(left), id(right), id(&format!("{left}{right}")))
        {
            ranks.entry((a, b)).or_insert((rank, whole));
        }
    }
    Ok(ranks)
}

/// Words and signs as BERT divides them.
fn bert_words(text: &str, lowercase: bool) -> impl Iterator<Item = String> {
    let mut chars: Vec<char> = Vec::new();
    for c in text.chars() {
        match c {
            '\u{0}' | '\u{fffd}' => {}
            c if c.is_whitespace() => chars.push(' '),
            c if c.is_control() => {}
            c if is_bert_cjk(c) => chars.extend([' ', c, ' ']),
            c if lowercase => chars.extend(
                c.to_lowercase()
                    .nfd()
                    .filter(|c| !unicode_normalization::char::is_combining_mark(*c)),
            ),
            c => chars.push(c),
        }
    }
    let mut words = Vec::new();
    let mut word = String::new();
    for c in chars {
        let sign = is_sign(c);
        if (c == ' ' || sign) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if sign {
            words.push(c.to_string());
        } else if c != ' ' {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words.into_iter()
}

fn is_bert_cjk(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

/// Punctuation as BERT sees it: all of ASCII's signs, and Unicode's.
fn is_sign(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff5b}'..='\u{ff65}' | '¡' | '§' | '«' | '¶' | '·' | '»' | '¿')
}

/// Words with the sign for the space before them; several spaces stay with the
/// word that follows.
fn spaced_words(text: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::from(SPACE);
    for c in text.chars() {
        if c == ' ' {
            if !word.ends_with(SPACE) {
                words.push(std::mem::take(&mut word));
            }
            word.push(SPACE);
        } else {
            word.push(c);
        }
    }
    words.push(word);
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_pieces_are_the_longest_that_fit() {
        let json = r###"{"normalizer":{"lowercase":true},"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"play":3,"##ing":4,"##in":5,"!":6,"cafe":7,"中":8}}}"###;
        let tokenizer = Tokenizer::parse(json).unwrap();
        assert_eq!(
            tokenizer.tokens("Playing! Café 中x", 100),
            [3, 4, 6, 7, 8, 0]
        );
        assert_eq!(
            (tokenizer.first, tokenizer.last, tokenizer.size()),
            (Some(1), Some(2), 9)
        );
        assert_eq!(tokenizer.tokens("playing playing", 3), [3, 4, 3]);
    }

    #[test]
    fn pairs_are_joined_in_the_order_they_were_learnt() {
        let json = r#"{"model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","vocab":{"<unk>":0,"<0xC3>":1,"<0xA9>":2,"▁":3,"a":4,"b":5,"ab":6,"▁ab":7,"▁a":8},"merges":["a b","▁ ab",["▁","a"]]}}"#;
        let tokenizer = Tokenizer::parse(json).unwrap();
        assert_eq!(tokenizer.tokens("ab aé", 100), [7, 8, 1, 2]);
    }

    proptest::proptest! {
        /// As by looking for the best pair again and again, which takes too long
        /// in a long word.
        #[test]
        fn pairs_are_joined_best_first_wherever_they_stand(
            parts in proptest::collection::vec(0u32..5, 0..40),
            learnt in proptest::collection::vec((0u32..9, 0u32..9), 0..12),
        ) {
            let ranks: Ranks = learnt
                .iter()
                .enumerate()
                .map(|(rank, pair)| (*pair, (rank as u32, 5 + rank as u32 % 4)))
                .collect();
            let mut slow = parts.clone();
            while let Some((_, at, id)) = slow
                .windows(2)
                .enumerate()
                .filter_map(|(at, pair)| {
                    let (rank, id) = ranks.get(&(pair[0], pair[1]))?;
                    Some((*rank, at, *id))
                })
                .min()
            {
                slow[at] = id;
                slow.remove(at + 1);
            }
            proptest::prop_assert_eq!(joined(&parts, &ranks), slow);
        }
    }

    #[test]
    fn unigrams_take_the_likeliest_division() {
        let json = r#"{"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0.0],["▁",-2.0],["▁ab",-3.0],["a",-1.0],["b",-1.0],["c",-1.0]]}}"#;
        let tokenizer = Tokenizer::parse(json).unwrap();
        assert_eq!(tokenizer.tokens("abc z", 100), [2, 5, 1, 0]);
    }

    #[test]
    fn another_tokenizer_is_refused_by_name() {
        let refused = Tokenizer::parse(r#"{"model":{"type":"BPE","vocab":{"a":0}}}"#).err();
        assert_eq!(refused.as_deref(), Some("its tokenizer is of the type BPE"));
    }
}
