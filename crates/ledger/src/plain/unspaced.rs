//! The same in scripts without spaces: 用中文回答, コメントは日本語で.

use crate::text::longer_than;

/// More than this says more than how to speak.
const MOST_CHARS: usize = 20;

/// What points at one text, or asks for one thing.
const POINTING: [&str; 30] = [
    "这", "那", "一下", "篇", "封", "一个", "以下", "下面", "上面", "把", "给我", "给他", "她",
    "他", "现在", "この", "その", "これ", "それ", "を", "今", "次の", "上の", "下の", "이 ", "그 ",
    "이것", "을 ", "를 ", "지금",
];

/// Whether a sentence says nothing but in which language or how to speak.
pub(super) fn says_how_unspaced(sentence: &str) -> bool {
    let text = sentence.trim_matches(|c: char| !c.is_alphanumeric());
    if longer_than(text, MOST_CHARS) || POINTING.iter().any(|word| text.contains(word)) {
        return false;
    }
    let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let tongue = any(&[
        "中文",
        "英文",
        "英语",
        "汉语",
        "日语",
        "法语",
        "德语",
        "繁体",
        "简体",
        "日本語",
        "英語",
        "中国語",
        "한국어",
        "영어",
        "일본어",
    ]);
    let manner = any(&[
        "简短",
        "简洁",
        "简明",
        "简单点",
        "直接",
        "精炼",
        "客气",
        "正式",
        "簡潔",
        "短く",
        "手短",
        "端的",
        "丁寧",
        "敬語",
        "率直",
        "짧게",
        "간결",
        "간단",
        "존댓말",
        "반말",
        "솔직",
    ]);
    let speaks = any(&[
        "回答",
        "回复",
        "答复",
        "答",
        "说话",
        "交流",
        "注释",
        "写",
        "沟通",
        "表达",
        "答え",
        "返事",
        "返答",
        "話し",
        "書い",
        "説明",
        "コメント",
        "답",
        "대답",
        "써",
        "말해",
        "말하",
        "작성",
        "설명",
        "주석",
    ]);
    // 要简短 asks, 很简短 tells.
    let told = any(&[
        "很",
        "太",
        "了吗",
        "吗",
        "是",
        "でした",
        "です",
        "だった",
        "입니다",
        "었",
    ]);
    // 变量名用英文, 日期格式用YYYY-MM-DD, 答えは三行以内で: a kind of thing, and its form.
    let form = |rest: &str| rest.chars().count() >= 2 && !rest.contains(['，', '、']);
    let kind = text.split_once('用').is_some_and(|(thing, with)| {
        (2..=6).contains(&thing.chars().count())
            && !thing.contains(['我', '你', '他', '在', '不', '没'])
            && (tongue && with.chars().count() <= 4 || thing.ends_with("格式") && form(with))
    });
    let within = text
        .split_once('は')
        .is_some_and(|(_, rest)| rest.ends_with("以内で"));
    (speaks && (tongue || manner) && !told && asks_for(text, tongue)) || (kind && !told) || within
}

/// A verb in the form of a request, or a topic with what it is to be in.
fn asks_for(text: &str, tongue: bool) -> bool {
    let chinese =
        text.contains('用') || text.contains('要') || text.contains('请') || text.contains("尽量");
    let japanese = ["て", "で", "ください", "こと", "に"]
        .iter()
        .any(|end| text.ends_with(end));
    let korean = ["줘", "세요", "로", "게", "해", "써", "라"]
        .iter()
        .any(|end| text.ends_with(end));
    // 回答简短点
    let comparative = text.ends_with('点') || text.ends_with("一些");
    chinese || japanese || korean || (comparative && !tongue)
}
