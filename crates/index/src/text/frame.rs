//! The words by which somebody asks, rather than what they ask for.
//!
//! In "can you remind me of the name you suggested" neither `remind` nor
//! `suggest` says what is looked for, yet both are rarer in most notes than
//! what does. They count less, but only where the sentence addresses somebody:
//! in "what did Anna suggest" the same word is the matter.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Run, Stems, Tongue, lowercase, runs};

/// What a word counts that only asks.
pub(super) const ASKING: f32 = 0.3;

/// How many words before and after it the one may stand who is addressed.
const BEFORE: usize = 4;
const AFTER: usize = 3;

/// Words that ask, and those of which one must stand near them.
struct Frame {
    tongue: Tongue,
    near: &'static str,
    asking: &'static str,
    /// Whether the other word must follow at once.
    next: bool,
}

/// Requests, then what was said in earlier conversations, then nouns that only
/// announce another.
const FRAMES: [Frame; 12] = [
    frame(
        Tongue::English,
        "you your me us any",
        "remind suggest recommend recommendation tell told explain provide give help know guide \
         share wonder remember recall summarize list walk",
    ),
    frame(
        Tongue::English,
        "i we our you your my me",
        "mention mentioned discuss discussion talk say said told tell conversation chat bring \
         brought remember",
    ),
    announcing(Tongue::English, "of", "name type kind sort"),
    frame(
        Tongue::German,
        "du dir dich sie ihnen mir mich uns",
        "erinnern erinnere empfehlen empfiehl vorschlagen sagen sag nennen nenne erklären erkläre \
         geben gib helfen hilf zeigen zeig wissen weißt zusammenfassen auflisten",
    ),
    frame(
        Tongue::German,
        "ich wir uns unser unserem unserer du sie mir",
        "erwähnt erwähnte besprochen gesagt gesprochen gespräch unterhaltung chat erzählt",
    ),
    announcing(Tongue::German, "von des der", "name namen art sorte"),
    frame(
        Tongue::French,
        "tu te toi vous votre me moi nous",
        "rappeler rappelle recommander recommande suggérer proposer dire dis expliquer explique \
         donner donne aider aide montrer savoir résumer lister",
    ),
    frame(
        Tongue::French,
        "je nous notre nos tu vous me",
        "mentionné discuté parlé dit conversation discussion chat raconté",
    ),
    announcing(Tongue::French, "de du des d", "nom type genre sorte"),
    frame(
        Tongue::Spanish,
        "tú te usted ustedes me nos puedes puede podrías",
        "recordar recuérdame recomendar recomienda sugerir decir dime explicar explica dar dame \
         ayudar mostrar saber sabes resumir listar",
    ),
    frame(
        Tongue::Spanish,
        "yo nosotros nuestra nuestro tú me nos te",
        "mencioné mencionado mencionaste hablado hablamos dicho dije dijiste conversación chat \
         discutido",
    ),
    announcing(Tongue::Spanish, "de del", "nombre tipo clase"),
];

const fn frame(tongue: Tongue, near: &'static str, asking: &'static str) -> Frame {
    Frame {
        tongue,
        near,
        asking,
        next: false,
    }
}

const fn announcing(tongue: Tongue, near: &'static str, asking: &'static str) -> Frame {
    Frame {
        tongue,
        near,
        asking,
        next: true,
    }
}

/// A frame with its words as the index knows them.
struct Known {
    frame: &'static Frame,
    near: HashSet<&'static str>,
    asking: HashSet<String>,
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let mut stems = Stems::default();
    let known = FRAMES.iter().map(|frame| Known {
        frame,
        near: frame.near.split_whitespace().collect(),
        asking: frame
            .asking
            .split_whitespace()
            .filter_map(|word| token(word, frame.tongue, &mut stems))
            .collect(),
    });
    known.collect()
});

fn token(word: &str, tongue: Tongue, stems: &mut Stems) -> Option<String> {
    let mut found = None;
    let mut take = |token: &str, _| found = Some(token.to_owned());
    stems.token(word, tongue, &mut take, 1.0);
    found
}

/// The tokens of a sentence that only ask.
pub(super) fn asking(sentence: &str, tongue: Tongue, stems: &mut Stems) -> HashSet<String> {
    let mut found = HashSet::new();
    let known: Vec<&Known> = KNOWN
        .iter()
        .filter(|known| known.frame.tongue == tongue)
        .collect();
    if known.is_empty() {
        return found;
    }
    let words: Vec<_> = runs(sentence)
        .filter_map(|run| match run {
            Run::Word(word) => Some(lowercase(word)),
            Run::Dotted(_) | Run::Unspaced(_) | Run::End => None,
        })
        .collect();
    for (at, word) in words.iter().enumerate() {
        let Some(own) = token(word, tongue, stems) else {
            continue;
        };
        let frames = known.iter().filter(|known| known.asking.contains(&own));
        let asks = frames.into_iter().any(|known| {
            let near = match known.frame.next {
                true => at + 1..words.len().min(at + 2),
                false => at.saturating_sub(BEFORE)..words.len().min(at + 1 + AFTER),
            };
            words[near].iter().any(|word| known.near.contains(&**word))
        });
        if asks {
            found.insert(own);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_only_ask_where_somebody_is_addressed() {
        let asks = |text: &str| {
            let mut found: Vec<String> =
                asking(text, super::super::tongue(text), &mut Stems::default())
                    .into_iter()
                    .collect();
            found.sort();
            found.join(" ")
        };
        for (text, expected) in [
            ("Can you suggest a hotel for my trip to Miami?", "suggest"),
            ("Remind me of the name of the dessert shop", "name remind"),
            ("any documentary recommendations?", "recommend"),
            ("What did I mention about the deadline?", "mention"),
            ("What did Anna suggest to Tom?", ""),
            ("the list of servers", ""),
            ("the name server is down", ""),
            (
                "Kannst du mir das Hotel nennen, von dem wir gesprochen haben?",
                "gesproch nenn",
            ),
            ("永远不要在周五部署", ""),
        ] {
            assert_eq!(asks(text), expected, "{text}");
        }
    }
}
