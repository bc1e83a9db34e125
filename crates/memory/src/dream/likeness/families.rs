//! Families of alternatives: what is chosen once, so that two rules which choose
//! another member each may contradict each other.
//!
//! A family belongs here if hardly anybody has two of its members for one purpose at
//! a time. What is used one beside the other (libraries, languages of programs,
//! tools of several kinds) does not; weekdays, languages, units and manners of
//! speaking stand with the claims, which compare them in every sentence.

/// The members of each family; a member may be called by several words, with commas
/// between them.
pub(super) const FAMILIES: &[&[&str]] = &[
    &[
        "tabs, tab, tab characters, hard tabs, tabulator, tabulatoren, tabulations, tabuladores, tabulaciones",
        "spaces, space, space characters, leerzeichen, espaces, espacios",
    ],
    &[
        "single quotes, single quote, single quotation marks, einfache anführungszeichen, \
         einfachen anführungszeichen, guillemets simples, apostrophes simples, comillas simples",
        "double quotes, double quote, double quotation marks, doppelte anführungszeichen, \
         doppelten anführungszeichen, guillemets doubles, comillas dobles",
    ],
    &[
        "light mode, light theme, light colors, light colours, helles design, helles thema, hellen modus, \
         mode clair, thème clair, modo claro, tema claro",
        "dark mode, dark theme, dark colors, dark colours, dunkles design, dunkles thema, dunklen modus, \
         mode sombre, thème sombre, modo oscuro, tema oscuro",
    ],
    &[
        "12-hour clock, 12-hour format, 12-hour time, 12h, 12-stunden-format, 12-stunden-anzeige",
        "24-hour clock, 24-hour format, 24-hour time, 24h, 24-stunden-format, 24-stunden-anzeige",
    ],
    &[
        "utc",
        "local time, local times, ortszeit, heure locale, hora local",
    ],
    &["npm", "yarn", "pnpm", "bun"],
    &["pip", "uv", "poetry", "pipenv", "conda", "pdm"],
    &[
        "vim",
        "neovim, nvim",
        "emacs",
        "nano",
        "vscode, vs code",
        "intellij",
        "zed",
        "helix",
        "sublime",
    ],
    &["bash", "zsh", "fish"],
    &["firefox", "chrome", "safari", "edge"],
    &["rest", "graphql", "grpc", "soap"],
    &[
        "postgres, postgresql",
        "mysql",
        "mariadb",
        "sqlite",
        "mongodb",
    ],
    &["jest", "vitest", "mocha", "jasmine"],
    &["pytest", "unittest"],
    &["prettier", "biome", "dprint"],
    &["typescript", "javascript"],
    &["es modules, esm", "commonjs, cjs"],
    &["react", "vue", "svelte", "angular"],
    &["docker", "podman"],
    &["terraform", "opentofu", "pulumi"],
    &[
        "jenkins",
        "github actions",
        "gitlab ci",
        "circleci",
        "buildkite",
    ],
    &[
        "camelcase, camel case",
        "snake_case, snake case",
        "kebab-case, kebab case",
        "pascalcase, pascal case",
    ],
    &[
        "merge, merge commits, merge commit, merges",
        "rebase, rebasing, rebases",
        "squash, squashing, squash merge, squash merges",
    ],
    &[
        "trunk-based development, trunk based development",
        "gitflow, git flow",
    ],
    &[
        "monorepo",
        "polyrepo, separate repositories, separate repos",
    ],
    &["lf", "crlf"],
    &["yaml", "json", "toml"],
    &["markdown", "asciidoc", "latex", "restructuredtext"],
    &[
        "bullet points, bullets, bulleted lists, stichpunkte, stichpunkten, listes à puces, viñetas",
        "prose, full sentences, fließtext, ganze sätze, ganzen sätzen, phrases complètes, prosa, \
         frases completas",
    ],
    &[
        "active voice, aktiv, voix active, voz activa",
        "passive voice, passiv, voix passive, voz pasiva",
    ],
    &[
        "present tense, präsens, présent, presente",
        "past tense, vergangenheit, passé, pasado",
        "imperative mood, imperative, imperativ, impératif, imperativo",
    ],
    &[
        "first person, erste person, première personne",
        "third person, dritte person, troisième personne",
    ],
    &[
        "cash, bargeld, espèces, efectivo",
        "card, credit card, karte, carte, tarjeta",
    ],
    &[
        "mail, email, e-mail, mails, emails, correo",
        "phone, telephone, telefon, téléphone, teléfono",
        "slack, chat",
        "whatsapp, signal, telegram",
    ],
];
