//! Pointers: what the lines of `MEMORY.md` refer to.

/// A file that a line points to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer {
    /// The line, from 1.
    pub line: usize,
    /// The path as it is written, without anchor and line number.
    pub target: String,
}

/// The pointers of a text: after an arrow (`→ memories/project.md`), targets of
/// links, and what stands in code and looks like a path. Addresses of the web
/// are none.
pub fn pointers(text: &str) -> Vec<Pointer> {
    let mut found: Vec<Pointer> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let arrows = line
            .split_once('→')
            .into_iter()
            .flat_map(|(_, rest)| rest.split('→'))
            .chain(line.split("->").skip(1))
            .filter_map(|rest| rest.split_whitespace().next())
            .filter(|word| !word.starts_with(['`', '[']));
        let links = line
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let code = line.split('`').skip(1).step_by(2);
        for target in arrows.chain(links).chain(code).filter_map(path) {
            let pointer = Pointer {
                line: at + 1,
                target: target.to_owned(),
            };
            let mut beside = found
                .iter()
                .rev()
                .take_while(|one| one.line == pointer.line);
            if !beside.any(|one| *one == pointer) {
                found.push(pointer);
            }
        }
    }
    found
}

/// The path in a target, if it is one.
fn path(target: &str) -> Option<&str> {
    let target = target.trim().split(['#', ' ']).next()?;
    let target = target.trim_end_matches([',', ';', '.', ')', '|']);
    let numbered = target.trim_end_matches(|c: char| c.is_ascii_digit());
    let target = match numbered.strip_suffix(':') {
        Some(path) => path,
        None => target.trim_end_matches(':'),
    };
    let name = target.rsplit('/').next()?;
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !extension.bytes().all(|byte| byte.is_ascii_digit())
    });
    let is_path = (target.contains('/') || has_extension)
        && !target.contains("://")
        && !target.starts_with(['-', '$', '@', '~', '<', '{'])
        && !target.contains(['*', '(', '{', '=', '"', '…'])
        && target.len() > 1;
    is_path.then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_links_and_code_point_and_addresses_do_not() {
        let text = "- Name: x | Details → memories/project.md#m-1\n\
                    - [plan](docs/plan.md#now) and `src/main.rs:12`\n\
                    - see https://a.b/c.md, [x](https://a.b), `cargo test`, `--flag=a/b`, `v1.2`, `notes.md`\n\
                    - old -> new/place.md, `~/x/y.md`, `a::b`\n";
        let found: Vec<(usize, String)> = pointers(text)
            .into_iter()
            .map(|pointer| (pointer.line, pointer.target))
            .collect();
        let expected = [
            (1, "memories/project.md"),
            (2, "docs/plan.md"),
            (2, "src/main.rs"),
            (3, "notes.md"),
            (4, "new/place.md"),
        ];
        assert_eq!(found, expected.map(|(line, to)| (line, to.to_owned())));
    }
}
