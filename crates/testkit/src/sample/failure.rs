//! What commands print when they fail.

use super::code::Lang;
use super::fill::{Names, Scene};
use super::rng::Rng;

/// A failing test: its name, and what its run prints.
pub(super) struct Failure {
    pub(super) test: String,
    pub(super) output: String,
}

/// Draws a failing test of the project; `path` is the file at fault.
pub(super) fn test(scene: &Scene, lang: Lang, path: &str, rng: &mut Rng) -> Failure {
    let names = Names::draw(rng, scene.case);
    let mut test = String::new();
    scene.fill_with(rng.pick(TEST_NAMES), &names, rng, &mut test);
    let templates = match lang {
        Lang::Rust => RUST_TESTS,
        Lang::TypeScript => VITEST,
        Lang::Python | Lang::Terraform | Lang::Markdown | Lang::Locale => PYTEST,
    };
    let output = spell(scene, rng.pick(templates), &test, path, &names, rng);
    Failure { test, output }
}

/// What a build of the project prints when `path` is at fault.
pub(super) fn build(scene: &Scene, lang: Lang, path: &str, rng: &mut Rng) -> String {
    let names = Names::draw(rng, scene.case);
    let templates = match lang {
        Lang::Rust => RUSTC,
        Lang::TypeScript => TSC,
        Lang::Python => MYPY,
        Lang::Terraform => TERRAFORM,
        Lang::Markdown | Lang::Locale => LINT,
    };
    spell(scene, rng.pick(templates), "", path, &names, rng)
}

/// The path and test name are put in last: they may hold a tilde themselves.
fn spell(
    scene: &Scene,
    template: &str,
    test: &str,
    path: &str,
    names: &Names,
    rng: &mut Rng,
) -> String {
    let mut filled = String::new();
    scene.fill_with(template, names, rng, &mut filled);
    filled.replace("@test", test).replace("@path", path)
}

const TEST_NAMES: &[&str] = &[
    "~1_keeps_the_~a_~n",
    "~1_~v_~n_twice",
    "rejects_~a_~n_~N",
    "~n_is_~a_after_~v",
];

const RUST_TESTS: &[&str] = &[
    "thread '@test' panicked at @path:~N:9:\nassertion `left == right` failed: ~a ~n\n  left: ~N\n right: ~N\nstack backtrace:\n   0: rust_begin_unwind\n   1: core::panicking::panic_fmt\n   2: core::panicking::assert_failed_inner\n   3: ~n::~n::~1\n             at ./@path:~N:9\n   4: ~n::~i\n             at ./src/~n.rs:~N:13\n\nfailures:\n    @test\n\ntest result: FAILED. ~N passed; 1 failed; 0 ignored; 0 measured; finished in ~Ms\n",
    "thread '@test' panicked at @path:~N:31:\ncalled `Result::unwrap()` on an `Err` value: ~7 { ~n: ~N, ~n: \"~a-~h\" }\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\nfailures:\n    @test\n\ntest result: FAILED. ~N passed; 1 failed; 0 ignored\n",
];

const PYTEST: &[&str] = &[
    "FAILED @path::@test - AssertionError: assert ~N == ~N\n=================================== FAILURES ===================================\n_____ @test _____\n\n    def @test(~2):\n>       assert ~1(~2) == ~N\nE       AssertionError: assert ~N == ~N\nE        +  where ~N = ~1(<~7 ~n='~h'>)\n\n@path:~N: AssertionError\n1 failed, ~N passed in ~Ms\n",
    "ERROR @path::@test - KeyError: '~n_~n'\nTraceback (most recent call last):\n  File \"@path\", line ~N, in ~1\n    ~2 = row[\"~n_~n\"]\n  File \"lib/~n.py\", line ~N, in __getitem__\n    raise KeyError(key)\nKeyError: '~n_~n'\n1 error in ~Ms\n",
];

const VITEST: &[&str] = &[
    "FAIL @path > @test\nAssertionError: expected ~N to be ~N // Object.is equality\n\n- Expected\n+ Received\n\n- ~N\n+ ~N\n\n ❯ @path:~N:23\n ❯ ~1 src/~n/~n.ts:~N:11\n\n Test Files  1 failed | ~N passed\n      Tests  1 failed | ~N passed\n",
    "FAIL @path > @test\nTypeError: Cannot read properties of undefined (reading '~n')\n    at ~1 (@path:~N:17)\n    at ~i (src/~n/~n.ts:~N:5)\n    at processTicksAndRejections (node:internal/process/task_queues:105:5)\n\n      Tests  1 failed | ~N passed\n",
];

const RUSTC: &[&str] = &[
    "error[E0308]: mismatched types: expected `~7`, found `~8`\n   --> @path:~N:23\n    |\n~N |         ~1(~2, ~3)\n    |         -- ^^^^ expected `~7`, found `~8`\n    |\n    = note: expected struct `~7`\n               found struct `~8`\n\nerror: could not compile `~n` (lib) due to 1 previous error\n",
    "error[E0382]: borrow of moved value: `~2`\n   --> @path:~N:14\n    |\n~N |     ~1(~2);\n    |        -- value moved here\n~N |     ~2.~n();\n    |     ^^ value borrowed here after move\n\nerror: could not compile `~n` (lib) due to 1 previous error\n",
    "error[E0425]: cannot find function `~1` in module `~n`\n   --> @path:~N:18\n    |\n~N |     ~n::~1(~2)\n    |         ^^^^ not found in `~n`\n\nerror: could not compile `~n` (bin) due to 1 previous error\n",
];

const TSC: &[&str] = &[
    "@path(~N,17): error TS2345: Argument of type '~7' is not assignable to parameter of type '~8'.\n  Property '~n' is missing in type '~7' but required in type '~8'.\n",
    "@path(~N,9): error TS2304: Cannot find name '~1'.\n@path(~N,12): error TS18048: '~2.~n' is possibly 'undefined'.\n",
];

const MYPY: &[&str] = &[
    "@path:~N: error: Argument 1 to \"~1\" has incompatible type \"~7\"; expected \"~8\"  [arg-type]\nFound 1 error in 1 file (checked ~N source files)\n",
    "@path:~N:5: F821 Undefined name `~1`\n    |\n~N |     ~1(~2, ~3)\n    |     ^^^^ F821\n\nFound 1 error.\n",
];

const TERRAFORM: &[&str] = &[
    "Error: Reference to undeclared resource \"aws_~n_~n\" \"~1\"\n\n  on @path line ~N, in module \"~2\":\n  ~N:   ~n_id = aws_~n_~n.~1.id\n\nA managed resource \"aws_~n_~n\" \"~1\" has not been declared in module.~2.\n",
    "Error: Unsupported argument \"~n_~n\"\n\n  on @path line ~N, in resource \"aws_~n\" \"~1\":\n  ~N:   ~n_~n = ~N\n\nAn argument named \"~n_~n\" is not expected here.\n",
];

const LINT: &[&str] = &[
    "@path:~N dead link: ../~n/~a-~n.md#~n-~N\n@path:~N dead link: https://docs.example.org/~n/~h (404)\n2 problems in ~N files\n",
    "@path:~N MD024/no-duplicate-heading Multiple headings with the same content [Context: \"~a ~n ~N\"]\n@path:~N MD040/fenced-code-language Fenced code blocks should have a language specified\n",
];
