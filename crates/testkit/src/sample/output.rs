//! What commands print when they work.

use std::fmt::Write;

use super::fill::{Names, Scene, number};
use super::rng::Rng;

/// The kinds of long output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Grep,
    Log,
    Json,
    Tests,
    Listing,
    History,
    Diff,
}

/// Sizes as in recorded sessions: most are small, one in ten has 10 to 40 KB.
const SIZES: &[i64] = &[
    60, 140, 260, 420, 700, 1_100, 1_900, 3_600, 8_000, 14_000, 40_000,
];

/// How long an output shall be.
pub(super) fn size(rng: &mut Rng) -> usize {
    rng.along(SIZES) as usize
}

impl Output {
    pub(super) const ALL: [Output; 7] = [
        Output::Grep,
        Output::Log,
        Output::Json,
        Output::Tests,
        Output::Listing,
        Output::History,
        Output::Diff,
    ];

    /// A command that prints this.
    pub(super) fn command(self, scene: &Scene, rng: &mut Rng) -> String {
        let templates: &[&str] = match self {
            Output::Grep => &[
                "rg -n \"~1\" .",
                "grep -rn '~n_~n' --include='*.*' .",
                "rg -n --hidden '~7|~8'",
            ],
            Output::Log => &[
                "journalctl -u ~n-~n --since '~N min ago' --no-pager",
                "tail -n ~N logs/~a-~n.log",
                "kubectl logs deploy/~n-~n --tail=~N",
            ],
            Output::Json => &[
                "curl -s http://localhost:~p/api/~n?limit=~N | jq .",
                "jq '.~n[]' build/~a-~n.json",
                "gh api repos/example/~n/issues --jq '.[]'",
            ],
            Output::Tests => &["make test", "./scripts/test-all.sh ~n", "just test ~n"],
            Output::Listing => &["ls -la", "ls -la build/~n"],
            Output::History => &[
                "git log --oneline -~N",
                "git log --oneline --all | head -~N",
            ],
            Output::Diff => &[
                "git diff HEAD~~1 --stat -p",
                "git show ~h",
                "git diff ~n/main",
            ],
        };
        scene.text(rng.pick(templates), rng)
    }

    /// Prints at least `size` bytes.
    pub(super) fn print(self, scene: &Scene, size: usize, rng: &mut Rng, out: &mut String) {
        let end = out.len() + size;
        let names = Names::draw(rng, scene.case);
        let mut seconds = rng.below(40_000);
        if self == Output::Json {
            out.push_str("[\n");
        }
        loop {
            seconds += rng.below(9);
            match self {
                Output::Log => {
                    clock(seconds, out);
                    scene.fill_with(rng.pick(LOG_LINES), &names, rng, out);
                }
                Output::Listing => scene.fill_with(rng.pick(LISTING_LINES), &names, rng, out),
                Output::History => scene.fill_with(rng.pick(HISTORY_LINES), &names, rng, out),
                Output::Grep => {
                    scene.fill_with("~f:", &names, rng, out);
                    number(rng.between(1, 900), out);
                    out.push(':');
                    scene.fill_with(rng.pick(GREP_LINES), &names, rng, out);
                }
                Output::Json => scene.fill_with(rng.pick(JSON_OBJECTS), &names, rng, out),
                Output::Tests => scene.fill_with(rng.pick(TEST_LINES), &names, rng, out),
                Output::Diff => scene.fill_with(rng.pick(DIFF_HUNKS), &names, rng, out),
            }
            if out.len() >= end {
                break;
            }
        }
        match self {
            Output::Json => {
                out.truncate(out.trim_end_matches([',', '\n']).len());
                out.push_str("\n]\n");
            }
            Output::Tests => scene.fill("\n~N passed, 0 failed in ~M s\n", rng, out),
            _ => {}
        }
    }
}

fn clock(seconds: usize, out: &mut String) {
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    // Writing to a string cannot fail.
    let _ = write!(out, "2026-03-02T{hour:02}:{minute:02}:{second:02}Z ");
}

const LOG_LINES: &[&str] = &[
    "INFO  ~n::~n: ~v ~n id=~u took=~dms\n",
    "INFO  ~n::~n: ~a ~n ready on ~x:~p\n",
    "DEBUG ~n::~n: ~v ~n ~h attempt=~N queue=~N\n",
    "WARN  ~n::~n: ~a ~n, will ~v again in ~dms\n",
    "INFO  http: GET /~n/~h/~n 200 ~d bytes ~Mms\n",
    "INFO  http: POST /api/~n 201 ~Mms request=~u\n",
    "TRACE ~n: ~1=~N ~2=~a ~3=\"~n ~n\"\n",
    "INFO  i18n: key ~n.~i → \"~z\"\n",
];

const GREP_LINES: &[&str] = &[
    "    let ~1 = ~i(~N);\n",
    "// ~a: ~1 must ~v the ~n before ~v\n",
    "  ~1: ~7<~8>,\n",
    "    return ~1(~i, \"~n-~a\", ~N)\n",
    "| `~1` | ~a ~n | ~N |\n",
    "import { ~1 } from \"../~n/~n\"\n",
    "  \"~n.~1\": \"~Z\",\n",
];

const JSON_OBJECTS: &[&str] = &[
    "  {\n    \"id\": \"~u\",\n    \"~n\": \"~a-~n\",\n    \"~n\": ~N,\n    \"labels\": [\"~n\", \"~a\"],\n    \"updated\": \"2026-02-1~N\",\n    \"~i\": null\n  },\n",
    "  {\n    \"sha\": \"~H\",\n    \"message\": \"~v the ~a ~n (~t)\",\n    \"url\": \"https://git.example.org/~n/~n/commit/~h\",\n    \"stats\": { \"~n\": ~N, \"~n\": ~M }\n  },\n",
    "  { \"~n\": \"~x\", \"port\": ~p, \"~a\": true, \"title\": \"~z\", \"note\": \"~Z\" },\n",
];

const TEST_LINES: &[&str] = &[
    "test ~n::~i_keeps_~n ... ok\n",
    "test ~n::tests::~i ... ok\n",
    "  ✓ ~n > ~vs the ~a ~n (~d ms)\n",
    "test ~n::~i_with_~a_~n ... ignored, needs ~n\n",
    "ok   ~n/~n  ~M s\n",
];

const LISTING_LINES: &[&str] = &[
    "-rw-r--r-- 1 ada ada ~d Mar  2 09:14 ~a_~n.txt\n",
    "-rw-r--r-- 1 ada ada ~d Feb 27 17:02 ~n-~h.bin\n",
    "drwxr-xr-x 2 ada ada 4096 Mar  1 21:48 ~n-~n\n",
];

const HISTORY_LINES: &[&str] = &[
    "~h ~v the ~a ~n (~t)\n",
    "~h fix ~n: ~v ~n when the ~n is ~a\n",
    "~h Merge branch '~a-~n' into main\n",
    "~h docs: how to ~v a ~n\n",
];

const DIFF_HUNKS: &[&str] = &[
    "diff --git a/~n/~n b/~n/~n\nindex ~h..~h 100644\n@@ -~N,7 +~N,9 @@ ~i\n-    ~1(~2, ~N);\n+    ~1(~2, ~N)?;\n+    // ~t: the ~n can be ~a\n     let ~3 = ~i();\n",
    "@@ -~N,3 +~N,4 @@\n ~i: ~T\n+~i: ~T = \"~h\"\n-~a_~n = ~M\n",
];
