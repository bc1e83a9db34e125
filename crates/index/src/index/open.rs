//! The source that is being written to, and how records stand to what is stored
//! of it.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::hash::name_hash;
use super::record::Record;
use super::register::Register;

/// The source that is being written to, as it was when its version was read.
pub(super) struct Open {
    pub(super) name: String,
    /// None where there is no such source yet.
    id: Option<i64>,
    pub(super) version: i64,
    /// Whether something was written to it.
    begun: bool,
    pub(super) register: Register,
}

/// How a record stands to what is stored under its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    New,
    /// The text is another.
    Changed,
    /// The text is the same, and what is known of it is not.
    Moved,
    Same,
}

impl Open {
    pub(super) fn load(
        connection: &Connection,
        name: &str,
        version: i64,
    ) -> rusqlite::Result<Open> {
        let id = connection
            .prepare_cached("SELECT id FROM source WHERE hash = ?2 AND name = ?1")?
            .query_row(params![name, name_hash(name)], |row| row.get(0))
            .optional()?;
        Ok(Open {
            name: name.to_owned(),
            id,
            version,
            begun: false,
            register: Register::load(connection, id.unwrap_or(NO_SOURCE))?,
        })
    }

    /// The register, with its source made where there is none.
    pub(super) fn begin(
        &mut self,
        transaction: &Transaction<'_>,
    ) -> rusqlite::Result<&mut Register> {
        if self.begun {
            return Ok(&mut self.register);
        }
        self.begun = true;
        match self.id {
            // What is written is not what the stamp was noted for.
            Some(id) => {
                transaction
                    .prepare_cached(
                        "UPDATE source SET stamp = NULL WHERE id = ?1 AND stamp IS NOT NULL",
                    )?
                    .execute([id])?;
            }
            None => {
                let id = transaction
                    .prepare_cached("INSERT INTO source (name, hash, kinds) VALUES (?1, ?2, 0)")?
                    .insert(params![self.name, name_hash(&self.name)])?;
                self.id = Some(id);
                self.register = Register::load(transaction, id)?;
            }
        }
        Ok(&mut self.register)
    }

    pub(super) fn standing(
        &self,
        connection: &Connection,
        record: &Record,
        hash: u64,
    ) -> rusqlite::Result<Standing> {
        let Some(entry) = self.register.get(&record.entry) else {
            return Ok(Standing::New);
        };
        if entry.hash != hash {
            return Ok(Standing::Changed);
        }
        let role = match entry.role {
            Some(role) => connection
                .prepare_cached("SELECT name FROM role WHERE id = ?1")?
                .query_row([role], |row| row.get::<_, String>(0))
                .optional()?,
            None => None,
        };
        let same = entry.kind == record.kind as u8
            && entry.position == record.position
            && entry.time == record.time.map(|time| time.0)
            && role == record.role;
        Ok(match same {
            true => Standing::Same,
            false => Standing::Moved,
        })
    }
}

/// No source has this number.
const NO_SOURCE: i64 = 0;

/// Changes with everything that another process writes.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("PRAGMA data_version")?
        .query_row([], |row| row.get(0))
}
