//! Standing rules of the user, in several languages, and how they are lifted.

/// Rules that hold for good. One of each language is planted, English first.
pub(super) const STANDING: &[&[&str]] = &[
    &[
        "Never run anything against the production ~n, not even a read.",
        "Always run the full test suite before you tell me that something is done.",
        "One thing that holds for this whole session: no new dependencies without asking me first.",
        "Under no circumstances touch the ~n_~n folder, it belongs to another team.",
    ],
    &[
        "Ab jetzt immer auf Deutsch antworten, Code und Kommentare bleiben englisch.",
        "Bitte niemals etwas nach `main` pushen, nur auf den Zweig `~a-~n`.",
        "Grundsätzlich gilt: jede Änderung am ~n braucht einen Test.",
    ],
    &[
        "Ne modifie jamais les fichiers générés du dossier `~n`, même si un test l’exige.",
        "À partir de maintenant, toujours expliquer pourquoi avant de changer le ~n.",
    ],
    &[
        "Nunca borres datos del ~n sin preguntarme antes.",
        "De ahora en adelante, usa siempre UTC en todas las fechas.",
    ],
    &[
        "Nunca altere o ~n sem fazer uma cópia de segurança primeiro.",
        "A partir de agora, sempre escreva as mensagens de commit em português.",
    ],
    &[
        "请不要修改 `~n` 目录下的任何文件，那是别的团队维护的。",
        "从现在开始，所有提交信息都必须带上工单号，例如 ~t。",
    ],
    &[
        "`~n` のスキーマは絶対に変更しないでください。",
        "今後は必ず変更前に差分を見せてください。",
    ],
    &[
        "앞으로 로그에 사용자 이름을 절대 남기지 마세요.",
        "테스트 없이 `~n` 모듈을 수정하지 마세요.",
    ],
    &[
        "Никогда не отключай проверки в CI, даже временно.",
        "С этого момента всегда указывай версию ~n в отчёте.",
    ],
    &[
        "Keep in mind from here on: money is always integer cents, never a float.",
        "Don't use mocks for the ~n in tests; I want the real thing every time.",
        "I'd rather you never amend or rebase commits that are already on the remote.",
    ],
];

/// Rules that the user lifts later, and the words that lift them.
pub(super) const LIFTED: &[&[(&str, &str)]] = &[
    &[
        (
            "Do not push anything until I say so.",
            "You may push now, the rule about not pushing is off.",
        ),
        (
            "Don't touch the ~n migration until I give you the go-ahead.",
            "Go-ahead for the migration: you can change it from now on.",
        ),
    ],
    &[
        (
            "Bis ich etwas anderes sage: keine Änderungen an der CI-Konfiguration.",
            "Die CI-Konfiguration darfst du ab jetzt wieder ändern.",
        ),
        (
            "Ne déploie rien sur la préproduction tant que je ne l’ai pas dit.",
            "C’est bon, tu peux maintenant déployer sur la préproduction.",
        ),
        (
            "在我确认之前，请不要升级任何依赖。",
            "依赖可以升级了，之前的限制取消。",
        ),
    ],
];
