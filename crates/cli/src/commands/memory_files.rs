//! `memory init|lint|verify|status`: the files that outlive a session.

use longhaul_checkpoint::AGENTS_TEMPLATE;
use longhaul_index::{Behind, Condition, IndexError, SqliteIndex};
use longhaul_memory::MemoryFolder;
use longhaul_memory::files::{AgentsFile, Finding, Outcome, Standing, Verified, Verify};

use super::memory as memory_index;
use super::memory_folder::{clock, reading, refuse_read_only, unfinished, writing};

use crate::args::{InitArgs, LintArgs, MemoryFilesCommand, VerifyArgs};
use crate::prelude::*;

pub(crate) fn run(app: &App, command: &MemoryFilesCommand) -> Result {
    match command {
        MemoryFilesCommand::Init(args) => init(app, args),
        MemoryFilesCommand::Lint(args) => lint(app, args),
        MemoryFilesCommand::Verify(args) => verify(app, args),
        MemoryFilesCommand::Status => status(app),
    }
}

fn init(app: &App, args: &InitArgs) -> Result {
    let memory = writing(app)?;
    let folder = memory.root().file_name().unwrap_or_default();
    let folder = folder.to_string_lossy();
    let name = args.name.as_deref().unwrap_or(&folder);
    let agents = match (args.agents, args.no_agents) {
        (true, _) => AgentsFile::Wanted(AGENTS_TEMPLATE),
        (_, true) => AgentsFile::Unwanted,
        _ => AgentsFile::Usual(AGENTS_TEMPLATE),
    };
    let made = memory.init(clock(app), name, agents)?;
    standings(app, &memory)?;
    let findings = memory.lint(app.config.memory_limits(), &app.config.tokens.estimator)?;
    if app.json {
        return out::json(&json!({
            "workspace": answer::path(memory.root()),
            "files": made.iter().map(|one| json!({
                "file": one.file,
                "created": one.outcome == Outcome::Made,
            })).collect::<Vec<_>>(),
            "findings": findings.iter().map(finding).collect::<Vec<_>>(),
        }));
    }
    for one in &made {
        match one.outcome {
            Outcome::Made => say!("{}  {}", style("made").green(), one.file)?,
            Outcome::Kept => say!("{}  {}", style("kept").dim(), one.file)?,
            Outcome::LeftToClaude => note!(
                "note: {} was not made: it would be read in the place of CLAUDE.md, which is \
                 there; --agents makes it all the same",
                one.file
            ),
        }
    }
    for found in &findings {
        note!("note: {}; {}", told(found), found.remedy());
    }
    Ok(())
}

fn lint(app: &App, args: &LintArgs) -> Result {
    let estimator = &app.config.tokens.estimator;
    let memory = reading(app)?;
    unfinished(app, &memory);
    let findings = memory.lint(app.config.memory_limits(), estimator)?;
    let fixable = findings.iter().any(|found| found.is_fixable());
    if args.fix && fixable {
        let memory = writing(app)?;
        if !args.yes {
            for found in &findings {
                note!("{}: {}", told(found), found.remedy());
            }
        }
        app.confirm("Mend this?", args.yes)?;
        let fixed = memory.fix(clock(app), app.config.memory_limits(), estimator)?;
        if app.json {
            out::json(&json!({
                "workspace": answer::path(memory.root()),
                "findings": fixed.left.iter().map(finding).collect::<Vec<_>>(),
                "changed": fixed.files,
            }))?;
            return counted(&fixed.left);
        }
        for file in &fixed.files {
            say!("{}  {file}", style("mended").green())?;
        }
        return verdict(&fixed.left);
    }
    if app.json {
        out::json(&json!({
            "workspace": answer::path(memory.root()),
            "findings": findings.iter().map(finding).collect::<Vec<_>>(),
            "changed": [],
        }))?;
        return counted(&findings);
    }
    verdict(&findings).map_err(|failure| match fixable {
        true => failure.help("`longhaul memory lint --fix` mends what it can; no line is lost"),
        false => failure,
    })
}

/// Prints what is wrong.
fn verdict(findings: &[Finding]) -> Result {
    if findings.is_empty() {
        return say!("Nothing to mend.");
    }
    for found in findings {
        say!("{}", &told(found))?;
        say!("  {}", style(&found.remedy()).dim())?;
    }
    counted(findings)
}

/// Anything at all is a failure, for scripts.
fn counted(findings: &[Finding]) -> Result {
    match findings.len() as u64 {
        0 => Ok(()),
        count => Err(Failure::new(paint::plural(count, "finding"))),
    }
}

fn told(found: &Finding) -> String {
    let place = match found.line {
        Some(line) => format!("{}:{line}", found.file),
        None => found.file.clone(),
    };
    format!("{place} {}", found.trouble)
}

fn finding(found: &Finding) -> Value {
    json!({
        "file": found.file,
        "line": found.line,
        "trouble": found.trouble,
        "hold": found.hold,
        "message": found.trouble.to_string(),
        "remedy": found.remedy(),
        "fixable": found.is_fixable(),
    })
}

fn verify(app: &App, args: &VerifyArgs) -> Result {
    let mode = match (args.mark, args.accept) {
        (true, _) => Verify::Mark,
        (_, true) => Verify::Accept,
        _ => Verify::Tell,
    };
    refuse_read_only(app)?;
    let memory = reading(app)?;
    unfinished(app, &memory);
    let verified = match mode {
        Verify::Tell => standings(app, &memory)?,
        mode => memory.verify(mode)?,
    };
    let stale = verified.iter().filter(|one| one.standing.is_stale());
    let stale = stale.count() as u64;
    if app.json {
        out::json(&json!({
            "workspace": answer::path(memory.root()),
            "pointers": verified,
            "stale": stale,
        }))?;
    } else {
        for one in &verified {
            say!("{}", standing(one))?;
        }
        if verified.is_empty() {
            say!("MEMORY.md points to nothing.")?;
        }
    }
    match stale {
        0 => Ok(()),
        stale => Err(
            fail!("{} cannot be believed", paint::plural(stale, "pointer")).help(
                "read those files, correct MEMORY.md, then `longhaul memory verify --accept`",
            ),
        ),
    }
}

/// How pointers stand. That can be told also where it cannot be remembered, as
/// on a full disk.
fn standings(app: &App, memory: &MemoryFolder) -> Result<Vec<Verified>> {
    let error = match memory.verify(Verify::Tell) {
        Ok(verified) => return Ok(verified),
        Err(error) => error,
    };
    let verified = memory.verify(Verify::Look)?;
    let reason = match error {
        longhaul_memory::Error::ReadOnly { path } => {
            format!("{} cannot be written", app.show_path(&path))
        }
        other => other.to_string(),
    };
    note!("note: new pointers are not remembered: {reason}");
    Ok(verified)
}

fn standing(one: &Verified) -> String {
    let (word, why) = match one.standing {
        Standing::Fresh => (style("fresh").green(), ""),
        Standing::New => (style("new").cyan(), ""),
        Standing::Changed => (
            style("stale").yellow(),
            "  changed since the pointer was written",
        ),
        Standing::Gone => (style("stale").red(), "  is gone"),
        Standing::SectionGone => (
            style("stale").red(),
            "  the file is there, the section is gone",
        ),
        Standing::Outside => (style("stale").red(), "  is outside the workspace"),
        Standing::Unreadable => (style("stale").red(), "  cannot be read"),
    };
    let target = match &one.anchor {
        Some(anchor) => format!("{}#{anchor}", one.target),
        None => one.target.clone(),
    };
    format!("{word:<5}  MEMORY.md:{}  {target}{why}", one.line)
}

fn status(app: &App) -> Result {
    let memory = reading(app)?;
    unfinished(app, &memory);
    let status = memory.status(app.config.memory_limits(), &app.config.tokens.estimator)?;
    let chosen = memory_index::chosen(app)?;
    let index = memory_index::condition(app, chosen.encoder.clone());
    if app.json {
        let head = json!({ "workspace": answer::path(memory.root()) });
        let mut value = answer::joined(head, &status)?;
        value["index"] = index_json(app, &index);
        value["embedding"] = memory_index::embedding(&chosen);
        return out::json(&value);
    }
    let mut table = Table::new([left("FILE"), right("SIZE"), right("TOKENS")]);
    for file in &status.files {
        let tokens = match (file.tokens, file.file == "MEMORY.md") {
            (Some(tokens), true) => format!("{tokens} of {}", status.max_tokens),
            (Some(tokens), false) => paint::number(u64::from(tokens)),
            (None, _) => String::new(),
        };
        let size = match file.bytes {
            Some(bytes) => paint::bytes(bytes),
            None if file.unread.is_some() => String::new(),
            None => style("not there").dim().to_string(),
        };
        let tokens = match &file.unread {
            Some(_) => style("not read").yellow().to_string(),
            None => tokens,
        };
        table.row([file.file.clone(), size, tokens]);
    }
    table.print(app.columns())?;
    for file in &status.files {
        if let Some(why) = &file.unread {
            say!("{} {}", file.file, why)?;
        }
    }
    say!("")?;
    out::row("pointers", status.pointers)?;
    let logs = paint::plural(status.logs as u64, "day");
    let logs = status.newest_log.map_or("none".to_owned(), |newest| {
        format!(
            "{logs}, {}, newest {newest}",
            paint::bytes(status.log_bytes)
        )
    });
    out::row("daily logs", logs)?;
    let findings = paint::plural(status.findings as u64, "finding");
    let findings = match status.findings {
        0 => style("nothing to mend".to_owned()).green(),
        _ => style(format!("{findings}; `longhaul memory lint` lists them")).yellow(),
    };
    out::row("lint", findings)?;
    print_index(app, &index)?;
    let made = index.as_ref().ok().and_then(Option::as_ref).map(|found| {
        let (status, made) = (&found.status, paint::number(found.status.vectors));
        let chunks = paint::plural(status.chunks, "chunk");
        format!(
            ", {made} of {chunks} made{}",
            memory_index::without_vectors(status)
        )
    });
    let made = made.unwrap_or_default();
    match &chosen.encoder {
        Some(encoder) => row!("vectors", "{} ({}){made}", encoder.id(), chosen.kind())?,
        None => out::row("vectors", "none: searches go by words alone")?,
    }
    if let Some(why) = &chosen.why {
        say!("  {}", style(why).dim())?;
    }
    for reason in &chosen.reasons {
        say!("  {}", style(&reason.text).dim())?;
    }
    Ok(())
}

/// The index in one word.
fn index_state(app: &App, index: &Result<Option<Condition>, IndexError>) -> &'static str {
    match index {
        _ if !app.config.memory.index.enabled => "off",
        Ok(None) if SqliteIndex::was_here(&memory_index::path(app)) => "incomplete",
        Ok(None) => "none",
        Ok(Some(found)) if found.unfilled => "incomplete",
        Ok(Some(found)) if found.behind.total() > 0 => "behind",
        Ok(Some(_)) => "current",
        Err(IndexError::Damaged { .. }) => "damaged",
        Err(_) => "unusable",
    }
}

fn index_json(app: &App, index: &Result<Option<Condition>, IndexError>) -> Value {
    let found = index.as_ref().ok().and_then(Option::as_ref);
    json!({
        "path": answer::path(&memory_index::path(app)),
        "state": index_state(app, index),
        "reason": index.as_ref().err().map(ToString::to_string),
        "records": found.map(|found| found.status.records),
        "chunks": found.map(|found| found.status.chunks),
        "textBytes": found.map(|found| found.status.text_bytes),
        "diskBytes": found.map(|found| found.status.disk_bytes),
        "vectors": found.map(|found| found.status.vectors),
        "vectorsRefused": found.map(|found| found.status.vectors_refused),
        "updated": found.and_then(|found| found.current).map(|time| time.to_iso()),
        "behind": found.map(|found| found.behind),
    })
}

/// Less text than this may be in an index of more than one and a half times its
/// size.
const LITTLE_TEXT: u64 = 100_000;

fn print_index(app: &App, index: &Result<Option<Condition>, IndexError>) -> Result {
    if index_state(app, index) == "off" {
        return out::row("index", "none: `memory.index.enabled` is false");
    }
    let found = match index {
        Ok(Some(found)) => found,
        Ok(None) if index_state(app, index) == "incomplete" => {
            let what = "incomplete: its file was deleted or emptied, or is of an older layout; \
                        `longhaul memory index` makes it anew with sessions";
            return out::row("index", style(what).yellow());
        }
        Ok(None) => {
            let what = "none yet: a search makes it, and `longhaul memory index` with sessions";
            return out::row("index", what);
        }
        Err(IndexError::Damaged { reason, .. }) => {
            out::row("index", style(format!("damaged ({reason})")).red())?;
            let remedy = "a search makes it anew from memory files, `longhaul memory index` from \
                          sessions too";
            return say!("  {}", style(remedy).dim());
        }
        Err(error) => return out::row("index", style(error).yellow()),
    };
    let (status, behind) = (&found.status, &found.behind);
    // A chat takes the files in beside its work and notes no time.
    let when = match (found.current, behind.total()) {
        (Some(time), _) => format!("brought up to date {}", paint::ago(app.now(), time)),
        (None, 0) => "as the memory files are now".to_owned(),
        (None, _) => "the memory files not taken in yet".to_owned(),
    };
    let (texts, chunks) = (
        paint::plural(status.records, "text"),
        paint::plural(status.chunks, "chunk"),
    );
    let (text, disk) = (
        paint::bytes(status.text_bytes),
        paint::bytes(status.disk_bytes),
    );
    row!(
        "index",
        "{texts} in {chunks}, {text} of text in {disk} on disk, {when}"
    )?;
    if status.text_bytes < LITTLE_TEXT && status.disk_bytes > status.text_bytes * 3 / 2 {
        let told = "an index has some 11 KB of its own, which shows beside little text";
        say!("  {}", style(told).dim())?;
    }
    if found.unfilled {
        let told = "incomplete: begun anew, or being filled, or that was cut short; `longhaul memory index` \
                    completes it";
        say!("  {}", style(told).yellow())?;
    }
    let files = paint::plural(behind.total(), "memory file");
    let Behind { new, changed, gone } = behind;
    let next = paint::bytes(memory_index::SYNCED.bytes);
    let since = format!(
        "{files} changed since ({new} new, {changed} changed, {gone} gone); the next search takes \
         in up to {next} of that, `longhaul memory index` all of it"
    );
    match behind.total() {
        0 => Ok(()),
        _ => say!("  {}", style(since).yellow()),
    }
}
