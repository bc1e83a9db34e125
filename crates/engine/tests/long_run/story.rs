//! What is said and done, turn by turn: the same every time, from one seed.

/// A small generator of numbers that look random.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len())]
    }
}

/// Files that are changed in the course of it.
pub(crate) const FILES: usize = 30;

/// Rules that hold until the end, in several languages, and when they are said.
pub(crate) const RULES: [(usize, &str); 8] = [
    (1, "Never push to the main branch."),
    (
        3,
        "Always run the linter before you say that something is done.",
    ),
    (8, "Bitte ändere niemals die Datei LICENSE."),
    (15, "请不要删除任何测试。"),
    (30, "No uses nunca dependencias con licencia GPL."),
    (45, "Do not touch the billing module until I say so."),
    (60, "Ne supprime jamais le fichier CHANGELOG.md."),
    (80, "テストを決して無効にしないでください。"),
];

/// The whole of it.
#[derive(Debug, Clone)]
pub(crate) struct Story {
    pub(crate) turns: usize,
}

/// A call of a tool: its name and its arguments.
pub(crate) type Call = (String, String);

impl Story {
    pub(crate) fn new(turns: usize) -> Story {
        Story { turns }
    }

    /// What the user says in a turn: a rule by itself, or work. All of it is twenty
    /// times what the budget for the user's words holds, so what stays is decided by
    /// length alone, and a rule is shorter than any work.
    pub(crate) fn message(&self, turn: usize) -> String {
        if let Some((_, rule)) = RULES.iter().find(|(at, _)| self.rule_turn(*at) == turn) {
            return format!("Turn {turn}: {rule}");
        }
        let mut dice = Dice::new(turn as u64 * 7_919);
        format!(
            "Turn {turn}: in src/m{:02}.rs the helper walk_{turn} returns {} frames for ticket \
             LH-{}{turn}; have a look and bring it in line with {}.",
            dice.below(FILES),
            dice.below(90_000),
            dice.below(9),
            nouns(&mut dice, 9),
        )
    }

    /// The turn in which a rule is given: in a longer story later.
    pub(crate) fn rule_turn(&self, at: usize) -> usize {
        match at {
            1..=3 => at,
            _ => at * self.turns / 100,
        }
    }

    /// What the model does in a round of a turn; `None` when it is done.
    pub(crate) fn calls(
        &self,
        turn: usize,
        round: usize,
        version: &dyn Fn(&str) -> usize,
    ) -> Option<Vec<Call>> {
        let mut dice = Dice::new(turn as u64 * 104_729);
        let rounds = dice.below(4);
        if round >= rounds {
            return None;
        }
        let mut dice = Dice::new((turn * 31 + round) as u64 * 15_485_863);
        let mut calls = Vec::new();
        if turn.is_multiple_of(15) && round == 0 {
            calls.push(("todo".to_owned(), self.todo(turn)));
        }
        for _ in 0..1 + dice.below(2) {
            let file = format!("src/m{:02}.rs", dice.below(FILES));
            calls.push(match (version(&file), dice.below(10)) {
                (0, _) => ("write".to_owned(), write(&file, &mut dice)),
                (_, 0) => ("write".to_owned(), write(&file, &mut dice)),
                (now, 1..=4) => ("edit".to_owned(), edit(&file, now)),
                _ => (
                    "read".to_owned(),
                    serde_json::json!({ "path": file }).to_string(),
                ),
            });
        }
        // One change of a file in a round: the second would not know of the first.
        let mut changed = std::collections::HashSet::new();
        calls.retain(|(name, arguments)| {
            !matches!(name.as_str(), "write" | "edit") || {
                let path: serde_json::Value = serde_json::from_str(arguments).unwrap();
                changed.insert(path["path"].to_string())
            }
        });
        Some(calls)
    }

    /// What the model says at the end of a turn.
    pub(crate) fn answer(&self, turn: usize) -> String {
        let mut dice = Dice::new(turn as u64 * 611_953);
        format!(
            "For turn {turn} walk_{turn} is looked after: {} stand as they should, {} of them \
             measured, {}.",
            nouns(&mut dice, 8),
            dice.below(70_000),
            nouns(&mut dice, 6),
        )
    }

    fn todo(&self, turn: usize) -> String {
        let now = turn / 15;
        let items: Vec<serde_json::Value> = (now.saturating_sub(2)..now + 3)
            .map(|at| {
                let status = match at.cmp(&now) {
                    std::cmp::Ordering::Less => "completed",
                    std::cmp::Ordering::Equal => "in_progress",
                    std::cmp::Ordering::Greater => "pending",
                };
                serde_json::json!({ "content": item(at), "status": status })
            })
            .collect();
        serde_json::json!({ "todos": items }).to_string()
    }
}

fn item(at: usize) -> String {
    const WORK: [&str; 4] = ["migrate", "measure", "document", "port"];
    format!("{} the walker of group {at}", WORK[at % WORK.len()])
}

fn write(file: &str, dice: &mut Dice) -> String {
    let mut text = String::from("// version 1\n");
    for line in 0..20 + dice.below(50) {
        text.push_str(&format!(
            "let {}_{line} = {}; // {}\n",
            nouns(dice, 1),
            dice.below(100_000),
            nouns(dice, 3)
        ));
    }
    serde_json::json!({ "path": file, "content": text }).to_string()
}

fn edit(file: &str, now: usize) -> String {
    serde_json::json!({
        "path": file,
        "edits": [{
            "oldText": format!("// version {now}\n"),
            "newText": format!("// version {}\n", now + 1),
        }],
    })
    .to_string()
}

fn nouns(dice: &mut Dice, count: usize) -> String {
    const NOUNS: [&str; 40] = [
        "frame", "walker", "cursor", "ledger", "anchor", "gauge", "window", "digest", "parser",
        "writer", "reader", "branch", "marker", "filter", "bucket", "column", "offset", "header",
        "footer", "packet", "socket", "buffer", "vector", "matrix", "kernel", "module", "folder",
        "record", "schema", "signal", "thread", "worker", "queue", "stack", "graph", "table",
        "index", "cache", "token", "chunk",
    ];
    let words: Vec<&str> = (0..count).map(|_| *dice.pick(&NOUNS)).collect();
    words.join(" ")
}
