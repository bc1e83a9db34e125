//! Drafts of ours in pi's words.

use longhaul_transcript::{Draft, Stamp};
use serde_json::{Value, json};

/// What pi is asked to append for a draft: the entry without what pi gives it.
pub(super) fn for_pi(draft: &Draft, stamp: &Stamp) -> Value {
    let entry = draft.to_entry(stamp, None);
    let mut value: Value = serde_json::from_str(entry.raw()).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        for given in ["id", "parentId", "timestamp"] {
            fields.remove(given);
        }
        // An entry that keeps nothing names itself, and its name is pi's to give.
        if let Draft::Compaction {
            first_kept: None, ..
        } = draft
        {
            fields.insert("firstKeptEntryId".into(), Value::Null);
        }
    }
    value
}

/// A message that the model is shown and the user is not.
pub(super) fn message(custom_type: &str, text: &str, details: Value) -> Value {
    json!({
        "type": "custom_message",
        "customType": custom_type,
        "content": text,
        "display": false,
        "details": details,
    })
}
