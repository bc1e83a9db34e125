//! Skills: folders with instructions that an agent reads when it needs them.
//!
//! A skill is a folder with a `SKILL.md` that begins with its name and
//! description. The prompt names what there is and where; the instructions stay
//! on disk until they are wanted.

mod eligibility;
mod front_matter;
mod list;
mod load;

pub use eligibility::Host;
pub use load::{Skill, SkillOrigin, SkillSources, Skills, Unavailable};

pub(crate) use list::{listing, shortened};
