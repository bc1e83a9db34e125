//! The hooks in Claude Code's settings.
//!
//! The file is the user's: whatever else is in it stays, in its order; the old
//! version is kept beside it; what cannot be understood is not touched.

use std::path::{Path, PathBuf};

use longhaul_files::Fault;
use serde_json::{Map, Value, json};

use super::Error;

/// Each hook: Claude Code's name for it, ours, and when it runs.
const HOOKS: [(&str, &str, Option<&str>); 4] = [
    ("PreCompact", "pre-compact", None),
    ("PostCompact", "post-compact", None),
    ("SessionStart", "session-start", Some("compact")),
    ("Stop", "stop", None),
];

/// Seconds after which Claude Code ends a hook that does not end itself.
const TIMEOUT: u64 = 15;

/// The largest settings that are edited.
const MOST_BYTES: u64 = 4 << 20;

/// What becomes of the hooks.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// They are called with this program.
    Installed(&'a str),
    /// They are gone.
    Removed,
}

/// Settings as they would be with the hooks, or without.
#[derive(Debug)]
pub struct Settings {
    path: PathBuf,
    /// Whether they are others than now.
    pub changed: bool,
    /// What they would be.
    pub after: Map<String, Value>,
}

impl Settings {
    /// Reads the settings in a file and makes of them what is wanted.
    pub fn planned(path: &Path, wanted: Wanted<'_>) -> Result<Settings, Error> {
        let before = read(path)?;
        let mut after = before.clone();
        match wanted {
            Wanted::Installed(program) => put(&mut after, program),
            Wanted::Removed => take(&mut after),
        }
        .map_err(|reason| not_ours(path, reason))?;
        Ok(Settings {
            path: path.to_owned(),
            changed: before != after,
            after,
        })
    }

    /// The same as the file has them.
    pub fn text(&self) -> String {
        format!("{:#}\n", Value::Object(self.after.clone()))
    }

    /// Writes them; where the old version is kept, if there was one.
    pub fn write(&self) -> Result<Option<PathBuf>, Error> {
        match self.changed {
            true => write(&self.path, &self.text()),
            false => Ok(None),
        }
    }
}

/// The settings; none are empty ones.
fn read(path: &Path) -> Result<Map<String, Value>, Error> {
    let text = match longhaul_files::optional(longhaul_files::read_named(path, MOST_BYTES)) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Map::new()),
        Err(error) => {
            return Err(match error.fault {
                Fault::TooLarge { bytes, .. } => {
                    not_ours(path, format!("{bytes} bytes are too many"))
                }
                Fault::NotAFile(_) => Error::new(format!("{} is not a file", path.display()), None),
                _ => error.into(),
            });
        }
    };
    let text = String::from_utf8(text).map_err(|error| not_ours(path, error.to_string()))?;
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(not_ours(path, "it is no JSON object".into())),
        Err(error) => Err(not_ours(
            path,
            format!("line {}, column {}: {error}", error.line(), error.column()),
        )),
    }
}

fn not_ours(path: &Path, reason: String) -> Error {
    let remedy = "mend the file first; Claude Code would not read it either".to_owned();
    let left = format!("{} is left as it is: {reason}", path.display());
    Error::new(left, Some(remedy))
}

/// Puts each hook in, unless it is there as it should be.
fn put(settings: &mut Map<String, Value>, program: &str) -> Result<(), String> {
    for (event, name, matcher) in HOOKS {
        let wanted = format!("{program} hook {name}");
        let groups = groups(settings, event)?;
        if has(groups, &wanted, name) {
            continue;
        }
        drop_ours(groups, name);
        let command = json!({ "type": "command", "command": wanted, "timeout": TIMEOUT });
        groups.push(match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [command] }),
            None => json!({ "hooks": [command] }),
        });
    }
    Ok(())
}

/// Takes each hook out, and what is empty without it.
fn take(settings: &mut Map<String, Value>) -> Result<(), String> {
    for (event, name, _) in HOOKS {
        let there = settings.get("hooks").and_then(|hooks| hooks.get(event));
        if there.is_none() {
            continue;
        }
        let groups = groups(settings, event)?;
        let before = groups.len();
        drop_ours(groups, name);
        let emptied = groups.is_empty() && before > 0;
        if emptied && let Some(Value::Object(hooks)) = settings.get_mut("hooks") {
            hooks.shift_remove(event);
            if hooks.is_empty() {
                settings.shift_remove("hooks");
            }
        }
    }
    Ok(())
}

/// The groups of an event, made where they are missing.
fn groups<'a>(
    settings: &'a mut Map<String, Value>,
    event: &str,
) -> Result<&'a mut Vec<Value>, String> {
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("\"hooks\" is no object")?;
    let groups = hooks.entry(event).or_insert_with(|| json!([]));
    let wrong = format!("\"hooks.{event}\" is no list");
    groups.as_array_mut().ok_or(wrong)
}

/// Whether a command is the hook of this name, whichever way it was installed.
fn is_ours(hook: &Value, name: &str) -> bool {
    let command = hook["command"].as_str().unwrap_or_default().trim_end();
    command.contains("longhaul") && command.ends_with(&format!(" hook {name}"))
}

fn has(groups: &[Value], wanted: &str, name: &str) -> bool {
    let ours: Vec<&Value> = groups
        .iter()
        .filter_map(|group| group["hooks"].as_array())
        .flatten()
        .filter(|hook| is_ours(hook, name))
        .collect();
    matches!(ours.as_slice(), [only] if only["command"] == wanted)
}

fn drop_ours(groups: &mut Vec<Value>, name: &str) {
    groups.retain_mut(|group| {
        let Some(hooks) = group.get_mut("hooks").and_then(Value::as_array_mut) else {
            return true;
        };
        let before = hooks.len();
        hooks.retain(|hook| !is_ours(hook, name));
        before == hooks.len() || !hooks.is_empty()
    });
}

/// Replaces the settings in one step. A link stays one: people keep their
/// settings elsewhere.
fn write(path: &Path, text: &str) -> Result<Option<PathBuf>, Error> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let backup = match longhaul_files::optional(longhaul_files::read(&target, MOST_BYTES))? {
        Some(old) => {
            let mut name = target.clone().into_os_string();
            name.push(".longhaul-backup");
            let backup = PathBuf::from(name);
            longhaul_files::replace(&backup, &old)?;
            Some(backup)
        }
        None => None,
    };
    if let Some(folder) = target.parent() {
        longhaul_files::create_folder(folder)?;
    }
    longhaul_files::replace(&target, text.as_bytes())?;
    Ok(backup)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => panic!("no object"),
        }
    }

    #[test]
    fn hooks_of_others_stay_where_they_are() {
        let others = map(json!({
            "model": "opus",
            "hooks": {
                "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
                "PreToolUse": [{ "matcher": "Bash", "hooks": [] }]
            },
            "permissions": { "allow": ["Bash(ls:*)"] }
        }));
        let mut settings = others.clone();
        put(&mut settings, "longhaul").unwrap();
        assert_eq!(settings["hooks"]["Stop"].as_array().unwrap().len(), 2);
        assert_eq!(settings["hooks"]["SessionStart"][0]["matcher"], "compact");
        let once = settings.clone();
        put(&mut settings, "longhaul").unwrap();
        assert_eq!(settings, once);
        take(&mut settings).unwrap();
        assert_eq!(
            serde_json::to_string(&settings).unwrap(),
            serde_json::to_string(&others).unwrap()
        );
    }

    #[test]
    fn a_program_that_moved_is_called_where_it_is_now() {
        let mut settings = Map::new();
        put(&mut settings, "'/old/longhaul'").unwrap();
        put(&mut settings, "longhaul").unwrap();
        let groups = settings["hooks"]["Stop"].as_array().unwrap();
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0]["hooks"][0]["command"], "longhaul hook stop");
        take(&mut settings).unwrap();
        assert_eq!(settings, Map::new());
    }

    #[test]
    fn settings_of_another_shape_are_refused() {
        for (wrong, at) in [
            (json!({ "hooks": [] }), "\"hooks\" is no object"),
            (
                json!({ "hooks": { "Stop": {} } }),
                "\"hooks.Stop\" is no list",
            ),
        ] {
            let mut settings = map(wrong);
            assert_eq!(put(&mut settings, "longhaul").unwrap_err(), at);
        }
    }
}
