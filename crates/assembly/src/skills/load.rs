//! Finding skills: five places, the later one wins.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::eligibility::{Host, Requirements};
use super::front_matter::{FrontMatter, check_name};
use crate::Problem;
use crate::files::FileCache;

/// Skills may be grouped in folders, but not without end.
const DEEPEST: usize = 4;
/// Folders looked at in one place.
const MOST_FOLDERS: usize = 2_000;

/// Where a skill comes from, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillOrigin {
    /// A folder named by configuration.
    Extra,
    /// What comes with the agent.
    Bundled,
    /// Installed: `<stateDir>/skills`.
    Managed,
    /// The user's own: `~/.agents/skills`.
    Home,
    /// The workspace's: `skills/`.
    Workspace,
}

/// The folders to look in.
#[derive(Debug, Clone, Default)]
pub struct SkillSources {
    /// Folders named by configuration; of two, the later wins.
    pub extra: Vec<PathBuf>,
    /// What comes with the agent.
    pub bundled: Option<PathBuf>,
    /// `<stateDir>/skills`.
    pub managed: Option<PathBuf>,
    /// `~/.agents/skills`.
    pub home: Option<PathBuf>,
    /// The workspace, whose `skills/` is looked at.
    pub workspace: Option<PathBuf>,
}

/// A skill that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// Its `SKILL.md`.
    pub location: PathBuf,
    /// Where it comes from.
    pub origin: SkillOrigin,
}

/// A skill that is sound but not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// Its name.
    pub name: String,
    /// Its `SKILL.md`.
    pub location: PathBuf,
    /// What is missing.
    pub reason: String,
}

/// The skills of an agent, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Skills {
    /// Those that can be used.
    pub available: Vec<Skill>,
    /// Those that cannot, and why.
    pub unavailable: Vec<Unavailable>,
}

struct Candidate {
    skill: Skill,
    requirements: Requirements,
    hidden: bool,
}

impl Skills {
    /// Looks through the sources. A broken skill is told as a problem and does
    /// not hide a sound one of the same name; a skill of the workspace that
    /// leads out of it is refused, because a workspace may be anyone's.
    pub fn load(
        sources: &SkillSources,
        host: &Host,
        now: SystemTime,
        cache: &mut FileCache,
    ) -> (Skills, Vec<Problem>) {
        let mut search = Search {
            now,
            cache,
            found: BTreeMap::new(),
            problems: Vec::new(),
        };
        for (origin, folder) in sources.in_order() {
            search.place(origin, &folder, sources.workspace.as_deref());
        }
        let mut skills = Skills::default();
        for (_, candidate) in search.found {
            let Candidate {
                skill,
                requirements,
                hidden,
            } = candidate;
            let reason = if hidden {
                Some("only the user may start it".to_owned())
            } else {
                requirements.missing(host)
            };
            match reason {
                None => skills.available.push(skill),
                Some(reason) => skills.unavailable.push(Unavailable {
                    name: skill.name,
                    location: skill.location,
                    reason,
                }),
            }
        }
        if let Some(problem) = super::shortened(&skills) {
            search.problems.push(problem);
        }
        (skills, search.problems)
    }
}

impl SkillSources {
    fn in_order(&self) -> Vec<(SkillOrigin, PathBuf)> {
        let extra = self.extra.iter().cloned();
        let mut places: Vec<_> = extra.map(|folder| (SkillOrigin::Extra, folder)).collect();
        let workspace = self.workspace.as_ref().map(|root| root.join("skills"));
        let rest = [
            (SkillOrigin::Bundled, self.bundled.clone()),
            (SkillOrigin::Managed, self.managed.clone()),
            (SkillOrigin::Home, self.home.clone()),
            (SkillOrigin::Workspace, workspace),
        ];
        places.extend(
            rest.into_iter()
                .filter_map(|(origin, folder)| Some((origin, folder?))),
        );
        places
    }
}

struct Search<'a> {
    now: SystemTime,
    cache: &'a mut FileCache,
    found: BTreeMap<String, Candidate>,
    problems: Vec<Problem>,
}

impl Search<'_> {
    fn place(&mut self, origin: SkillOrigin, folder: &Path, workspace: Option<&Path>) {
        // The other places are the user's own, who may link as they like.
        let inside = match origin {
            SkillOrigin::Workspace => workspace.and_then(|root| fs::canonicalize(root).ok()),
            _ => None,
        };
        let mut looked_at = 0;
        let mut open = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = open.pop() {
            looked_at += 1;
            if looked_at > MOST_FOLDERS {
                self.problems.push(Problem::TooMany {
                    path: folder,
                    looked_at: MOST_FOLDERS,
                });
                return;
            }
            if depth > 0 && self.skill(origin, &folder, inside.as_deref()) {
                continue;
            }
            if depth < DEEPEST {
                open.extend(self.below(&folder).into_iter().map(|f| (f, depth + 1)));
            }
        }
    }

    /// Takes the skill in `folder`; says whether there is one, sound or not.
    fn skill(&mut self, origin: SkillOrigin, folder: &Path, inside: Option<&Path>) -> bool {
        let path = folder.join("SKILL.md");
        let found = match self.cache.read(&path, inside, self.now) {
            Ok(Some(found)) => found,
            Ok(None) => return false,
            Err(problem) => {
                self.problems.push(problem);
                return true;
            }
        };
        let folder_name = folder.file_name().unwrap_or_default().to_string_lossy();
        let read = FrontMatter::parse(&found.content.head).and_then(|front| {
            let name = front
                .name
                .clone()
                .unwrap_or_else(|| folder_name.into_owned());
            check_name(&name).map(|()| (name, front))
        });
        match read {
            Ok((name, front)) => {
                let skill = Skill {
                    name: name.clone(),
                    description: front.description,
                    location: path,
                    origin,
                };
                self.found.insert(
                    name,
                    Candidate {
                        skill,
                        requirements: front.requirements,
                        hidden: front.hidden,
                    },
                );
            }
            Err(fault) => {
                self.problems
                    .push(Problem::broken_skill(&path, fault.line, fault.reason))
            }
        }
        true
    }

    /// The folders in a folder, last name first, so that they are taken in
    /// order of their names.
    fn below(&mut self, folder: &Path) -> Vec<PathBuf> {
        let listing = match fs::read_dir(folder) {
            Ok(listing) => listing,
            Err(error) => {
                let is_none = matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                );
                if !is_none {
                    self.problems.push(Problem::unreadable(folder, &error));
                }
                return Vec::new();
            }
        };
        let mut folders: Vec<PathBuf> = listing
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let may_be = entry.file_type().is_ok_and(|kind| !kind.is_file());
                may_be && !name.starts_with('.') && name != "node_modules"
            })
            .map(|entry| entry.path())
            .collect();
        folders.sort();
        folders.reverse();
        folders
    }
}
