//! German changes, which say at their end what was done: "die Sitzung wurde auf
//! Dienstag verschoben".

/// What was done, by the word that says to what: "in der Nacht verlegt" says when.
const DONE: [(&str, &str); 4] = [
    (
        "auf",
        " verschoben vertagt vorverlegt verlegt erhöht angehoben gesenkt reduziert verlängert aktualisiert \
        geändert umgestellt migriert ",
    ),
    ("nach", " verlegt migriert "),
    ("in", " umbenannt "),
    ("durch", " ersetzt "),
];
const BEGINS: &str = " wurde wurden ";
/// Behind those, what it was done for or upon.
const UPON: &str = " wunsch anfrage antrag bitte basis grund anordnung anweisung absprache rücksprache \
    ankündigung plan beschwerden ";

fn listed(list: &str, word: &str) -> bool {
    list.contains(&format!(" {} ", word.to_lowercase()))
}

/// The words of a line, each with whether a part of the sentence ends behind it, in
/// the order of other languages: "die Sitzung verschoben auf Dienstag".
pub(super) fn unframed(mut words: Vec<(String, bool)>) -> Vec<(String, bool)> {
    let mut from = 0;
    while let Some(part) = words.get(from..).filter(|rest| !rest.is_empty()) {
        let end = part.iter().position(|(_, breaks)| *breaks);
        let end = end.map_or(words.len(), |end| from + end + 1);
        if let Some(at) = framed(&words[from..end]) {
            // The verb that begins the frame gives its place to the one that ends it.
            words[from + at].0 = std::mem::take(&mut words[end - 1].0);
            words[end - 2].1 = true;
            words.remove(end - 1);
            from = end - 1;
        } else {
            from = end;
        }
    }
    words
}

/// Where a part of a sentence has the verb that belongs to its last word.
fn framed(part: &[(String, bool)]) -> Option<usize> {
    let ((last, _), rest) = part.split_last()?;
    let begins = |three: &[(String, bool)]| {
        let towards = three[1].0.to_lowercase();
        let mut done = DONE.iter().filter(|(lead, _)| *lead == towards);
        listed(BEGINS, &three[0].0)
            && done.any(|(_, done)| listed(done, last))
            && !listed(UPON, &three[2].0)
    };
    rest.windows(3).position(begins).filter(|at| *at > 0)
}
