use super::*;

fn found(sentence: &str) -> Option<Plain> {
    plain(sentence, &Words::new(sentence))
}

#[test]
fn what_names_no_single_thing_is_a_rule_wherever_it_stands() {
    for rule in [
        "Tabs, not spaces.",
        "Beträge in Franken, nicht in Euro.",
        "Stop adding footers to mails.",
        "Stop starting every answer with praise.",
        "Arrête de mettre des emojis.",
        "Arrête d'écrire des pavés.",
        "Nobody but me edits the roster.",
        "Niemand außer mir ändert die Dienstpläne.",
        "I want to see the plan before any code.",
        "You should check the budget sheet before you promise a date.",
        "Commit erst, wenn ich es sage.",
        "Deploy only once the tests pass.",
        "Use staging, not prod, for experiments.",
        "Invoices go through Petra.",
        "I'd like a summary at the end of each answer.",
    ] {
        assert_eq!(found(rule), Some(Plain::Firm), "{rule}");
    }
}

#[test]
fn how_to_speak_or_write_is_a_rule_where_no_task_stands_beside_it() {
    for rule in [
        "Be brief.",
        "Kurz halten.",
        "Antworte knapp und sachlich.",
        "Responde breve, por favor.",
        "Write commit messages in the imperative.",
        "Quote prices in Swiss francs only.",
        "Écris les commentaires en anglais.",
        "Kommentare auf Englisch.",
        "Skip the preamble.",
        "Names in English, comments in Dutch.",
        "Short words, plain sentences.",
        "Review before merge.",
        "Erst fragen, dann löschen.",
        "Сначала план, потом код.",
        "One topic per message.",
        "Höchstens drei Sätze.",
        "Refunds only with a receipt.",
        "American spelling.",
        "标题用英文",
        "金额格式用千分位",
        "返事は五行以内で",
        "Keep answers short.",
        "Keep the tests fast.",
        "Please keep your replies brief.",
        "Keep pull requests small.",
        "Halte die Tests schnell.",
        "Garde les commits petits.",
        "Mantén las respuestas cortas.",
        "用中文回答",
        "回答简短点",
        "簡潔に答えて",
        "コメントは日本語で",
        "짧게 답해줘",
    ] {
        assert_eq!(found(rule), Some(Plain::Alone), "{rule}");
    }
}

#[test]
fn one_piece_of_work_is_no_rule() {
    for task in [
        "Write a test for the parser.",
        "Fix the tabs in main.rs",
        "Be quick, the demo is at 3",
        "Keep it short.",
        "Keep the server running.",
        "Keep the two tests fast.",
        "Keep these functions small.",
        "Keep the tests.",
        "Write tests for the two handlers.",
        "Write commit messages for these changes.",
        "Stop the server.",
        "Stop adding this line.",
        "Stop it.",
        "Use the second one, not the first.",
        "It was a bug, not a feature.",
        "Bob, not Alice.",
        "Nobody but me knows that.",
        "It crashed before any output.",
        "You should see a red button.",
        "You should run this again before you go on.",
        "Der Build läuft erst, wenn der Server da ist.",
        "Things go to pieces here.",
        "Translate the comments into English.",
        "Write a poem in Spanish.",
        "Traduis les titres en anglais.",
        "Look for hotels in dollars.",
        "Arrête le serveur.",
        "Erst den Server stoppen, dann das Backup einspielen.",
        "Сначала посмотри логи, потом перезапусти сервер.",
        "First the tests, then the docs.",
        "One more commit for the docs.",
        "Only the header in German, please.",
        "I want each of these files renamed.",
        "三行で要約して",
        "Hör auf, das dauert zu lange.",
        "写一个测试",
        "用中文总结这篇文章",
        "テストを書いて",
    ] {
        assert_eq!(found(task), None, "{task}");
    }
}
