//! Exact identifiers, with the words that give them a meaning.

use std::ops::Range;

use crate::facts::{Anchor, AnchorKind, Provenance, Speaker};
use crate::heard::Said;
use crate::ledger::{At, Ledger};
use crate::scan::{Found, scan};
use crate::words::choices::{OLD, UPDATES};
use crate::words::{Words, stems};

const MOST: usize = 1_500;
const LEFT_AFTER: usize = 1_350;
const ABOUT: usize = 160;
/// Stands where words were left out.
const CUT: &str = "…";
/// Words of a sentence that tell what a value is. A longer one mostly ran on
/// because a full stop was left out, and the rest is about something else.
const MOST_TELLING: usize = 5;

impl Ledger {
    pub(crate) fn note_anchors(&mut self, at: At<'_>, by: Speaker, said: &Said<'_>) {
        for (index, range, words) in said.sentences() {
            let sentence = &said.text[range.clone()];
            let found = scan(sentence);
            if found.is_empty() {
                continue;
            }
            let pasted = by == Speaker::User && said.may_be_anothers(index);
            let update = UPDATES.hits(words);
            // "now" alone says little when the agent reports on its work.
            let update = update.iter().any(|hit| hit.tag || by == Speaker::User);
            let old = match update {
                true => OLD
                    .first(words)
                    .filter(|hit| hit.inside.is_none())
                    .map(|hit| old_part(words, hit.to)),
                false => None,
            };
            let mut fresh: Vec<Found<'_>> = Vec::new();
            let mut named = false;
            for found in found {
                let is_old = old.as_ref().is_some_and(|old| old.contains(&found.at));
                if is_old && let Some(known) = self.anchors.get_mut(found.text) {
                    known.superseded = Some(at.entry.clone());
                    known.provenance.add(at.entry);
                    named = true;
                    continue;
                }
                self.add_anchor(at, by, sentence, found, pasted);
                if !is_old {
                    fresh.push(found);
                }
            }
            if update && !named && !fresh.is_empty() {
                self.supersede(at, by, sentence, &fresh);
            }
        }
    }

    fn add_anchor(
        &mut self,
        at: At<'_>,
        by: Speaker,
        sentence: &str,
        found: Found<'_>,
        pasted: bool,
    ) {
        if let Some(known) = self.anchors.get_mut(found.text) {
            let is_typed = known.pasted && by == Speaker::User && !pasted;
            // From where its sentence is.
            match is_typed || (known.by == Speaker::Tool && by != Speaker::Tool) {
                true => known.provenance.begin(at.entry),
                false => known.provenance.add(at.entry),
            }
            known.rank = at.rank;
            if by == Speaker::User {
                // Said again as what holds.
                known.superseded = None;
            }
            if is_typed {
                // Now the user has said it.
                known.pasted = false;
                known.about = about(sentence, found.at, found.text.len());
            }
            if known.by == Speaker::Tool {
                // Now somebody has said what it is.
                known.by = by;
                known.pasted = pasted;
                known.about = about(sentence, found.at, found.text.len());
            }
            return;
        }
        self.make_room_for_anchor();
        self.anchors.insert(
            found.text.to_owned(),
            Anchor {
                text: found.text.to_owned(),
                kind: found.kind,
                about: about(sentence, found.at, found.text.len()),
                by,
                provenance: Provenance::new(at.entry.clone()),
                rank: at.rank,
                superseded: None,
                pasted,
            },
        );
    }

    pub(crate) fn make_room_for_anchor(&mut self) {
        if self.anchors.len() >= MOST {
            self.drop_least_used_anchors();
        }
    }

    /// Least used, then oldest, leave first; what the user said stays longer,
    /// and so do addresses and ids, which cannot be found again by thinking.
    fn drop_least_used_anchors(&mut self) {
        let mut order: Vec<(u32, u64, String)> = self
            .anchors
            .values()
            .map(|anchor| {
                let kind = match anchor.kind {
                    AnchorKind::Url | AnchorKind::Id => 3,
                    AnchorKind::Hash | AnchorKind::Version | AnchorKind::Number => 2,
                    AnchorKind::Path => 1,
                    AnchorKind::Name => 0,
                };
                let said = match anchor.by {
                    Speaker::User => kind + 4,
                    Speaker::Agent => kind,
                    Speaker::Tool => 0,
                };
                (
                    said + anchor.provenance.seen.min(5),
                    anchor.rank,
                    anchor.text.clone(),
                )
            })
            .collect();
        order.sort();
        let leaving = order.len().saturating_sub(LEFT_AFTER);
        for (.., text) in order.into_iter().take(leaving) {
            self.anchors.remove(&text);
        }
    }

    /// A sentence that gives something a new value: the older value of the
    /// same kind whose words come up again is superseded.
    ///
    /// What a tool printed is replaced by what a tool prints: people speak of
    /// what people said.
    pub(crate) fn supersede(
        &mut self,
        at: At<'_>,
        by: Speaker,
        sentence: &str,
        fresh: &[Found<'_>],
    ) {
        for found in fresh {
            if matches!(found.kind, AnchorKind::Name) {
                continue;
            }
            let said = label(sentence, found.text);
            // A word that many values share ("ms") says little about which
            // one is meant; one that few share ("baseline") says it all.
            let candidates: Vec<(&Anchor, Vec<usize>, usize)> = self
                .anchors
                .values()
                .filter(|anchor| {
                    anchor.kind == found.kind
                        && (anchor.by == Speaker::Tool) == (by == Speaker::Tool)
                        && anchor.superseded.is_none()
                        && anchor.provenance.last() != Some(at.entry)
                        && !fresh.iter().any(|fresh| fresh.text == anchor.text)
                })
                .filter_map(|anchor| shared_with(anchor, &said))
                .collect();
            let mut often = vec![0u32; said.len()];
            for stem in candidates.iter().flat_map(|(_, common, _)| common) {
                often[*stem] += 1;
            }
            let best = candidates
                .iter()
                .filter(|(_, common, words)| common.len() * 100 >= words.min(&MOST_TELLING) * 34)
                .map(|(anchor, common, _)| {
                    let weight: u32 = common.iter().map(|stem| 1_000 / often[*stem].max(1)).sum();
                    (weight, anchor.rank, &anchor.text)
                })
                .filter(|(weight, ..)| *weight >= 300)
                .max();
            if let Some(text) = best.map(|(.., text)| text.to_owned())
                && let Some(anchor) = self.anchors.get_mut(&text)
            {
                anchor.superseded = Some(at.entry.clone());
            }
        }
    }
}

/// Where the sentence speaks of the old value: after "instead of", up to a
/// "but".
fn old_part(words: &Words<'_>, from: usize) -> Range<usize> {
    let end = (from..words.len())
        .find(|at| {
            matches!(
                words.get(*at),
                "but" | "sondern" | "mais" | "sino" | "mas" | "ma" | "maar" | "lecz" | "а" | "но"
            )
        })
        .map_or(usize::MAX, |at| words.offset(at));
    words.after(from)..end
}

/// The words of a sentence that say what a value is.
pub(crate) fn label(sentence: &str, value: &str) -> Vec<String> {
    stems(&sentence.replace(value, " "))
}

/// Which of the stems come up in an anchor's own words, and how many it has.
fn shared_with<'a>(anchor: &'a Anchor, said: &[String]) -> Option<(&'a Anchor, Vec<usize>, usize)> {
    let lower = anchor.about.to_lowercase();
    // A look before the work: most anchors share no word at all.
    if !said.iter().any(|stem| lower.contains(stem.as_str())) {
        return None;
    }
    let words = label(&anchor.about, &anchor.text);
    let common: Vec<usize> = (0..said.len())
        .filter(|at| words.contains(&said[*at]))
        .collect();
    (!common.is_empty()).then_some((anchor, common, words.len()))
}

/// The words around an identifier, in one line. Where a long sentence is cut,
/// it is cut between words and marked, so that nobody takes a part for all.
pub(crate) fn about(sentence: &str, at: usize, len: usize) -> String {
    let mut start = 0;
    let mut end = sentence.len();
    if sentence.len() > ABOUT {
        let room = ABOUT.saturating_sub(len) / 2;
        start = start_of_word(sentence, at.saturating_sub(room), at);
        end = end_of_word(sentence, at + len, (at + len + room).min(end));
    }
    let mut out = String::with_capacity(end - start + 2 * CUT.len());
    if !sentence[..start].trim().is_empty() {
        out.push_str(CUT);
    }
    for (number, word) in sentence[start..end].split_whitespace().enumerate() {
        if number > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
    if !sentence[end..].trim().is_empty() {
        out.push_str(CUT);
    }
    out
}

/// The first start of a word from `from` on, up to `to`. Some scripts have no
/// spaces: where there is none, any character will do.
fn start_of_word(sentence: &str, from: usize, to: usize) -> usize {
    let from = sentence.floor_char_boundary(from);
    if from == 0 || sentence[..from].ends_with(char::is_whitespace) {
        return from;
    }
    let space = sentence[from..to].find(char::is_whitespace);
    space.map_or(from, |space| from + space)
}

/// The last end of a word before `to`, down to `from`.
fn end_of_word(sentence: &str, from: usize, to: usize) -> usize {
    let to = sentence.ceil_char_boundary(to);
    if sentence[to..].is_empty() || sentence[to..].starts_with(char::is_whitespace) {
        return to;
    }
    let space = sentence[from..to].rfind(char::is_whitespace);
    space.map_or(to, |space| from + space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_transcript::EntryId;

    fn superseded(said: &[(Speaker, &str)]) -> Vec<String> {
        let mut ledger = Ledger::new(None);
        for (number, (by, text)) in said.iter().enumerate() {
            let entry = EntryId::new(format!("e{number}"));
            let at = At {
                entry: &entry,
                time: None,
                rank: number as u64,
            };
            ledger.note_anchors(at, *by, &Said::new(text));
        }
        ledger
            .anchors
            .values()
            .filter(|anchor| anchor.superseded.is_some())
            .map(|anchor| anchor.text.clone())
            .collect()
    }

    #[test]
    fn a_newer_value_supersedes_the_older_one() {
        let user = Speaker::User;
        for (old, new, gone) in [
            (
                "The gateway listens on port 8443.",
                "Correction: the gateway now listens on port 9443.",
                "8443",
            ),
            (
                "The ticket for this is PAY-100.",
                "The ticket was split; ours is PAY-200 now.",
                "PAY-100",
            ),
            (
                "Deploys run on port 8443.",
                "The port is now 9443 instead of 8443.",
                "8443",
            ),
            (
                "Der Server läuft auf Port 8443.",
                "Der Server läuft jetzt auf Port 9443.",
                "8443",
            ),
            (
                "Files go to /srv/in/a.",
                "Files no longer go there, but to /srv/in/b.",
                "/srv/in/a",
            ),
        ] {
            assert_eq!(
                superseded(&[
                    (user, "The database is on port 5432."),
                    (user, old),
                    (user, new)
                ]),
                [gone],
                "{new}"
            );
        }
    }

    #[test]
    fn a_long_sentence_is_cut_between_words_and_marked() {
        let before = "several considerations regarding infrastructure ".repeat(5);
        let after = " notwithstanding https://wiki.example/pages/gateway".repeat(5);
        let sentence = format!("{before}port 8443{after}");
        let found = sentence.find("8443").unwrap();
        let said = about(&sentence, found, 4);
        let inner = said
            .strip_prefix(CUT)
            .and_then(|said| said.strip_suffix(CUT));
        let inner = inner.unwrap_or_else(|| panic!("not marked: {said}"));
        assert!(inner.contains("port 8443 notwithstanding"), "{said}");
        assert!(inner.len() <= ABOUT, "{said}");
        let words: Vec<&str> = sentence.split_whitespace().collect();
        for word in inner.split(' ') {
            assert!(words.contains(&word), "{word:?} is no word of it: {said}");
        }
        // Only the side that was cut is marked.
        let said = about(&sentence[found - 5..], 5, 4);
        assert!(
            said.starts_with("port 8443") && said.ends_with(CUT),
            "{said}"
        );
        assert_eq!(about("The  port is 8443.", 13, 4), "The port is 8443.");
    }

    #[test]
    fn a_long_sentence_without_spaces_is_cut_between_characters() {
        let sentence = format!("{}8443{}", "网关监听端口".repeat(20), "的服务".repeat(40));
        let found = sentence.find("8443").unwrap();
        let said = about(&sentence, found, 4);
        assert!(said.starts_with("…") && said.ends_with("…"), "{said}");
        assert!(said.contains("8443") && said.len() < 2 * ABOUT, "{said}");
        assert!(sentence.contains(said.trim_matches('…')), "{said}");
    }
}
