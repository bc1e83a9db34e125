//! The configuration: any text is a configuration or a list of problems.

use longhaul_engine::config::{ConfigFile, FoundBy, OpenClawFile, Sources, resolve};

/// The first byte says as what file the rest is read.
pub fn config(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let file = |path: &str| {
        Some(ConfigFile {
            path: path.into(),
            text: text.to_owned(),
            found_by: FoundBy::Workspace,
        })
    };
    let sources = match kind {
        b'y' => Sources {
            file: file("longhaul.yaml"),
            ..Sources::default()
        },
        b'j' => Sources {
            file: file("longhaul.json5"),
            ..Sources::default()
        },
        b'o' => Sources {
            openclaw: Some(OpenClawFile {
                path: "openclaw.json".into(),
                text: text.to_owned(),
            }),
            ..Sources::default()
        },
        _ => Sources::default()
            .with_environment(text.lines().filter_map(|line| line.split_once('='))),
    };
    match resolve(&sources) {
        Ok(resolved) => assert!(!resolved.rows().is_empty()),
        Err(error) => {
            // Another program's file is no reason to refuse ours.
            assert_ne!(*kind, b'o', "{error}");
            assert!(!error.to_string().is_empty());
        }
    }
}
