//! A session whose messages a host has, and whose model a host runs.
//!
//! The host gives its list of messages and is told what to send of it. What it
//! ever gave is kept in a session file of our own, the **mirror**, so that
//! everything else works on it as on any session: compaction, checkpoints,
//! recall, `session verify`. The list says what the model may be shown, the
//! mirror what was said; the two are held against each other by content, so
//! that nothing is doubled by being given twice, and nothing is lost by being
//! edited or left out.
//!
//! | question | answer |
//! |---|---|
//! | which file? | [`Hosted::open`], at a path that the caller chooses |
//! | what is to be sent? | [`Hosted::assemble`]: an [`Assembly`] for a [`Given`] list |
//! | and again, within a turn? | [`Hosted::assemble_again`] |
//! | a turn was accepted | [`Hosted::commit_turn`]: whole or not at all, and once |
//! | a message arrived by itself | [`Hosted::ingest`] |
//! | make room | [`Hosted::compact`], [`Hosted::maintain`] |
//! | the host has a file of its own? | [`pi`] |
//! | what was changed by the host? | its [marks](crate::marks) in the file |

mod align;
mod assemble;
mod list;
mod mirror;
pub mod pi;
mod room;
mod take;
mod turn;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use longhaul_files::Identity;
use longhaul_ledger::ours::ORDERS;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Fingerprint, Session as Stored, SessionKey};
use serde_json::json;

pub use assemble::{Ask, Assembly, Shown};
pub use list::{Base, Given};
pub use room::Compaction;
pub use turn::Committed;

use self::list::List;
use self::mirror::Mirror;
use crate::checkpoints::{FileNotebook, Notebook, note_of};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::marks::mark;
use crate::session::{Engine, Listener, Session, Status, carried};

/// What a mirror is made with when there is none yet.
#[derive(Debug, Clone)]
pub struct Birth {
    /// The host's id of the session.
    pub id: String,
    /// What sessions go by that follow each other, where the host says so.
    pub key: Option<String>,
    /// The mirror of the session that started this one.
    pub parent: Option<String>,
    /// Who has the user's part in it.
    pub speaker: Asking,
}

/// Who has the user's part in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// The user.
    User,
    /// An agent, who orders a subagent.
    Agent,
}

/// One session of a host.
pub struct Hosted {
    session: Session,
    mirror: Mirror,
    list: List,
    /// The first message of the mirror that the host's list left behind: what
    /// comes next goes before it, on a branch of its own.
    beyond: Option<usize>,
    /// Messages of the list that have no place on the path.
    spares: HashMap<Fingerprint, Box<str>>,
    /// What the host's messages may take at the beginning of a turn.
    room: Option<Tokens>,
    /// Which file it is, whatever it is called.
    file: Option<Identity>,
    /// Whether nothing was written since it was opened: a call that has no result
    /// was left by a process that ended.
    resumed: bool,
    /// What the listener has still to be told.
    heard: Vec<Event>,
}

impl Hosted {
    /// Opens the mirror of a session, or begins it. What a crash left of a turn
    /// is put aside: the host will commit it again.
    pub fn open(
        engine: &Engine,
        path: &Path,
        birth: &Birth,
        listener: &mut dyn Listener,
    ) -> Result<Hosted> {
        if !path.exists() {
            create(engine, path, birth, listener)?;
        }
        let mut session = match engine.open(path, listener) {
            Ok(session) => session,
            Err(error) if is_no_session(&error) => {
                set_aside(engine, path, &error, listener)?;
                create(engine, path, birth, listener)?;
                engine.open(path, listener)?
            }
            Err(error) => return Err(error),
        };
        session.serve_host();
        // What is in the file counts as committed, so it has to be on the disk: the
        // process before may have died between writing and waiting for it.
        let file = longhaul_files::open(path)?;
        let synced = file.sync_data();
        synced.map_err(longhaul_files::Error::io("write", path))?;
        let stored = Stored::open(path)?;
        let mut hosted = Hosted {
            mirror: Mirror::read(&stored)?,
            resumed: true,
            heard: Vec::new(),
            list: List::new(engine.setup().clock.new_id()),
            session,
            beyond: None,
            spares: HashMap::new(),
            room: None,
            file: identity(path),
        };
        hosted.leave_torn_turn()?;
        hosted.pass_on(listener);
        Ok(hosted)
    }

    /// The mirror.
    pub fn path(&self) -> &Path {
        self.session.path()
    }

    /// Messages that were kept on the present path.
    pub fn messages(&self) -> usize {
        self.mirror.messages.len()
    }

    /// What the list that was given last goes by.
    pub fn token(&self) -> String {
        self.list.token()
    }

    /// How it stands.
    pub fn status(&mut self) -> Status {
        self.session.status()
    }

    /// The session underneath.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Whether nobody else wrote into the mirror or put another file in its
    /// place. Where somebody did, it has to be opened again.
    pub fn is_untouched(&self) -> bool {
        self.session.is_untouched() && identity(self.session.path()) == self.file
    }

    fn leave_torn_turn(&mut self) -> Result<()> {
        let Some(torn) = self.mirror.torn.take() else {
            return Ok(());
        };
        let mark = mirror::branch_mark(None, Some(torn.mark));
        self.session.branch(torn.before, &[mark], &mut self.heard)?;
        self.session.make_durable()?;
        self.heard.push(Event::trouble(
            "a turn had not been written whole; it was put aside, and is taken in when the host \
             commits it again",
        ));
        self.reread()
    }

    /// Tells what was heard on the way.
    fn pass_on(&mut self, listener: &mut dyn Listener) {
        for event in self.heard.drain(..) {
            listener.event(&event);
        }
    }

    /// Reads the mirror anew, after its path has changed.
    fn reread(&mut self) -> Result<()> {
        let stored = Stored::open(self.session.path())?;
        self.mirror = Mirror::read(&stored)?;
        self.beyond = None;
        self.list.level = false;
        for item in &mut self.list.items {
            item.place = None;
        }
        Ok(())
    }
}

/// What tells a file from another one under the same name.
fn identity(path: &Path) -> Option<Identity> {
    Some(Identity::of(&std::fs::metadata(path).ok()?))
}

fn create(engine: &Engine, path: &Path, birth: &Birth, listener: &mut dyn Listener) -> Result<()> {
    let mut writer = engine.begin(path, birth.id.clone(), birth.parent.clone())?;
    let first = match (birth.speaker, &birth.key) {
        (Asking::Agent, _) => Some(mark(ORDERS, &json!({ "parent": birth.parent }))),
        (Asking::User, Some(key)) => follow(engine, path, key, listener),
        (Asking::User, None) => None,
    };
    if let Some(first) = first {
        writer.append(&first, engine.stamp())?;
    }
    Ok(())
}

/// Takes note that the newest session of a key is in `path` now, and gives what
/// the user said in the one before.
fn follow(engine: &Engine, path: &Path, key: &str, listener: &mut dyn Listener) -> Option<Draft> {
    let setup = engine.setup();
    let notebook = FileNotebook::new(&setup.state_dir, &SessionKey::new(key));
    // Another host, or another agent of it, may use the same keys.
    let folder = path.parent()?;
    let name = note_of("mirror", &folder.to_string_lossy());
    let file = path.file_name()?.to_str()?;
    let noted = notebook.read(&name);
    let noted = noted.and_then(|before| notebook.write(&name, file).map(|()| before));
    let before = match noted {
        Ok(before) => before?,
        Err(error) => {
            listener.event(&error.event());
            return None;
        }
    };
    let is_name = Path::new(&before).file_name() == Some(OsStr::new(&before));
    let before = folder.join(before);
    (is_name && before != path && before.is_file())
        .then(|| carried(setup, &before, listener))
        .flatten()
}

/// Whether what is there cannot be a mirror of ours, however often it is tried.
fn is_no_session(error: &Error) -> bool {
    match error {
        Error::Transcript(error) => {
            use longhaul_transcript::Error::{Database, Empty, Foreign, Refused, UnknownFormat};
            matches!(
                error,
                Empty { .. }
                    | UnknownFormat { .. }
                    | Foreign { .. }
                    | Refused { .. }
                    | Database { .. }
            )
        }
        _ => false,
    }
}

/// Keeps what is there under another name.
fn set_aside(
    engine: &Engine,
    path: &Path,
    error: &Error,
    listener: &mut dyn Listener,
) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".damaged-{}", engine.setup().clock.new_id()));
    let aside = path.with_file_name(name);
    longhaul_files::rename(path, &aside)?;
    listener.event(&Event::trouble(format!(
        "{} is no session any more ({error}); it is kept as {}, and the mirror begins anew from \
         the host's messages",
        path.display(),
        aside.display()
    )));
    Ok(())
}
