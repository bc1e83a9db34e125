//! The passage of a text that has the most of a query: what is shown of a hit.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::{self, Stems, Term};

/// A passage has at most so many bytes, unless a single piece has more.
const LONGEST: usize = 480;
/// A line is taken whole up to so many bytes, and else in pieces of so many.
const PIECE: usize = 160;

/// The shortest passage with the most of the words of a query, and what room there
/// is around it; the beginning where none has any.
pub(super) fn best(text: &str, terms: &[Term], stems: &mut Stems) -> Range<usize> {
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    for (at, term) in terms.iter().enumerate() {
        for token in &term.tokens {
            wanted.entry(token).or_insert(at);
        }
    }
    let pieces = pieces(text);
    let has: Vec<Vec<usize>> = pieces
        .iter()
        .map(|piece| {
            let mut has = Vec::new();
            text::tokens(&text[piece.clone()], stems, &mut |token| {
                has.extend(wanted.get(token).copied());
            });
            has
        })
        .collect();
    let fits = |from: usize, to: usize| pieces[to].end - pieces[from].start <= LONGEST;
    let mut best = (0f32, 0, 0);
    for from in 0..pieces.len() {
        let mut seen = vec![false; terms.len()];
        let mut worth = 0.0;
        for to in (from..pieces.len()).take_while(|to| *to == from || fits(from, *to)) {
            for term in &has[to] {
                if !std::mem::replace(&mut seen[*term], true) {
                    worth += terms[*term].weight;
                }
            }
            if worth > best.0 {
                best = (worth, from, to);
            }
        }
    }
    let (_, mut from, mut to) = best;
    // What follows explains more often than what comes before.
    while to + 1 < pieces.len() && fits(from, to + 1) {
        to += 1;
    }
    while from > 0 && fits(from - 1, to) {
        from -= 1;
    }
    match (pieces.get(from), pieces.get(to)) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..text.len(),
    }
}

/// The lines of a text, and of long ones the parts, which end at blanks.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        while at < end {
            let most = text.floor_char_boundary((at + PIECE).min(end));
            let blank = text[at..most].rfind(char::is_whitespace);
            let cut = match blank {
                _ if most == end => end,
                Some(blank) if blank > 0 => text.ceil_char_boundary(at + blank + 1),
                _ => most,
            };
            pieces.push(at..cut);
            at = cut;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_stands_around_the_words_of_the_query() {
        let filler = "nothing of it is here\n".repeat(60);
        let text = format!("{filler}the harbour opens\nat seven in winter\n{filler}");
        let mut stems = Stems::default();
        let terms = text::terms("when does the harbour open in winter", &[], &mut stems);
        let passage = best(&text, &terms, &mut stems);
        let said = &text[passage];
        assert!(said.contains("harbour opens\nat seven in winter"), "{said}");
        assert!(said.len() <= LONGEST, "{said}");
        assert_eq!(best("", &terms, &mut stems), 0..0);
        assert_eq!(best("short", &terms, &mut stems), 0..5);
    }

    #[test]
    fn the_pieces_of_a_text_are_all_of_it() {
        for text in ["", "a", "é\n\nb c", &"x".repeat(700), &"漢 字 ".repeat(200)] {
            let whole: String = pieces(text).into_iter().map(|one| &text[one]).collect();
            assert_eq!(whole, text);
        }
    }
}
