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
const BEGINS: &str = " wurde wurden wird werden ist sind ";
/// What may stand behind those, and says only when or how it was done.
const BETWEEN: &str = " gestern heute vorgestern soeben eben gerade kurzfristig spontan nun jetzt erneut nochmals wieder \
    inzwischen leider bereits schon ";
/// Behind those, what it was done for or upon.
const UPON: &str = " wunsch anfrage antrag bitte basis grund anordnung anweisung absprache rücksprache \
    ankündigung plan beschwerden ";

fn listed(list: &str, word: &str) -> bool {
    crate::dream::listed::listed(list, &word.to_lowercase())
}

/// The words of a line, each with whether a part of the sentence ends behind it, in
/// the order of other languages: "die Sitzung verschoben auf Dienstag".
pub(super) fn unframed(mut words: Vec<(String, bool)>) -> Vec<(String, bool)> {
    let mut from = 0;
    while let Some(part) = words.get(from..).filter(|rest| !rest.is_empty()) {
        let end = part.iter().position(|(_, breaks)| *breaks);
        let end = end.map_or(words.len(), |end| from + end + 1);
        if let Some((begin, lead)) = framed(&words[from..end]) {
            // The verb that ends the frame stands before what it is tied to.
            let verb = std::mem::take(&mut words[end - 1].0);
            words[end - 2].1 = true;
            words.remove(end - 1);
            words.splice(from + begin..from + lead, [(verb, false)]);
            from = end - (lead - begin);
        } else {
            from = end;
        }
    }
    words
}

/// Where a part of a sentence has the verb that belongs to its last word, and where
/// that is tied to what follows.
fn framed(part: &[(String, bool)]) -> Option<(usize, usize)> {
    let ((last, _), rest) = part.split_last()?;
    let begin = rest.iter().position(|(word, _)| listed(BEGINS, word))?;
    let behind = &rest[begin + 1..];
    let between = behind.iter().take_while(|(word, _)| listed(BETWEEN, word));
    let lead = begin + 1 + between.count();
    let [(towards, _), (next, _), ..] = rest.get(lead..)? else {
        return None;
    };
    let towards = towards.to_lowercase();
    let mut done = DONE.iter().filter(|(lead, _)| *lead == towards);
    let fits = done.any(|(_, done)| listed(done, last)) && !listed(UPON, next);
    (begin > 0 && fits).then_some((begin, lead))
}
