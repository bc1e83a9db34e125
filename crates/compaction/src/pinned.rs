//! Pinned entries inside a summary: word for word, and readable again, so
//! that the next compaction carries them on unchanged.

use longhaul_transcript::EntryId;

const END: &str = "</pinned>";
const HIDDEN_END: &str = "<\\/pinned>";

/// Pinned entries as the last section of a summary.
pub fn render(pinned: &[(EntryId, String)]) -> String {
    let mut text = format!("\n\n{}\n", crate::summary::heading::PINNED);
    for (id, content) in pinned {
        text.push_str(&format!(
            "<pinned entry=\"{}\">\n{}\n{END}\n",
            id.as_str().replace('"', ""),
            content.replace(END, HIDDEN_END)
        ));
    }
    text
}

/// Reads pinned entries back from a summary.
pub fn read(summary: &str) -> Vec<(EntryId, String)> {
    let mut found = Vec::new();
    let mut rest = summary;
    while let Some(at) = rest.find("\n<pinned entry=\"") {
        rest = &rest[at + "\n<pinned entry=\"".len()..];
        let Some((id, after)) = rest.split_once("\">\n") else {
            break;
        };
        let Some((content, after)) = after.split_once(&format!("\n{END}")) else {
            break;
        };
        found.push((EntryId::from(id), content.replace(HIDDEN_END, END)));
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_texts_come_back_as_they_went_in() {
        let pinned = vec![
            (
                EntryId::from("a1"),
                "never </pinned>\n touch main".to_owned(),
            ),
            (EntryId::from("b2"), "日本語".to_owned()),
        ];
        assert_eq!(read(&format!("summary{}", render(&pinned))), pinned);
        assert_eq!(read("no pins"), []);
    }
}
