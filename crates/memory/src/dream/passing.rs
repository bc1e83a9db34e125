//! What passes: words that keep a talk going, and days that only their own day
//! can name.

use super::claim::is_weekday;
use super::likeness::is_unspaced;

/// Words that only keep a talk going.
const CHATTER: &str = " ok okay k thanks thank you thx great nice cool perfect fine good yes yep yeah no nope sure \
    right alright got it that this works work worked working now well done very much so please hi hello hey sorry \
    looks look lgtm all is are the a and i see we can go on next awesome super danke gut passt prima alles klar \
    läuft das funktioniert merci bien parfait super ça marche gracias vale bien perfecto funciona obrigado grazie \
    perfetto bedankt goed dzięki dobrze спасибо хорошо отлично работает ок да \
    lot lots many million so really truly appreciate appreciated cheers ty brilliant excellent wonderful amazing lovely \
    fantastic sounds indeed exactly welcome bye again for your help vielen dank toll klasse bestens sehr schön genau tschüss hilfe für deine \
    beaucoup génial excellent d'accord merveilleux muchas genial estupendo excelente mil muito obrigada ótimo valeu \
    mille ottimo benissimo heel erg je wel hartelijk mooi dziękuję bardzo świetnie большое супер класс огромное понял ";

/// Whether a line says nothing but that somebody is there: "ok thanks, that
/// works".
pub(super) fn is_chatter(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty());
    let plain = |word: &str| CHATTER.contains(&format!(" {word} "));
    lower.chars().any(char::is_alphabetic) && words.all(plain) || is_chatter_unspaced(&lower)
}

/// The same where words are not spaced: nothing is left without such words.
fn is_chatter_unspaced(lower: &str) -> bool {
    let mut rest = lower.to_owned();
    for word in UNSPACED_CHATTER {
        rest = rest.replace(word, "");
    }
    let said = rest.chars().any(char::is_alphanumeric);
    !said && lower.chars().any(is_unspaced)
}

/// The longer ones first.
const UNSPACED_CHATTER: &[&str] = &[
    "ありがとうございます",
    "ありがとうございました",
    "ありがとう",
    "わかりました",
    "承知しました",
    "了解です",
    "了解しました",
    "お疲れ様です",
    "助かりました",
    "はい",
    "了解",
    "いいね",
    "です",
    "감사합니다",
    "고맙습니다",
    "고마워요",
    "고마워",
    "좋아요",
    "알겠습니다",
    "네",
    "非常感谢",
    "太感谢了",
    "多谢",
    "谢谢",
    "感谢",
    "好的",
    "没问题",
    "太好了",
    "太棒了",
    "不错",
    "辛苦了",
    "收到",
    "明白",
    "可以",
    "你",
    "您",
    "啦",
    "了",
    "哦",
    "啊",
    "很",
    "好",
    "嗯",
];

/// Days that are others tomorrow. What begins on one still holds.
const RELATIVE: &[&str] = &[
    " tomorrow ",
    " tonight ",
    " today at ",
    " later today ",
    " this morning ",
    " this afternoon ",
    " this evening ",
    " next week ",
    " next month ",
    " this week ",
    " heute um ",
    " heute abend ",
    " morgen um ",
    " übermorgen ",
    " nächste woche ",
    " demain ",
    " ce soir ",
    " la semaine prochaine ",
    " mañana a las ",
    " esta noche ",
    " la próxima semana ",
    " amanhã ",
    " domani ",
    " завтра ",
    " сегодня в ",
    " на следующей неделе ",
];
const UNSPACED_RELATIVE: &[&str] = &[
    "明天",
    "后天",
    "今晚",
    "下周",
    "明日",
    "来週",
    "내일",
    "다음 주",
];
/// Days that were others yesterday. What changed on one still holds.
const PAST: &[&str] = &[
    " yesterday ",
    " last week ",
    " last month ",
    " gestern ",
    " letzte woche ",
    " letzten monat ",
    " hier soir ",
    " la semaine dernière ",
    " ayer ",
    " la semana pasada ",
    " ontem ",
    " na semana passada ",
    " ieri ",
    " la settimana scorsa ",
    " gisteren ",
    " vorige week ",
    " wczoraj ",
    " вчера ",
    " на прошлой неделе ",
];
const UNSPACED_PAST: &[&str] = &["昨天", "上周", "昨日", "先週", "어제", "지난주"];
/// With a weekday these make it one of a certain week: "next Monday".
const COMING: &str = " next this coming last nächsten nächste kommenden kommende diesen letzten prochain dernier próximo \
    próxima prossimo prossima volgende komende przyszły przyszłą następny следующий следующую этот эту ";
/// Before one of those days, these make it the day since which something holds.
const SINCE: &[&str] = &[
    "from", "since", "starting", "until", "ab", "seit", "bis", "depuis", "desde", "dès", "desde",
    "dal", "с", "со", "从",
];

/// Whether a line is about a day that only its own day can name: "the meeting
/// is tomorrow at 10". That something `changed` on such a day still holds: "I
/// moved to Leipzig last week".
pub(super) fn is_of_a_day(text: &str, changed: bool) -> bool {
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
    let unspaced = |day: &&str| {
        let since = ["从", "自"]
            .iter()
            .any(|from| lower.contains(&format!("{from}{day}")));
        lower.contains(*day) && !since
    };
    let past = || PAST.iter().any(named) || UNSPACED_PAST.iter().any(unspaced);
    RELATIVE.iter().any(named)
        || UNSPACED_RELATIVE.iter().any(unspaced)
        || is_of_a_week(&spaced)
        || (!changed && past())
}

/// "Next Monday", "lundi prochain": the weekday of one week.
fn is_of_a_week(spaced: &str) -> bool {
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let coming = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        before.is_some_and(|word| SINCE.contains(word))
    };
    (1..words.len()).any(|at| {
        let (first, second) = (words[at - 1], words[at]);
        let says = |word: &str| COMING.contains(&format!(" {word} "));
        (says(first) && is_weekday(second) || is_weekday(first) && says(second)) && !coming(at - 1)
    })
}
