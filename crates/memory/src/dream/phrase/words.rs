//! The words that turn a line, tie its parts, or say how much.

use crate::dream::listed::listed;

/// Words that make another sense of what follows, or set a condition or a side.
pub(super) const TURNS: &str = " before after over under above below until till unless except only than instead between \
    against within beyond if when while first last second half twice least most more less fewer other vor nach \
    über unter bevor nachdem bis außer nur statt anstatt zwischen gegen wenn falls zuerst zuletzt mehr weniger \
    avant après sur sous jusque jusqu sauf seulement que plutôt entre contre si quand plus moins antes después \
    despues sobre bajo hasta salvo excepto solo sólo entre contra cuando más menos depois até somente apenas \
    quando mais prima dopo sopra sotto fino tranne soltanto anziché invece tra se più meno voor na boven onder \
    tot tenzij behalve alleen dan tussen tegen als meer minder przed po nad chyba oprócz tylko niż zamiast \
    między jeśli więcej mniej до после над пока кроме только чем вместо между если перед больше меньше \
    then dann danach puis ensuite luego poi daarna potem затем потом ";
/// Single characters and pairs that do the same where words are not spaced.
pub(super) const UNSPACED_TURNS: [&str; 26] = [
    "之前", "之后", "以前", "以后", "先", "再", "仅", "只", "除了", "除非", "除外", "直到", "如果",
    "而非", "比", "前に", "後に", "だけ", "まで", "から", "より", "전에", "후에", "만", "까지",
    "보다",
];
/// Words that only say how a thing is tied to the rest.
pub(super) const LEADS: &str = " from to with into onto in on at for by via of per through off out as von zu zum zur mit \
    in im ins auf an am bei für durch aus de du des à au aux pour avec par dans en chez del al con para por a \
    em no na nos nas com pelo da di nel nella su per van met op bij uit door naar z ze w we na dla przez od из \
    в на с со для от к по ";
/// Behind these a number says how much or where, not which one.
pub(super) const UNITS: &str = " s sec secs second seconds ms m min mins minute minutes h hour hours d day days week weeks \
    month months year years b kb mb gb tb kib mib gib bytes byte bit bits percent requests request retries \
    attempts tries times pages page lines line chars characters words tokens users people persons items entries \
    rows columns files replicas instances connections threads workers nodes cores euros euro dollars dollar \
    points px pixels mm cm km meters metres mg mcg kg ml tablets drops degrees grad tabletten tropfen sekunden minuten stunden tage tagen wochen monate jahre seiten zeilen \
    zeichen versuche prozent secondes jours semaines mois ans pages lignes segundos minutos horas días dias semanas \
    meses años anos páginas giorni ore minuti secondi settimane mesi anni dagen uren weken maanden dni godzin \
    minut sekund дней дня часов минут секунд недель страниц ";
/// A number behind one of these says which one.
pub(super) const NUMBERED: &str = " worker node server host machine shard replica instance cluster pod step phase stage \
    chapter section part issue ticket task item rule option sprint milestone team group room floor building job \
    case disk drive gpu cpu core channel volume episode round level tier zone region bucket queue slot user \
    customer account pr mr bug build runner agent lane rack unit bay gate line track module device sensor printer \
    camera robot station platform schritt aufgabe regel raum gebäude rechner knoten étape serveur salle tâche \
    servidor nodo tarea regla sala passo regola fase stap taak kamer сервер узел шаг задача ";
/// Behind these the thing that is spoken of has been named.
pub(super) const VERBS: &str = " is are was were be been am has have had do does did use uses used using need needs must \
    should can could will would may shall let make makes makes set keep keeps run runs prefer want wants always \
    never put call go went get gets ist sind war hat haben muss soll kann wird immer nie est sont a ont doit peut \
    es son está tiene debe puede siempre nunca é são tem deve pode sempre è sono ha deve può is zijn heeft moet \
    kan altijd jest są ma musi może zawsze имеет должен всегда ";

/// Whether a word only says how a thing is tied to the rest.
pub(in crate::dream) fn is_lead(word: &str) -> bool {
    listed(LEADS, word)
}

/// Whether a word makes another sense of what follows, as "after" does.
pub(in crate::dream) fn is_turn(word: &str) -> bool {
    listed(TURNS, word)
}

/// Whether a number before this word says how much.
pub(in crate::dream) fn is_unit(word: &str) -> bool {
    listed(UNITS, word)
}

/// Whether a word is an article, or says whose.
pub(in crate::dream) fn is_article(word: &str) -> bool {
    listed(
        " a an the this that these those our my your his her their its der die das dem den ein eine unser \
         mein le la les un une notre mon ma el los las una nuestro mi il lo gli i uno o os as um uma de het een \
         ons ",
        word,
    )
}

/// Whether a word says what is not there.
pub(in crate::dream) fn is_without(token: &str) -> bool {
    matches!(
        token,
        "without" | "ohne" | "sans" | "sin" | "sem" | "senza" | "zonder" | "bez" | "без"
    )
}
