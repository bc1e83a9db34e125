//! The same for scripts without spaces, and for Korean, whose particles are
//! part of the word: a topic is told from an object by them.

/// "每次…都要": something to do, not something that happens ("都会").
pub(crate) fn chinese(lower: &str) -> bool {
    let demands = |rest: &str| {
        ["请", "都要", "先", "记得", "都得", "都需", "应该", "得先"]
            .iter()
            .any(|word| rest.contains(word))
    };
    let shown = |rest: &str| match rest.find('都') {
        Some(at) => {
            let after = &rest[at + '都'.len_utf8()..];
            !after.starts_with([
                '会', '是', '有', '能', '在', '没', '不', '很', '可', '出', '报', '失', '超',
            ]) && !after.is_empty()
        }
        None => false,
    };
    let first = |word: &str| {
        lower.match_indices(word).find_map(|(at, _)| {
            let before = lower[..at].chars().next_back();
            before
                .is_none_or(|c| matches!(c, '，' | '。' | '：' | '；' | ',' | ' ' | '\n' | '请'))
                .then(|| &lower[at + word.len()..])
        })
    };
    first("每次")
        .or_else(|| first("每当"))
        .is_some_and(|rest| demands(rest) || (shown(rest) && !rest.contains('我')))
        || first("每个").or_else(|| first("每一")).is_some_and(shown)
        || first("凡是").is_some_and(|rest| shown(rest) || demands(rest))
        || first("以后")
            .is_some_and(|rest| demands(rest) || rest.contains('先') || rest.contains('用'))
        || first("只要").is_some_and(|rest| {
            ["就先", "就别", "就不要", "就请", "就要"]
                .iter()
                .any(|word| rest.contains(word))
        })
        || ["如果你", "当你"].iter().any(|word| {
            first(word).is_some_and(|rest| {
                !rest.starts_with(['想', '愿', '觉', '需', '有', '可', '能', '认', '要'])
                    && rest
                        .split_once(['，', ','])
                        .is_some_and(|(_, main)| demands(main))
            })
        })
}

/// What is asked for on every occasion; a task names its object with を, what
/// holds of all things of a kind names them as the topic, with は.
pub(crate) fn japanese(lower: &str) -> bool {
    let Some(end) = [
        "ください",
        "下さい",
        "お願い",
        "なさい",
        "ほしい",
        "欲しい",
        "こと",
    ]
    .iter()
    .filter_map(|word| lower.rfind(word))
    .max() else {
        return false;
    };
    let body = &lower[..end];
    let all_of = ["すべて", "全て"].iter().any(|word| {
        body.find(word).is_some_and(|at| {
            let rest = &body[at + word.len()..];
            !rest.starts_with(['の', 'を']) || rest.contains('は')
        })
    });
    let recurs = ["たびに", "ごとに", "度に", "都度", "毎回", "毎に"]
        .iter()
        .any(|word| body.contains(word));
    let when = ["ときは", "時は", "際は", "場合は"].iter().any(|word| {
        body.find(word)
            .is_some_and(|at| !body[..at].ends_with(['た', 'だ']))
    });
    let until = body.contains("まで")
        && !body[body.find("まで").unwrap_or(0)..].contains('待')
        && !body.contains("最後まで")
        && {
            let before = &body[..body.find("まで").unwrap_or(0)];
            before.ends_with(['る', 'う', 'く', 'す', 'つ', 'む'])
        };
    all_of || recurs || when || until
}

/// As in Japanese: 때마다 and 마다 recur, 모든 with a topic is a rule.
pub(crate) fn korean(lower: &str) -> bool {
    let end = lower.trim_end_matches(['.', '!', ' ', '~']);
    let asks = [
        "주세요",
        "세요",
        "십시오",
        "바랍니다",
        "해줘",
        "해 줘",
        "할 것",
        "하자",
    ]
    .iter()
    .any(|word| end.ends_with(word) || lower.contains("주세요"));
    if !asks {
        return false;
    }
    let all_of = lower.find("모든").is_some_and(|at| {
        lower[at..]
            .split_whitespace()
            .skip(1)
            .take(4)
            .any(|word| word.ends_with('은') || word.ends_with('는'))
    });
    let recurs = lower.contains("때마다") || lower.contains("마다 ");
    let when = lower.contains("때는") || lower.contains("경우에는");
    let until = lower.contains("때까지") && !lower.contains("기다");
    all_of || recurs || when || until
}
