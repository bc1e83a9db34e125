//! Frames in scripts without spaces.

use super::Frame;
use crate::norm::reads_as_rule;
use crate::text::{first_chars, is_cjk};
use crate::words::others::frames::{
    UNSPACED_COMES, UNSPACED_OWN, UNSPACED_SAYS, UNSPACED_SHOWN, UNSPACED_SOURCES, UNSPACED_TASKS,
};

/// Whether a sentence without spaces tells what another says, without a colon.
pub(crate) fn tells_unspaced(sentence: &str) -> bool {
    if !sentence.chars().any(is_cjk)
        || is_whatever(sentence)
        || UNSPACED_OWN[..].iter().any(|own| sentence.starts_with(own))
    {
        return false;
    }
    if [
        "据说",
        "听说",
        "據說",
        "聽說",
        "らしい",
        "だそう",
        "래요",
        "대요",
    ]
    .iter()
    .any(|heard| sentence.contains(heard))
    {
        return true;
    }
    // "…と言うけど、…": what comes behind the turn is the user's again.
    let turns = [
        "けど、",
        "けれど、",
        "が、",
        "但",
        "不过",
        "可是",
        "지만 ",
        "는데 ",
        "그래도 ",
    ];
    let turned = turns
        .iter()
        .filter_map(|turn| sentence.rfind(turn).map(|at| at + turn.len()))
        .max();
    if let Some(rest) = turned.map(|at| &sentence[at..])
        && reads_as_rule(rest)
        && !passes_on(rest)
    {
        return false;
    }
    passes_on(sentence)
}

/// Whether a sentence says that another said it.
fn passes_on(sentence: &str) -> bool {
    let speaks_self = [
        "내가",
        "제가",
        "나는",
        "私が",
        "私は",
        "僕が",
        "前にも",
        "我说",
        "我再",
    ]
    .iter()
    .any(|me| sentence.contains(me));
    let ends = [
        "라고 하셨",
        "라고 했",
        "라고 하네",
        "라고 합니다",
        "라고 한다",
        "라고 되어",
        "라고 돼",
        "라고 써",
        "라고 적",
        "다고 했",
        "다고 합니다",
        "라고 말",
        "말라고 하",
        "라고 뜨",
        "と言われ",
        "と言って",
        "と書いて",
        "と書かれ",
        "とのこと",
        "って言って",
        "って言われ",
        "とある。",
        "と出る",
        "と出た",
    ];
    (!speaks_self && ends.iter().any(|end| sentence.contains(end)))
        || ["によると", "에 따르면"]
            .iter()
            .any(|by| sentence.contains(by))
        || is_said_by_somebody(sentence)
        || ["根据", "根據", "据"].iter().any(|by| {
            sentence.strip_prefix(by).is_some_and(|rest| {
                let near = first_chars(rest, 10);
                UNSPACED_SOURCES.iter().any(|name| near.contains(name))
            })
        })
        || UNSPACED_SOURCES.iter().any(|name| {
            sentence.find(name).is_some_and(|at| {
                // "文档里说不要…", "ドキュメントには…と書いてある".
                let behind = &sentence[at + name.len()..];
                let near = first_chars(behind, 5);
                let says = [
                    "说", "說", "写着", "写道", "声称", "提到", "觉得", "认为", "要求", "希望",
                    "建议",
                ];
                says.iter().any(|verb| near.contains(verb))
                    || [
                        "と書い",
                        "と書か",
                        "と言っ",
                        "と言わ",
                        "と指示",
                        "と要求",
                        "と主張",
                        "라고 적",
                        "라고 요",
                        "라고 주",
                        "라고 쓰",
                        "라고 말",
                        "라고 했",
                        "라고 쓰",
                    ]
                    .iter()
                    .any(|verb| behind.contains(verb))
            })
        })
}

/// "船长说以后…": whoever it is, somebody stands before the verb of saying, and
/// neither the user nor the agent.
fn is_said_by_somebody(sentence: &str) -> bool {
    let says = [
        "说", "說", "认为", "觉得", "要求", "强调", "提醒", "嘱咐", "叮嘱", "告诉", "规定", "讲",
    ];
    // 小说 is a novel, 说明 an explanation, 一般来说 "generally".
    let parts = [
        "小说",
        "说明",
        "传说",
        "说话",
        "说法",
        "来说",
        "话说",
        "如说",
        "是说",
        "再说",
        "讲解",
        "演讲",
        "要求是",
        "的要求",
        "按要求",
        "讲究",
        "规定的",
    ];
    let not_somebody = [
        "我", "你", "您", "咱", "不", "要", "别", "请", "先", "没", "怎", "如", "就", "都", "每",
        "所有", "任何", "，", "。", "：", "、", "可以", "必须", "什么", "谁",
    ];
    let found = says
        .iter()
        .filter_map(|verb| sentence.find(verb).map(|at| (at, *verb)))
        .min();
    found.is_some_and(|(at, _)| {
        let who = sentence[..at].trim_start_matches(['“', '"', ' ', '-']);
        let around: String = sentence[..at]
            .chars()
            .next_back()
            .into_iter()
            .chain(sentence[at..].chars().take(3))
            .collect();
        (1..=6).contains(&who.chars().count())
            && who.chars().all(|c| is_cjk(c) && !is_kana(c))
            && !not_somebody.iter().any(|word| who.contains(word))
            && !parts.iter().any(|part| around.contains(part))
    })
}

/// What a label in a script without spaces makes of what is behind it.
pub(super) fn unspaced(head: &str) -> Option<Frame> {
    if says_self(head) || is_whatever(head) {
        return None;
    }
    let has = |list: &[&str]| list.iter().any(|part| head.contains(part));
    if has(&UNSPACED_TASKS) {
        return Some(Frame::Task);
    }
    if is_named(head) {
        return Some(Frame::Speech);
    }
    let passed = ["转发", "转自", "轉發", "転送", "전달"]
        .iter()
        .any(|from| head.starts_with(from));
    let tells = passed
        || UNSPACED_SAYS
            .iter()
            // Japanese has "表示" for what is shown.
            .filter(|verb| **verb != "表示" || !head.chars().any(is_kana))
            .any(|verb| head.find(verb).is_some_and(|at| at > 0));
    let named = has(&UNSPACED_SOURCES) || head.starts_with(|c: char| c.is_ascii_uppercase());
    // "Commit messages:" is what a rule is about, "error message:" what one saw.
    let of_work = [
        "提交",
        "コミット",
        "커밋",
        "注释",
        "コメントは",
        "标题",
        "タイトル",
    ];
    let shown = UNSPACED_SHOWN.iter().any(|name| head.ends_with(name)) && !has(&of_work);
    (tells || shown || (named && has(&UNSPACED_COMES))).then_some(Frame::Shown)
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

/// Whether the user speaks: "我再说一遍", "私が言った".
fn says_self(head: &str) -> bool {
    let own = UNSPACED_OWN.iter().any(|own| head.contains(own));
    let mine = ["我", "私", "僕", "俺", "제", "내"].iter().any(|me| {
        head.find(me).is_some_and(|at| {
            let behind = &head[at + me.len()..];
            let verb = UNSPACED_SAYS
                .iter()
                .filter_map(|verb| behind.find(verb))
                .min();
            verb.is_some_and(|verb| {
                let between = &behind[..verb];
                between.chars().count() <= 6
                    && !UNSPACED_SOURCES.iter().any(|name| between.contains(name))
            })
        })
    });
    let before = ["前にも言", "さっき言", "再说一遍", "再说一次", "다시 말하"];
    own || mine || before.iter().any(|said| head.contains(said))
}

/// "Whatever the docs say".
fn is_whatever(text: &str) -> bool {
    [
        "不管",
        "怎么说",
        "说什么",
        "无论",
        "不論",
        "無論",
        "别管",
        "何と言",
        "なんと言",
        "何を言",
        "뭐라고",
        "뭐라 하든",
    ]
    .iter()
    .any(|part| text.contains(part))
}

/// "小王", "田中さん", "김 과장": a name, or somebody's title.
fn is_named(head: &str) -> bool {
    let count = head.chars().count();
    let titles = [
        "さん",
        "さま",
        "様",
        "氏",
        "くん",
        "ちゃん",
        "部長",
        "課長",
        "社長",
        "先生",
        "님",
        "씨",
        "과장",
        "부장",
        "대리",
        "팀장",
        "사장",
        "经理",
        "总监",
        "主管",
        "姐",
        "哥",
        "老师",
        "女士",
        "老板",
        "客户",
        "同事",
        "上司",
        "同僚",
        "お客様",
        "상사",
        "고객",
        "동료",
    ];
    count <= 8 && titles.iter().any(|title| head.ends_with(title))
        || (2..=3).contains(&count)
            && head.starts_with(['小', '老', '阿'])
            && !matches!(head, "小心" | "老规矩" | "小结" | "小提示")
}
