//! The projects that samples are about, and their files.

use super::code::{self, Lang};
use super::fill::Scene;
use super::rng::{Rng, mix};

/// A kind of project.
#[derive(Debug)]
pub(super) struct Archetype {
    pub(super) name: &'static str,
    pub(super) lang: Lang,
    ticket: &'static str,
    /// What the user wants in the end.
    pub(super) goals: &'static [&'static str],
    dirs: &'static [&'static str],
    names: &'static [&'static str],
    extension: &'static str,
    /// Other files of the project.
    others: &'static [(&'static str, Lang)],
    /// Command that runs one test, `@` being its name.
    pub(super) test: &'static str,
    /// Commands that build or check everything.
    pub(super) builds: &'static [&'static str],
    /// A command that cannot work here, and what it says.
    pub(super) hopeless: (&'static str, &'static str),
}

/// One file of the project, as it is at this point of the session.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) lang: Lang,
    seed: u64,
    /// How often each item was edited.
    versions: Vec<u16>,
    pub(super) exists: bool,
    /// Whether the story may change it; the others are only ever read.
    pub(super) hot: bool,
    pub(super) reads: u32,
    pub(super) changes: u32,
}

#[derive(Debug)]
pub(super) struct Project {
    pub(super) kind: &'static Archetype,
    pub(super) files: Vec<SourceFile>,
    pub(super) scene: Scene,
}

/// At most so many files of a project change, however long the session is: a
/// list of changed files has to fit into every context.
const HOT_FILES: usize = 34;

impl Project {
    /// The kinds take turns, so that a few seeds in a row show all of them.
    pub(super) fn draw(seed: u64, rng: &mut Rng) -> Project {
        let kind = &ARCHETYPES[(seed % ARCHETYPES.len() as u64) as usize];
        let mut files = Vec::new();
        for dir in kind.dirs {
            for name in kind.names {
                let path = format!("{dir}/{name}.{}", kind.extension);
                files.push(SourceFile::draw(path, kind.lang, rng));
            }
        }
        for &(path, lang) in kind.others {
            files.push(SourceFile::draw(path.to_owned(), lang, rng));
        }
        rng.shuffle(&mut files);
        for file in files.iter_mut().take(HOT_FILES) {
            file.hot = true;
        }
        let scene = Scene {
            paths: files.iter().map(|file| file.path.clone()).collect(),
            ticket: kind.ticket,
            case: kind.lang.case(),
        };
        Project { kind, files, scene }
    }

    /// A file that may be changed.
    pub(super) fn hot(&self, rng: &mut Rng) -> usize {
        self.draw_file(rng, |file| file.exists && file.hot)
    }

    /// Any file, more often one that may be changed.
    pub(super) fn any(&self, rng: &mut Rng) -> usize {
        if rng.chance(550) {
            self.hot(rng)
        } else {
            self.draw_file(rng, |file| file.exists && !file.hot)
        }
    }

    fn draw_file(&self, rng: &mut Rng, fits: impl Fn(&SourceFile) -> bool) -> usize {
        let fitting = || (0..self.files.len()).filter(|&at| fits(&self.files[at]));
        let nth = rng.below(fitting().count());
        fitting().nth(nth).unwrap_or(0)
    }

    /// Adds a file that did not exist before.
    pub(super) fn create(&mut self, rng: &mut Rng) -> usize {
        let dir = rng.pick(self.kind.dirs);
        let stem = self.scene.text("~a_~n_~N", rng);
        let path = format!("{dir}/{stem}.{}", self.kind.extension);
        let mut file = SourceFile::draw(path, self.kind.lang, rng);
        file.hot = true;
        file.versions.truncate(5);
        self.files.push(file);
        self.files.len() - 1
    }

    /// Gives a file another name; returns the place of the new one.
    pub(super) fn rename(&mut self, at: usize, rng: &mut Rng) -> usize {
        let new = self.create(rng);
        self.files[new].seed = self.files[at].seed;
        self.files[new].versions = self.files[at].versions.clone();
        self.files[at].exists = false;
        new
    }

    pub(super) fn text_of(&self, at: usize, out: &mut String) {
        let file = &self.files[at];
        code::file(&self.scene, file.lang, file.seed, &file.versions, out);
    }

    /// One item of a file, as it stands.
    pub(super) fn excerpt(&self, at: usize, rng: &mut Rng) -> String {
        let file = &self.files[at];
        let item = rng.below(file.versions.len());
        let mut out = String::new();
        code::item(
            &self.scene,
            file.lang,
            file.seed,
            item,
            file.versions[item],
            &mut out,
        );
        out
    }

    /// Changes one item of a file: its text before and after.
    pub(super) fn revise(&mut self, at: usize, rng: &mut Rng) -> (String, String) {
        let file = &mut self.files[at];
        let from = rng.below(file.versions.len());
        let (mut old, mut new) = (String::new(), String::new());
        // Some items have no body and look the same after an edit.
        for step in 0..file.versions.len() {
            let item = (from + step) % file.versions.len();
            let version = file.versions[item];
            old.clear();
            new.clear();
            code::item(&self.scene, file.lang, file.seed, item, version, &mut old);
            code::item(
                &self.scene,
                file.lang,
                file.seed,
                item,
                version.wrapping_add(1),
                &mut new,
            );
            if old != new {
                file.versions[item] = version.wrapping_add(1);
                break;
            }
        }
        (old, new)
    }
}

impl SourceFile {
    fn draw(path: String, lang: Lang, rng: &mut Rng) -> SourceFile {
        let items = rng.along(&[2, 3, 4, 5, 6, 8, 11, 16, 28, 60]) as usize;
        SourceFile {
            path,
            lang,
            seed: mix(rng.next()),
            versions: vec![0; items],
            exists: true,
            hot: false,
            reads: 0,
            changes: 0,
        }
    }
}

const ARCHETYPES: &[Archetype] = &[
    Archetype {
        name: "ledgerline",
        lang: Lang::Rust,
        ticket: "LED",
        goals: &[
            "I want `ledgerline import` to read bank statements in three formats and to refuse anything it does not understand. Start by looking at how the ~n parser is built today.",
            "ledgerline gets slow above 50k bookings. Find out where the time goes, then make `ledgerline report` at least ten times faster without changing its output.",
        ],
        dirs: &[
            "src/import",
            "src/report",
            "src/store",
            "crates/money/src",
            "tests",
        ],
        names: &[
            "account",
            "batch",
            "booking",
            "budget",
            "csv",
            "currency",
            "journal",
            "lexer",
            "period",
            "posting",
            "query",
            "rates",
            "rounding",
            "statement",
            "totals",
        ],
        extension: "rs",
        others: &[
            ("README.md", Lang::Markdown),
            ("docs/formats.md", Lang::Markdown),
            ("docs/rounding.md", Lang::Markdown),
            ("CHANGELOG.md", Lang::Markdown),
        ],
        test: "cargo test -q @",
        builds: &[
            "cargo check -q --all-targets",
            "cargo clippy -q --all-targets",
            "cargo build -q",
        ],
        hopeless: (
            "cargo fuzz run statement -- -max_total_time=60",
            "error: no such command: `fuzz`\n\nhelp: a command with a similar name exists: `fix`",
        ),
    },
    Archetype {
        name: "tideflow",
        lang: Lang::Python,
        ticket: "TIDE",
        goals: &[
            "The nightly ingest of tide gauges drops readings when two stations report the same minute. Please make the ingest idempotent and backfill March.",
            "We need an hourly ~n service on top of the gauge readings, with an HTTP endpoint and tests. Read the existing ingest first and tell me what you would reuse.",
        ],
        dirs: &[
            "tideflow/ingest",
            "tideflow/api",
            "tideflow/model",
            "jobs",
            "tests",
        ],
        names: &[
            "backfill",
            "buffer",
            "calibration",
            "cleanup",
            "config",
            "frames",
            "gauges",
            "health",
            "outliers",
            "queue",
            "readings",
            "schema",
            "stations",
            "uploads",
            "windowing",
        ],
        extension: "py",
        others: &[
            ("README.md", Lang::Markdown),
            ("docs/runbook.md", Lang::Markdown),
            ("docs/schema.md", Lang::Markdown),
        ],
        test: "pytest -q -k @",
        builds: &[
            "ruff check .",
            "mypy tideflow",
            "python -m compileall -q tideflow",
        ],
        hopeless: (
            "docker compose up -d timescale",
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        ),
    },
    Archetype {
        name: "plotshare",
        lang: Lang::TypeScript,
        ticket: "PLOT",
        goals: &[
            "plotshare needs a waiting list: gardeners join it for a plot, the steward offers the plot, they have three days to accept. Look at the booking flow and propose a plan before you write code.",
            "Our garden map re-renders on every keystroke in the search box. Find out why and fix it; keep the keyboard navigation as it is.",
        ],
        dirs: &["src/booking", "src/map", "src/members", "src/lib", "test"],
        names: &[
            "accept",
            "calendar",
            "client",
            "filters",
            "inbox",
            "invite",
            "layout",
            "markers",
            "offers",
            "plots",
            "reminders",
            "router",
            "search",
            "steward",
            "waitlist",
        ],
        extension: "ts",
        others: &[
            ("README.md", Lang::Markdown),
            ("src/locales/ja.json", Lang::Locale),
            ("src/locales/ko.json", Lang::Locale),
            ("src/locales/de.json", Lang::Locale),
        ],
        test: "npx vitest run -t @",
        builds: &[
            "npx tsc --noEmit",
            "npm run lint --silent",
            "npm run build --silent",
        ],
        hopeless: (
            "npx playwright install chromium",
            "Error: getaddrinfo EAI_AGAIN cdn.playwright.example\n    at GetAddrInfoReqWrap.onlookup [as oncomplete] (node:dns:120:26)",
        ),
    },
    Archetype {
        name: "quay-infra",
        lang: Lang::Terraform,
        ticket: "QUAY",
        goals: &[
            "Move the staging ~n cluster out of the shared VPC into its own one. No downtime for the queue workers. First show me everything that refers to the shared VPC.",
            "Our monthly bill went up by 31 %. Go through the Terraform, list what is oversized, and prepare the changes one module at a time.",
        ],
        dirs: &[
            "modules/network",
            "modules/queue",
            "modules/storage",
            "envs/staging",
            "envs/prod",
        ],
        names: &[
            "alarms",
            "backup",
            "dns",
            "endpoints",
            "iam",
            "ingress",
            "keys",
            "logs",
            "main",
            "outputs",
            "peering",
            "scaling",
            "secrets",
            "subnets",
            "variables",
        ],
        extension: "tf",
        others: &[
            ("README.md", Lang::Markdown),
            ("docs/oncall.md", Lang::Markdown),
            ("scripts/drain.py", Lang::Python),
            ("scripts/cost.py", Lang::Python),
        ],
        test: "pytest -q scripts -k @",
        builds: &[
            "terraform validate -no-color",
            "tflint --recursive",
            "terraform fmt -check -recursive",
        ],
        hopeless: (
            "terraform plan -no-color -lock=false",
            "Error: No valid credential sources found\n\n  with provider[\"registry.terraform.io/hashicorp/aws\"],\n  on main.tf line 3, in provider \"aws\":",
        ),
    },
    Archetype {
        name: "wayfarer-guide",
        lang: Lang::Markdown,
        ticket: "WAY",
        goals: &[
            "Translate the hiking guide into Japanese, Korean and Chinese, chapter by chapter. Keep the glossary consistent; ask when a term has no good equivalent.",
            "The guide has grown for six years. Restructure it: one topic a page, no dead links, a glossary that every page links to.",
        ],
        dirs: &[
            "guide/routes",
            "guide/gear",
            "guide/safety",
            "i18n/ja",
            "i18n/zh",
        ],
        names: &[
            "alpine",
            "bridges",
            "camping",
            "coast",
            "food",
            "glossary",
            "huts",
            "index",
            "maps",
            "permits",
            "rivers",
            "seasons",
            "signals",
            "transport",
            "weather",
        ],
        extension: "md",
        others: &[
            ("i18n/strings.ja.json", Lang::Locale),
            ("i18n/strings.ko.json", Lang::Locale),
            ("i18n/strings.ru.json", Lang::Locale),
            ("tools/check_links.py", Lang::Python),
        ],
        test: "pytest -q tools -k @",
        builds: &[
            "mdbook build -q",
            "python tools/check_links.py --quiet",
            "npx markdownlint guide",
        ],
        hopeless: (
            "vale guide/",
            "E100 [loadStyles] Runtime error\n\nThe path '/home/ada/.config/vale/styles' does not exist.\n\nExecution stopped with code 1.",
        ),
    },
];
