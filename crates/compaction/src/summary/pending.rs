//! Pending work: sentences that say something remains to be done.

use longhaul_ledger::ItemState;
use longhaul_transcript::ContextMessage;

use super::material::Material;
use super::text::{one_line, sentences, shortened, without_analysis};
use super::voices::Voices;

/// Words that announce pending work. The first five are S2's.
const WORDS: &[&str] = &[
    "todo",
    "next",
    "pending",
    "follow up",
    "remaining",
    "follow-up",
    "to do",
    "still need",
    "ausstehend",
    "als nächstes",
    "noch offen",
    "verbleibend",
    "zu tun",
    "à faire",
    "reste à",
    "prochaine étape",
    "en attente",
    "pendiente",
    "por hacer",
    "siguiente paso",
    "falta por",
    "pendente",
    "próximo passo",
    "a fazer",
    "da fare",
    "prossimo passo",
    "осталось",
    "следующий шаг",
    "нужно сделать",
];
/// The same in scripts without spaces between words.
const SIGNS: &[&str] = &[
    "待办",
    "待辦",
    "接下来",
    "接下來",
    "下一步",
    "剩余",
    "剩餘",
    "未完成",
    "后续",
    "後續",
    "次に",
    "残り",
    "未完了",
    "やること",
    "다음 단계",
    "남은",
    "할 일",
];

/// How far back is recent.
const RECENT_MESSAGES: usize = 12;
const MOST: usize = 5;
const CHARS: usize = 160;

/// Sentences about pending work in the recent messages of people and the model
/// that leave the context; newest first. What the ledger knows as done is left
/// out, so that no summary resurrects it.
pub(super) fn pending(material: &Material<'_>, voices: &Voices<'_>) -> Vec<String> {
    let heard = |messages: &[ContextMessage]| messages.iter().filter(|m| voices.hears(m)).count();
    let recent = RECENT_MESSAGES.saturating_sub(heard(material.kept));
    let done: Vec<String> = material
        .ledger
        .items
        .iter()
        .filter(|item| matches!(item.state, ItemState::Done | ItemState::Dropped))
        .map(|item| one_line(&item.text).to_lowercase())
        .filter(|text| !text.is_empty())
        .collect();
    let mut found: Vec<String> = Vec::new();
    let removed = material.removed.iter().rev();
    for message in removed.filter(|m| voices.hears(m)).take(recent) {
        let text = without_analysis(&message.view().text());
        for sentence in sentences(&text) {
            let lower = sentence.to_lowercase();
            if !says_pending(&lower) || done.iter().any(|item| lower.contains(item.as_str())) {
                continue;
            }
            let line = shortened(sentence, CHARS);
            if !found.contains(&line) {
                found.push(line);
            }
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

fn says_pending(lower: &str) -> bool {
    WORDS.iter().any(|word| has_word(lower, word)) || SIGNS.iter().any(|sign| lower.contains(sign))
}

/// Whether the word stands by itself; `Next.js` is not about what comes next.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + word.len()..].chars();
        let (next, then) = (after.next(), after.next());
        let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let dotted = matches!(next, Some('.' | '-' | '/')) && joined(then);
        let code = dotted || next == Some('(') || before == Some('.');
        !joined(before) && !joined(next) && !code
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_by_themselves() {
        for yes in [
            "next: tests",
            "what is pending?",
            "todo",
            "one thing remaining.",
        ] {
            assert!(says_pending(yes), "{yes}");
        }
        for no in [
            "next.js",
            "nextval(1)",
            "contextual",
            "update",
            "iter.next()",
        ] {
            assert!(!says_pending(no), "{no}");
        }
        for yes in [
            "下一步：测试",
            "次にテストを書く",
            "noch offen: tests",
            "осталось два теста",
        ] {
            assert!(says_pending(yes), "{yes}");
        }
    }
}
