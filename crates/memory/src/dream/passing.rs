//! What passes: words that keep a talk going, and days that only their own day
//! can name.

/// Words that only keep a talk going.
const CHATTER: &str = " ok okay k thanks thank you thx great nice cool perfect fine good yes yep yeah no nope sure \
    right alright got it that this works work worked working now well done very much so please hi hello hey sorry \
    looks look lgtm all is are the a and i see we can go on next awesome super danke gut passt prima alles klar \
    läuft das funktioniert merci bien parfait super ça marche gracias vale bien perfecto funciona obrigado grazie \
    perfetto bedankt goed dzięki dobrze спасибо хорошо отлично работает ок да ";

/// Whether a line says nothing but that somebody is there: "ok thanks, that
/// works".
pub(super) fn is_chatter(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty());
    let plain = |word: &str| CHATTER.contains(&format!(" {word} "));
    lower.chars().any(char::is_alphabetic) && words.all(plain)
        || ["谢谢", "好的", "没问题"].iter().any(|thanks| {
            lower.starts_with(thanks) && lower.chars().count() <= thanks.chars().count() + 4
        })
}

/// Days that are others tomorrow. What begins or ended on one still holds.
const RELATIVE: &[&str] = &[
    " tomorrow ",
    " yesterday ",
    " tonight ",
    " today at ",
    " later today ",
    " this morning ",
    " this afternoon ",
    " this evening ",
    " next week ",
    " next month ",
    " last week ",
    " this week ",
    " heute um ",
    " heute abend ",
    " morgen um ",
    " übermorgen ",
    " gestern ",
    " nächste woche ",
    " demain ",
    " hier soir ",
    " ce soir ",
    " la semaine prochaine ",
    " ayer ",
    " mañana a las ",
    " esta noche ",
    " la próxima semana ",
    " amanhã ",
    " ontem ",
    " domani ",
    " ieri ",
    " завтра ",
    " вчера ",
    " сегодня в ",
    " на следующей неделе ",
];
const UNSPACED_RELATIVE: &[&str] = &[
    "明天", "昨天", "后天", "今晚", "下周", "明日", "昨日", "내일", "어제",
];
/// Before one of those days, these make it the day since which something holds.
const SINCE: &[&str] = &[
    "from", "since", "starting", "until", "ab", "seit", "bis", "depuis", "desde", "dès", "desde",
    "dal", "с", "со", "从",
];

/// Whether a line is about a day that only its own day can name: "the meeting
/// is tomorrow at 10".
pub(super) fn is_of_a_day(text: &str) -> bool {
    let lower = text.to_lowercase();
    let spaced: String = lower
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    let spaced = format!(
        " {} ",
        spaced.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    let held = |at: usize| {
        let before = spaced[..at]
            .trim_end()
            .rsplit(' ')
            .next()
            .unwrap_or_default();
        SINCE.contains(&before)
    };
    let named = |day: &&str| spaced.match_indices(*day).any(|(at, _)| !held(at));
    RELATIVE.iter().any(named)
        || UNSPACED_RELATIVE.iter().any(|day| {
            let since = ["从", "自"]
                .iter()
                .any(|from| lower.contains(&format!("{from}{day}")));
            lower.contains(day) && !since
        })
}
