//! Standing rules: found in what the user says, and nowhere else.

use crate::facts::{Provenance, Rule, RuleKind};
use crate::heard::Said;
use crate::ledger::{At, Ledger};
use crate::lifts::{allows, is_for_less, is_leave_asked_for, waits_for_word};
use crate::norm::{is_heading, is_list_item, judge};
use crate::plain::{Plain, is_fragment, is_greeting, plain};
use crate::words::{shared, stems};

const MOST: usize = 200;
/// A longer sentence is pasted text.
const LONGEST: usize = 1_200;

/// Whose words a rule has.
#[derive(Debug, Clone, Copy, Default)]
struct Whose<'a> {
    /// They may be another's.
    pasted: bool,
    /// What they stand behind.
    frame: Option<&'a str>,
}

impl Ledger {
    pub(crate) fn note_rules(&mut self, at: At<'_>, said: &Said<'_>) {
        let text = said.text;
        let mut listed = false;
        for (index, range, words) in said.sentences() {
            let sentence = &text[range.clone()];
            if sentence.len() > LONGEST {
                continue;
            }
            if is_heading(sentence) {
                listed = true;
                continue;
            }
            let item = is_list_item(sentence);
            listed &= item;
            let lifts = allows(sentence, words);
            if lifts && self.revoke(at, sentence, said.is_told(index)) {
                continue;
            }
            let verdict = judge(sentence, words);
            let (kind, leans) = match verdict {
                Some(found) if !lifts || found.waits => (found.kind, found.leans),
                None if listed => (RuleKind::Constraint, false),
                None if !lifts && is_plain(said, index) => (RuleKind::Constraint, false),
                _ => {
                    if lifts {
                        self.add_lift(at, sentence, said.may_be_anothers(index));
                    }
                    continue;
                }
            };
            // "Not until I say so." means the sentence before it.
            let short = leans && words.len() <= 8 && index > 0;
            let start = match short {
                true => said.ranges[index - 1].start,
                false => range.start,
            };
            let words = text[start..range.end].trim_start_matches(['-', '*', '•', ' ']);
            let whose = Whose {
                pasted: said.may_be_anothers(index),
                frame: said.frame_before(index),
            };
            self.add_rule(at, words, kind, whose);
        }
    }

    fn add_rule(&mut self, at: At<'_>, text: &str, kind: RuleKind, whose: Whose<'_>) {
        let Whose { pasted, frame } = whose;
        if let Some(known) = self.rules.iter_mut().find(|rule| rule.text == text) {
            let is_users = !self.others.contains(at.entry);
            // It was nobody's word, or taken back: it holds from here on.
            if is_users && !pasted && (known.pasted || known.revoked.is_some()) {
                known.provenance.begin(at.entry);
            } else {
                known.provenance.add(at.entry);
            }
            if is_users && (!pasted || known.pasted) {
                known.revoked = None;
                known.pasted = pasted;
                known.frame = frame.map(str::to_owned);
            }
            return;
        }
        if self.rules.len() >= MOST {
            // Others' words give way before the user's.
            let first = |gives_way: fn(&Rule) -> bool| self.rules.iter().position(gives_way);
            let leaves = first(|rule| rule.revoked.is_some())
                .or_else(|| first(|rule| rule.pasted))
                .or_else(|| first(|rule| rule.kind == RuleKind::Preference));
            let left = self.rules.remove(leaves.unwrap_or(0));
            self.working.rules_left += u64::from(left.revoked.is_none());
        }
        self.rules.push(Rule {
            text: text.to_owned(),
            kind,
            provenance: Provenance::new(at.entry.clone()),
            revoked: None,
            pasted,
            frame: frame.map(str::to_owned),
        });
    }

    /// Takes back the rule a sentence speaks of: the one that shares most of
    /// its words, and of equals the latest. What is told of another takes
    /// back nothing that the user said.
    fn revoke(&mut self, at: At<'_>, sentence: &str, told: bool) -> bool {
        let said = stems(sentence);
        let mut best: Option<(f64, usize)> = None;
        let handed = self.handed.iter().flat_map(|handed| &handed.rules);
        for (index, rule) in self.rules.iter().chain(handed).enumerate() {
            let is_users = self.vouches_for(&rule.provenance);
            let is_others = self.others.contains(at.entry) || (told && !rule.pasted);
            if rule.revoked.is_some()
                || (is_users && is_others)
                || is_for_less(sentence, &rule.text)
                || is_leave_asked_for(sentence, &rule.text)
            {
                continue;
            }
            let words = stems(&rule.text);
            let common = shared(&said, &words);
            if common == 0 {
                continue;
            }
            let mut score = common as f64 / (said.len().min(words.len()).max(1) as f64);
            // A rule that waits for the user's word is the likelier one.
            let waits = waits_for_word(&rule.text);
            score += f64::from(u8::from(waits)) * 0.5 + common as f64 * 0.1;
            if best.is_none_or(|(top, _)| score >= top) {
                best = Some((score, index));
            }
        }
        match best {
            Some((score, index)) if score >= 0.3 => {
                let handed = self.handed.iter_mut();
                let handed = handed.flat_map(|handed| &mut handed.rules);
                if let Some(rule) = self.rules.iter_mut().chain(handed).nth(index) {
                    rule.revoked = Some(at.entry.clone());
                }
                true
            }
            _ => false,
        }
    }
}

/// Whether a sentence is a rule without a sign of one. What could be about a
/// task is one only if the message has no other sentence than rules, and a few
/// words without a verb only as one of several.
fn is_plain(said: &Said<'_>, index: usize) -> bool {
    let sentence = |index: usize| &said.text[said.ranges[index].clone()];
    let fragment = |index: usize| is_fragment(sentence(index), &said.parts[index]);
    let mut rules = 0;
    let mut only_rules = || {
        said.sentences().all(|(other, _, words)| {
            let is_rule = other != index
                && (judge(sentence(other), words).is_some()
                    || plain(sentence(other), words).is_some());
            rules += usize::from(is_rule);
            is_rule || other == index || is_greeting(words) || fragment(other)
        })
    };
    match plain(sentence(index), &said.parts[index]) {
        Some(Plain::Firm) => true,
        Some(Plain::Alone) => only_rules(),
        None => fragment(index) && only_rules() && rules > 0 && said.ranges.len() > 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_transcript::EntryId;

    fn fold(texts: &[&str]) -> Ledger {
        let mut ledger = Ledger::new(None);
        for (number, text) in texts.iter().enumerate() {
            let entry = EntryId::new(format!("e{number}"));
            let at = At {
                entry: &entry,
                time: None,
                rank: number as u64,
            };
            ledger.note_rules(at, &Said::new(text));
        }
        ledger
    }

    #[test]
    fn rules_in_many_languages_are_kept_word_for_word() {
        for rule in [
            "Never commit directly to main.",
            "Always run the linter first.",
            "Please do not touch the vendor folder.",
            "From now on, answer in French.",
            "You must not delete user data.",
            "No new dependencies without asking me first.",
            "I'd rather you kept functions short.",
            "Avoid global state.",
            "Only use the standard library.",
            "We never log passwords.",
            "Use pnpm, not npm.",
            "I dislike emoji in code comments.",
            "Ich mag keine Emojis.",
            "我不喜欢表情符号。",
            "Don't deploy until I say so.",
            "Can you always show the diff first?",
            "Bitte niemals direkt auf main pushen.",
            "Ab sofort nur noch Englisch im Code.",
            "Keine Migrationen ohne Rückfrage!",
            "Immer zuerst die Tests laufen lassen.",
            "Ne supprime jamais de fichiers.",
            "Dorénavant, réponds en anglais.",
            "N'utilise pas de bibliothèques externes.",
            "Nunca subas cambios sin revisar.",
            "A partir de ahora usa tabuladores.",
            "No toques la carpeta de configuración.",
            "Sempre rode os testes antes de terminar.",
            "Não altere o esquema do banco.",
            "Non modificare mai i file generati.",
            "D'ora in poi scrivi in italiano.",
            "Gebruik nooit globale variabelen.",
            "Vanaf nu alles in het Nederlands.",
            "Nigdy nie usuwaj danych.",
            "Od teraz pisz po polsku.",
            "Никогда не удаляй миграции.",
            "Всегда проверяй типы.",
            "Не трогай файл конфигурации.",
            "永远不要删除日志文件。",
            "提交之前必须运行测试。",
            "絶対に本番環境を触らないでください。",
            "必ずテストを実行してください。",
            "절대 main에 푸시하지 마세요.",
            "항상 한국어로 답해 주세요.",
        ] {
            let text = format!("Fix the parser. {rule} Thanks");
            let ledger = fold(&[&text]);
            assert!(
                ledger.rules.iter().any(|found| found.text == rule),
                "{rule}: {:?}",
                ledger.rules
            );
        }
    }

    #[test]
    fn reports_and_questions_are_no_rules() {
        for text in [
            "Why does it never work?",
            "It never returns a value.",
            "The parser always crashes on empty input.",
            "I never saw that error before",
            "Es stürzt immer ab.",
            "Il plante toujours au démarrage.",
            "El servidor siempre falla.",
            "Он всегда падает.",
            "Don't worry about it.",
            "The ranked cache in src/a.rs looks wrong to me, it never gets to load the index.",
            "```\nnever do this\n```",
            "> always do that",
            "How do we make sure that it always works",
            "Never mind.",
            "No thanks.",
            "I hate this bug.",
            "Use the second one, not the first.",
        ] {
            assert_eq!(fold(&[text]).rules, [], "{text}");
        }
    }

    #[test]
    fn a_rule_is_lifted_by_a_sentence_about_it() {
        for (rule, lift) in [
            ("Do not push anything until I say so.", "You may push now."),
            (
                "Never touch the billing module.",
                "Forget the rule about billing.",
            ),
            (
                "Always ask before running migrations.",
                "You no longer need to ask before running migrations.",
            ),
            (
                "Keine Änderungen an der Datenbank, bis ich es sage.",
                "Die Datenbank darfst du jetzt wieder ändern.",
            ),
            (
                "Ne déploie rien tant que je ne l'ai pas dit.",
                "Tu peux maintenant déployer.",
            ),
            (
                "No borres los registros.",
                "Ya puedes borrar los registros.",
            ),
            ("请不要升级依赖。", "现在可以升级依赖了。"),
            (
                "本番環境に触らないでください。",
                "もう本番環境を触ってもいいです。",
            ),
            ("배포하지 마세요.", "이제 배포해도 됩니다."),
            (
                "Не пушь в main, пока я не скажу.",
                "Теперь можно пушить в main.",
            ),
        ] {
            let ledger = fold(&["Never log secrets.", rule, lift]);
            let revoked: Vec<&str> = ledger
                .rules
                .iter()
                .filter(|rule| rule.revoked.is_some())
                .map(|rule| rule.text.as_str())
                .collect();
            assert_eq!(revoked, [rule], "{lift}");
            assert_eq!(ledger.rules.len(), 2, "{lift}: {:?}", ledger.rules);
        }
    }

    #[test]
    fn leave_for_less_leaves_the_rule() {
        for (rule, leave) in [
            (
                "Never merge without review.",
                "You may merge typo fixes without review.",
            ),
            (
                "Never deploy on Fridays.",
                "You can deploy documentation on Fridays from now on.",
            ),
            (
                "Do not install packages.",
                "You may install dev packages now.",
            ),
            // Leave that is asked for is asked for the next time too.
            ("Never push without asking me.", "ok, you can push now"),
            (
                "Always ask before you deploy.",
                "Go ahead, you can deploy now.",
            ),
            (
                "Never commit without running the linter.",
                "Looks good, you may commit now.",
            ),
            (
                "Never merge without a review from Dana.",
                "ok you can merge now, Dana approved it",
            ),
            (
                "Don't delete anything without my permission.",
                "Yes, you can delete it now.",
            ),
            (
                "Niemals ohne Rückfrage E-Mails verschicken.",
                "Du darfst die E-Mail jetzt verschicken.",
            ),
        ] {
            let ledger = fold(&[rule, leave]);
            assert!(
                ledger
                    .rules
                    .iter()
                    .any(|known| known.text == rule && known.revoked.is_none()),
                "{leave}: {:?}",
                ledger.rules
            );
        }
    }

    #[test]
    fn leave_for_good_and_leave_to_go_without_the_condition_lift_the_rule() {
        for (rule, leave) in [
            (
                "Never push without asking me.",
                "You can push without asking from now on.",
            ),
            (
                "Never push without asking me.",
                "From now on you can push whenever you like.",
            ),
            (
                "Never commit without running the linter.",
                "You can commit without running the linter now.",
            ),
            (
                "Always ask before you deploy.",
                "You no longer need to ask before you deploy.",
            ),
            ("Do not push until I say so.", "ok, you can push now"),
            ("Never deploy.", "You may deploy now."),
            (
                "Never push without asking me.",
                "Ignore what I said about pushing.",
            ),
            (
                "Never use semicolons in TypeScript code.",
                "I take back what I said about semicolons.",
            ),
            (
                "Never use semicolons in TypeScript code.",
                "Semicolons are allowed again.",
            ),
            (
                "Never edit files except those in src.",
                "You can edit any files now.",
            ),
            (
                "Don't touch the permission checks.",
                "You may touch the checks now.",
            ),
            (
                "Nunca hagas commit sin preguntar.",
                "Olvida lo que dije sobre los commit.",
            ),
        ] {
            let ledger = fold(&[rule, leave]);
            let lifted = |known: &Rule| known.text == rule && known.revoked.is_some();
            assert!(
                ledger.rules.iter().any(lifted),
                "{leave}: {:?}",
                ledger.rules
            );
        }
    }

    #[test]
    fn others_words_leave_the_list_before_the_users_and_are_counted() {
        let mut ledger = Ledger::new(None);
        let entry = EntryId::new("e0");
        let at = At {
            entry: &entry,
            time: None,
            rank: 0,
        };
        let others = Whose {
            pasted: true,
            frame: None,
        };
        for number in 0..MOST {
            let whose = match number >= MOST - 2 {
                true => others,
                false => Whose::default(),
            };
            ledger.add_rule(at, &format!("Never {number}."), RuleKind::Constraint, whose);
        }
        for number in 0..3 {
            let text = format!("Always {number}.");
            ledger.add_rule(at, &text, RuleKind::Constraint, Whose::default());
        }
        assert!(ledger.rules.iter().all(|rule| !rule.pasted));
        assert_eq!(ledger.rules[0].text, "Never 1.");
        assert_eq!(ledger.rules_left(), 3);
    }

    #[test]
    fn how_to_speak_is_a_rule_unless_it_is_said_of_a_task() {
        let texts = |message: &str| -> Vec<String> {
            let ledger = fold(&[message]);
            ledger.rules.into_iter().map(|rule| rule.text).collect()
        };
        assert_eq!(texts("Hi! Be brief."), ["Be brief."]);
        assert_eq!(
            texts("Write a letter to the bank. Be brief."),
            [] as [&str; 0]
        );
        assert_eq!(
            texts("Write a letter to the bank. Tabs, not spaces."),
            ["Tabs, not spaces."]
        );
        assert_eq!(
            texts("Metric units. British spelling. No emojis in titles."),
            ["Metric units.", "British spelling.", "No emojis in titles."]
        );
        assert_eq!(texts("Blue boxes. Red lids. Thanks!"), [] as [&str; 0]);
    }

    #[test]
    fn items_under_a_heading_are_rules_and_a_short_condition_takes_its_sentence_along() {
        let ledger = fold(&[
            "Rules:\n- tabs, four wide\n- English names\n\nNo deployments. Not until I say so.",
        ]);
        let texts: Vec<&str> = ledger.rules.iter().map(|rule| rule.text.as_str()).collect();
        assert!(texts.contains(&"tabs, four wide"), "{texts:?}");
        assert!(
            texts.contains(&"No deployments. Not until I say so."),
            "{texts:?}"
        );
    }
}
