//! Texts of our own that are planted into sessions.
//!
//! Wishes, facts and corrections in many wordings, languages and lengths. What
//! carries them is that they are the user's words; nothing here is recognised.

/// What somebody wants, however it is put.
pub(super) const WISHES: &[&str] = &[
    "I would sleep better if releases went out on Tuesdays only.",
    "the logo stays in the lower left corner, my boss is fond of it there",
    "Bitte die Kommentare auf Deutsch, die Kollegin liest kein Englisch.",
    "My preference is tabs. Yes, really.",
    "Les messages d'erreur doivent tutoyer l'utilisateur.",
    "Hold off on the billing module while the auditors are in the building.",
    "請把所有日期寫成民國年。",
    "Me gustaría que los botones fueran verdes, como en el prototipo de marzo.",
    "could we please keep each function under forty lines, I print them",
    "テスト名は日本語のままで残しておいてほしいです。",
    "It would be lovely to see amounts rounded half to even everywhere, because the \
     ledger of the cooperative does it like that and Marit checks every cent by hand \
     at the end of the quarter, with a pencil.",
    "Пожалуйста, оставьте старый формат выгрузки для бухгалтерии.",
    "Prefiro que o relatório saia em duas colunas.",
    "no emoji in the commit log pls",
    "Vorrei che le unità fossero sempre metriche.",
    "저는 로그에 한국 시간만 보고 싶어요.",
    "What matters to me most: a farmer with a five-year-old phone can open the page.",
    "Graag geen externe lettertypen op de inlogpagina.",
    "Chciałbym, żeby kopie zapasowe robiły się o czwartej rano.",
    "Anything that touches the kiln controller goes past Ibrahim before it runs.",
    "Ekranda en fazla yedi satır görünsün, tablet küçük.",
    "أفضّل أن تبقى القائمة على اليمين.",
    "कृपया चालान का क्रमांक सात अंकों का रखें।",
    "Jag vill att felrapporter går till Gunvor och inte till listan.",
    "treat the word 'orchard' as a product name: capital O",
    "Haluaisin, että varmuuskopiot nimetään viikon mukaan.",
    "Let the importer be slow rather than clever.",
    "Θα ήθελα οι τιμές να φαίνονται χωρίς ΦΠΑ.",
    "Tôi muốn giữ nguyên màu nền của trang chủ.",
    "אני מעדיפה שהדוחות יישלחו ביום ראשון בבוקר.",
    "One thing before you go on: the sample data has real surnames from our village in it, \
     so whatever you show in a screenshot or paste into a ticket, swap them for the names \
     of apples first. Belle de Boskoop, Cox Orange, that sort of thing. I have a list \
     somewhere if you run out, my aunt grew about thirty kinds.",
    "Звуковой сигнал должен быть тише, чем сейчас.",
    "I'd rather have two small pull requests than a big one.",
    "Spaces around the dash in price ranges, thin ones.",
    "Nur Farben, die man auch auf dem Kindle unterscheiden kann.",
    "如果可以的话，缩进用三个空格。",
    "Ne m'envoie plus de captures, une phrase me suffit.",
    "the dry-run output is what the night shift reads, so keep its wording",
    "Para mí lo importante es que funcione sin red en el barco.",
    "Seven retries, not more; the partner counts them.",
    "Bana her adımın sonunda tek cümle yaz, yeter.",
    "We call them guests, not users.",
    "出荷リストは必ず紙のサイズに収めてください。",
    "I keep the window narrow, wrap the help at sixty columns.",
];

/// What somebody says is so: the statement and its exact part.
pub(super) const FACTS: &[(&str, &str)] = &[
    (
        "The weather station answers on port 28417 since the move.",
        "28417",
    ),
    (
        "Our customer number at the printer's is KD-77-0193-B.",
        "KD-77-0193-B",
    ),
    (
        "Der Schlüssel für den Serverraum liegt bei Frau Quellmalz, Durchwahl 6604.",
        "6604",
    ),
    (
        "the big press weighs 11.85 tonnes with the platen on",
        "11.85",
    ),
    (
        "La base de pruebas se llama almendro_qa_03.",
        "almendro_qa_03",
    ),
    ("倉庫の棚番号は R-4418 から始まります。", "R-4418"),
    (
        "Build agents run kernel 6.11.3-pelican, all nine of them.",
        "6.11.3-pelican",
    ),
    (
        "Le dossier partagé est monté sous /srv/verger/2026-saison.",
        "/srv/verger/2026-saison",
    ),
    (
        "The tolerance we agreed with the foundry is 0.0375 mm.",
        "0.0375",
    ),
    ("Мой часовой пояс UTC+11, офис во Владивостоке.", "UTC+11"),
];

/// Said by nobody but a tool or the agent: found again by a search.
pub(super) const HIDDEN: &[(&str, &str)] = &[
    (
        "harvester serial inventory reports unit HV-90321-KX",
        "HV-90321-KX",
    ),
    (
        "calibration drift of sensor nine measured 0.00718 volts",
        "0.00718",
    ),
    (
        "backup manifest checksum begins with b41f77e0c2",
        "b41f77e0c2",
    ),
    (
        "scheduler skipped window 03:17 because lease expired",
        "03:17",
    ),
    (
        "The migration counter in the pantry table stands at 48813.",
        "48813",
    ),
    (
        "I traced the flicker to the frame budget constant 16.6391.",
        "16.6391",
    ),
    (
        "Vendored copy of the glyph parser is revision 7c1de90ab.",
        "7c1de90ab",
    ),
    (
        "Der Engpass liegt im Modul zwetschge_queue mit 212 Einträgen.",
        "zwetschge_queue",
    ),
];

/// A statement and the one that takes its place.
pub(super) const CORRECTIONS: &[(&str, &str)] = &[
    (
        "The export goes to the bucket named quince-north, that is settled.",
        "Sorry, quince-south is the bucket, not the northern one.",
    ),
    (
        "Ship the catalogue in A4 landscape, the printer has the paper for it.",
        "Catalogue in A5 portrait after all.",
    ),
    (
        "Die Sitzung mit dem Verband ist am 14. um zehn, bitte danach richten.",
        "Der Verband kommt am 16. um neun, nicht am 14.",
    ),
    (
        "Use Postgres for the seed register.",
        "I talked to the people who will have to run this thing for the next ten years, and \
         the seed register is going to be plain CSV files in a folder instead of Postgres.",
    ),
    (
        "Le seuil d'alerte est de 45 degrés pour toutes les serres du site.",
        "Le seuil passe à 41 degrés pour toutes les serres.",
    ),
    (
        "Please write the invoices to the shared drive every evening at six.",
        "Forget the evening invoices, Petra pulls them herself now.",
    ),
    (
        "上線時間定在週五下午三點，請照這個準備。",
        "上線改到週一早上九點。",
    ),
    (
        "Limit uploads to 20 MB.",
        "Uploads may be as large as 64 MB from now on, since the surveyors send scans of \
         whole field books and were turned away at the old limit twice last week.",
    ),
    (
        "The mascot is a heron, and it looks to the left in every size we print.",
        "Heron looks right now, the left one was taken.",
    ),
    (
        "El nombre del servicio será faro-de-cabo para todo el equipo.",
        "Al final el servicio se llama boya-siete.",
    ),
];

/// Notes of the agent: kind and text.
pub(super) const NOTES: &[(&str, &str)] = &[
    (
        "decision",
        "Keep the tide table in memory; the file is read once at start.",
    ),
    (
        "fact",
        "The bakery's till speaks protocol 3.2 and drops frames above 512 bytes.",
    ),
    (
        "open_item",
        "Ask Henrike whether the second scale is still in use.",
    ),
    (
        "learning",
        "The lantern tests need the fixture clock set before the socket opens.",
    ),
    (
        "decision",
        "Route numbers are strings; 07 and 7 are two routes.",
    ),
    (
        "fact",
        "Staging copies of the parish register are refreshed on the first Monday.",
    ),
    (
        "learning",
        "Restarting the quay simulator twice clears the stuck crane.",
    ),
    ("open_item", "Measure the cold start on the old tablets."),
];

/// Questions asked through a tool, their options, and what was chosen.
pub(super) const QUESTIONS: &[(&str, [&str; 2], &str)] = &[
    (
        "Where should the mooring plan be kept?",
        ["In the harbour database", "As a file beside the map"],
        "As a file beside the map",
    ),
    (
        "Which calendar do the irrigation rules follow?",
        ["Week numbers", "Growing degree days"],
        "Growing degree days",
    ),
    (
        "How are double bookings shown to the boatman?",
        ["Both rows in amber", "Only the newer row"],
        "Both rows in amber, and the older one first",
    ),
];

pub(super) const PLANS: &[&str] = &[
    "# Plan: move the ferry timetable\n\n1. Read the stops from the survey sheet.\n2. Write \
     them as one table per pier.\n3. Check the winter season against last year's print.",
    "# Plan: quieter alarms\n\n1. Collect a week of alarms from the dairy.\n2. Merge those \
     within ninety seconds.\n3. Show the merged count to Ottoline before switching over.",
];

/// Items of a to-do list: text, and whether it was finished on the way.
pub(super) const ITEMS: &[(&str, bool)] = &[
    ("Sketch the turnstile states", true),
    ("Wire the beehive scales to the hub", false),
    ("Proofread the ferry notices", true),
    ("Retire the fax gateway", false),
    ("Weigh the empty hives again", false),
];
