//! The configuration as its users meet it: files, variables and flags in,
//! values with their origins or advice out.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]
#![recursion_limit = "512"]

mod elsewhere;
mod files;
mod layers;
mod refusals;

use longhaul_engine::config::{
    ConfigFile, Flag, FoundBy, KeyPath, OpenClawFile, Resolved, Sources, resolve,
};
use serde_json::Value;

fn file(name: &str, text: &str) -> ConfigFile {
    ConfigFile {
        path: name.into(),
        text: text.to_owned(),
        found_by: FoundBy::StateDir,
    }
}

fn yaml(text: &str) -> Sources {
    Sources {
        file: Some(file("longhaul.yaml", text)),
        ..Sources::default()
    }
}

fn json5(text: &str) -> Sources {
    Sources {
        file: Some(file("longhaul.json5", text)),
        ..Sources::default()
    }
}

fn openclaw(text: &str) -> Sources {
    Sources {
        openclaw: Some(OpenClawFile {
            path: "openclaw.json".into(),
            text: text.to_owned(),
        }),
        ..Sources::default()
    }
}

fn environment(pairs: &[(&str, &str)]) -> Sources {
    Sources::default().with_environment(pairs.iter().copied())
}

fn flag(key: &str, value: &str) -> Sources {
    Sources {
        flags: vec![Flag {
            name: "--set".to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        }],
        ..Sources::default()
    }
}

fn refused(sources: &Sources) -> String {
    resolve(sources).unwrap_err().to_string()
}

fn value(resolved: &Resolved, key: &str) -> Value {
    let row = resolved
        .rows()
        .into_iter()
        .find(|row| row.key.as_str() == key);
    row.unwrap_or_else(|| panic!("no row {key}")).value
}

fn origin(resolved: &Resolved, key: &str) -> String {
    resolved.origin(&KeyPath::new(key)).to_string()
}
