//! Sessions and checkpoints as resources.
//!
//! A resource is named by the id that the catalogue gives a session, never by a
//! path: what no agent's folder holds cannot be asked for.

use longhaul_checkpoint::{CheckpointId, CheckpointStore};
use longhaul_engine::catalog::{agent, glance, id_of};
use longhaul_engine::checkpoints::Whose;
use longhaul_engine::measure::Meter;
use longhaul_engine::ours::DATA;
use longhaul_engine::recall::{Quoting, fenced};
use longhaul_redact::Redactor;
use longhaul_transcript::{ContextMessage, Session};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use crate::desk::Desk;

const SESSION: &str = "longhaul://session/";
const CHECKPOINT: &str = "longhaul://checkpoint/";

/// Sessions on one page of the list; each comes with its checkpoints.
const PAGE: usize = 25;
/// The most characters of a session that are read at once.
const SESSION_CHARS: usize = 100_000;
/// The most characters of one of its messages.
const MESSAGE_CHARS: usize = 4_000;

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{SESSION}{{session}}"), "session")
            .with_title("A session's context")
            .with_description(
                "What is in the context of a session now: its latest messages, fenced, dated and \
                 with their entry ids. The session is an id, the start of one, or a key.",
            )
            .with_mime_type("text/plain"),
        ResourceTemplate::new(
            format!("{CHECKPOINT}{{session}}/{{checkpoint}}"),
            "checkpoint",
        )
        .with_title("A checkpoint")
        .with_description(
            "The saved state of a session's work, as YAML. The checkpoint is a name such as \
                 cp_003, or latest.",
        )
        .with_mime_type("application/yaml"),
    ]
}

/// One page of the sessions, newest first, each with its checkpoints; and where
/// the next one starts.
pub(super) fn list(
    desk: &Desk,
    cursor: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>), String> {
    let from: usize = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse()
            .map_err(|_| format!("{cursor:?} is no cursor of this list; begin without one"))?,
    };
    let sessions = desk.catalog().sessions;
    let mut meter = Meter::new(desk.config.tokens.estimator);
    let mut found = Vec::new();
    for listed in sessions.iter().skip(from).take(PAGE) {
        let id = id_of(&listed.reference);
        // One that cannot be read stays in the list, so that it is seen.
        let mut resource = Resource::new(format!("{SESSION}{}", encoded(&id)), id.clone())
            .with_mime_type("text/plain");
        let when = listed.modified.map(|time| time.to_iso());
        let mut about = format!(
            "{} session, last written {}",
            agent(
                &listed.reference.path,
                listed.reference.format,
                &desk.state_dir
            ),
            when.unwrap_or_else(|| "at an unknown time".into())
        );
        match glance(&listed.reference, &mut meter) {
            Ok(glance) => {
                if let Some(title) = glance.title {
                    resource = resource.with_title(Redactor::default().redact(&title).text);
                }
                if let Some(cwd) = glance.header.cwd {
                    about.push_str(&format!(", in {}", cwd.display()));
                }
            }
            Err(error) => about.push_str(&format!(", cannot be read: {error}")),
        }
        let about = Redactor::default().redact(&about).text;
        found.push(resource.with_description(about));
        let Ok(session) = Session::open_ref(&listed.reference) else {
            continue;
        };
        for checkpoint in desk.checkpoints_of(&session) {
            found.push(
                Resource::new(
                    checkpoint_uri(&session, checkpoint),
                    format!("{checkpoint} of {id}"),
                )
                .with_description(format!("Checkpoint {checkpoint} of session {id}"))
                .with_mime_type("application/yaml"),
            );
        }
    }
    let next = from + PAGE;
    Ok((found, (next < sessions.len()).then(|| next.to_string())))
}

/// Where a checkpoint is read.
pub(super) fn checkpoint_uri(session: &Session, id: CheckpointId) -> String {
    format!("{CHECKPOINT}{}/{id}", encoded(&id_of(session.reference())))
}

/// Reads a resource.
pub(super) fn read(desk: &Desk, uri: &str) -> Result<ReadResourceResult, String> {
    let unknown = || {
        format!(
            "there is no resource {uri:?}; there are {SESSION}SESSION and \
             {CHECKPOINT}SESSION/CHECKPOINT"
        )
    };
    let (text, kind) = if let Some(name) = uri.strip_prefix(SESSION) {
        let name = decoded(name).ok_or_else(unknown)?;
        (session(desk, &name)?, "text/plain")
    } else if let Some(rest) = uri.strip_prefix(CHECKPOINT) {
        let (name, checkpoint) = rest.rsplit_once('/').ok_or_else(unknown)?;
        let name = decoded(name).ok_or_else(unknown)?;
        (saved(desk, &name, checkpoint)?, "application/yaml")
    } else {
        return Err(unknown());
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn named(desk: &Desk, name: &str) -> Result<Session, String> {
    match name.trim() {
        "" => Err("the resource names no session".into()),
        name => desk.session(Some(name)),
    }
}

fn saved(desk: &Desk, name: &str, checkpoint: &str) -> Result<String, String> {
    let session = named(desk, name)?;
    let (store, key) = (desk.store(), Whose::of(&session).key);
    let found = match checkpoint {
        "latest" => store
            .latest(&key)
            .map_err(|error| error.to_string())?
            .checkpoint
            .ok_or("this session has no checkpoint yet; the tool checkpoint writes one")?,
        _ => {
            let id: CheckpointId = checkpoint
                .parse()
                .map_err(|flaw: longhaul_checkpoint::Flaw| flaw.to_string())?;
            store.get(&key, id).map_err(|error| error.to_string())?
        }
    };
    Ok(found.to_yaml())
}

/// What a session's context holds, the end of it where it is long: every message
/// between marks of its own.
fn session(desk: &Desk, name: &str) -> Result<String, String> {
    let session = named(desk, name)?;
    let context = session.context().map_err(|error| error.to_string())?;
    let redactor = Redactor::default();
    let mut quoting = Quoting::new(&redactor);
    quoting
        .learn_session(&session)
        .map_err(|error| error.to_string())?;
    let mut kept: Vec<String> = Vec::new();
    let mut room = SESSION_CHARS;
    for message in context.messages.iter().rev() {
        let shown = shown(message, &mut quoting);
        let size = shown.chars().count();
        if size > room {
            break;
        }
        room -= size;
        kept.push(shown);
    }
    let left_out = context.messages.len() - kept.len();
    let mut text = format!(
        "Context of session {} ({}), {} messages. It is quoted {DATA}.\n",
        id_of(session.reference()),
        agent(session.path(), session.format(), &desk.state_dir),
        context.messages.len()
    );
    if left_out > 0 {
        text.push_str(&format!(
            "[The first {left_out} messages are left out: more than {SESSION_CHARS} characters \
             are not read at once. The tool recall finds what is in them.]\n"
        ));
    }
    text.extend(kept.into_iter().rev());
    Ok(text)
}

fn shown(message: &ContextMessage, quoting: &mut Quoting<'_>) -> String {
    let all = quoting.message(&message.view());
    let count = all.chars().count();
    let text: String = all.chars().take(MESSAGE_CHARS).collect();
    let mut shown = fenced(
        "message",
        &format!("entry {} · {}", message.entry, message.role),
        &text,
    );
    if count > MESSAGE_CHARS {
        shown.push_str(&format!(
            "[Cut at character {MESSAGE_CHARS} of {count}; recall id={} has all of it.]\n",
            message.entry
        ));
    }
    shown
}

/// A name as part of an address.
fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The name in a part of an address, if it is one.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (high, low) = (hex(*rest.first()?)?, hex(*rest.get(1)?)?);
        bytes.push(high << 4 | low);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_key_survives_its_way_through_an_address() {
        for key in ["agent:main:main", "a/b%2F..", "日本 語", "", "x~y.z_1-2"] {
            assert_eq!(decoded(&encoded(key)).as_deref(), Some(key));
            assert!(!encoded(key).contains('/'), "{key}");
        }
    }

    #[test]
    fn half_an_escape_is_no_name() {
        for part in ["%", "%2", "%zz", "a%F", "%ff", "%+1"] {
            assert_eq!(decoded(part), None, "{part}");
        }
    }
}
