//! What became of each thing that a session holds, seen from a context.

use longhaul_transcript::EntryId;
use serde::Serialize;

use super::search::{Edge, Needle, occurring};
use super::source::{Source, SourceText};

/// Of a text that was shortened its beginning stands there: so many characters.
const BEGINNING: usize = 60;

/// Where a text of the user's is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// In the context, word for word.
    Whole,
    /// In the context in part; whole by its entry.
    Shortened,
    /// Only by its entry.
    Recallable,
    /// Nowhere: lost.
    Nowhere,
}

/// Something of a session, and whether it stands in a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traced<'a> {
    /// A path, an item, a note.
    pub text: &'a str,
    /// The entry it comes from, where it is one entry's.
    pub entry: Option<&'a EntryId>,
    /// Whether the context has it.
    pub stands: bool,
}

/// Everything that a session holds, and where it is.
#[derive(Debug, Clone, Default)]
pub struct Survival<'a> {
    /// What the user said, oldest first.
    pub texts: Vec<(&'a SourceText, Standing)>,
    /// Older texts besides, which no context has room for.
    pub texts_left: u32,
    /// Files that were changed.
    pub changed: Vec<Traced<'a>>,
    /// Files that were only read.
    pub read: Vec<Traced<'a>>,
    /// Open items of to-do tools.
    pub to_dos: Vec<Traced<'a>>,
    /// Notes of the agent's.
    pub notes: Vec<Traced<'a>>,
}

/// Looks for everything a session holds in the text of a context: the plain text
/// that the model sees, not its JSON. `is_stored` tells whether an entry resolves
/// by its id.
pub fn survival<'a>(
    source: &'a Source,
    context: &str,
    is_stored: &dyn Fn(&EntryId) -> bool,
) -> Survival<'a> {
    let changed: Vec<(&str, &EntryId)> = source.changed().collect();
    let read: Vec<(&str, &EntryId)> = source.read().collect();
    let notes = source.notes().iter();
    Survival {
        texts: texts(source, context, is_stored),
        texts_left: source.texts_left(),
        changed: traced_files(&changed, stand(source, &changed, context)),
        read: traced_files(&read, stand_or_pointed(source, &read, context)),
        to_dos: traced(source.open_items().map(|item| (item, None)), context),
        notes: traced(
            notes.map(|(entry, text)| (text.as_str(), Some(entry))),
            context,
        ),
    }
}

fn texts<'a>(
    source: &'a Source,
    context: &str,
    is_stored: &dyn Fn(&EntryId) -> bool,
) -> Vec<(&'a SourceText, Standing)> {
    let texts = source.texts();
    let all: Vec<&str> = texts.iter().map(|said| said.text.as_str()).collect();
    let begin = |text: &&str| text.chars().take(BEGINNING).collect::<String>();
    let beginnings: Vec<String> = all.iter().map(begin).collect();
    let beginnings: Vec<&str> = beginnings.iter().map(String::as_str).collect();
    let found = find(&all, context).into_iter();
    let found = found.zip(find(&beginnings, context));
    texts
        .iter()
        .zip(found)
        .map(|(said, (whole, begun))| {
            let standing = match (whole, begun) {
                (true, _) => Standing::Whole,
                (false, true) => Standing::Shortened,
                (false, false) if is_stored(&said.entry) => Standing::Recallable,
                (false, false) => Standing::Nowhere,
            };
            (said, standing)
        })
        .collect()
}

/// The same of any texts.
pub(super) fn traced<'a>(
    texts: impl Iterator<Item = (&'a str, Option<&'a EntryId>)>,
    context: &str,
) -> Vec<Traced<'a>> {
    let texts: Vec<(&str, Option<&EntryId>)> = texts.collect();
    let all: Vec<&str> = texts.iter().map(|(text, _)| *text).collect();
    let found = find(&all, context);
    let each = texts.into_iter().zip(found);
    each.map(|((text, entry), stands)| Traced {
        text,
        entry,
        stands,
    })
    .collect()
}

fn traced_files<'a>(files: &[(&'a str, &'a EntryId)], found: Vec<bool>) -> Vec<Traced<'a>> {
    let each = files.iter().zip(found);
    each.map(|((text, entry), stands)| Traced {
        text,
        entry: Some(entry),
        stands,
    })
    .collect()
}

/// Which texts stand in the context, spaces aside. A summary may break a tag with
/// a backslash behind its bracket, so on both sides none is looked at there.
fn find(texts: &[&str], context: &str) -> Vec<bool> {
    let unbroken = |text: &str| text.replace("<\\", "<");
    let texts: Vec<String> = texts.iter().map(|text| unbroken(text)).collect();
    let needles: Vec<Needle<'_>> = texts
        .iter()
        .map(|text| Needle::new(text, Edge::Any))
        .collect();
    occurring(&needles, &unbroken(context))
}

/// Of a file that was only read a pointer is enough: so many of its folder.
fn stand_or_pointed(source: &Source, paths: &[(&str, &EntryId)], context: &str) -> Vec<bool> {
    let folders: Vec<&str> = context
        .lines()
        .filter(|line| line.contains("/ +"))
        .collect();
    let pointed = |path: &str| {
        let folder = |path: &str| {
            path.rsplit_once('/')
                .map(|(folder, _)| format!("{folder}/ +"))
        };
        let names = [Some(path), source.relative(path)].into_iter().flatten();
        names
            .filter_map(folder)
            .any(|name| folders.iter().any(|line| line.contains(&name)))
    };
    let found = stand(source, paths, context).into_iter().zip(paths);
    found
        .map(|(found, (path, _))| found || pointed(path))
        .collect()
}

/// Which paths stand in the context: in full, or relative to the working folder.
fn stand(source: &Source, paths: &[(&str, &EntryId)], context: &str) -> Vec<bool> {
    let needles: Vec<Needle<'_>> = paths
        .iter()
        .flat_map(|(path, _)| [*path, source.relative(path).unwrap_or(path)])
        .map(|path| Needle::new(path, Edge::Path))
        .collect();
    let found = occurring(&needles, context);
    found.chunks(2).map(|both| both.contains(&true)).collect()
}
