//! The header line of a session.

use std::path::PathBuf;

use serde::Serialize;

use crate::json::{Object, ObjectWriter};
use crate::time::Millis;

/// What the first line of a session says about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The session's id; the file name's stem where the file has none.
    pub id: String,
    /// The format's version: 1 when the header does not say, 0 without a header.
    pub version: u32,
    /// When the session began.
    pub time: Option<Millis>,
    /// The folder the agent worked in.
    pub cwd: Option<PathBuf>,
    /// The session this one was forked from.
    pub parent_session: Option<String>,
}

impl Header {
    pub(crate) fn read(object: &Object<'_>) -> Header {
        Header {
            id: object.str("id").unwrap_or_default().into_owned(),
            version: object
                .u64("version")
                .and_then(|version| u32::try_from(version).ok())
                .unwrap_or(1),
            time: object.raw("timestamp").and_then(Millis::parse_json),
            cwd: object.str("cwd").map(|cwd| PathBuf::from(cwd.as_ref())),
            parent_session: object.str("parentSession").map(|s| s.into_owned()),
        }
    }

    /// The header as a version 3 line, without its newline.
    pub fn to_line(&self) -> String {
        ObjectWriter::new()
            .str("type", "session")
            .num("version", 3)
            .str("id", &self.id)
            .str("timestamp", &self.time.unwrap_or_default().to_iso())
            .str(
                "cwd",
                &self
                    .cwd
                    .as_ref()
                    .map(|cwd| cwd.to_string_lossy())
                    .unwrap_or_default(),
            )
            .str_opt("parentSession", self.parent_session.as_deref())
            .finish()
    }
}
