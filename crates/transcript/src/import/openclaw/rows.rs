//! The rows of one session in OpenClaw's database, as records.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::database::{connect, database};
use crate::entry::Place;
use crate::error::{Error, Result};
use crate::fault::{Fault, FaultKind};
use crate::json::Object;
use crate::lines::{Record, Visit};
use crate::native::Records;

/// Rows read at once; the connection is idle while they are handed on.
const BATCH_ROWS: usize = 256;
/// A batch ends early when its rows are this large together.
const BATCH_BYTES: usize = 4 << 20;

/// One session's rows, up to the last one there was when it was opened.
#[derive(Debug)]
pub(crate) struct Rows {
    path: PathBuf,
    session: String,
    last: i64,
}

struct Event {
    seq: i64,
    text: std::result::Result<String, String>,
}

impl Rows {
    pub(super) fn open(path: &Path, session: &str) -> Result<Rows> {
        let connection = connect(path)?;
        let last: Option<i64> = connection
            .query_row(
                "SELECT max(seq) FROM transcript_events WHERE session_id = ?1",
                [session],
                |row| row.get(0),
            )
            .map_err(database(path))?;
        Ok(Rows {
            path: path.to_owned(),
            session: session.to_owned(),
            last: last.ok_or_else(|| Error::NoSuchSession {
                path: path.to_owned(),
                session: session.to_owned(),
            })?,
        })
    }

    fn connect(&self) -> Result<Connection> {
        connect(&self.path)
    }

    /// The next rows after (or before) one, as many as fit a batch.
    fn batch(&self, connection: &Connection, query: &str, from: i64) -> Result<Vec<Event>> {
        let read = || -> rusqlite::Result<Vec<Event>> {
            let mut statement = connection.prepare_cached(query)?;
            let mut rows = statement.query(params![self.session, from, BATCH_ROWS as i64])?;
            let mut events = Vec::new();
            let mut bytes = 0;
            while let Some(row) = rows.next()? {
                let event = event(row)?;
                bytes += event.text.as_ref().map_or(0, String::len);
                events.push(event);
                if bytes >= BATCH_BYTES {
                    break;
                }
            }
            Ok(events)
        };
        read().map_err(database(&self.path))
    }

    fn scan(
        &self,
        query: &str,
        mut from: i64,
        faults: &mut Vec<Fault>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let connection = self.connect()?;
        loop {
            let events = self.batch(&connection, query, from)?;
            let Some(last) = events.last() else {
                return Ok(());
            };
            from = last.seq;
            for event in &events {
                if hand_on(event, faults, visit).is_break() {
                    return Ok(());
                }
            }
        }
    }
}

impl Records for Rows {
    fn forward(&self, faults: &mut Vec<Fault>, visit: &mut Visit<'_>) -> Result<()> {
        let query = format!(
            "SELECT seq, event_json, event_zstd, event_utf8_bytes FROM transcript_events \
             WHERE session_id = ?1 AND seq > ?2 AND seq <= {} ORDER BY seq LIMIT ?3",
            self.last
        );
        self.scan(&query, i64::MIN, faults, visit)
    }

    fn backward(&self, faults: &mut Vec<Fault>, visit: &mut Visit<'_>) -> Result<()> {
        let query = "SELECT seq, event_json, event_zstd, event_utf8_bytes FROM transcript_events \
             WHERE session_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3";
        self.scan(query, self.last.saturating_add(1), faults, visit)
    }

    fn fetch(&self, place: Place, visit: &mut dyn FnMut(Record<'_>) -> bool) -> Result<bool> {
        let connection = self.connect()?;
        let event = connection
            .query_row(
                "SELECT seq, event_json, event_zstd, event_utf8_bytes FROM transcript_events \
                 WHERE session_id = ?1 AND seq = ?2",
                params![self.session, place.offset as i64],
                event,
            )
            .optional()
            .map_err(database(&self.path))?;
        let mut taken = false;
        if let Some(event) = event {
            let _ = hand_on(&event, &mut Vec::new(), &mut |record| {
                taken = visit(record);
                ControlFlow::Break(())
            });
        }
        Ok(taken)
    }
}

fn hand_on(event: &Event, faults: &mut Vec<Fault>, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let place = Place {
        line: 0,
        offset: event.seq as u64,
    };
    let reason = match &event.text {
        Ok(text) => match Object::parse(text) {
            Ok(object) => {
                return visit(Record {
                    text,
                    object,
                    place,
                });
            }
            Err(error) => error.to_string(),
        },
        Err(reason) => reason.clone(),
    };
    faults.push(Fault {
        line: 0,
        offset: place.offset,
        kind: FaultKind::Row {
            seq: event.seq,
            reason,
        },
    });
    ControlFlow::Continue(())
}

/// Reads a row. What is wrong with one event is that event's fault; only the
/// database's own errors end the read.
fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let seq: i64 = row.get(0)?;
    let text = match row.get_ref(1)?.as_bytes_or_null() {
        Ok(Some(bytes)) => utf8(bytes.to_vec()),
        Ok(None) => match row.get_ref(2)?.as_bytes_or_null() {
            Ok(Some(packed)) => {
                let stated: Option<i64> = row.get(3).unwrap_or(None);
                unpack(packed, stated).and_then(utf8)
            }
            Ok(None) => Err("the row holds no event".into()),
            Err(error) => Err(error.to_string()),
        },
        Err(error) => Err(error.to_string()),
    };
    Ok(Event { seq, text })
}

fn utf8(bytes: Vec<u8>) -> std::result::Result<String, String> {
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn unpack(packed: &[u8], stated: Option<i64>) -> std::result::Result<Vec<u8>, String> {
    let bytes = longhaul_files::unpack(packed).map_err(|error| error.to_string())?;
    match stated {
        Some(stated) if u64::try_from(stated) != Ok(bytes.len() as u64) => Err(format!(
            "the event unpacks to another size than the {stated} bytes it states"
        )),
        _ => Ok(bytes),
    }
}
