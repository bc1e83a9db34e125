//! What held once and is told of: no rule.

use crate::words::Words;

/// "Our old policy was …", "früher haben wir immer …": what held once, unless
/// the sentence goes on to what holds now.
pub(crate) fn is_of_the_past(words: &Words<'_>) -> bool {
    let once = |at: usize| {
        matches!(
            words.get(at),
            "old"
                | "former"
                | "previous"
                | "earlier"
                | "original"
                | "alte"
                | "alter"
                | "altes"
                | "frühere"
                | "früheres"
                | "ancien"
                | "ancienne"
                | "antigua"
                | "antiguo"
                | "vieja"
                | "anterior"
                | "antiga"
                | "vecchia"
                | "precedente"
                | "oude"
                | "stara"
                | "старое"
                | "старая"
                | "прежнее"
                | "прежняя"
        )
    };
    let was = |at: usize| {
        matches!(
            words.get(at),
            "was"
                | "were"
                | "used"
                | "said"
                | "war"
                | "waren"
                | "lautete"
                | "hieß"
                | "était"
                | "disait"
                | "era"
                | "fue"
                | "decía"
                | "dizia"
                | "diceva"
                | "było"
                | "była"
                | "был"
                | "была"
                | "было"
        )
    };
    let first = (0..words.len().min(3)).any(once) && (1..words.len().min(9)).any(was);
    let used_to = (0..words.len().min(3)).any(|at| {
        words.get(at) == "used"
            && words.get(at + 1) == "to"
            && !matches!(words.get(0), "you" | "get")
    });
    let before = matches!(
        words.get(0),
        "früher"
            | "damals"
            | "раньше"
            | "autrefois"
            | "vroeger"
            | "dawniej"
            | "formerly"
            | "previously"
    ) || words.lower().starts_with("以前我")
        || words.lower().starts_with("昔は")
        || words.lower().starts_with("以前は")
        || words.lower().starts_with("예전에는");
    let goes_on = words.iter().skip(1).any(|word| {
        matches!(
            word,
            "but"
                | "now"
                | "instead"
                | "aber"
                | "jetzt"
                | "nun"
                | "mais"
                | "maintenant"
                | "désormais"
                | "pero"
                | "ahora"
                | "mas"
                | "agora"
                | "ma"
                | "ora"
                | "maar"
                | "nu"
                | "ale"
                | "teraz"
                | "но"
                | "теперь"
        )
    }) || ["现在", "但", "今は", "이제"]
        .iter()
        .any(|now| words.lower().contains(now));
    (first || used_to || before) && !goes_on
}
