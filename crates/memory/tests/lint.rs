//! `memory lint`: what it says of what it finds, and what `--fix` does.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use jiff::civil::{DateTime, date};
use longhaul_memory::files::{
    AgentsFile, Body, Finding, Fixed, Hold, Limits, Origin, Standing, Trouble, Verify,
};
use longhaul_memory::{MemoryFolder, Source};
use longhaul_tokens::Estimator;

fn at() -> DateTime {
    date(2026, 11, 15).at(14, 23, 0, 0)
}

fn folder(root: &Path) -> MemoryFolder {
    MemoryFolder::open(root, None).unwrap()
}

fn begun(root: &Path) -> MemoryFolder {
    let memory = folder(root);
    memory.init(at(), "Tides", AgentsFile::Unwanted).unwrap();
    memory
}

fn lint(memory: &MemoryFolder) -> Vec<Finding> {
    let found = memory.lint(Limits::default(), &Estimator::Heuristic);
    found.unwrap()
}

fn found(file: &str, line: Option<usize>, trouble: Trouble) -> Finding {
    let file = file.to_owned();
    Finding {
        file,
        line,
        trouble,
        hold: None,
    }
}

fn fix(memory: &MemoryFolder) -> Fixed {
    let fixed = memory.fix(at(), Limits::default(), &Estimator::Heuristic);
    fixed.unwrap()
}

#[test]
fn what_fix_appends_ends_its_lines_as_the_file_does() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    for file in ["memories/project.md", "memories/errors.md"] {
        // The last line that ends decides.
        fs::write(root.path().join(file), "# Mine\nfirst\r\nsecond").unwrap();
    }
    let long = "word ".repeat(60);
    let text = format!("- {long}\n- x → docs/gone.md\n");
    fs::write(root.path().join("MEMORY.md"), text).unwrap();
    fix(&memory);
    for file in ["memories/project.md", "memories/errors.md"] {
        let text = fs::read_to_string(root.path().join(file)).unwrap();
        let added = text.strip_prefix("# Mine\nfirst\r\nsecond").unwrap();
        assert!(added.lines().count() > 1, "{file}: {added:?}");
        assert_eq!(added.matches('\n').count(), added.matches("\r\n").count());
    }
}

#[test]
fn what_is_wrong_in_a_line_that_is_no_text_is_for_a_person() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let bytes = b"- caf\xe9 \xe2\x86\x92 docs/gone.md\n";
    fs::write(root.path().join("MEMORY.md"), bytes).unwrap();
    let fixed = fix(&memory);
    let held = |one: &&Finding| one.hold == Some(Hold::Bytes);
    let left = fixed.left.iter().find(held).unwrap();
    assert!(matches!(left.trouble, Trouble::DeadPointer { .. }));
    let remedy = left.remedy();
    assert!(
        remedy.starts_with("save the file as UTF-8 first"),
        "{remedy}"
    );
    assert_eq!(fs::read(root.path().join("MEMORY.md")).unwrap(), bytes);
}

#[cfg(unix)]
#[test]
fn lint_says_of_each_link_where_it_leads() {
    use std::os::unix::fs::symlink;

    let root = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let memory = folder(root.path());
    for name in ["memory/deep", "memories", "docs"] {
        fs::create_dir_all(root.path().join(name)).unwrap();
    }
    fs::write(root.path().join(".env"), "DOOR=open").unwrap();
    let links = [
        (
            "deep",
            "../memory/deep",
            "it is a link to memory/deep, another folder of memory",
        ),
        (
            "docs",
            "../docs",
            "it is a link that leads out of memory, to the folder docs",
        ),
        (
            "env.md",
            "../.env",
            "it is a link that leads out of memory, to .env",
        ),
        (
            "gone.md",
            "nowhere.md",
            "it is a link to nowhere.md, which is not there",
        ),
        (
            "ring.md",
            "ring.md",
            "it is a link that cannot be followed (",
        ),
        (
            "out.md",
            outside.path().to_str().unwrap(),
            "it is a link that leads out of the workspace",
        ),
    ];
    for (name, to, _) in &links {
        symlink(to, root.path().join("memories").join(name)).unwrap();
    }
    let found = lint(&memory);
    for (name, _, expected) in links {
        let file = format!("memories/{name}");
        let told = found.iter().find(|one| one.file == file).unwrap();
        let Trouble::Unreadable { reason } = &told.trouble else {
            panic!("{told:?}");
        };
        assert!(reason.starts_with(expected), "{file}: {reason}");
    }
    fs::rename(root.path().join("memory"), root.path().join("notes")).unwrap();
    symlink("notes", root.path().join("memory")).unwrap();
    let found = lint(&memory);
    let told = found.iter().find(|one| one.file == "memory").unwrap();
    let target = "notes".to_owned();
    assert_eq!(told.trouble, Trouble::LinkedFolder { target });
}

#[test]
fn a_secret_is_told_with_its_line_and_never_printed_or_rewritten() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let write = |file: &str, text: &str| fs::write(root.path().join(file), text).unwrap();
    let read = |file: &str| fs::read_to_string(root.path().join(file)).unwrap();
    let text = read("MEMORY.md") + &format!("- the deploy token is {token}\n- mine\n");
    write("MEMORY.md", &text);
    let body = "MIIEpAIBAAKCAQEA7b1uZ0".repeat(3);
    let key = format!(
        "# Context\n\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}\n-----END RSA PRIVATE \
         KEY-----\n\nafter it\n{token}\nthe end\n"
    );
    write("memories/context.md", &key);
    fs::create_dir_all(root.path().join("memory")).unwrap();
    write(
        "memory/2026-11-14.md",
        &format!("one\ntwo\nAPI token: {token}\n"),
    );
    let found = lint(&memory);
    let places: Vec<(&str, Option<usize>)> = found
        .iter()
        .filter(|one| one.trouble == Trouble::Secret)
        .map(|one| (one.file.as_str(), one.line))
        .collect();
    let line = text.lines().count() - 1;
    let mut expected = vec![
        ("MEMORY.md", Some(line)),
        ("memories/context.md", Some(3)),
        ("memories/context.md", Some(9)),
        ("memory/2026-11-14.md", Some(3)),
    ];
    let mut places = places;
    places.sort();
    expected.sort();
    assert_eq!(places, expected, "{found:#?}");
    let told: String = found
        .iter()
        .map(|one| one.trouble.to_string() + &one.remedy())
        .collect();
    assert!(!told.contains(&token));
    let fixed = fix(&memory);
    assert_eq!(read("MEMORY.md"), text, "{fixed:?}");
    assert!(fixed.left.iter().any(|one| one.trouble == Trouble::Secret));
}

#[test]
fn whatever_a_search_finds_is_looked_at_and_left_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let secret = format!("# Notes\nAPI token: {token}\n");
    let long = "word ".repeat(60) + "\u{2192} docs/gone.md\n";
    for folder in ["memory/sub/deep", "memories/sub"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    let files: [(&str, &[u8], Option<Finding>); 5] = [
        (
            "memories/sub/latin.txt",
            b"one\ncaf\xe9\n",
            Some(found(
                "memories/sub/latin.txt",
                Some(2),
                Trouble::NotUtf8 { lines: 1 },
            )),
        ),
        ("memories/sub/long.md", long.as_bytes(), None),
        (
            "memory/notes.md",
            secret.as_bytes(),
            Some(found("memory/notes.md", Some(2), Trouble::Secret)),
        ),
        (
            "memory/sub/deep/notes.md",
            secret.as_bytes(),
            Some(found("memory/sub/deep/notes.md", Some(2), Trouble::Secret)),
        ),
        (
            "memory/sub/zero.md",
            b"a\0b\n",
            Some(found("memory/sub/zero.md", None, Trouble::Binary { at: 1 })),
        ),
    ];
    for (file, bytes, _) in &files {
        fs::write(root.path().join(file), bytes).unwrap();
    }
    let large = fs::File::create(root.path().join("memory/large.md")).unwrap();
    large.set_len(64_000_001).unwrap();
    let (bytes, most) = (64_000_001, 64_000_000);
    let mut expected = vec![found(
        "memory/large.md",
        None,
        Trouble::TooLarge { bytes, most },
    )];
    expected.extend(files.iter().filter_map(|(_, _, finding)| finding.clone()));
    expected.sort_by(|one, other| one.file.cmp(&other.file));
    let told = |mut findings: Vec<Finding>| {
        findings.sort_by(|one, other| one.file.cmp(&other.file));
        findings
    };
    assert_eq!(told(lint(&memory)), expected);
    assert_eq!(told(fix(&memory).left), expected);
    for (file, bytes, _) in files {
        assert_eq!(fs::read(root.path().join(file)).unwrap(), bytes, "{file}");
    }
}

#[test]
fn folders_that_are_not_looked_into_are_named() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let read = "memory/1/2/3/4/5/6/7";
    let deep = format!("{read}/8");
    fs::create_dir_all(root.path().join(&deep)).unwrap();
    fs::write(root.path().join(read).join("a.md"), "found").unwrap();
    fs::write(root.path().join(&deep).join("b.md"), "not found").unwrap();
    let expected = found(&deep, None, Trouble::TooDeep { most: 7 });
    assert_eq!(lint(&memory), [expected]);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_in_a_folder_of_memory_is_named() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    fs::create_dir_all(root.path().join("memory/sub")).unwrap();
    let socket = root.path().join("memory/sub/socket");
    let _listening = std::os::unix::net::UnixListener::bind(socket).unwrap();
    let reason = "it is not a plain file".into();
    let expected = found("memory/sub/socket", None, Trouble::Unreadable { reason });
    assert_eq!(lint(&memory), [expected]);
}

#[test]
fn nothing_that_writes_to_a_file_changes_bytes_that_are_no_utf8() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let own = b"- Gr\xf6\xdfe of mine\n";
    let log = MemoryFolder::log_name(at().date());
    let files = [
        "MEMORY.md",
        "memories/project.md",
        "memories/errors.md",
        &log,
    ];
    for file in files {
        let mut bytes = fs::read(root.path().join(file)).unwrap_or_default();
        bytes.extend_from_slice(own);
        if file == "MEMORY.md" {
            let long = "word ".repeat(60);
            bytes.extend_from_slice(format!("- {long}\n- x \u{2192} docs/gone.md\n").as_bytes());
        }
        fs::write(root.path().join(file), bytes).unwrap();
    }
    memory.verify(Verify::Mark).unwrap();
    let marked = fs::read(root.path().join("MEMORY.md")).unwrap();
    assert!(String::from_utf8_lossy(&marked).contains("(stale: verify)"));
    let fixed = fix(&memory);
    assert_eq!(fixed.files.len(), 3, "{fixed:?}");
    memory.init(at(), "Tides", AgentsFile::Unwanted).unwrap();
    let said = Body::Text {
        text: "said".into(),
        source: Source::Agent,
    };
    memory
        .append_log(at(), "Flush", Origin::default(), &said)
        .unwrap();
    for file in files {
        let bytes = fs::read(root.path().join(file)).unwrap();
        assert!(bytes.windows(own.len()).any(|part| part == own), "{file}");
    }
}

#[test]
fn ordinary_lines_stay_where_they_are_and_point_to_nothing() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let text = "- We release from `release/2.4`, upstream `origin/main`\n\
                - API answers `application/json`, on `Node.js` 20\n\
                - Host `db.example.com`, key `user.name`, `CI/CD`, 50 `km/h`, `os.path.join`\n\
                - Owner: [Ada](mailto:a@b.de) <ada@example.com>\n";
    let path = root.path().join("MEMORY.md");
    fs::write(&path, text).unwrap();
    assert_eq!(lint(&memory), []);
    assert_eq!(memory.verify(Verify::Mark).unwrap(), []);
    fix(&memory);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_name_in_code_that_was_a_file_is_a_pointer_also_when_it_is_gone() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    fs::write(root.path().join("MEMORY.md"), "- built by `build.rs`\n").unwrap();
    assert_eq!(memory.verify(Verify::Tell).unwrap(), []);
    fs::write(root.path().join("build.rs"), "fn main() {}").unwrap();
    let standings = || -> Vec<Standing> {
        let verified = memory.verify(Verify::Tell).unwrap();
        verified.iter().map(|one| one.standing).collect()
    };
    assert_eq!(standings(), [Standing::New]);
    fs::remove_file(root.path().join("build.rs")).unwrap();
    assert_eq!(standings(), [Standing::Gone]);
}

#[test]
fn links_with_encoded_characters_lead_to_the_file_they_mean() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let text = "- [z](d%C3%B6cs%20x.md#%C3%9Cbersicht) [y](100%25.md) [x](as%20is.md)\n";
    fs::write(root.path().join("MEMORY.md"), text).unwrap();
    for name in ["döcs x.md", "100%.md", "as%20is.md"] {
        fs::write(root.path().join(name), "# Übersicht\n").unwrap();
    }
    assert_eq!(lint(&memory), []);
}

#[test]
fn a_line_with_a_secret_is_left_to_a_person_whatever_else_is_wrong_with_it() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let long = "word ".repeat(60);
    let text = format!("- login {token} → docs/gone.md\n- {token} {long}\n");
    fs::write(root.path().join("MEMORY.md"), &text).unwrap();
    let others = ["memories/errors.md", "memories/project.md"];
    let read = |file: &str| fs::read_to_string(root.path().join(file)).unwrap();
    let before = others.map(read);
    let fixed = fix(&memory);
    assert_eq!(read("MEMORY.md"), text);
    assert_eq!(others.map(read), before);
    let left: Vec<String> = fixed.left.iter().map(|one| one.remedy()).collect();
    let told = left
        .iter()
        .filter(|one| one.starts_with("take the secret out of the line first"));
    assert_eq!(told.count(), 2, "{left:#?}");
}

#[test]
fn what_is_moved_keeps_its_comments_and_spaces() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let lost = "- lost   here <!-- mine -->\t→ docs/gone.md";
    fs::write(root.path().join("MEMORY.md"), format!("{lost}\n")).unwrap();
    fix(&memory);
    let errors = fs::read_to_string(root.path().join("memories/errors.md")).unwrap();
    assert!(errors.contains(&format!("MEMORY.md pointed to docs/gone.md: {lost} <!--")));
}

#[test]
fn a_long_line_with_a_dead_pointer_leaves_a_pointer_to_its_text() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let line = format!("- see docs → docs/gone.md {}", "word ".repeat(60));
    fs::write(root.path().join("MEMORY.md"), format!("{line}\n")).unwrap();
    let read = |file: &str| fs::read_to_string(root.path().join(file)).unwrap();
    let errors = read("memories/errors.md");
    for _ in 0..2 {
        fix(&memory);
        let kept = read("MEMORY.md");
        assert!(
            kept.ends_with("… | Details → memories/project.md\n"),
            "{kept}"
        );
        assert_eq!(read("memories/project.md").matches(line.trim()).count(), 1);
        assert_eq!(read("memories/errors.md"), errors);
    }
}

#[test]
fn a_line_that_also_points_to_what_is_there_stays() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let text = "- old → docs/gone.md, now → memories/project.md\n";
    fs::write(root.path().join("MEMORY.md"), text).unwrap();
    let fixed = fix(&memory);
    let kept = fs::read_to_string(root.path().join("MEMORY.md")).unwrap();
    assert_eq!(kept, text);
    let [left] = &fixed.left[..] else {
        panic!("{fixed:?}");
    };
    assert_eq!(
        left.trouble.to_string(),
        "points to docs/gone.md, which is not there"
    );
    assert!(!left.is_fixable());
}

#[test]
fn what_a_run_has_moved_that_could_not_write_the_index_is_not_moved_twice() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    let long = "word ".repeat(60);
    let text = format!("- {long}\n- lost → docs/gone.md\n");
    let read = |file: &str| fs::read_to_string(root.path().join(file)).unwrap();
    let moved = || [read("memories/project.md"), read("memories/errors.md")];
    fs::write(root.path().join("MEMORY.md"), &text).unwrap();
    fix(&memory);
    let (index, first) = (read("MEMORY.md"), moved());
    // As it was left by a run that failed in between.
    fs::write(root.path().join("MEMORY.md"), &text).unwrap();
    let later = at().tomorrow().unwrap();
    memory
        .fix(later, Limits::default(), &Estimator::Heuristic)
        .unwrap();
    assert_eq!(moved(), first);
    assert_eq!(read("MEMORY.md"), index);
}

#[test]
fn the_line_that_is_added_to_gitignore_ends_as_the_others_do() {
    let root = tempfile::tempdir().unwrap();
    let memory = begun(root.path());
    fs::create_dir(root.path().join(".git")).unwrap();
    let path = root.path().join(".gitignore");
    fs::write(&path, "target/\r\n").unwrap();
    fix(&memory);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "target/\r\nmemories/\r\n");
}
