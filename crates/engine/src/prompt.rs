//! The static half of every request: the workspace's files, the skills and the
//! tools as a system prompt.

use std::path::{Path, PathBuf};

use jiff::Zoned;
use longhaul_assembly::{
    FileCache, Host, Mode, PartCounts, Problem, PromptSource, Result, Runtime, SkillSources,
    Skills, SystemPrompt, Tools, Workspace,
};
use longhaul_tokens::Window;

use crate::config::Config;

/// What an agent finds where it runs, whatever it works on.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// Installed skills: `<stateDir>/skills`.
    pub managed_skills: Option<PathBuf>,
    /// The user's own: `~/.agents/skills`.
    pub home_skills: Option<PathBuf>,
    /// What skills may need.
    pub host: Host,
    /// Where and on what the agent runs.
    pub runtime: Runtime,
}

/// Whose prompt is written, and where.
pub(crate) struct Place<'a> {
    pub(crate) config: &'a Config,
    pub(crate) environment: &'a Environment,
    /// The workspace.
    pub(crate) root: &'a Path,
    pub(crate) window: &'a Window,
    /// The time, where the user is.
    pub(crate) now: &'a Zoned,
    pub(crate) mode: &'a Mode,
    pub(crate) tools: &'a Tools,
    /// The thinking level that is set.
    pub(crate) thinking: Option<String>,
}

/// What every request of an epoch begins with.
pub(crate) struct StaticHalf {
    pub(crate) workspace: Workspace,
    pub(crate) skills: Skills,
    pub(crate) prompt: SystemPrompt,
    pub(crate) problems: Vec<Problem>,
}

impl Place<'_> {
    /// Reads the workspace and the skills and writes the system prompt.
    pub(crate) fn lay(&self, files: &mut FileCache, counts: &mut PartCounts) -> Result<StaticHalf> {
        let (config, environment) = (self.config, self.environment);
        let read_at = self.now.timestamp().into();
        let limits = config.bootstrap_limits(self.window);
        let (workspace, mut problems) = Workspace::load(self.root, &limits, read_at, files)?;
        let sources = SkillSources {
            extra: config.skill_dirs(self.root),
            bundled: None,
            managed: environment.managed_skills.clone(),
            home: environment.home_skills.clone(),
            workspace: Some(self.root.to_owned()),
        };
        let (skills, found) = Skills::load(&sources, &environment.host, read_at, files);
        problems.extend(found);
        let source = PromptSource {
            mode: self.mode,
            runtime: &environment.runtime,
            today: self.now.date(),
            time_zone: self.now.time_zone().iana_name().unwrap_or("UTC"),
            workspace: &workspace,
            skills: &skills,
            tools: self.tools,
            hints: &config.hints(self.thinking.clone()),
            extra: config.prompt.extra.as_deref(),
        };
        let prompt = SystemPrompt::build(&source, config.tokens.estimator.counter(), counts);
        Ok(StaticHalf {
            workspace,
            skills,
            prompt,
            problems,
        })
    }
}
