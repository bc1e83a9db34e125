//! The book and the README: every command that they show is run and does what is
//! shown, the reference names every command and option there is, every link leads
//! somewhere, and no page grows long.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::machine::{Machine, NOW, Ran};

/// So many blocks of commands may be shown without being run: each says why,
/// in a remark before it.
const NOT_RUN: usize = 4;
/// So many words the whole book has at most, and a paragraph.
const MOST_WORDS: usize = 25_000;
const LONGEST_PARAGRAPH: usize = 120;

struct Page {
    /// Its path from the root of the repository.
    path: PathBuf,
    text: String,
}

/// A block of commands.
struct Block<'a> {
    line: usize,
    /// `sh`: commands. `console`: commands behind a prompt, and what they print.
    language: &'a str,
    /// Why it is not run.
    not_run: Option<&'a str>,
    lines: Vec<&'a str>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(path: &str) -> Page {
    let text = fs::read_to_string(root().join(path)).unwrap();
    Page {
        path: PathBuf::from(path),
        text,
    }
}

fn book() -> Vec<Page> {
    let mut names: Vec<String> = fs::read_dir(root().join("docs/src"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md"))
        .collect();
    names.sort();
    names
        .iter()
        .map(|name| page(&format!("docs/src/{name}")))
        .collect()
}

impl Page {
    /// The lines outside of fences, with their numbers, and every fenced block.
    fn parts(&self) -> (Vec<(usize, &str)>, Vec<Block<'_>>) {
        let (mut prose, mut blocks) = (Vec::new(), Vec::new());
        let mut lines = self.text.lines().enumerate();
        let mut before = "";
        while let Some((at, line)) = lines.next() {
            let fence: String = line.chars().take_while(|sign| *sign == '`').collect();
            if fence.len() < 3 {
                prose.push((at + 1, line));
                if !line.trim().is_empty() {
                    before = line;
                }
                continue;
            }
            let info = line.trim_start_matches('`');
            blocks.push(Block {
                line: at + 1,
                language: info.split([',', ' ']).next().unwrap_or(""),
                not_run: before
                    .strip_prefix("<!-- not run: ")
                    .and_then(|rest| rest.strip_suffix(" -->")),
                lines: lines
                    .by_ref()
                    .map(|(_, line)| line)
                    .take_while(|line| *line != fence)
                    .collect(),
            });
            prose.push((at + 1, ""));
            before = "";
        }
        (prose, blocks)
    }

    fn headings(&self) -> BTreeSet<String> {
        let headings = self.parts().0.into_iter().map(|(_, line)| line);
        let headings = headings.filter_map(|line| line.strip_prefix('#'));
        headings
            .map(|title| anchor(title.trim_start_matches('#').trim()))
            .collect()
    }
}

/// How a heading is named in a link.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter_map(|sign| match sign {
        ' ' => Some('-'),
        '-' | '_' => Some(sign),
        _ if sign.is_alphanumeric() => Some(sign.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

/// Whether a line of a shell begins one of our commands.
fn is_ours(line: &str) -> bool {
    line.trim_start_matches("$ ").split('|').any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        words.first() == Some(&"longhaul") || words.starts_with(&["cargo", "run", "--release"])
    })
}

impl Block<'_> {
    /// Whether it shows commands of ours; those of other programs are not run.
    fn shows_ours(&self) -> bool {
        matches!(self.language, "sh" | "console") && self.lines.iter().any(|line| is_ours(line))
    }

    /// Runs what it shows, and compares what is printed.
    fn run(&self, machine: &Machine, page: &Page) {
        let at = format!("{}:{}", page.path.display(), self.line);
        if self.language == "sh" {
            let ran = shell(machine, &self.lines.join("\n"));
            assert_eq!(ran.code, 0, "{at}: {ran:?}");
            return;
        }
        let mut lines = self.lines.iter().peekable();
        while let Some(line) = lines.next() {
            let command = line
                .strip_prefix("$ ")
                .unwrap_or_else(|| panic!("{at}: a command stands behind `$ `: {line:?}"));
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                shown.push(*line);
            }
            assert_printed(&at, &shown, &shell(machine, command));
        }
    }
}

/// Runs a script as a reader would, in the folder of the machine.
fn shell(machine: &Machine, script: &str) -> Ran {
    let program = assert_cmd::cargo::cargo_bin!("longhaul");
    let folder = program.parent().unwrap().display();
    let script = script.replace("cargo run --release --", "longhaul");
    let mut command = Command::new("sh");
    command
        .args(["-eu", "-c", &script])
        .env_clear()
        .env("PATH", format!("{folder}:/usr/bin:/bin"))
        .env("HOME", machine.home())
        .env("LONGHAUL_NOW", NOW)
        .current_dir(machine.work())
        .stdin(Stdio::null());
    machine.finish(&mut command)
}

/// A line without what depends on the machine: how long something took.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_time = |at: usize| {
        let unit = words
            .get(at + 1)
            .map(|unit| unit.trim_end_matches([':', ')', ',']));
        matches!(unit, Some("ms" | "s")) && words[at].trim_start_matches('(').parse::<f64>().is_ok()
    };
    let kept = (0..words.len())
        .filter(|at| !is_time(*at))
        .map(|at| words[at]);
    kept.collect::<Vec<_>>().join(" ")
}

/// Every line stands in the output, in this order; ` …` stands for lines left out.
fn assert_printed(at: &str, shown: &[&str], ran: &Ran) {
    let fails = shown.iter().any(|line| line.starts_with("error:"));
    assert_eq!(ran.code != 0, fails, "{at}: {ran:?}");
    let all = format!("{}\n{}", ran.err, ran.out);
    let mut printed = all.lines().map(timeless);
    for line in shown.iter().filter(|line| line.trim() != "…") {
        let line = timeless(line);
        assert!(
            printed.any(|printed| printed == line),
            "{at}: what is shown is not printed (any more): {line}\n{all}"
        );
    }
}

/// The built-in sample as a session of pi in the machine's workspace.
fn put_sample(machine: &Machine) {
    static SAMPLE: OnceLock<String> = OnceLock::new();
    let sample = SAMPLE.get_or_init(|| {
        let machine = Machine::new();
        let ran = machine.run_line("sample demo.jsonl --turns 60 --compact-at 150k");
        assert_eq!(ran.code, 0, "{ran:?}");
        fs::read_to_string(machine.work().join("demo.jsonl")).unwrap()
    });
    let (header, entries) = sample.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    header["cwd"] = machine.work().to_string_lossy().into();
    machine.put_pi("demo", format!("{header}\n{entries}"), 2);
}

/// A page that makes a sample begins on an empty machine; every other finds one,
/// `demo`, where pi keeps its sessions.
#[test]
fn every_command_shown_is_run_and_does_what_is_shown() {
    let mut pages = book();
    pages.push(page("README.md"));
    let mut not_run = Vec::new();
    std::thread::scope(|scope| {
        for page in &pages {
            let (_, blocks) = page.parts();
            let blocks: Vec<Block<'_>> = blocks.into_iter().filter(Block::shows_ours).collect();
            for block in &blocks {
                if let Some(why) = block.not_run {
                    not_run.push(format!("{}:{} {why}", page.path.display(), block.line));
                }
            }
            let run: Vec<Block<'_>> = blocks
                .into_iter()
                .filter(|block| block.not_run.is_none())
                .collect();
            let samples = |block: &Block<'_>| block.lines.join(" ").contains(" sample ");
            let makes_one = run.iter().any(samples);
            scope.spawn(move || {
                let machine = Machine::new();
                if !makes_one {
                    put_sample(&machine);
                }
                for block in &run {
                    block.run(&machine, page);
                }
            });
        }
    });
    assert!(not_run.len() <= NOT_RUN, "{not_run:#?}");
}

/// A command with its options, as its manual page has them.
fn manual(page: &str) -> (String, BTreeSet<String>) {
    let page = page.replace("\\-", "-");
    let (_, synopsis) = page.split_once("\n\\fBlonghaul").unwrap();
    let (command, _) = synopsis.split_once("\\fR").unwrap();
    let options = page
        .split_once("\n.SH OPTIONS\n")
        .map_or("", |(_, rest)| rest);
    let options = options.split("\n.SH").next().unwrap_or("");
    let heads = options.lines().filter(|line| line.starts_with("\\fB-"));
    let names = heads.flat_map(|line| line.split("\\fB").filter(|part| part.starts_with("--")));
    let mut names: BTreeSet<String> = names
        .filter_map(|part| part.split('\\').next())
        .map(str::to_owned)
        .collect();
    names.retain(|name| name != "--help" && name != "--version");
    (command.trim().to_owned(), names)
}

/// What the reference says of a command: the row of a table that begins with it,
/// or its section.
fn said_of<'a>(page: &'a str, command: &str) -> &'a str {
    let is_row = |line: &&str| {
        let first = line
            .strip_prefix("| ")
            .and_then(|row| row.split(" |").next());
        spans(first.unwrap_or("")).iter().any(|span| {
            let rest = span.strip_prefix(command);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    };
    if let Some(row) = page.lines().find(is_row) {
        return row;
    }
    let group = command.split(' ').next().unwrap();
    let begin = page
        .find(&format!("\n## {group}"))
        .unwrap_or_else(|| panic!("the reference does not have `{command}`"));
    let section = &page[begin + 1..];
    section.find("\n## ").map_or(section, |end| &section[..end])
}

#[test]
fn the_reference_has_every_command_with_every_option() {
    let machine = Machine::new();
    let ran = machine.run_line("man --dir .");
    assert_eq!(ran.code, 0, "{ran:?}");
    let reference = page("docs/src/commands.md").text;
    let mut count = 0;
    for entry in fs::read_dir(machine.work()).unwrap() {
        let page = fs::read_to_string(entry.unwrap().path()).unwrap();
        let (command, options) = manual(&page);
        if command.is_empty() {
            continue;
        }
        let said = said_of(&reference, &command);
        assert!(said.contains(command.split(' ').next_back().unwrap()));
        for option in &options {
            let is_said = said.contains(option.as_str())
                || option == "--session" && said.contains("[SESSION]");
            assert!(is_said, "{command} {option}: {said}");
        }
        count += options.len();
    }
    assert!(count > 100, "{count}");
}

/// The spans of code in a cell of a table.
fn spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Rows name settings; one that ends in `.*` a group, with the numbers of its members.
#[test]
fn the_table_of_settings_has_every_setting_with_its_default() {
    let settings = Machine::new().run_line("config show --json").json();
    let settings = settings.as_object().unwrap();
    let page = page("docs/src/configuration.md").text;
    let (_, table) = page.split_once("\n## Keys\n").unwrap();
    let mut named = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let mut group = "";
        for span in spans(cells[1]) {
            let key = match span.rsplit_once('.') {
                Some((before, _)) => {
                    group = before;
                    span.trim_end_matches(".*").to_owned()
                }
                None if group.is_empty() => span.to_owned(),
                None => format!("{group}.{span}"),
            };
            let below = format!("{key}.");
            let has = |name: &&String| **name == key || name.starts_with(&below);
            let found: Vec<&String> = settings.keys().filter(has).collect();
            assert!(!found.is_empty(), "there is no setting {key}: {row}");
            named.extend(found);
        }
        let parts: Vec<&str> = cells[3].split('`').collect();
        for pair in parts.get(1..).unwrap_or_default().chunks(2) {
            let [name, rest] = pair else { continue };
            let number = rest.trim().split([' ', ',', ';']).next().unwrap_or("");
            if let Ok(number) = number.parse::<f64>() {
                let key = format!("{group}.{name}");
                assert_eq!(settings[&key].as_f64(), Some(number), "{key}");
            }
        }
    }
    let unnamed: Vec<&String> = settings.keys().filter(|key| !named.contains(key)).collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut pages = book();
    pages.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(page));
    let mut count = 0;
    for page in &pages {
        for (line, text) in page.parts().0 {
            // What stands in a span of code is no link.
            let text: String = text.split('`').step_by(2).collect();
            let targets = text
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split_once(')'));
            for (target, _) in targets.filter(|(target, _)| !target.contains(':')) {
                let at = format!("{}:{line} leads to {target}", page.path.display());
                let (file, section) = target.split_once('#').unwrap_or((target, ""));
                let led = match file {
                    "" => page.path.clone(),
                    _ => page.path.parent().unwrap().join(file),
                };
                assert!(root().join(&led).exists(), "{at}");
                if !section.is_empty() {
                    let led = self::page(led.to_str().unwrap());
                    assert!(led.headings().contains(section), "{at}");
                }
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn every_page_is_in_the_summary_and_the_book_is_short() {
    let pages = book();
    let summary = page("docs/src/SUMMARY.md").text;
    let mut words = 0;
    for page in &pages {
        words += page.text.split_whitespace().count();
        let name = page.path.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name}"
        );
        let mut paragraph = 0;
        for (line, text) in page.parts().0 {
            let begins = text.is_empty() || text.starts_with(['|', '-', '#']);
            let begins = begins || text.starts_with(|sign: char| sign.is_ascii_digit());
            paragraph = if begins { 0 } else { paragraph };
            if !text.starts_with('|') {
                paragraph += text.split_whitespace().count();
            }
            assert!(
                paragraph <= LONGEST_PARAGRAPH,
                "{name}:{line}: a paragraph of {paragraph} words"
            );
        }
    }
    assert!(words <= MOST_WORDS, "{words}");
}
