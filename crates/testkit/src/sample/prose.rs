//! What the user asks and the agent says, apart from what is planted.

use super::fill::Scene;
use super::rng::Rng;

/// Requests; mostly English, as in recorded sessions of mixed teams.
pub(super) const REQUESTS: &[&str] = &[
    "Next: `~1` should ~v the ~n when the ~n is ~a. Have a look at ~f and fix it.",
    "The ~a ~n in ~f looks wrong to me, it never gets to ~v the ~n. Can you check and correct that?",
    "please add a ~n option to `~1`, default ~N, and cover it with a test",
    "~t: users report that the ~n is lost when they ~v twice. Reproduce it, then fix it.",
    "Can you simplify ~f? There must be a shorter way to ~v a ~n.",
    "now do the same for the ~a ~n",
    "Rename `~1` to `~2` everywhere and make sure that nothing else is called that.",
    "I looked at the diff. The part about the ~n is good, but `~1` still copies the whole ~n. Avoid that.",
    "hmm, that is not what I meant. The ~n has to stay ~a; only the ~n may change. Try again please 🙂",
    "Write down in the docs how one can ~v the ~n, with an example.",
    "continue with the next item",
    "Here is what I see in the log:\n```\n~h ~n: ~a ~n, ~d ms\n~h ~n: ~a ~n, ~d ms\n```\nWhy is the second one so slow?",
];

/// Requests in other languages.
pub(super) const REQUESTS_ABROAD: &[&str] = &[
    "Kannst du bitte prüfen, warum `~1` den ~n zweimal schreibt? Ich vermute ~f.",
    "Als Nächstes bitte ~f aufräumen, die Hälfte davon wird nicht mehr gebraucht.",
    "Peux-tu ajouter une option `--~n` à `~1` ? Regarde d’abord ~f.",
    "¿Puedes revisar ~f? El ~n no se actualiza cuando cambia el ~n.",
    "Por favor, adicione um teste para `~1`; o arquivo é ~f.",
    "请看一下 ~f，`~1` 在 ~n 为空的时候会崩溃。修好以后请说明原因。",
    "接下来处理 ~f：把重复的部分合并成一个函数。",
    "~f の `~1` が遅いです。原因を調べて直してください 🙏",
    "次は ~f の翻訳を見直してください。用語集に合わせてほしいです。",
    "~f 파일에서 `~1` 함수를 두 개로 나눠 주세요.",
    "Посмотри, пожалуйста, ~f: `~1` иногда возвращает пустой ~n.",
];

/// Short answers to a proposal.
pub(super) const YES: &[&str] = &[
    "yes, do that",
    "ok, go ahead",
    "sounds good 👍",
    "ja, mach das so",
    "好的，就这样做",
    "oui, vas-y",
    "はい、お願いします",
    "yes please, all of it",
];

/// What the user says who ignores a question.
pub(super) const CHANGE_OF_TOPIC: &[&str] = &[
    "Leave that for now. Something else first: ",
    "Different topic: ",
    "Later. More urgent: ",
];

/// What the agent says before it calls tools.
pub(super) const OPENERS: &[&str] = &[
    "Let me look at how `~1` uses the ~n.",
    "I'll check ~f first, then the callers of `~1`.",
    "The ~n comes from `~2`; reading it now.",
    "Before I change anything I want to see where the ~a ~n is used.",
    "That narrows it down. The ~n must be the ~a one.",
    "Now the edit itself:",
    "Good, the ~n is ~a. Next the ~n.",
    "I'll make `~1` ~v the ~n and keep `~3` as it is.",
];

const THOUGHTS: &[&str] = &[
    "The user wants `~1` to ~v the ~n. ",
    "If the ~n is ~a then `~2` would see it twice. ",
    "I should not change ~f without reading it. ",
    "There are ~N callers; most of them only ~v the ~n. ",
    "Maybe the ~a ~n is the cause, but the log says ~d ms, so rather the ~n. ",
    "The simplest thing is to ~v it in `~3` and leave the rest. ",
    "Wait, the ~n is also written by `~2`. That changes the order. ",
];

const FINDINGS: &[&str] = &[
    "`~1` now ~vs the ~n before the ~n is ~a. ",
    "The cause was in `~2`: it took the ~a ~n for the ~n and returned early. ",
    "I left `~3` alone, since ~N other places rely on the ~a order. ",
    "Measured on the reference ~n: ~d ms before, ~N ms after. ",
    "The ~n is only ~a when both sides agree, so the check moved up. ",
    "There is one more place with the same pattern, in ~f; it is harmless there. ",
    "The new test fails without the change and passes with it. ",
    "Nothing else refers to the ~a ~n any more. ",
    "Text in other languages is kept as it is, for example “~z” and “~Z”. ",
];

const BULLETS: &[&str] = &[
    "- **~T**: ~v the ~n instead of the ~a ~n\n",
    "- `~i` returns the ~n, no longer the ~a one\n",
    "- ~f: the ~n is checked once\n",
    "- error texts name the ~n (`~h`) now\n",
];

/// Proposals that end in a question, after a long answer.
pub(super) const QUESTIONS: &[&str] = &[
    "Shall I go ahead with the ~a ~n, or do you prefer to keep `~1` as it is?",
    "Should I also ~v the ~n in `~2`, or leave that for another change?",
    "Do you want the ~n to be ~a by default, or only with `--~n`?",
    "Which of the two should win when `~1` and `~2` disagree about the ~n?",
];

/// Titles of tasks; the number makes each of them unique.
pub(super) const TASKS: &[&str] = &[
    "~v the ~a ~n in ~f",
    "Add a test for the ~a ~n of ~f",
    "Make `~1` ~v the ~n",
    "Document how to ~v the ~n",
    "Move `~1` out of ~f",
    "Find out why the ~n is ~a after `~2`",
    "~z: ~v the ~n",
];

impl Scene {
    /// A thinking block.
    pub(super) fn thought(&self, rng: &mut Rng) -> String {
        let mut out = String::new();
        for _ in 0..rng.along(&[1, 2, 3, 5, 12]) {
            self.fill(rng.pick(THOUGHTS), rng, &mut out);
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// A report of what was done, of so many sentences.
    pub(super) fn report(&self, sentences: usize, rng: &mut Rng, out: &mut String) {
        for _ in 0..sentences {
            self.fill(rng.pick(FINDINGS), rng, out);
        }
        out.truncate(out.trim_end().len());
        if rng.chance(400) {
            out.push_str("\n\n");
            for _ in 0..rng.between(2, 6) {
                self.fill(rng.pick(BULLETS), rng, out);
            }
        }
    }
}
