//! What a session holds, read from its entries for the audit alone.

use std::collections::BTreeMap;

use longhaul_transcript::json::{self, Object};
use longhaul_transcript::{Channel, Entry, EntryId, MessageView, Role};
use serde::{Deserialize, Serialize};

/// Texts that are looked for after every compaction: many times what a context
/// has room for.
const TEXTS: usize = 4_000;
/// Bytes of them.
const TEXT_BYTES: usize = 2 << 20;

/// A text that a person typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceText {
    /// Its entry.
    pub entry: EntryId,
    /// How it came.
    pub channel: Channel,
    /// The words.
    pub text: String,
}

/// What a call will have done once its result says that it worked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Pending {
    Change(Vec<String>),
    Read(String),
    List(Vec<(String, bool)>),
    Add(String),
    Set(String, String),
    Note(String),
}

/// Everything that the audit looks for, folded entry by entry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    cwd: Option<String>,
    texts: Vec<SourceText>,
    text_bytes: usize,
    /// Older texts that no context has room for.
    texts_left: u32,
    changed: BTreeMap<String, EntryId>,
    read: BTreeMap<String, EntryId>,
    /// Items of whole lists, and whether each is open.
    list: Vec<(String, bool)>,
    /// Items added one by one, by their id.
    tasks: BTreeMap<String, (String, bool)>,
    notes: Vec<(EntryId, String)>,
    entries: Vec<EntryId>,
    /// Entries before them that have left, and are known to resolve.
    settled: u32,
    calls: BTreeMap<String, (EntryId, Pending)>,
}

impl Source {
    /// An empty one, for a session in a folder.
    pub fn new(cwd: Option<String>) -> Source {
        Source {
            cwd,
            ..Source::default()
        }
    }

    /// What people typed, in order.
    pub fn texts(&self) -> &[SourceText] {
        &self.texts
    }

    /// Texts besides, which can only be recalled.
    pub(super) fn texts_left(&self) -> u32 {
        self.texts_left
    }

    /// Entries besides that have left and are known to resolve by their ids.
    pub(super) fn settled(&self) -> u32 {
        self.settled
    }

    /// The entries so far up to this one (all, without one) have left the context
    /// and resolve by their ids: from here on they are only counted, and of what
    /// was said only so much is looked for as could stand in a context.
    pub fn settle(&mut self, before: Option<&EntryId>) {
        let kept = before.and_then(|id| self.entries.iter().position(|entry| entry == id));
        let left = kept.unwrap_or(self.entries.len());
        self.entries.drain(..left);
        self.settled = self.settled.saturating_add(left as u32);
        self.make_room();
    }

    /// The first text stays, the newest, and of the others the shortest: length and
    /// order decide here as they do in a summary.
    fn make_room(&mut self) {
        if self.texts.len() <= 2 * TEXTS && self.text_bytes <= 2 * TEXT_BYTES {
            return;
        }
        let mut order: Vec<usize> = (1..self.texts.len()).rev().collect();
        let mut bytes = self.texts[0].text.len();
        let newest = order
            .iter()
            .take_while(|at| {
                bytes += self.texts[**at].text.len();
                bytes <= TEXT_BYTES / 2
            })
            .take(TEXTS / 2)
            .count();
        order[newest..].sort_by_key(|at| (self.texts[*at].text.len(), std::cmp::Reverse(*at)));
        let mut room = TEXT_BYTES;
        let mut kept = vec![false; self.texts.len()];
        for at in std::iter::once(0).chain(order).take(TEXTS) {
            let size = self.texts[at].text.len();
            kept[at] = at == 0 || size <= room;
            if kept[at] {
                room = room.saturating_sub(size);
            }
        }
        let before = self.texts.len();
        let mut kept = kept.into_iter();
        self.texts.retain(|_| kept.next() == Some(true));
        self.texts_left += (before - self.texts.len()) as u32;
        self.text_bytes = self.texts.iter().map(|said| said.text.len()).sum();
    }

    pub(super) fn changed(&self) -> impl Iterator<Item = (&str, &EntryId)> {
        self.changed
            .iter()
            .map(|(path, entry)| (path.as_str(), entry))
    }

    /// Files that were read and never changed.
    pub(super) fn read(&self) -> impl Iterator<Item = (&str, &EntryId)> {
        let only = self
            .read
            .iter()
            .filter(|(path, _)| !self.changed.contains_key(*path));
        only.map(|(path, entry)| (path.as_str(), entry))
    }

    pub(super) fn open_items(&self) -> impl Iterator<Item = &str> {
        let items = self.list.iter().chain(self.tasks.values());
        items
            .filter(|(_, open)| *open)
            .map(|(text, _)| text.as_str())
    }

    pub(super) fn notes(&self) -> &[(EntryId, String)] {
        &self.notes
    }

    /// Entries that messages stand in, in order.
    pub(super) fn entries(&self) -> &[EntryId] {
        &self.entries
    }

    /// A path relative to the working folder.
    pub(super) fn relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        let inside = path.strip_prefix(self.cwd.as_deref()?.trim_end_matches('/'))?;
        inside.strip_prefix('/').filter(|rest| !rest.is_empty())
    }

    /// Takes one entry in. Entries come in the order of the path.
    pub fn observe(&mut self, entry: &Entry) {
        self.observe_read(entry, entry.message().as_ref());
    }

    /// The same with its message, which was read before.
    pub fn observe_read(&mut self, entry: &Entry, message: Option<&MessageView<'_>>) {
        let Some(view) = message else {
            return;
        };
        self.entries.push(entry.id.clone());
        for said in view.user_text() {
            let text = said.text.trim();
            if !text.is_empty() {
                self.text_bytes += text.len();
                self.texts.push(SourceText {
                    entry: entry.id.clone(),
                    channel: said.channel,
                    text: text.to_owned(),
                });
            }
        }
        match view.role {
            Role::Assistant => {
                for call in view.tool_calls() {
                    if let Some(pending) = self.pending(&call.name, call.arguments) {
                        self.calls
                            .insert(call.id.into_owned(), (entry.id.clone(), pending));
                    }
                }
            }
            Role::ToolResult => {
                let Some(id) = view.tool_call_id() else {
                    return;
                };
                let done = !view.is_error() && !view.is_rejected();
                if let Some((made, pending)) = self.calls.remove(id.as_ref())
                    && done
                {
                    self.conclude(made, pending, view);
                }
                // Some tools answer with the whole list.
                let details = view.object().object("details");
                let list = details.and_then(|details| items(details.raw("todos")?));
                if let Some(list) = list.filter(|_| done) {
                    self.list = list;
                }
            }
            _ => {}
        }
    }

    fn pending(&self, tool: &str, arguments: &str) -> Option<Pending> {
        let object = Object::of(arguments)?;
        let own = tool
            .rsplit("__")
            .next()
            .unwrap_or(tool)
            .to_ascii_lowercase();
        let name: String = own.chars().filter(char::is_ascii_alphanumeric).collect();
        let text = |keys: &[&str]| {
            keys.iter()
                .find_map(|key| object.str(key))
                .map(String::from)
        };
        match name.as_str() {
            "note" => return text(&["text"]).map(Pending::Note),
            "taskcreate" => return text(&["subject", "title"]).map(Pending::Add),
            "taskupdate" => {
                let id = object
                    .str_or_number("taskId")
                    .or_else(|| object.str_or_number("id"))?;
                return Some(Pending::Set(id.into_owned(), text(&["status"])?));
            }
            "todo" | "todos" | "todowrite" | "writetodos" | "updatetodos" | "updateplan" => {
                let list = object.raw("todos").or_else(|| object.raw("plan"))?;
                return Some(Pending::List(items(list)?));
            }
            "applypatch" => {
                let patch = text(&["input", "patch"])?;
                return Some(Pending::Change(self.patched(&patch)));
            }
            _ => {}
        }
        let path = self.full(&text(&["file_path", "path", "notebook_path", "filePath"])?);
        match name.as_str() {
            "edit" | "write" | "multiedit" | "notebookedit" | "delete" | "strreplace" => {
                Some(Pending::Change(vec![path]))
            }
            "read" | "readfile" | "view" => Some(Pending::Read(path)),
            _ => None,
        }
    }

    fn conclude(&mut self, entry: EntryId, pending: Pending, result: &MessageView<'_>) {
        match pending {
            Pending::Change(paths) => {
                for path in paths {
                    self.changed.insert(path, entry.clone());
                }
            }
            Pending::Read(path) => {
                self.read.insert(path, entry);
            }
            Pending::List(items) => self.list = items,
            Pending::Add(text) => {
                let id: Option<String> = result.text().split_once('#').map(|(_, rest)| {
                    let id = rest.chars().take_while(|c| c.is_alphanumeric());
                    id.collect()
                });
                let id = id.unwrap_or_else(|| format!("+{}", self.tasks.len()));
                self.tasks.insert(id, (text, true));
            }
            Pending::Set(id, status) => {
                if let Some((_, open)) = self.tasks.get_mut(&id) {
                    *open = is_open(&status);
                }
            }
            Pending::Note(text) => self.notes.push((entry, text)),
        }
    }

    fn patched(&self, patch: &str) -> Vec<String> {
        const HEADS: [&str; 4] = [
            "*** Update File: ",
            "*** Add File: ",
            "*** Delete File: ",
            "*** Move to: ",
        ];
        let mut paths = Vec::new();
        for line in patch.lines() {
            let named = HEADS.iter().find_map(|head| line.strip_prefix(head));
            paths.extend(named.map(|path| self.full(path.trim())));
        }
        paths
    }

    fn full(&self, path: &str) -> String {
        match &self.cwd {
            Some(cwd) if !path.starts_with(['/', '~', '\\']) && path.get(1..2) != Some(":") => {
                let path = path.strip_prefix("./").unwrap_or(path);
                format!("{}/{path}", cwd.trim_end_matches('/'))
            }
            _ => path.to_owned(),
        }
    }
}

fn items(list: &str) -> Option<Vec<(String, bool)>> {
    let read = |raw: &str| {
        let item = Object::of(raw)?;
        let keys = ["content", "step", "text", "title", "subject"];
        let text = keys.iter().find_map(|key| item.str(key))?;
        let done = ["done", "completed"]
            .iter()
            .any(|key| item.bool(key) == Some(true));
        let open = item.str("status").is_none_or(|status| is_open(&status));
        Some((text.into_owned(), open && !done))
    };
    let list = json::array(list)?;
    Some(list.iter().filter_map(|raw| read(raw.get())).collect())
}

fn is_open(status: &str) -> bool {
    matches!(status, "pending" | "in_progress" | "inProgress" | "open")
}
