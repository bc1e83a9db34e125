//! German words for somebody who has a part: "Projektleiterin" and "Projektleiter".
//!
//! They name one part, whether a man or a woman has it. Of what ends alike ("Plugin",
//! "Martin", "Severin") only those endings are cut that make a part of a verb or of a
//! few known words.

/// How such words end for a woman and for a man, and of how many characters at least what
/// stands before is.
const ENDINGS: [(&str, &str, usize); 10] = [
    ("ärztin", "arzt", 0),
    ("anwältin", "anwalt", 0),
    ("köchin", "koch", 0),
    ("chefin", "chef", 0),
    ("wirtin", "wirt", 0),
    ("erin", "er", 4),
    ("orin", "or", 4),
    ("eurin", "eur", 3),
    ("entin", "ent", 4),
    ("istin", "ist", 4),
];

/// The word for a man who has the part that this says a woman has.
pub(super) fn as_his_part(word: &str) -> Option<String> {
    ENDINGS.iter().find_map(|(hers, his, least)| {
        let before = word.strip_suffix(hers)?;
        (before.chars().count() >= *least).then(|| format!("{before}{his}"))
    })
}

#[cfg(test)]
mod tests {
    use super::as_his_part;

    #[test]
    fn a_part_is_one_whether_a_man_or_a_woman_has_it() {
        for (hers, his) in [
            ("projektleiterin", "projektleiter"),
            ("hausärztin", "hausarzt"),
            ("chefin", "chef"),
            ("rechtsanwältin", "rechtsanwalt"),
            ("ansprechpartnerin", "ansprechpartner"),
            ("direktorin", "direktor"),
            ("assistentin", "assistent"),
        ] {
            assert_eq!(as_his_part(hers).as_deref(), Some(his));
        }
        for word in [
            "plugin", "martin", "erin", "severin", "christin", "valentin", "berlin", "leiter",
        ] {
            assert_eq!(as_his_part(word), None, "{word}");
        }
    }
}
