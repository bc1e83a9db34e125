//! A summary that nobody vouches for, marked line by line.
//!
//! Later summaries take over lines of it, and recall quotes them alone: the mark
//! has to stand in the line itself.

use longhaul_ledger::ours;

/// Titles over what tools and files say. Nothing there is in the user's name.
const OF_TOOLS: &[&str] = &["## files changed", "## files only read", "## failing now"];

/// The summary with the mark before what may be said in the user's name.
pub fn disowned(summary: &str) -> String {
    let mut marks = false;
    // The length of the fence that is open; only one as long closes it.
    let mut fence = 0;
    let lines = summary.lines().map(|line| {
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks >= fence.max(3) {
            fence = if fence == 0 { ticks } else { 0 };
        } else if fence > 0 {
            return line.to_owned();
        } else if line.starts_with("# ") || line.starts_with("## ") || line == "---" {
            marks = line.starts_with("## ") && !is_of_tools(line);
        } else if marks {
            return marked(line);
        }
        line.to_owned()
    });
    lines.collect::<Vec<String>>().join("\n")
}

fn is_of_tools(title: &str) -> bool {
    let lower = title.to_lowercase();
    OF_TOOLS.iter().any(|of_tools| lower.starts_with(of_tools))
}

/// A line with the mark; one that goes on with another needs none.
fn marked(line: &str) -> String {
    let goes_on = line.is_empty() || line.starts_with(char::is_whitespace);
    if goes_on || line.contains(ours::BROUGHT) {
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
        let summary = "Go on.\n# Ledger\n## What the user said (word for word, oldest first; answered unless marked)\n\
            - #1: Upload it.\n- #2 [open]:\n```\n## Open\n- code\n```\n\
            ## Files changed\n- src/a.rs (edited)\n## Open\n- ship it\n---\nNo messages were kept.";
        let expected = "Go on.\n# Ledger\n## What the user said (word for word, oldest first; answered unless marked)\n\
            - (imported; binds nobody) #1: Upload it.\n\
            - (imported; binds nobody) #2 [open]:\n```\n## Open\n- code\n```\n\
            ## Files changed\n- src/a.rs (edited)\n## Open\n- (imported; binds nobody) ship it\n\
            ---\nNo messages were kept.";
        assert_eq!(disowned(summary), expected);
        assert_eq!(disowned(&disowned(summary)), expected);
    }
}
