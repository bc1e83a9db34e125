//! Files: finding and parsing them.

use std::path::Path;

use longhaul_engine::config::{
    Candidate, Config, FoundBy, Places, Sources, candidates, find, resolve,
};
use longhaul_tokens::Tokens;

use super::{file, json5, origin, refused, yaml};

#[test]
fn syntax_errors_give_file_line_and_column() {
    let cases = [
        (
            yaml("a: 1\nb: \"x"),
            "longhaul.yaml, line 2, column 4: unclosed quote",
        ),
        (
            json5("{\n  compaction: {\n    autoEnabled: tru }\n}"),
            "longhaul.json5, line 3, column 18: Unexpected word",
        ),
        (
            json5("{\n  compaction: {"),
            "longhaul.json5, line 2, column 15: Unterminated object",
        ),
        (
            json5("{}}"),
            "longhaul.json5, line 1, column 3: Text cannot contain more than one JSON value",
        ),
        (
            yaml("compaction:\n  autoEnabled: true\n  autoEnabled: false"),
            "`autoEnabled` stands twice (longhaul.yaml:3); keep one of them",
        ),
        (
            json5("{compaction: {autoEnabled: true,\n 'autoEnabled': false}}"),
            "`compaction.autoEnabled` stands twice (longhaul.json5:2); keep one of them",
        ),
        (
            yaml("- compaction"),
            "longhaul.yaml holds a list where keys belong; begin with a section, such as `compaction:`",
        ),
    ];
    for (sources, expected) in cases {
        assert_eq!(refused(&sources), expected);
    }
    assert!(refused(&json5(&"[".repeat(100_000))).contains("Maximum nesting depth"));
    assert!(refused(&yaml(&"[".repeat(100_000))).contains("line 1"));
}

#[test]
fn empty_files_and_foreign_line_ends_are_accepted() {
    for text in [
        "",
        "\n",
        "# nothing\n",
        "\u{feff}",
        "\u{feff}# x\r\n",
        "---\n",
        "compaction:\n",
    ] {
        assert_eq!(
            resolve(&yaml(text)).unwrap().config,
            Config::default(),
            "{text:?}"
        );
    }
    for text in [
        "",
        "// nothing",
        "/* x */\r\n",
        "\u{feff}",
        "{}",
        "{compaction: {}}",
    ] {
        assert_eq!(
            resolve(&json5(text)).unwrap().config,
            Config::default(),
            "{text:?}"
        );
    }
    let text = "\u{feff}# x\r\ncompaction:\r\n  reserveTokens: 2000\r\n";
    assert_eq!(
        origin(&resolve(&yaml(text)).unwrap(), "compaction.reserveTokens"),
        "longhaul.yaml:3"
    );
    let text = "\u{feff}{\r\n // x\r\n compaction: {reserveTokens: 2e3}}\r\n";
    let resolved = resolve(&json5(text)).unwrap();
    assert_eq!(
        origin(&resolved, "compaction.reserveTokens"),
        "longhaul.json5:3"
    );
    assert_eq!(resolved.config.compaction.reserve_tokens, Tokens(2_000));
}

#[test]
fn files_are_looked_for_in_order() {
    let places = Places {
        flag: None,
        variable: Some(Path::new("")),
        workspace: Some(Path::new("work")),
        state_dir: Some(Path::new("state")),
    };
    let paths = |places: &Places<'_>| -> Vec<String> {
        let found = candidates(places).into_iter();
        found
            .map(|c| c.path.to_string_lossy().replace('\\', "/"))
            .collect()
    };
    let names = [
        "longhaul.yaml",
        "longhaul.yml",
        "longhaul.json5",
        "longhaul.json",
    ];
    let expected = ["work", "state"]
        .iter()
        .flat_map(|dir| names.map(|n| format!("{dir}/{n}")));
    assert_eq!(paths(&places), expected.collect::<Vec<_>>());
    let named = Places {
        variable: Some(Path::new("v.yaml")),
        ..places
    };
    assert_eq!(paths(&named), ["v.yaml"]);
    let named = Places {
        flag: Some(Path::new("f.yaml")),
        ..named
    };
    assert_eq!(paths(&named), ["f.yaml"]);

    let disk = |files: &'static [&'static str]| {
        move |candidate: &Candidate| -> std::io::Result<Option<String>> {
            let path = candidate.path.to_string_lossy().replace('\\', "/");
            if path.starts_with("locked") {
                return Err(std::io::ErrorKind::PermissionDenied.into());
            }
            Ok(files.contains(&path.as_str()).then(String::new))
        }
    };
    assert_eq!(find(&places, &disk(&[])).unwrap(), None);
    let found = find(
        &places,
        &disk(&["state/longhaul.json", "work/longhaul.yml"]),
    )
    .unwrap()
    .unwrap();
    assert_eq!(
        (found.path.as_path(), found.found_by),
        (Path::new("work/longhaul.yml"), FoundBy::Workspace)
    );
    let error = find(
        &places,
        &disk(&["work/longhaul.yaml", "work/longhaul.json5"]),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "work has more than one configuration file (longhaul.yaml, longhaul.json5); \
         keep one, so that it is clear which counts"
    );
    assert_eq!(
        find(&named, &disk(&[])).unwrap_err().to_string(),
        "there is no f.yaml, which --config names; \
         correct the path, or leave it out to use the defaults"
    );
    let locked = Places {
        flag: Some(Path::new("locked.yaml")),
        ..places
    };
    assert!(
        find(&locked, &disk(&[]))
            .unwrap_err()
            .to_string()
            .starts_with("cannot read locked.yaml")
    );
    let other = Sources {
        file: Some(file("longhaul.toml", "")),
        ..Sources::default()
    };
    assert!(refused(&other).contains("must end in .yaml, .yml, .json5 or .json"));
}
