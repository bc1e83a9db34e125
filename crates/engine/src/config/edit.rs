//! One value of a configuration file changed, and the rest as it stands: comments,
//! order, spelling.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

use super::document::{self, Document};
use super::{ConfigFile, KeyPath};

/// The text of a file with this value. None where it cannot be changed without
/// touching more than the value, as in a YAML file whose value spans lines.
pub fn edited(file: &ConfigFile, key: &KeyPath, value: &Value) -> Option<String> {
    let before = document::parse(&file.path, &file.text).ok()?;
    let names: Vec<&str> = key.as_str().split('.').collect();
    let ending = file.path.extension()?.to_ascii_lowercase();
    let text = match ending.to_str()? {
        "yaml" | "yml" => in_yaml(&file.text, &before, &names, value)?,
        _ => in_json5(&file.text, &names, value)?,
    };
    let after = document::parse(&file.path, &text).ok()?;
    let mut wanted = before.keys;
    put(&mut wanted, &names, value)?;
    (after.keys == wanted).then_some(text)
}

fn put(keys: &mut Map<String, Value>, names: &[&str], value: &Value) -> Option<()> {
    let (name, below) = names.split_first()?;
    if below.is_empty() {
        keys.insert((*name).to_owned(), value.clone());
        return Some(());
    }
    let section = keys.entry(*name).or_insert(Value::Null);
    if section.is_null() {
        *section = Value::Object(Map::new());
    }
    put(section.as_object_mut()?, below, value)
}

/// The line of the key with another value, or new lines below its nearest section.
/// What comes of it is read again, so that nothing else can have changed.
fn in_yaml(text: &str, document: &Document, names: &[&str], value: &Value) -> Option<String> {
    let line_of = |names: &[&str]| {
        let line = document.lines.get(&KeyPath::new(names.join(".")))?;
        usize::try_from(line - 1).ok()
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if let Some(at) = line_of(names) {
        let (name, old) = lines.get(at)?.split_once(':')?;
        let new = format!("{name}: {value}{}", comment(old));
        lines[at] = new;
        return Some(lines.join("\n") + "\n");
    }
    let known = (0..names.len())
        .rev()
        .find(|known| *known == 0 || line_of(&names[..*known]).is_some())?;
    let indent = |at: usize| lines[at].len() - lines[at].trim_start().len();
    let (at, mut depth) = match known {
        0 => (lines.len(), 0),
        known => {
            let at = line_of(&names[..known])?;
            let child = lines.iter().skip(at + 1).position(|line| {
                let line = line.trim_start();
                !line.is_empty() && !line.starts_with('#')
            });
            let child = child.map(|child| indent(at + 1 + child));
            (
                at + 1,
                child
                    .filter(|child| *child > indent(at))
                    .unwrap_or(indent(at) + 2),
            )
        }
    };
    let mut new = Vec::new();
    for name in &names[known..names.len() - 1] {
        new.push(format!("{}{name}:", " ".repeat(depth)));
        depth += 2;
    }
    new.push(format!("{}{}: {value}", " ".repeat(depth), names.last()?));
    lines.splice(at..at, new);
    Some(lines.join("\n") + "\n")
}

/// The comment behind a value, with the blanks before it.
fn comment(value: &str) -> &str {
    let start = value.len() - value.trim_start().len();
    let quote = value[start..]
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\''));
    let end = quote.and_then(|quote| value.rfind(quote));
    let from = end.map_or(0, |end| end + 1);
    match value[from..].find(" #") {
        Some(at) => {
            let at = from + at;
            &value[value[..at].trim_end().len()..]
        }
        None => "",
    }
}

fn in_json5(text: &str, names: &[&str], value: &Value) -> Option<String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    let mut object: CstObject = root.object_value_or_set();
    let (last, sections) = names.split_last()?;
    for section in sections {
        object = object.object_value_or_create(section)?;
    }
    match object.get(last) {
        Some(property) => property.set_value(input(value)),
        None => drop(object.append(last, input(value))),
    }
    Some(root.to_string())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::FoundBy;
    use super::*;

    fn set(name: &str, text: &str, key: &str, value: Value) -> Option<String> {
        let file = ConfigFile {
            path: name.into(),
            text: text.into(),
            found_by: FoundBy::Workspace,
        };
        edited(&file, &KeyPath::new(key), &value)
    }

    #[test]
    fn a_value_is_changed_and_comments_stay() {
        let yaml = "# ours\ncompaction:\n  # why\n  autoEnabled: true  # for now\ngauge:\n  enabled: 'yes # no' # x\n";
        assert_eq!(
            set("a.yaml", yaml, "compaction.autoEnabled", json!(false)).unwrap(),
            yaml.replace("true", "false")
        );
        assert_eq!(
            set("a.yaml", yaml, "gauge.enabled", json!(true)).unwrap(),
            yaml.replace("'yes # no'", "true")
        );
        let json5 = "{\n  // ours\n  compaction: { autoEnabled: true, /* x */ },\n}\n";
        assert_eq!(
            set("a.json5", json5, "compaction.autoEnabled", json!(false)).unwrap(),
            json5.replace("true", "false")
        );
    }

    #[test]
    fn a_new_value_goes_below_its_nearest_section() {
        let yaml = "compaction:\n    # why\n    autoEnabled: true\n";
        assert_eq!(
            set("a.yaml", yaml, "compaction.prune.enabled", json!(false)).unwrap(),
            "compaction:\n    prune:\n      enabled: false\n    # why\n    autoEnabled: true\n"
        );
        assert_eq!(
            set("a.yaml", "", "gauge.enabled", json!(false)).unwrap(),
            "gauge:\n  enabled: false\n"
        );
        let text = set("a.json5", "{ a: 1 }", "gauge.enabled", json!([1, "x"])).unwrap();
        assert_eq!(
            document::value(&text).unwrap(),
            json!({"a": 1, "gauge": {"enabled": [1, "x"]}})
        );
    }

    #[test]
    fn what_would_change_more_than_the_value_is_refused() {
        for (text, key) in [
            ("tools:\n  deny:\n    - bash\n", "tools.deny"),
            ("gauge: {enabled: true}\n", "gauge.other"),
            ("text: |\n  one: 1\n", "text"),
            ("a: [", "a"),
        ] {
            assert_eq!(set("a.yaml", text, key, json!(["x"])), None, "{text}");
        }
    }
}
