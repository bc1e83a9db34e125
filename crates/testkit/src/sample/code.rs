//! Source text by a small grammar: a file is a head and a row of items.
//!
//! An item is drawn from the file's seed and its own number, so that reading a
//! file again gives the same text. Its body also depends on how often the item
//! was edited, line by line: an edit changes some lines and leaves the others.

use super::fill::{Case, Names, Scene};
use super::rng::{Rng, mix};

/// The languages of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lang {
    Rust,
    Python,
    TypeScript,
    Terraform,
    Markdown,
    Locale,
}

struct Grammar {
    head: &'static str,
    /// Items; the line `%` stands for the body.
    items: &'static [&'static str],
    /// Body lines.
    lines: &'static [&'static str],
    foot: &'static str,
}

impl Lang {
    pub(super) fn case(self) -> Case {
        match self {
            Lang::TypeScript => Case::Camel,
            _ => Case::Snake,
        }
    }

    /// The word after the three backticks.
    pub(super) fn fence(self) -> &'static str {
        match self {
            Lang::Rust => "rust",
            Lang::Python => "python",
            Lang::TypeScript => "ts",
            Lang::Terraform => "hcl",
            Lang::Markdown => "markdown",
            Lang::Locale => "json",
        }
    }

    fn grammar(self) -> &'static Grammar {
        match self {
            Lang::Rust => &RUST,
            Lang::Python => &PYTHON,
            Lang::TypeScript => &TYPESCRIPT,
            Lang::Terraform => &TERRAFORM,
            Lang::Markdown => &MARKDOWN,
            Lang::Locale => &LOCALE,
        }
    }
}

/// The text of one item after so many edits.
pub(super) fn item(
    scene: &Scene,
    lang: Lang,
    seed: u64,
    index: usize,
    version: u16,
    out: &mut String,
) {
    let grammar = lang.grammar();
    let base = mix(seed ^ mix(index as u64));
    let mut rng = Rng::new(base);
    let names = Names::draw(&mut rng, lang.case());
    let template = rng.pick(grammar.items);
    let count = match lang {
        Lang::Markdown => rng.between(2, 4),
        _ => rng.between(2, 11),
    };
    let mut parts = template.split("%\n");
    scene.fill_with(parts.next().unwrap_or(""), &names, &mut rng, out);
    if let Some(rest) = parts.next() {
        for line in 0..count {
            let age = (u64::from(version) + 2 - line as u64 % 3) / 3;
            let mut rng = Rng::new(base ^ mix(line as u64) ^ mix(age << 32));
            let template = rng.pick(grammar.lines);
            scene.fill_with(template, &names, &mut rng, out);
        }
        scene.fill_with(rest, &names, &mut rng, out);
    }
}

/// The text of a whole file.
pub(super) fn file(scene: &Scene, lang: Lang, seed: u64, versions: &[u16], out: &mut String) {
    let grammar = lang.grammar();
    let mut rng = Rng::new(seed);
    let names = Names::draw(&mut rng, lang.case());
    scene.fill_with(grammar.head, &names, &mut rng, out);
    for (index, &version) in versions.iter().enumerate() {
        item(scene, lang, seed, index, version, out);
    }
    scene.fill_with(grammar.foot, &names, &mut rng, out);
}

const RUST: Grammar = Grammar {
    head: "//! The ~a ~n: how a ~n is kept while we ~v the ~n.\n\nuse std::collections::BTreeMap;\n\nuse crate::~n::{~7, ~8};\n\n/// Upper limit of one ~n.\nconst ~K: usize = ~N;\n\n",
    items: &[
        "/// Tries to ~v every ~n before the ~a one is gone.\npub fn ~1(~2: &~7, ~3: usize) -> Result<~8, Error> {\n    let mut ~i = ~2.~n();\n%\n    Ok(~8::from_~n(~2, ~3))\n}\n\n",
        "#[derive(Debug, Clone, PartialEq)]\npub struct ~7 {\n    /// The ~a ~n.\n    ~n: u64,\n    ~a: Option<~8>,\n    ~n_~N: Vec<String>,\n}\n\nimpl ~7 {\n    pub(crate) fn ~1(&mut self, ~2: &str) -> usize {\n        let ~3 = self.~n.len();\n%\n        ~3\n    }\n}\n\n",
        "fn ~1(~2: &[~7]) -> impl Iterator<Item = &~7> {\n    // The ~a ~n comes first: ~n and ~n rely on it.\n    let ~3 = ~N;\n%\n    ~2.iter().filter(move |it| it.~n > ~3)\n}\n\n",
        "#[cfg(test)]\nmod ~n_tests {\n    use super::*;\n\n    #[test]\n    fn ~1_keeps_the_~a_~n() {\n        let ~2 = ~7::~i(~N);\n        let ~3 = \"~a-~n\";\n%\n        assert_eq!(~2.~n, ~N);\n    }\n}\n\n",
    ],
    lines: &[
        "        let ~n = ~2.~v(~N)?;\n",
        "        if ~3 > ~N {\n            return Err(Error::~T { ~n: ~3 });\n        }\n",
        "        for (at, ~n) in ~2.iter().enumerate() {\n            ~1(~n, at + ~N);\n        }\n",
        "        debug!(\"~v ~n {}: ~a ~n\", ~3);\n",
        "        match ~2.~n() {\n            Some(~n) if ~n.is_~a() => ~n.~v(~3),\n            _ => self.~i(\"~n-~h\"),\n        };\n",
        "        let ~a_~n: BTreeMap<String, ~8> = ~2.~i().collect();\n",
        "        // ~t: the ~n may be ~a here.\n",
        "        ~3.saturating_sub(~K);\n",
    ],
    foot: "",
};

const PYTHON: Grammar = Grammar {
    head: "\"\"\"~7: the ~a ~n of the service.\"\"\"\n\nfrom __future__ import annotations\n\nimport logging\nfrom dataclasses import dataclass\n\nfrom .~n import ~8\n\nlog = logging.getLogger(__name__)\n~K = ~N\n\n\n",
    items: &[
        "def ~1(~2: ~7, ~3: int = ~N) -> list[~8]:\n    \"\"\"~v the ~a ~n of ``~2``.\"\"\"\n%\n    return [~8(row) for row in ~2 if row.~n is not None]\n\n\n",
        "@dataclass(frozen=True)\nclass ~7:\n    ~n: str\n    ~a_~n: float = ~M\n\n    def ~1(self, ~2: dict[str, int], ~3: str) -> bool:\n%\n        return self.~n in ~2\n\n\n",
        "async def ~1(~2: AsyncIterator[~7], ~3: asyncio.Queue) -> None:\n    # ~a on purpose: see ~t\n%\n    await ~3.put(~2)\n\n\n",
        "def test_~1_~v_~n(~2, ~3):\n%\n    assert ~2.~n == ~N\n\n\n",
    ],
    lines: &[
        "    ~n = ~2.~i(~3, limit=~N)\n",
        "    if ~3 < ~N:\n        raise ValueError(f\"~a ~n: {~3!r}\")\n",
        "    log.info(\"~v %s ~n in %.2f s\", ~3, ~M)\n",
        "    with ~2.~v() as ~n:\n        ~n.execute(\"SELECT ~n, ~n FROM ~a_~n WHERE ~n > %s\", (~N,))\n",
        "    ~2[\"~n\"] = {\"~n\": ~N, \"~a\": \"~h\", \"~n\": None}\n",
        "    try:\n        ~1(~2)\n    except ~T as exc:\n        log.warning(\"~n ~n: %s\", exc)\n",
        "    # ~v before ~v, or the ~n is ~a\n",
        "    frame = frame.groupby(\"~n\", as_index=False).agg({\"~n\": \"sum\"})\n",
    ],
    foot: "",
};

const TYPESCRIPT: Grammar = Grammar {
    head: "import { useEffect, useState } from \"react\";\nimport { ~1, type ~7 } from \"../~n/~n\";\nimport type { ~8 } from \"../types\";\n\nconst ~K = ~N;\n\n",
    items: &[
        "export async function ~1(~2: ~7, ~3 = ~N): Promise<~8[]> {\n%\n\treturn ~2.~n.map((~n) => ({ ...~n, ~a: ~3 }));\n}\n\n",
        "export interface ~7 {\n\tid: string;\n\t~n: ~8;\n\t~a?: boolean;\n\t/** ~v the ~n, never the ~a one */\n\t~i(~2: number): void;\n}\n\n",
        "export function ~7({ ~2, ~3 }: Props) {\n\tconst [~n, set~T] = useState<~8 | null>(null);\n%\n\treturn (\n\t\t<section className=\"~n-~n ~a\">\n\t\t\t<h2>{~2.~n}</h2>\n\t\t\t<~8 key={~3} on~T={() => ~1(~2)} />\n\t\t</section>\n\t);\n}\n\n",
        "describe(\"~1\", () => {\n\tit(\"~vs the ~a ~n\", async () => {\n\t\tconst ~2 = make~7({ ~n: ~N });\n\t\tconst ~3 = \"~h\";\n%\n\t\texpect(~2.~n).toBe(~N);\n\t});\n});\n\n",
    ],
    lines: &[
        "\tconst ~n = await ~2.~i(~3, { ~n: \"~a\" });\n",
        "\tif (!~2.~n || ~3 > ~N) throw new ~T(`~a ~n ${~3}`);\n",
        "\tuseEffect(() => {\n\t\t~1(~2).catch(console.error);\n\t}, [~3]);\n",
        "\tfor (const [key, value] of Object.entries(~2)) ~i(key, value ?? ~N);\n",
        "\t// ~t: ~v the ~n first\n",
        "\tconst ~a~T = ~2.filter((it) => it.~n === \"~n\").slice(0, ~N);\n",
        "\tlogger.debug(\"~v ~n\", { ~n: ~3, ~a: ~N });\n",
    ],
    foot: "",
};

const TERRAFORM: Grammar = Grammar {
    head: "# ~a ~n of the platform, see ~t\n\nlocals {\n  ~n_name = \"~a-~n\"\n  ~n_cidr = \"~x/24\"\n}\n\n",
    items: &[
        "resource \"aws_~n_~n\" \"~1\" {\n  name = \"${local.prefix}-~n-~n\"\n%\n  tags = merge(var.tags, { Name = \"~a-~n\" })\n}\n\n",
        "variable \"~1\" {\n  description = \"How long to ~v the ~a ~n\"\n  type        = number\n  default     = ~N\n}\n\n",
        "module \"~1\" {\n  source  = \"../modules/~n\"\n  version = \"~w\"\n%\n}\n\n",
        "output \"~1_~n\" {\n  value     = module.~2.~n_id\n  sensitive = false\n}\n\n",
        "data \"aws_iam_policy_document\" \"~1\" {\n  statement {\n    sid       = \"~7\"\n    actions   = [\"s3:Get~7\", \"s3:Put~8\"]\n    resources = [\"arn:aws:s3:::~a-~n-~h/*\"]\n  }\n%\n}\n\n",
    ],
    lines: &[
        "  ~n_~n = var.~i\n",
        "  ~n {\n    ~n     = \"~x/28\"\n    ~a     = true\n    port   = ~p\n  }\n",
        "  ~a_~n_ids = [for s in aws_subnet.~n : s.id]\n",
        "  retention_in_days = ~N\n",
        "  # ~t: ~v only after the ~n is ~a\n",
        "  depends_on = [aws_~n_~n.~i]\n",
        "  kms_key_id = \"arn:aws:kms:eu-central-1:4471~N0821:key/~u\"\n",
    ],
    foot: "",
};

const MARKDOWN: Grammar = Grammar {
    head: "---\ntitle: The ~a ~n\nstatus: draft\n---\n\n# The ~a ~n\n\n",
    items: &[
        "## How to ~v the ~n\n\n%\nSee also [the ~a ~n](../~n/~n.md) and the note on [~n](https://docs.example.org/~n/~h).\n\n",
        "### ~7\n\n| ~n | ~n | ~a |\n|---|---|---|\n| ~i | ~N | ~z |\n| ~i | ~N | ~Z |\n| ~i | ~M | `~h` |\n\n%\n\n",
        "> **Note.** ~z. ~Z. ~z！\n\n%\n1. First ~v the ~n.\n2. Then ~v the ~a ~n and wait ~N seconds.\n3. ~z → ~Z.\n\n",
    ],
    lines: &[
        "A ~a ~n is not a ~n: it is there to ~v the ~n while another ~n is ~a. ",
        "When the ~n has been ~a for ~N minutes, the ~n must ~v it or the ~a ~n is lost.\n",
        "Readers often ask whether a ~n can ~v a ~n; it can, as long as the ~n is ~a. ",
        "~z（~z）。~z。\n",
        "« ~Z », ~Z. ~Z.\n",
        "Use `~i` with `--~n=~N` to ~v it, and `~i` to take it back.\n",
    ],
    foot: "\n*Last reviewed in the ~a ~n, revision ~h.*\n",
};

const LOCALE: Grammar = Grammar {
    head: "{\n",
    items: &[
        "  \"~n.~1\": \"~z\",\n%\n",
        "  \"~n.~1\": \"~Z\",\n%\n",
        "  \"~n.~1.title\": \"~z · ~z\",\n%\n",
    ],
    lines: &[
        "  \"~n.~i\": \"~z\",\n",
        "  \"~n.~i.hint\": \"~Z ({count})\",\n",
        "  \"~n.~a.~i\": \"~z — ~Z\",\n",
    ],
    foot: "  \"revision\": \"~h\"\n}\n",
};
