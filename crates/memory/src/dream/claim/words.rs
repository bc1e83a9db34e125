//! The little words with which people say that something is so, has changed,
//! is gone, or is allowed, in a dozen languages.
//!
//! Those of languages with spaces stand in a file of their own.

/// What a little word does to the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// What stands before is said to be what follows, in a certain way.
    Is(Way),
    /// What stands before, or between this and a preposition, becomes what
    /// follows.
    Becomes(Way),
    /// It is so since lately.
    Now,
    /// What follows is not it.
    Not,
    /// What follows is so no longer.
    NoLonger,
    /// What stands before, or follows a verb without a subject, is gone.
    Gone,
    /// It is allowed.
    May,
    /// It may be allowed, or only possible.
    Can,
    /// What stands before is forbidden.
    Ban,
    /// It is no longer asked for.
    NeedNot,
    /// Somebody has the part that follows.
    Holds,
    /// The part that stands before has whoever follows.
    HeldBy,
    /// It is so beside something else.
    Also,
    /// It must be so, or must not; carries nothing.
    Must,
}

/// In which way something is what is said of it. Two ways do not contradict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// "is", "changed to".
    Plain,
    /// "uses", "has": there may be several.
    Used,
    /// "we use … for": what serves one end.
    Served,
    /// "is called", "renamed to".
    Named,
    /// "lives at", "moved to", "is on".
    Placed,
    /// "is written in".
    Written,
    /// "takes", "costs", "lasts", "down to".
    Measured,
    /// "with": by what something is done.
    With,
}

use Mark::{Also, Ban, Becomes, Gone, Holds, Is, May, Must, NeedNot, NoLonger, Now};
use Way::{Named, Placed, Plain, Used};

/// Words of what is written without spaces. The longest that fits counts.
pub(super) const UNSPACED: &[(&str, Mark)] = &[
    ("不再需要", NeedNot),
    ("不用再", NeedNot),
    ("不必再", NeedNot),
    ("无需再", NeedNot),
    ("不需要再", NeedNot),
    ("可以", May),
    ("允许", May),
    ("してもいい", May),
    ("する必要はもうない", NeedNot),
    ("必要はなくなりました", NeedNot),
    ("해도 됩니다", May),
    ("해도 된다", May),
    ("필요 없습니다", NeedNot),
    ("改名为", Becomes(Named)),
    ("改名叫", Becomes(Named)),
    ("更名为", Becomes(Named)),
    ("改叫", Becomes(Named)),
    ("搬到了", Becomes(Placed)),
    ("搬到", Becomes(Placed)),
    ("迁移到了", Becomes(Placed)),
    ("迁移到", Becomes(Placed)),
    ("迁到", Becomes(Placed)),
    ("移到", Becomes(Placed)),
    ("改成了", Becomes(Plain)),
    ("改成", Becomes(Plain)),
    ("改为", Becomes(Plain)),
    ("改到", Becomes(Plain)),
    ("改用", Becomes(Plain)),
    ("换成了", Becomes(Plain)),
    ("换成", Becomes(Plain)),
    ("换到", Becomes(Plain)),
    ("换回", Becomes(Plain)),
    ("改回", Becomes(Plain)),
    ("搬回", Becomes(Placed)),
    ("迁回", Becomes(Placed)),
    ("回到", Becomes(Placed)),
    ("切换到", Becomes(Plain)),
    ("变成", Becomes(Plain)),
    ("に変更されました", Becomes(Plain)),
    ("に変更しました", Becomes(Plain)),
    ("に変わりました", Becomes(Plain)),
    ("になりました", Becomes(Plain)),
    ("に変更された", Becomes(Plain)),
    ("に変更した", Becomes(Plain)),
    ("に変わった", Becomes(Plain)),
    ("になった", Becomes(Plain)),
    ("に延期されました", Becomes(Plain)),
    ("に延期された", Becomes(Plain)),
    ("로 변경", Becomes(Plain)),
    ("로 바뀌었", Becomes(Plain)),
    ("而不是", NoLonger),
    ("不再使用", NoLonger),
    ("不再用", NoLonger),
    ("不再是", NoLonger),
    ("不再", NoLonger),
    ("不是", NoLonger),
    ("ではなく", Gone),
    ("대신", Gone),
    ("离职了", Gone),
    ("离职", Gone),
    ("离开了", Gone),
    ("太贵了", Gone),
    ("太慢了", Gone),
    ("从现在起", Now),
    ("从今以后", Now),
    ("现在", Now),
    ("已经", Now),
    ("今后", Now),
    ("以后", Now),
    ("今後は", Now),
    ("今後", Now),
    ("今から", Now),
    ("これから", Now),
    ("今は", Now),
    ("이제", Now),
    ("앞으로", Now),
    ("叫我", Is(Named)),
    ("名叫", Is(Named)),
    ("叫做", Is(Named)),
    ("叫", Is(Named)),
    ("运行在", Is(Placed)),
    ("部署在", Is(Placed)),
    ("放在", Is(Placed)),
    ("位于", Is(Placed)),
    ("使用", Is(Used)),
    ("を使", Is(Used)),
    ("采用", Is(Used)),
    ("是", Is(Plain)),
    ("用", Is(Used)),
    ("在", Is(Placed)),
    ("は", Is(Plain)),
    ("负责", Holds),
    ("也", Also),
    ("必须", Must),
    ("永远", Must),
    ("总是", Must),
    ("一律", Must),
    ("始终", Must),
    ("不要再", Ban),
    ("别再", Ban),
    ("重新", Now),
    ("再次", Now),
    ("不要", Ban),
    ("不能", Ban),
    ("不可以", Ban),
    ("不得", Ban),
    ("不准", Ban),
    ("不许", Ban),
    ("禁止", Ban),
    ("しないでください", Ban),
    ("しないで", Ban),
    ("してはいけません", Ban),
    ("してはいけない", Ban),
    ("は禁止です", Ban),
    ("は禁止", Ban),
    ("하지", Ban),
    ("마세요", Must),
    ("마십시오", Must),
    ("금지", Ban),
    ("해도", May),
    ("됩니다", Must),
    ("してください", Must),
    ("碰", Must),
    ("住在", Is(Placed)),
    ("にあります", Must),
    ("있습니다", Must),
    ("に移りました", Becomes(Placed)),
    ("に移転しました", Becomes(Placed)),
    ("に引っ越しました", Becomes(Placed)),
    ("に引っ越した", Becomes(Placed)),
    ("へ引っ越しました", Becomes(Placed)),
    ("へ引っ越した", Becomes(Placed)),
    ("に移った", Becomes(Placed)),
    ("へ移りました", Becomes(Placed)),
    ("으로 이전", Becomes(Placed)),
    ("이전했습니다", Becomes(Placed)),
    ("옮겼습니다", Becomes(Placed)),
    ("이사했습니다", Becomes(Placed)),
    ("去世了", Gone),
    ("去世", Gone),
    ("死了", Gone),
    ("辞职了", Gone),
    ("辞职", Gone),
    ("请", Must),
    ("的", Must),
    ("了", Must),
    ("の", Must),
    ("を", Must),
    ("です", Must),
    ("ます", Must),
];

/// Between a verb of change and what something becomes: "switched X to Y".
pub(super) const TOWARDS: &str =
    " to by with into onto from in over zu auf nach durch in à au en par a por para do naar в на ";

/// How it is said that somebody has a part since lately.
pub(super) const TAKES_OVER: [&str; 5] = [
    "takes over",
    "took over",
    "has taken over",
    "übernimmt",
    "übernahm",
];

/// Words that are written with a full stop behind them.
pub(super) const SHORTENED: &str =
    " prof mrs hrn str jan feb mär apr jun jul aug sep sept okt oct nov dez dec ";

/// Words that carry nothing where two statements are compared, beside those of
/// the likeness of lines.
pub(super) const LIGHT: &str = " keep kept give get put set write add do done ensure only still just back \
    currently any all every each our ours us he she his her they their team project please kindly thanks will be being been \
    be been being again freely anytime whenever touch touching writing adding giving getting putting setting keeping doing here there one thing things day days time date name called under since because until after before about \
    wir unser unsere uns ich du mich mir dich im am um an bei den dem des ein eine einen einem einer zum zur alle jede jeden \
    nous notre nos vous votre mon ma mes moi ce cette au aux en sur dans par tous que qui se sa son ne \
    nosotros nuestro nuestra nuestros mi tu su el al en los las del por que se lo \
    nosso nossa meu minha em no na nos nas ao o os as um uma dos das \
    il lo gli uno nostro nostra mio mia del della nel nella \
    het een de van op onze ons mijn we wij \
    мы наш наша наши наше нас я мой моя меня мне ты в на с со и у к по для за из от это а \
    이 그 저 우리 werden wird worden wurde sein être été ser sido essere stato stata zijn worden wordt zostać być \
    anfassen anrühren fass rühr fasse toucher touche touchez touchons tocar toques toque tocca toccare toccate aanraken raak \
    wieder ruhig gern gerne jederzeit nouveau librement nuevamente libremente novamente nuovo weer znowu znów снова опять \
    dotykaj dotykać ruszaj ruszać трогай трогать трогайте касайся bin bist ai avons sono estoy estou ben jestem ";

/// What is one of a few: of these there is one at a time.
pub(super) const CLASSES: &[(Class, &[&str])] = &[
    (
        Class::Weekday,
        &[
            "monday mondays montag montags lundi lunes понедельник понедельникам понедельника segunda segunda-feira lunedì maandag poniedziałek poniedziałki 周一 星期一 月曜",
            "tuesday tuesdays dienstag dienstags mardi martes вторник вторникам вторника terça terça-feira martedì dinsdag wtorek wtorki 周二 星期二 火曜",
            "wednesday wednesdays mittwoch mittwochs mercredi miércoles среда среду средам quarta quarta-feira mercoledì woensdag środa środę środy 周三 星期三 水曜",
            "thursday thursdays donnerstag donnerstags jeudi jueves четверг четвергам четверга quinta quinta-feira giovedì donderdag czwartek czwartki 周四 星期四 木曜",
            "friday fridays freitag freitags vendredi viernes пятница пятницу пятницам sexta sexta-feira sextas venerdì vrijdag piątek piątki 周五 星期五 金曜",
            "saturday saturdays samstag samstags samedi sábado sábados суббота субботу субботам sabato zaterdag sobota sobotę soboty 周六 星期六 土曜",
            "sunday sundays sonntag sonntags dimanche domingo domingos воскресенье воскресеньям domenica zondag niedziela niedzielę niedziele 周日 星期日 日曜",
        ],
    ),
    (
        Class::Language,
        &[
            "english englisch anglais inglés inglese английский английском 英文 英语 英語 영어",
            "german deutsch allemand alemán tedesco немецкий немецком 德语 德文 ドイツ語",
            "french französisch français francés francese французский французском 法语 法文",
            "spanish spanisch espagnol español spagnolo испанский испанском 西班牙语",
            "chinese chinesisch chinois chino китайский китайском 中文 汉语 中国語 중국어",
            "japanese japanisch japonais japonés японский японском 日语 日文 日本語",
            "russian russisch russe ruso русский русском 俄语",
            "korean koreanisch coréen coreano корейский 韩语 한국어",
            "italian italienisch italien italiano итальянский 意大利语",
            "portuguese portugiesisch portugais portugués português португальский 葡萄牙语",
            "dutch niederländisch néerlandais neerlandés olandese nederlands голландский 荷兰语",
            "polish polnisch polonais polaco polacco polski польский 波兰语",
            "turkish türkisch turc turco türkçe турецкий 土耳其语",
            "arabic arabisch arabe árabe arabo арабский 阿拉伯语",
            "swedish schwedisch suédois sueco svedese svenska шведский 瑞典语",
            "hindi хинди 印地语",
        ],
    ),
    (
        Class::Often,
        &[
            "hourly stündlich",
            "daily nightly täglich nächtlich quotidien diariamente ежедневно 每天 每日",
            "weekly wöchentlich hebdomadaire semanalmente еженедельно 每周",
            "fortnightly biweekly zweiwöchentlich",
            "monthly monatlich mensuel mensualmente ежемесячно 每月",
            "quarterly vierteljährlich",
            "yearly annually jährlich",
        ],
    ),
    (
        Class::Temperature,
        &[
            "celsius centigrade цельсия цельсиях 摄氏 摄氏度 摂氏 섭씨",
            "fahrenheit фаренгейта 华氏 华氏度 華氏 화씨",
            "kelvin кельвинах",
        ],
    ),
    (
        Class::Length,
        &[
            "kilometres kilometers kilometer kilomètres kilómetros quilômetros chilometri kilometrach километрах километры 公里 千米 キロ",
            "miles meilen millas milhas miglia mijlen milach милях мили 英里 マイル",
        ],
    ),
    (
        Class::Money,
        &[
            "euros euro евро 欧元 ユーロ 유로",
            "dollars dollar dólares dollari долларах доллары 美元 美金 ドル 달러",
            "francs franken francos franchi франках 法郎",
            "pounds pfund libras sterling фунтах 英镑 ポンド",
            "yen 日元 円",
            "yuan renminbi 人民币",
        ],
    ),
    (
        Class::Extent,
        &[
            "brief briefly short terse tersely concise concisely succinct succinctly kurz knapp bündig bref brève brièvement court courte courts courtes concis concise breve brevi breves brevemente conciso concisa corto corta cortos cortas curto curta curtas kort korte beknopt krótko krótkie zwięźle кратко коротко краткие короткие лаконично 简短 简洁 簡潔 짧게",
            "verbose verbosely lengthy long longer detailed elaborate exhaustive ausführlich ausführliche detailliert lange long longue longues longuement détaillé détaillée détaillées largo larga largas detallado detallada detalladas longo longa longas detalhado detalhada detalhadas dettagliato dettagliata dettagliate lunghe uitgebreid uitgebreide szczegółowo подробно подробные развёрнуто 详细 詳しく 자세히",
        ],
    ),
    (
        Class::Tone,
        &[
            "formal formally förmlich formell formel formelle formels formale formalmente formeel formalnie официально формально 正式",
            "casual casually informal informally locker informell informel informelle informels informale informalmente informeel nieformalnie неформально 随意",
        ],
    ),
    (
        Class::Address,
        &[
            "duzen duzt duze tutoyer tutoie tutoyons tutoyez tutear tuteamos tutea tutoyeren",
            "siezen siezt sieze vouvoyer vouvoie vouvoyons vouvoyez ustedear vousvoyeren",
        ],
    ),
    (
        Class::System,
        &[
            "metric metrisch metrische métrique métriques métrico métrica métricas métricos metrico metriche metryczne метрические 公制",
            "imperial imperiale impériales imperiales imperiais imperiali имперские 英制",
        ],
    ),
    (
        Class::Spelling,
        &[
            "british britisch britisches britannique británico britânico britannico brits британский 英式",
            "american amerikanisch amerikanisches américain americano amerikaans американский 美式",
        ],
    ),
];

/// Kinds of things of which there is one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Weekday,
    Language,
    Often,
    /// Units, which are chosen once for all that is given in them.
    Temperature,
    Length,
    Money,
    /// Manners, which are chosen once for all that is said.
    Extent,
    Tone,
    /// Whether people are on first-name terms: "du" or "Sie".
    Address,
    System,
    Spelling,
}

impl Class {
    pub(super) const ALL: [Class; 11] = [
        Class::Weekday,
        Class::Language,
        Class::Often,
        Class::Temperature,
        Class::Length,
        Class::Money,
        Class::Extent,
        Class::Tone,
        Class::Address,
        Class::System,
        Class::Spelling,
    ];

    /// Whether it is of how the agent speaks, which needs nothing beside it.
    pub(super) fn is_manner(self) -> bool {
        matches!(
            self,
            Class::Extent | Class::Tone | Class::Address | Class::System | Class::Spelling
        )
    }
}

/// How words begin that say no more than that something is said.
pub(super) const SPEAKING: [&str; 25] = [
    "answer",
    "repl",
    "respon",
    "explain",
    "explanation",
    "styl",
    "ton",
    "messag",
    "antwort",
    "erklär",
    "répon",
    "expliq",
    "respuest",
    "contest",
    "schreib",
    "sprich",
    "explic",
    "respost",
    "rispost",
    "rispond",
    "antwoord",
    "odpow",
    "ответ",
    "отвеч",
    "回答",
];

/// Verbs of what somebody can or learns, of which there may be several.
pub(super) const SKILLS: &str = " speak learn study studi teach know understand spricht sprech lernt lern lerne versteht \
    parl apprend habl aprend estudia ";

/// Endings of Russian words, the longer first.
pub(super) const ENDINGS: &[&str] = &[
    "ами", "ями", "ого", "его", "ому", "ему", "ыми", "ими", "ать", "ять", "ить", "еть", "ует",
    "ают", "ай", "яй", "ий", "ый", "ой", "ей", "ая", "яя", "ое", "ее", "ые", "ие", "ов", "ев",
    "ам", "ям", "ах", "ях", "ом", "ем", "ую", "юю", "им", "ым", "ет", "ит", "а", "я", "о", "е",
    "у", "ю", "ы", "и", "ь", "й",
];
