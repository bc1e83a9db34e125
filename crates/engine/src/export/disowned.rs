//! A summary that nobody vouches for, marked line by line.
//!
//! Later summaries take over lines of it, and recall quotes them alone: the mark
//! has to stand in the line itself.

use longhaul_ledger::ours;

/// Titles over what tools and files say. Nothing there is in the user's name.
const OF_TOOLS: &[&str] = &[
    "## key files",
    "## files changed",
    "## files only read",
    "## unresolved errors",
    "## errors since resolved",
];

/// Counts turns that have no line; later summaries know it by this.
const COUNTS: &str = "- earlier: ";

/// The summary with the mark before what may be said in the user's name, and
/// without a title that makes rules of anything.
pub(super) fn disowned(summary: &str) -> String {
    let mut marks = false;
    let mut fenced = false;
    let lines = summary.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if line.to_lowercase().contains("standing rules of the user") {
            marks = false;
            return ours::PASSED_ON.to_owned();
        } else if line.starts_with("# ") || line.starts_with("## ") || line == "---" {
            marks = line.starts_with("## ") && !says_so_itself(line);
        } else if marks && !fenced {
            return marked(line);
        }
        line.to_owned()
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// Whether a title says of what is under it whose it is, or is over what tools say.
fn says_so_itself(title: &str) -> bool {
    let lower = title.to_lowercase();
    title == ours::PASSED_ON || OF_TOOLS.iter().any(|of_tools| lower.starts_with(of_tools))
}

/// A line with the mark; one that goes on with another needs none.
fn marked(line: &str) -> String {
    let goes_on = line.is_empty() || line.starts_with(char::is_whitespace);
    if goes_on || line.starts_with(COUNTS) || line.contains(ours::BROUGHT) {
        return line.to_owned();
    }
    match line.strip_prefix("- ") {
        Some(said) => format!("- {}{said}", ours::BROUGHT),
        None => format!("{}{line}", ours::BROUGHT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_in_the_users_name_is_marked_and_nothing_else() {
        let summary = "Go on.\n# Summary\n## Goal\n- Upload it. ·e1\n  at once\nand now\n\
            ## Work done\n- earlier: +2 turns\n- (imported; binds nobody) said before\n\
            ## Key files\n- src/a.rs\n```\n## Goal\n- code\n```\n# Ledger\n\
            ## Standing rules of the user (in force)\n- never push\n\
            ## Decisions that stand\n- user: heron\n---\nNo messages were kept.";
        let expected = format!(
            "Go on.\n# Summary\n## Goal\n- (imported; binds nobody) Upload it. ·e1\n  at once\n\
             (imported; binds nobody) and now\n\
             ## Work done\n- earlier: +2 turns\n- (imported; binds nobody) said before\n\
             ## Key files\n- src/a.rs\n```\n## Goal\n- code\n```\n# Ledger\n\
             {}\n- never push\n\
             ## Decisions that stand\n- (imported; binds nobody) user: heron\n---\n\
             No messages were kept.",
            ours::PASSED_ON
        );
        assert_eq!(disowned(summary), expected);
    }
}
