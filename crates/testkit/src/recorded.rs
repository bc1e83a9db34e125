//! Recorded sessions of real agents, where they lie beside the project. Tests
//! that want them say so once, here, and pass without them.
use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_transcript::{Entry, Header, Session};

/// The corpus, if it is there.
pub fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    folder.is_dir().then_some(folder)
}

/// A folder of the corpus; tells where it is not there.
pub fn folder(name: &str) -> Option<PathBuf> {
    let folder = corpus().map(|corpus| corpus.join(name));
    let folder = folder.filter(|folder| folder.is_dir());
    if folder.is_none() {
        eprintln!("skipped: no corpus beside the project");
    }
    folder
}

/// The files of these folders of the corpus, in order.
pub fn files(folders: &[&str]) -> Vec<PathBuf> {
    let found = folders.iter().map_while(|name| folder(name));
    found.flat_map(|folder| in_order(&folder)).collect()
}

/// The files of a folder, in order.
pub fn in_order(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The file unpacked into a folder, or as it is where it is not packed.
pub fn unpacked(path: &Path, folder: &Path) -> PathBuf {
    if path.extension().is_none_or(|end| end != "gz") {
        return path.to_owned();
    }
    let target = folder.join(path.file_stem().unwrap());
    fs::write(&target, read(path)).unwrap();
    target
}

/// What a packed file holds.
pub fn read(packed: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut reader = flate2::read::GzDecoder::new(File::open(packed).unwrap());
    reader.read_to_end(&mut bytes).unwrap();
    bytes
}

/// The header of a session and the entries of its path.
pub fn path_of(session: &Session) -> (Header, Vec<Entry>) {
    let mut entries = Vec::new();
    let each = session.each(&mut |entry| {
        entries.push(Some(entry));
        ControlFlow::Continue(())
    });
    each.unwrap();
    let tree = session.tree().unwrap();
    let path = tree.path().into_iter();
    let path = path.filter_map(|at| entries[at].take()).collect();
    (session.header().clone(), path)
}
