//! Files that longhaul makes from other sessions: forks, imports, archives.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_testkit::recorded;
use longhaul_transcript::{
    Context, Error, Format, NewSession, Packing, Session, archive, fork, import, restore,
};

use super::cases::{Cases, START};
use super::written::by_pi;
use crate::Result;
use crate::paths;

fn new_session() -> NewSession {
    NewSession {
        id: String::from("019cac10-0000-7000-8000-000000000002"),
        time: START,
    }
}

fn stem(file: &Path) -> String {
    let name = paths::name(file);
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".jsonl").unwrap_or(name).to_owned()
}

/// Forks of pi's sessions: of the whole path, and of its first half.
pub(super) fn forks(cases: &mut Cases, golden: &Path) -> Result<()> {
    for file in by_pi(golden)? {
        let session = Session::open(&file)?;
        let loaded = session.load()?;
        let whole = format!("{}-whole", stem(&file));
        let copy = cases.place("fork", &whole)?;
        fork(&session, None, &copy, &new_session())?;
        cases
            .add("forked", &whole, copy)
            .made_from(&Context::build(&loaded));

        let tree = session.tree()?;
        let path = tree.path();
        let Some(middle) = path.get(path.len() / 2) else {
            continue;
        };
        let middle = &tree.nodes()[*middle].id;
        let half = format!("{}-half", stem(&file));
        let copy = cases.place("fork", &half)?;
        fork(&session, Some(middle), &copy, &new_session())?;
        cases
            .add("forked", &half, copy)
            .made_from(&Context::build(&session.load_at(middle)?));
    }
    Ok(())
}

/// OpenClaw sessions whose context pi's format cannot hold: the copy is read
/// the same by both, but shows something else than OpenClaw did.
const OTHER_IN_PI: [(&str, &str); 4] = [
    ("openclaw-leaf-to-null", "an empty path has no form in pi"),
    (
        "openclaw-provider-replay",
        "pi shows a field that OpenClaw hides",
    ),
    (
        "openclaw-odd-entries",
        "OpenClaw adds a name that old messages lack",
    ),
    (
        "openclaw-pi-only-entries",
        "pi knows entries that OpenClaw passes over",
    ),
];

/// Native copies of other agents' sessions.
pub(super) fn imports(cases: &mut Cases, sources: &[PathBuf]) -> Result<()> {
    for source in sources {
        let name = stem(source);
        let file = match source.extension() {
            Some(extension) if extension == "gz" => {
                let file = cases.place("unpacked", &name)?;
                fs::write(&file, recorded::read(source))?;
                file
            }
            _ => source.clone(),
        };
        let session = match Session::open(&file) {
            Ok(session) => session,
            // The corpus also holds transcripts of agents we do not read.
            Err(Error::UnknownFormat { .. }) => continue,
            Err(error) => return Err(format!("{name}: {error}").into()),
        };
        let group = match session.format() {
            Format::Pi => "imported, pi",
            Format::ClaudeCode => "imported, Claude Code",
            Format::Codex => "imported, Codex",
            Format::OpenClaw | Format::OpenClawSqlite | Format::OpenClawStore => {
                "imported, OpenClaw"
            }
        };
        let copy = cases.place("import", &name)?;
        import(&session, &copy, &new_session())?;
        let case = cases.add(group, &name, copy);
        match OTHER_IN_PI.iter().find(|(known, _)| *known == name) {
            Some((_, why)) => println!("{name}: compared with its copy only ({why})"),
            None => case.made_from(&session.context()?),
        }
    }
    Ok(())
}

/// Live files after their older part was archived, and after it came back.
pub(super) fn archives(cases: &mut Cases) -> Result<()> {
    for (name, packing) in [("plain", Packing::Plain), ("zstd", Packing::Zstd)] {
        let sample = cases.place("sample", "compacted-1")?;
        let context = Session::open(&sample)?.context()?;
        for restored in [false, true] {
            let name = format!("{name}-{}", if restored { "restored" } else { "archived" });
            let copy = cases.place("archive", &name)?;
            fs::copy(&sample, &copy)?;
            if archive(&copy, packing)?.is_none() {
                return Err(format!("{} has nothing to archive", sample.display()).into());
            }
            if restored {
                restore(&copy)?;
                if fs::read(&copy)? != fs::read(&sample)? {
                    return Err(format!("{name}: not the bytes that were archived").into());
                }
            }
            cases.add("archived", &name, copy).made_from(&context);
        }
    }
    Ok(())
}
