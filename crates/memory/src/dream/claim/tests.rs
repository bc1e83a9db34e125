use crate::dream::likeness::{Features, Relation};

fn relation(older: &str, newer: &str) -> Relation {
    Features::of(older).relation(&Features::of(newer))
}

/// Plain changes of mind: the newer takes the place of the older.
const CHANGED: &[(&str, &str)] = &[
    (
        "My address is 4 Linden Way.",
        "My new address is 9 Main Street.",
    ),
    (
        "Our tax advisor is Mr Klein.",
        "Our new tax advisor is Ms Gross.",
    ),
    (
        "Unser Steuerberater ist Herr Klein.",
        "Unser neuer Steuerberater ist Frau Groß.",
    ),
    (
        "Meine Adresse ist Lindenweg 4.",
        "Meine neue Adresse ist Hauptstraße 9.",
    ),
    ("我的邮箱是a@x.com。", "我的新邮箱是b@y.com。"),
    ("我们的服务器在法兰克福。", "我们的服务器已经搬到了东京。"),
    (
        "The message broker is RabbitMQ.",
        "The message broker is now NATS.",
    ),
    (
        "Our wiki lives at wiki.example.org.",
        "Our wiki moved to docs.example.org.",
    ),
    (
        "The nightly job is called sweep_all.",
        "The nightly job was renamed to tidy_all.",
    ),
    (
        "Our mascot is called Bruno.",
        "Our mascot is now called Hilda.",
    ),
    (
        "The mobile client is written in Kotlin.",
        "The mobile client was rewritten in Flutter.",
    ),
    (
        "A full backup takes 90 minutes.",
        "A full backup is down to 35 minutes.",
    ),
    (
        "The retro is on Wednesday.",
        "The retro is on Monday from now on.",
    ),
    ("The demo day is Friday.", "We demo on Wednesdays now."),
    (
        "The test runner is Mocha.",
        "The test runner is Vitest, not Mocha.",
    ),
    (
        "We use Travis for the release builds.",
        "We use Buildkite for the release builds; Travis was too slow.",
    ),
    (
        "Lena is the release manager.",
        "Lena left; Tariq is the release manager.",
    ),
    (
        "Ines owns the onboarding flow.",
        "Pablo owns the onboarding flow now.",
    ),
    (
        "Call me Professor Lindqvist.",
        "Call me Astrid from now on.",
    ),
    (
        "Always sign the release tarballs.",
        "We no longer need to sign the release tarballs.",
    ),
    (
        "Never rename public columns.",
        "You may rename public columns.",
    ),
    (
        "Write changelog entries in German.",
        "Write changelog entries in English from now on.",
    ),
    (
        "Der Testserver heißt Hamster.",
        "Der Testserver heißt jetzt Igel.",
    ),
    (
        "Unser Kanal ist Mattermost.",
        "Unser Kanal ist jetzt Zulip.",
    ),
    (
        "Das Stand-up ist am Dienstag.",
        "Das Stand-up ist jetzt am Donnerstag.",
    ),
    (
        "Le serveur de fichiers est Samba.",
        "Le serveur de fichiers est désormais Nextcloud.",
    ),
    (
        "La réunion est le lundi.",
        "La réunion est désormais le jeudi.",
    ),
    (
        "El gestor de paquetes es Conan.",
        "El gestor de paquetes es ahora Vcpkg.",
    ),
    (
        "La base de datos se llama almacen_uno.",
        "La base de datos ahora se llama almacen_dos.",
    ),
    (
        "Очередь задач — Celery.",
        "Очередь задач теперь — Dramatiq.",
    ),
    (
        "Всегда подписывай коммиты ключом.",
        "Подписывать коммиты ключом больше не нужно.",
    ),
    ("默认分支是 master。", "默认分支改成 trunk。"),
    ("缓存用 Redis。", "缓存改用 Memcached。"),
    ("例会在周三。", "例会现在在周一。"),
    ("超时时间是 30 秒。", "超时时间改为 60 秒。"),
    (
        "Il server di posta è Postfix.",
        "Il server di posta è adesso Exim.",
    ),
    (
        "The newsletter goes out on Mondays.",
        "The newsletter goes out on Fridays now.",
    ),
    ("We track bugs in Jira.", "Bugs are tracked in Linear now."),
    (
        "The staging cluster has 3 nodes.",
        "The staging cluster has 5 nodes now.",
    ),
    ("The intern is Jonas.", "Jonas left, the intern is Mila."),
    (
        "Greta reviews database migrations.",
        "Ivan reviews database migrations from now on.",
    ),
    (
        "Always ask before installing packages.",
        "You don't need to ask before installing packages anymore.",
    ),
    (
        "Do not edit the vendor folder.",
        "Editing the vendor folder is fine now.",
    ),
    (
        "Respond in Spanish.",
        "Please respond in Italian from now on.",
    ),
    (
        "The budget is 5000 euros a month.",
        "The budget was raised to 8000 euros a month.",
    ),
    ("The license is GPL.", "The license changed to MPL."),
    (
        "We deploy with Ansible.",
        "We deploy with Nix instead of Ansible.",
    ),
    (
        "Die Rechnungen gehen an Herrn Voss.",
        "Die Rechnungen gehen jetzt an Frau Brandt.",
    ),
    (
        "Wir benutzen Gradle.",
        "Wir benutzen nicht mehr Gradle, sondern Bazel.",
    ),
    (
        "Nous utilisons Trello pour les tickets.",
        "Nous n'utilisons plus Trello pour les tickets.",
    ),
    (
        "Usamos Slack para los avisos.",
        "Ya no usamos Slack para los avisos.",
    ),
    ("Деплой по вторникам.", "Деплой теперь по четвергам."),
    (
        "Никогда не трогай папку legacy.",
        "Папку legacy теперь можно трогать.",
    ),
    ("我们的服务器在东京。", "我们的服务器搬到了首尔。"),
    ("不要修改配置文件。", "现在可以修改配置文件了。"),
    ("项目经理是李雷。", "李雷离职了,项目经理是韩梅梅。"),
    (
        "We publish the fonts under OFL.",
        "We publish the fonts under ISC now.",
    ),
];

/// Likely ones: somebody has to be asked, or it takes the place.
const NOTICED: &[(&str, &str)] = &[
    (
        "Rosa sits in Porto and owns the mailer.",
        "Emil owns the mailer now.",
    ),
    (
        "The office WiFi is called Linden.",
        "The new office WiFi is called Birke.",
    ),
    (
        "Mr Klein is our tax advisor.",
        "Ms Gross is our new tax advisor.",
    ),
    (
        "Notre bureau est à Lyon.",
        "Notre nouveau bureau est à Paris.",
    ),
    (
        "Nuestro servidor es Atlas.",
        "Nuestro nuevo servidor es Boreas.",
    ),
    (
        "Наш сервер называется Атлас.",
        "Наш новый сервер называется Борей.",
    ),
    (
        "Wir duzen uns in allen Texten.",
        "Ab sofort siezen wir in allen Texten.",
    ),
    (
        "We host the handbook on Confluence.",
        "We moved the handbook to Notion.",
    ),
    (
        "We ship the desktop app with Electron.",
        "We switched the desktop app to Tauri.",
    ),
    ("The logo colour is #ff8800.", "The logo colour is #0044cc."),
    (
        "Invoices are generated with Jasper.",
        "Invoices use plain HTML; Jasper is gone.",
    ),
    (
        "We pay for Sentry to collect crashes.",
        "We dropped Sentry.",
    ),
    (
        "The API must stay compatible with the 2.x plugins.",
        "We no longer need to support the 2.x plugins.",
    ),
    (
        "All queries must go through the repository layer.",
        "Queries can now bypass the repository layer.",
    ),
    ("Marek is the scrum master.", "Yuki is the scrum master."),
    ("Standup is at 9:30.", "Standup is at 10:15."),
    ("注释必须用日语写。", "注释可以用英语写了。"),
    (
        "Toujours lancer les migrations à la main.",
        "Plus besoin de lancer les migrations à la main.",
    ),
    (
        "Siempre pide permiso antes de borrar ramas.",
        "Ya no hace falta pedir permiso para borrar ramas.",
    ),
    (
        "Die Doku liegt auf SharePoint.",
        "Die Doku liegt nicht mehr auf SharePoint.",
    ),
    (
        "Светлана отвечает за биллинг.",
        "Теперь за биллинг отвечает Глеб.",
    ),
    ("We store uploads in S3.", "Uploads moved from S3 to R2."),
    ("Our linter is Pylint.", "We replaced Pylint with Ruff."),
    (
        "We support Python 3.9.",
        "We dropped support for Python 3.9.",
    ),
    ("Address me as Frau Keller.", "Just call me Sabine."),
    ("Call me Captain.", "Just call me Joe."),
    ("Our CDN is Fastly.", "Our CDN is Cloudflare."),
    ("O deploy é na sexta.", "O deploy agora é na segunda."),
    (
        "De database heet voorraad.",
        "De database heet nu magazijn.",
    ),
];

/// Two things, or the same said again: nothing takes the place of anything.
const KEPT: &[(&str, &str)] = &[
    (
        "The old office is in Mitte.",
        "The new office is in Kreuzberg.",
    ),
    (
        "Our office is in Boston.",
        "Our New York office is in Brooklyn.",
    ),
    (
        "Our server is called Atlas.",
        "We have a new server called Boreas.",
    ),
    (
        "Our garage is in Elm Street.",
        "Our new office is in Main Street.",
    ),
    (
        "The staging port is 7001.",
        "The production port is now 7002.",
    ),
    ("Nadia owns payments.", "Felix owns reporting."),
    ("Nadia owns payments.", "Felix owns reporting now."),
    (
        "The iOS client is written in Swift.",
        "The Android client was rewritten in Kotlin.",
    ),
    (
        "The parser is written in Rust.",
        "The parser is now public.",
    ),
    (
        "The search index lives on disk 3.",
        "The search index takes 40 minutes to build now.",
    ),
    (
        "No tabs in YAML files.",
        "Do not use tabs in the YAML files.",
    ),
    ("We use Kafka for events.", "We also use NATS for events."),
    (
        "Never deploy on Fridays.",
        "Never deploy without a second reviewer.",
    ),
    (
        "Deploy the shop on Mondays.",
        "Deploy the blog on Thursdays.",
    ),
    (
        "Support is in Spanish for Madrid.",
        "Support is in French for Lyon now.",
    ),
    (
        "Keep the left sidebar narrow.",
        "The left sidebar has 12 links.",
    ),
    ("The cache is fast.", "The cache is written in C."),
    (
        "Lars maintains the installer.",
        "Lars left a note about the invoices.",
    ),
    ("We test on Firefox.", "We test on Safari too."),
    (
        "Emails are sent by the worker.",
        "Push messages are now sent by the gateway.",
    ),
    (
        "The office in Oslo is on floor 2.",
        "The office in Turin moved to floor 5.",
    ),
    (
        "Never drop tables in production.",
        "We dropped the idea of a mobile app.",
    ),
    (
        "Use feature branches for experiments.",
        "You can find the experiments page in the wiki.",
    ),
    (
        "Der Webserver läuft auf Alpine.",
        "Die Datenbank läuft jetzt auf Debian.",
    ),
    (
        "Anna est la cheffe de projet.",
        "Marc est le comptable désormais.",
    ),
    (
        "El servidor de pruebas está en Madrid.",
        "El servidor de producción está ahora en Lima.",
    ),
    (
        "Порт тестового сервера 8001.",
        "Порт боевого сервера теперь 9001.",
    ),
    ("测试环境在北京。", "生产环境现在在上海。"),
    ("前端用 React。", "后端现在用 Go。"),
    ("Backups run daily.", "Reports now run weekly."),
    (
        "The free plan has 3 seats.",
        "The team plan now has 10 seats.",
    ),
    ("My manager is Ruth.", "My dentist is Paul now."),
    (
        "Always use prepared statements.",
        "Always use parameterised logging now.",
    ),
    (
        "The design review is on Tuesday.",
        "The security review is on Friday now.",
    ),
    (
        "The frontend team uses Figma.",
        "The frontend team uses Storybook.",
    ),
    ("Hana speaks Korean.", "Boris speaks Russian now."),
    (
        "The newsletter goes out on Mondays.",
        "The podcast comes out on Fridays now.",
    ),
    ("We track bugs in Jira.", "We track time in Harvest now."),
    (
        "The staging cluster has 3 nodes.",
        "The build farm has 5 nodes now.",
    ),
    ("Our linter is Pylint.", "Our formatter is now Black."),
    (
        "Greta reviews database migrations.",
        "Ivan reviews API changes now.",
    ),
    (
        "Always ask before installing packages.",
        "Always ask before deleting packages.",
    ),
    (
        "The budget is 5000 euros a month.",
        "The rent is now 900 euros a month.",
    ),
    ("Our CDN is Fastly.", "Our CDN is expensive."),
    (
        "We deploy with Ansible.",
        "We test with Molecule instead of Vagrant.",
    ),
    ("Answer briefly.", "Answer briefly and politely."),
    ("My sister lives in Graz.", "My brother lives in Bonn now."),
    (
        "The kitchen light is Zigbee.",
        "The garage light is now Matter.",
    ),
    ("Wir testen mit Pest.", "Wir bauen jetzt mit Vite."),
    (
        "Les tests tournent sur Linux.",
        "Les builds tournent désormais sur Windows.",
    ),
    ("Петя пишет бэкенд.", "Маша теперь пишет фронтенд."),
    ("订单服务用 Java。", "支付服务现在用 Rust。"),
    (
        "Never store passwords in plain text.",
        "Passwords now need 12 characters.",
    ),
    (
        "The main branch is protected.",
        "The main branch is now green.",
    ),
    (
        "Use snake_case for columns.",
        "Use snake_case for file names now.",
    ),
    (
        "The website runs on Hugo.",
        "The website now has a dark mode.",
    ),
    (
        "Never use globals in plugins.",
        "Globals are fine in test plugins.",
    ),
];

#[test]
fn a_plain_change_of_mind_takes_the_place_of_what_was_said() {
    let wrong: Vec<_> = CHANGED
        .iter()
        .map(|(a, b)| (relation(a, b), a, b))
        .filter(|(found, ..)| *found != Relation::Replaces)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        CHANGED.len()
    );
}

#[test]
fn a_likely_change_of_mind_is_seen() {
    let wrong: Vec<_> = NOTICED
        .iter()
        .map(|(a, b)| (relation(a, b), a, b))
        .filter(|(found, ..)| !matches!(found, Relation::Replaces | Relation::Perhaps))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        NOTICED.len()
    );
}

#[test]
fn what_only_looks_like_a_change_replaces_nothing_and_is_seldom_asked_about() {
    let found = KEPT.iter().map(|(a, b)| (relation(a, b), a, b));
    let (wrong, rest): (Vec<_>, Vec<_>) =
        found.partition(|(found, ..)| *found == Relation::Replaces);
    assert!(
        wrong.is_empty(),
        "{} of {}: {wrong:#?}",
        wrong.len(),
        KEPT.len()
    );
    let asked: Vec<_> = rest
        .iter()
        .filter(|(found, ..)| *found == Relation::Perhaps)
        .collect();
    assert!(asked.len() * 3 <= KEPT.len(), "{asked:#?}");
}

#[test]
fn a_change_that_is_told_with_the_verb_at_the_end_is_noticed() {
    for (older, newer) in [
        (
            "Die Sitzung ist am Montag.",
            "Die Sitzung wurde auf Dienstag verschoben.",
        ),
        (
            "Der Preis ist 29 Euro.",
            "Der Preis wurde auf 39 Euro erhöht.",
        ),
        ("Die App heißt Falke.", "Die App wurde in Adler umbenannt."),
        (
            "Der Server steht in Berlin.",
            "Der Server wurde nach Hamburg verlegt.",
        ),
        (
            "Die Datenbank läuft auf Postgres 14.",
            "Die Datenbank wurde auf Postgres 16 aktualisiert.",
        ),
        (
            "The launch is planned for May 4.",
            "The launch was postponed to May 11.",
        ),
    ] {
        let found = Features::of(older).relation(&Features::of(newer));
        let noticed = matches!(found, Relation::Replaces | Relation::Perhaps);
        assert!(noticed, "{found:?}: {older} / {newer}");
    }
}

#[test]
fn a_verb_at_the_end_changes_nothing_of_another_thing_or_that_it_was_done_upon() {
    for (older, newer) in [
        (
            "Die Sitzung ist am Montag.",
            "Die Sitzung wurde auf Wunsch verschoben.",
        ),
        (
            "Der Server steht in Berlin.",
            "Der Server wurde in der Nacht verlegt.",
        ),
        (
            "Die Sitzung ist am Montag.",
            "Der Urlaub wurde auf Dienstag verschoben.",
        ),
        (
            "Der Server steht in Berlin.",
            "Die Datenbank wurde nach Hamburg verlegt.",
        ),
        (
            "The launch is planned for May 4.",
            "The party was postponed to May 11.",
        ),
    ] {
        let found = Features::of(older).relation(&Features::of(newer));
        assert_ne!(found, Relation::Replaces, "{older} / {newer}");
    }
}
