//! What the user says: the same in every run.

/// The message of a turn. Some are a line, some a page; `page` is the length of
/// the long ones in words.
pub(super) fn message(turn: usize, page: usize) -> String {
    let n = turn + 1;
    match turn % 5 {
        0 => format!(
            "We are building the harbour scheduler, step {n}. Never change the file \
             config/berths-{n}.yaml without asking me. What comes first?"
        ),
        1 => format!(
            "Here is the log of run {n}, read it and tell me what failed:\n{}",
            log(n, page)
        ),
        2 => format!(
            "Use port {} for the tide service. Why was it refused?",
            7000 + n
        ),
        3 => format!(
            "These are the notes of meeting {n}:\n{}\nWhat was decided?",
            notes(n, page)
        ),
        _ => "ok, do that".to_owned(),
    }
}

fn log(n: usize, words: usize) -> String {
    let mut lines = String::new();
    let mut at = 0;
    // A line is about eight words.
    while at * 8 < words {
        let ship = ["Aurora", "Borealis", "Calypso", "Dunbar"][(n + at) % 4];
        let berth = (n * 7 + at * 3) % 19;
        let state = if at % 6 == 5 {
            "ERROR timeout"
        } else {
            "docked"
        };
        lines.push_str(&format!(
            "{at:02} ship {ship} berth {berth} {state} in src/dock.rs\n"
        ));
        at += 1;
    }
    lines
}

fn notes(n: usize, words: usize) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at * 14 < words {
        let who = ["Mira", "Jonas", "Pell"][(n + at) % 3];
        let day = (n + at) % 28 + 1;
        text.push_str(&format!(
            "{who} wants the tide table before the {day}. and asks for a slower crane. "
        ));
        at += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_turn_says_the_same_and_others_do_not() {
        assert_eq!(message(6, 100), message(6, 100));
        assert_ne!(message(6, 100), message(1, 100));
        let long = message(3, 200).split_whitespace().count();
        assert!((200..240).contains(&long), "{long}");
    }
}
