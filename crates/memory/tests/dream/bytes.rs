//! What a person has in the memory files keeps every byte, whatever it is.

use std::fs;

use longhaul_memory::dream::Status;

use crate::{Place, TODAY, settings};

/// Lines as an old editor saved them, and what no text has.
const LATIN: &[u8] = b"- Gr\xf6\xdfe of mine\nM\xfcller\n\xf4\x8f\xbf\xb6 \xff\xfe\xc3\n";

impl Place {
    fn raw(&self, name: &str) -> Vec<u8> {
        fs::read(self.memory.root().join(name)).unwrap()
    }

    /// Puts the lines at the end of a file, as a person would.
    fn add_bytes(&self, name: &str) -> Vec<u8> {
        let mut bytes = self.raw(name);
        bytes.extend_from_slice(LATIN);
        fs::write(self.memory.root().join(name), &bytes).unwrap();
        bytes
    }
}

fn has_lines(bytes: &[u8]) -> bool {
    bytes.windows(LATIN.len()).any(|part| part == LATIN)
}

#[test]
fn bytes_that_are_no_utf8_outlive_promotions_and_an_undo_restores_the_files() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays.", "Always write tests first."]);
    let files = ["MEMORY.md", "memories/project.md", "DREAMS.md"];
    let begun = files.map(|file| place.add_bytes(file));
    place.promote("Never push");
    place.promote("Always write");
    for file in files {
        assert!(has_lines(&place.raw(file)), "{file}");
    }
    let memory = place.raw("MEMORY.md");
    let memory = String::from_utf8_lossy(&memory);
    assert!(memory.contains("Never push on Fridays."), "{memory}");
    place.undo().unwrap();
    place.undo().unwrap();
    assert_eq!(place.raw("MEMORY.md"), begun[0]);
    assert_eq!(place.raw("memories/project.md"), begun[1]);
    assert!(has_lines(&place.raw("DREAMS.md")));
}

#[test]
fn bytes_that_are_no_utf8_outlive_a_dream_in_its_page() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    place.add_bytes("DREAMS.md");
    place.rule(TODAY, "Always write tests first.");
    place.dream(&settings());
    let page = place.raw("DREAMS.md");
    assert!(has_lines(&page));
    assert!(String::from_utf8_lossy(&page).contains("Always write tests first."));
}

#[test]
fn bytes_beside_a_hand_edit_stay_and_are_shown_as_no_text() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    place.promote("Never push");
    let path = place.memory.root().join("MEMORY.md");
    let mut memory = place.raw("MEMORY.md");
    let at = memory.windows(5).position(|part| part == b"Never");
    memory.insert(at.unwrap(), 0xfc);
    fs::write(&path, &memory).unwrap();
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let at = crate::now().timestamp();
    let undone = dreams.undo(&lock, None, at, &settings()).unwrap();
    assert_eq!(undone.left[0].text, "- \u{fffd}Never push on Fridays.");
    let shown = undone.change.pages[1].shown();
    assert!(shown.1.contains("- \u{fffd}Never"), "{shown:?}");
    let memory = place.raw("MEMORY.md");
    let line = b"- \xfcNever push on Fridays.\n";
    assert!(memory.windows(line.len()).any(|part| part == line));
    assert_eq!(place.find("Never push").status, Status::Staged);
}

#[test]
fn what_was_said_cannot_smuggle_a_byte_into_a_file() {
    let place = Place::begun_and_dreamt(&["Never push on \u{10ffff}Fridays."]);
    place.promote("Never push");
    for file in ["MEMORY.md", "memories/project.md", "DREAMS.md"] {
        assert!(String::from_utf8(place.raw(file)).is_ok(), "{file}");
    }
}

#[test]
fn what_is_written_ends_its_lines_as_the_file_does_and_an_undo_restores_the_bytes() {
    let place = Place::begun_and_dreamt(&[
        "Never push on Fridays.",
        "Always write tests first.",
        "Never delete backups.",
    ]);
    let files = ["MEMORY.md", "memories/project.md", "DREAMS.md"];
    for file in files {
        place.write(file, &place.read(file).replace('\n', "\r\n"));
    }
    let begun = files.map(|file| place.raw(file));
    for rule in ["Never push", "Always write", "Never delete"] {
        place.promote(rule);
        for file in files {
            let text = place.read(file);
            assert!(!text.replace("\r\n", "").contains(['\r', '\n']), "{text:?}");
        }
    }
    // Not the latest first, so that no undo finds the file as it left it.
    for number in [2, 1, 3] {
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        let at = crate::now().timestamp();
        let undone = dreams.undo(&lock, Some(number), at, &settings()).unwrap();
        assert_eq!(undone.left, []);
    }
    for (file, begun) in files.iter().zip(&begun).take(2) {
        let now = place.raw(file);
        let now = String::from_utf8(now).unwrap();
        assert_eq!(now.as_bytes(), begun, "{file}: {now}");
    }
    assert!(!place.read("DREAMS.md").replace("\r\n", "").contains('\n'));
}

#[test]
fn what_an_undo_puts_back_or_heads_ends_its_lines_as_the_file_does() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    let id = place.promote("Never push");
    let edited = place.read("memories/project.md");
    let edited = edited.replace("Never push on Fridays.\n", "Never push at all.\n");
    let edited = edited.replace('\n', "\r\n");
    place.write("memories/project.md", &edited);
    place.undo().unwrap();
    let project = place.read("memories/project.md");
    let headed = format!("### Edited by hand (was {id})\r\nNever push at all.\r\n");
    assert!(project.contains(&headed), "{project:?}");
}
