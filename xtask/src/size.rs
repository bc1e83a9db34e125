//! `cargo xtask size`: how large each crate is, against its budget.
//!
//! Counted are lines that are neither blank nor comment nor test, the string
//! literals among them and the words in data files, since lists of words hide
//! there. A crate over its budget is redesigned, not trimmed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::paths;
use crate::table::{Table, grouped};

/// What stands beside the product and is left out of its total.
const BESIDE: [&str; 2] = ["testkit", "xtask"];

/// Files that are neither code nor data: pages, styles and prompts.
const PROSE: [&str; 4] = ["md", "html", "css", "js"];

pub(crate) fn run() -> Result<()> {
    let root = paths::root();
    let budgets = budgets(&fs::read_to_string(root.join("xtask/budget.txt"))?)?;
    let mut table = Table::new(["crate", "code", "budget", "literals", "words in data", ""]);
    let mut over = Vec::new();
    let mut total = 0;
    for folder in crates(&root)? {
        let name = paths::name(&folder);
        let size = Size::of(&folder.join("src"))?;
        if !BESIDE.contains(&name.as_str()) {
            total += size.code;
        }
        row(&mut table, &name, &size, &budgets, &mut over);
    }
    let whole = Size {
        code: total,
        ..Size::default()
    };
    row(&mut table, "total", &whole, &budgets, &mut over);
    print!("{table}");
    if over.is_empty() {
        return Ok(());
    }
    Err(format!("over budget: {}", over.join(", ")).into())
}

fn row(
    table: &mut Table,
    name: &str,
    size: &Size,
    budgets: &BTreeMap<String, usize>,
    over: &mut Vec<String>,
) {
    let budget = budgets.get(name);
    let exceeded = budget.is_some_and(|most| size.code > *most);
    if exceeded {
        over.push(name.to_owned());
    }
    let number = |count: usize| grouped(count as u64);
    table.row([
        name.to_owned(),
        number(size.code),
        budget.map_or_else(|| "–".to_owned(), |most| number(*most)),
        number(size.literals),
        number(size.words),
        if exceeded { "over" } else { "" }.to_owned(),
    ]);
}

/// The budget of each crate, by the name of its folder.
fn budgets(text: &str) -> Result<BTreeMap<String, usize>> {
    let mut budgets = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(name) = words.next() else { continue };
        let lines = words.next().and_then(|number| number.parse().ok());
        let lines = lines.ok_or_else(|| format!("budget.txt, line {}: no number", at + 1))?;
        budgets.insert(name.to_owned(), lines);
    }
    Ok(budgets)
}

/// The folders of all crates, in order.
pub(crate) fn crates(root: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = paths::files(&root.join("crates"), |_| true)?;
    folders.push(root.join("xtask"));
    folders.retain(|folder| folder.join("src").is_dir());
    Ok(folders)
}

#[derive(Default, Debug, PartialEq)]
struct Size {
    code: usize,
    literals: usize,
    words: usize,
}

impl Size {
    fn of(folder: &Path) -> Result<Size> {
        let mut size = Size::default();
        for entry in paths::files(folder, |_| true)? {
            let name = paths::name(&entry);
            if entry.is_dir() {
                if name != "tests" {
                    size.add(&Size::of(&entry)?);
                }
                continue;
            }
            let kind = entry.extension().unwrap_or_default().to_string_lossy();
            if kind == "rs" {
                if name != "tests.rs" {
                    size.add(&Size::of_code(&fs::read_to_string(&entry)?));
                }
            } else if !PROSE.contains(&kind.as_ref()) {
                let text = fs::read(&entry)?;
                size.words += String::from_utf8_lossy(&text).split_whitespace().count();
            }
        }
        Ok(size)
    }

    fn of_code(text: &str) -> Size {
        let mut size = Size::default();
        // Braces that are open in a test module, and whether one may begin.
        let mut depth = 0;
        let mut announced = false;
        for line in text.lines().map(str::trim) {
            if depth > 0 {
                depth += braces(line);
                continue;
            }
            if line.starts_with("#[cfg(test)]") {
                announced = true;
                continue;
            }
            if announced && !line.starts_with("#[") {
                announced = false;
                if line.contains("mod ") && line.ends_with('{') {
                    depth = 1;
                    continue;
                }
                if line.contains("mod ") && line.ends_with(';') {
                    continue;
                }
            }
            if line.is_empty() || line.starts_with("//") {
                continue;
            }
            size.code += 1;
            size.literals += literals(line);
        }
        size
    }

    fn add(&mut self, other: &Size) {
        self.code += other.code;
        self.literals += other.literals;
        self.words += other.words;
    }
}

fn braces(line: &str) -> i64 {
    line.chars().fold(0, |depth, letter| match letter {
        '{' => depth + 1,
        '}' => depth - 1,
        _ => depth,
    })
}

/// String literals with a letter in them.
fn literals(line: &str) -> usize {
    let mut count = 0;
    let mut inside = false;
    let mut lettered = false;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if inside => {
                letters.next();
            }
            '"' => {
                count += usize::from(inside && lettered);
                inside = !inside;
                lettered = false;
            }
            _ => lettered |= letter.is_alphabetic(),
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_tests_do_not_count() {
        let text = "//! What it is.\n\nuse a;\n\n/// One.\nfn f() -> &'static str {\n    \"word\"\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    fn g() {\n    }\n}\nfn h() {}\n#[cfg(test)]\nmod more;\n";
        assert_eq!(
            Size::of_code(text),
            Size {
                code: 5,
                literals: 1,
                words: 0
            }
        );
        assert_eq!(literals(r#"a("x", "12", "\"q\"", "")"#), 2);
    }

    #[test]
    fn a_budget_without_a_number_is_named_with_its_line() {
        assert_eq!(
            budgets("# one\nfiles 800 # two\n").unwrap(),
            BTreeMap::from([("files".to_owned(), 800)])
        );
        let error = budgets("files 800\nindex\n").unwrap_err().to_string();
        assert_eq!(error, "budget.txt, line 2: no number");
    }
}
