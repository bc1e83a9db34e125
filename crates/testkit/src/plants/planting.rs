//! Puts texts of our own into a session, spread from its beginning to its end.

use longhaul_transcript::{Channel, Draft, Entry, EntryId, Millis, Stamp};
use serde_json::{Value, json};

use super::texts::TEXTS;

/// What was planted and must be kept.
#[derive(Debug, Default, Clone)]
pub struct Planted {
    /// What the user wants.
    pub wishes: Vec<String>,
    /// What the user says is so.
    pub facts: Vec<String>,
    /// In tool output and in the agent's words: statement and exact part.
    pub hidden: Vec<(String, String)>,
    /// A statement and the one that takes its place.
    pub corrections: Vec<(String, String)>,
    /// Commands that fail now, each with its first error line.
    pub failing: Vec<(String, String)>,
}

/// One thing to plant.
#[derive(Debug, Clone)]
pub enum Plant {
    /// The user's words, and how they come.
    Said(Channel, String),
    /// The agent's words.
    Words(String),
    /// A call, what came of it, and how it ended.
    Tool(&'static str, Value, String, Ending),
}

/// How a call ends.
#[derive(Debug, Clone)]
pub enum Ending {
    /// As it should.
    Fine,
    /// With an error.
    Failed,
    /// Before it began: the user did not want it.
    Refused,
    /// With the user's answer to a question.
    Answered(String, String),
}

fn tool(name: &'static str, input: Value, result: &str) -> Plant {
    Plant::Tool(name, input, result.to_owned(), Ending::Fine)
}

fn shell(command: &str, result: &str) -> Plant {
    let ending = match result.starts_with("Exit code") {
        true => Ending::Failed,
        false => Ending::Fine,
    };
    let input = json!({"command": command});
    Plant::Tool("Bash", input, result.to_owned(), ending)
}

/// So many of a pool, from a place that differs by session.
fn some<T>(pool: &'static [T], session: usize, count: usize) -> impl Iterator<Item = &'static T> {
    pool.iter()
        .cycle()
        .skip(session * count)
        .take(count.min(pool.len()))
}

/// What goes into a chat: only what people and assistants say.
pub fn for_chat(session: usize) -> (Vec<Plant>, Planted) {
    let mut planted = Planted::default();
    let mut plants = Vec::new();
    let said = |text: &str| Plant::Said(Channel::Prompt, text.to_owned());
    let wishes: Vec<&String> = some(&TEXTS.wishes, session, 22).collect();
    let mut facts = some(&TEXTS.facts, session, 5);
    let mut hidden = some(&TEXTS.hidden, session, 4);
    for (at, wish) in wishes.iter().enumerate() {
        plants.push(said(wish));
        planted.wishes.push((*wish).to_owned());
        if at % 4 == 1
            && let Some((text, _)) = facts.next()
        {
            plants.push(said(text));
            planted.facts.push((*text).to_owned());
        }
        if at % 5 == 3
            && let Some((text, value)) = hidden.next()
        {
            plants.push(Plant::Words((*text).to_owned()));
            planted
                .hidden
                .push(((*text).to_owned(), (*value).to_owned()));
        }
    }
    correct(&mut plants, &mut planted, session, 5);
    (plants, planted)
}

/// Old statements in the first half, the new ones well below each.
fn correct(plants: &mut Vec<Plant>, planted: &mut Planted, session: usize, count: usize) {
    let half = plants.len() / 2;
    let said = |text: &str| Plant::Said(Channel::Prompt, text.to_owned());
    for (at, (old, new)) in some(&TEXTS.corrections, session, count).enumerate() {
        plants.insert(half + at * 3, said(new));
        plants.insert((at * 2).min(half), said(old));
        planted
            .corrections
            .push(((*old).to_owned(), (*new).to_owned()));
    }
}

/// What goes into an agent's session: words through every channel, notes,
/// agreements, commands that fail and commands that do not.
pub fn for_agent(session: usize, has_todos: bool) -> (Vec<Plant>, Planted) {
    let mut planted = Planted::default();
    let mut plants = Vec::new();
    let channels = [
        Channel::Prompt,
        Channel::Queued,
        Channel::Prompt,
        Channel::Rejection,
        Channel::Prompt,
        Channel::Plan,
    ];
    for (at, wish) in some(&TEXTS.wishes, session, 14).enumerate() {
        plants.push(Plant::Said(
            channels[at % channels.len()],
            (*wish).to_owned(),
        ));
        planted.wishes.push((*wish).to_owned());
    }
    for (at, (text, _)) in some(&TEXTS.facts, session, 4).enumerate() {
        plants.insert(at * 4 + 1, Plant::Said(Channel::Prompt, (*text).to_owned()));
        planted.facts.push((*text).to_owned());
    }
    for (at, (text, value)) in some(&TEXTS.hidden, session, 4).enumerate() {
        let plant = match at % 2 {
            0 => Plant::Words((*text).to_owned()),
            _ => shell("./report --today", &format!("ok\n{text}\n3 rows")),
        };
        plants.insert(at * 3 + 2, plant);
        planted
            .hidden
            .push(((*text).to_owned(), (*value).to_owned()));
    }
    for (at, (kind, text)) in some(&TEXTS.notes, session, 4).enumerate() {
        let input = json!({"kind": kind, "text": text});
        plants.insert(at * 4 + 2, tool("note", input, "noted"));
    }
    for (question, options, answer) in some(&TEXTS.questions, session, 1) {
        let options: Vec<Value> = options
            .iter()
            .map(|label| json!({"label": label}))
            .collect();
        let input = json!({"questions": [{"question": question, "options": options}]});
        let result = format!(
            "User has answered your questions: \"{question}\"=\"{answer}\". You can now \
             continue with the user's answers in mind."
        );
        let ending = Ending::Answered(question.clone(), answer.clone());
        plants.insert(5, Plant::Tool("AskUserQuestion", input, result, ending));
    }
    for plan in some(&TEXTS.plans, session, 1) {
        let result = format!(
            "User has approved your plan. You can now start coding.\n\n## Approved Plan:\n{plan}"
        );
        plants.insert(9, tool("ExitPlanMode", json!({"plan": plan}), &result));
    }
    work(&mut plants, &mut planted, has_todos);
    correct(&mut plants, &mut planted, session, 4);
    (plants, planted)
}

fn work(plants: &mut Vec<Plant>, planted: &mut Planted, has_todos: bool) {
    let failing = (
        "make -C tools/lantern check",
        "lantern.cfg:14: unknown key `wick`",
    );
    planted
        .failing
        .push((failing.0.to_owned(), failing.1.to_owned()));
    let refused = Plant::Tool(
        "Bash",
        json!({"command": "./scripts/publish-orchard.sh --now"}),
        "The user doesn't want to take this action right now. STOP what you are doing and wait \
         for the user to tell you how to proceed."
            .to_owned(),
        Ending::Refused,
    );
    let missing = Plant::Tool(
        "Read",
        json!({"file_path": "/nowhere/pear-notes.txt"}),
        "File does not exist.".to_owned(),
        Ending::Failed,
    );
    let later = [
        (
            3,
            shell(
                "./scripts/verify-orchard.sh --all",
                "Exit code 3\nrow 18: blank variety",
            ),
        ),
        (6, shell("grep -rn moonraker src", "Exit code 1")),
        (
            8,
            shell(
                failing.0,
                &format!("Exit code 2\n{}\nmake: *** [check] Error 1", failing.1),
            ),
        ),
        (
            11,
            shell(
                "diff -u pears.csv quinces.csv",
                "Exit code 1\n-pear\n+quince",
            ),
        ),
        (13, missing),
        (15, refused),
        (
            18,
            shell("./scripts/verify-orchard.sh --all", "all rows fine"),
        ),
    ];
    for (at, plant) in later {
        plants.insert(at, plant);
    }
    if has_todos {
        return;
    }
    for (at, done) in [(4, false), (20, true)] {
        let state = |finished: bool| {
            if finished && done {
                "completed"
            } else {
                "pending"
            }
        };
        let items: Vec<Value> = TEXTS
            .items
            .iter()
            .map(|(item, finished)| json!({"content": item, "status": state(*finished)}))
            .collect();
        let input = json!({"todos": items});
        plants.insert(
            at,
            tool("TodoWrite", input, "Todos have been modified successfully."),
        );
    }
}

/// The call and the result through which words come that are no message.
fn through_a_tool(channel: Channel, words: &str) -> Option<(&'static str, Value, String)> {
    let refusal = format!(
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if \
         it was a file edit, the new_string was NOT written to the file). To tell you how to \
         proceed, the user said:\n{words}"
    );
    match channel {
        Channel::Rejection => Some((
            "Bash",
            json!({"command": "./scripts/sweep-barn.sh"}),
            refusal,
        )),
        Channel::Plan => Some(("ExitPlanMode", json!({"plan": "Sweep the barn."}), refusal)),
        Channel::Prompt | Channel::Queued | Channel::Answer => None,
    }
}

/// The place of each plant among `count` places, in order.
fn spread(plants: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..plants).map(move |at| at * count / plants.max(1))
}

/// Lines of Claude Code with plants between them, before lines at these places.
pub fn into_claude(lines: &[&str], places: &[usize], plants: &[Plant]) -> Vec<String> {
    let mut at_line: Vec<Vec<(usize, &Plant)>> = vec![Vec::new(); lines.len()];
    if !places.is_empty() {
        for ((number, plant), place) in plants
            .iter()
            .enumerate()
            .zip(spread(plants.len(), places.len()))
        {
            at_line[places[place]].push((number, plant));
        }
    }
    let mut written = Vec::new();
    for (line, plants) in lines.iter().zip(at_line) {
        if plants.is_empty() {
            written.push((*line).to_owned());
            continue;
        }
        let mut record: Value = serde_json::from_str(line).unwrap_or_default();
        let mut chain = Chain {
            parent: record["parentUuid"].clone(),
            like: record.clone(),
            lines: Vec::new(),
            number: 0,
        };
        for (number, plant) in plants {
            chain.number = number;
            chain.plant(plant);
        }
        written.append(&mut chain.lines);
        record["parentUuid"] = chain.parent;
        written.push(record.to_string());
    }
    written
}

/// Records that hang on each other.
struct Chain {
    parent: Value,
    like: Value,
    lines: Vec<String>,
    number: usize,
}

impl Chain {
    fn plant(&mut self, plant: &Plant) {
        match plant {
            Plant::Said(Channel::Queued, words) => {
                for record in [
                    json!({"operation": "enqueue", "content": words}),
                    json!({"operation": "remove"}),
                ] {
                    let mut record = record;
                    record["type"] = "queue-operation".into();
                    for key in ["timestamp", "sessionId"] {
                        record[key] = self.like[key].clone();
                    }
                    self.lines.push(record.to_string());
                }
            }
            Plant::Said(channel, words) => match through_a_tool(*channel, words) {
                Some((name, input, result)) => self.exchange(name, &input, &result, true),
                None => {
                    self.record("user", json!({"role": "user", "content": words}));
                    self.words("Understood.");
                }
            },
            Plant::Words(words) => self.words(words),
            Plant::Tool(name, input, result, ending) => {
                let is_error = matches!(ending, Ending::Failed | Ending::Refused);
                self.exchange(name, input, result, is_error);
            }
        }
    }

    fn words(&mut self, words: &str) {
        self.answer(json!({"type": "text", "text": words}), "end_turn");
    }

    fn answer(&mut self, block: Value, stop: &str) {
        let message = json!({
            "id": format!("msg_planted_{}_{}", self.number, self.lines.len()),
            "type": "message", "role": "assistant", "model": "claude-opus-4-5-20251101",
            "content": [block], "stop_reason": stop,
        });
        self.record("assistant", message);
    }

    fn exchange(&mut self, name: &str, input: &Value, result: &str, is_error: bool) {
        let id = format!("toolu_planted_{}", self.number);
        let call = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        self.answer(call, "tool_use");
        let mut answer = json!({"type": "tool_result", "tool_use_id": id, "content": result});
        if is_error {
            answer["is_error"] = true.into();
        }
        self.record("user", json!({"role": "user", "content": [answer]}));
    }

    fn record(&mut self, kind: &str, message: Value) {
        let number = self.number as u64;
        let uuid = format!("0000{number:04x}-face-4000-8000-{:012x}", self.lines.len());
        let mut record = json!({
            "parentUuid": self.parent, "isSidechain": false, "type": kind,
            "message": message, "uuid": uuid,
        });
        for key in [
            "timestamp",
            "sessionId",
            "cwd",
            "version",
            "gitBranch",
            "userType",
        ] {
            record[key] = self.like[key].clone();
        }
        self.lines.push(record.to_string());
        self.parent = uuid.into();
    }
}

/// Native entries with plants between them.
pub fn into_native(entries: Vec<Entry>, plants: &[Plant]) -> Vec<Entry> {
    let places = native_places(&entries);
    if places.is_empty() {
        return entries;
    }
    let mut next = plants
        .iter()
        .enumerate()
        .zip(spread(plants.len(), places.len()))
        .peekable();
    let mut planted = Vec::with_capacity(entries.len() + plants.len() * 2);
    for (at, entry) in entries.into_iter().enumerate() {
        while let Some(((number, plant), _)) = next.next_if(|(_, place)| places[*place] == at) {
            let time = entry.time.unwrap_or(Millis(0));
            for (part, message) in native(number, plant).into_iter().enumerate() {
                planted.push(native_entry(
                    &format!("planted-{number:03}-{part}"),
                    time,
                    message,
                ));
            }
        }
        planted.push(entry);
    }
    planted
}

/// Before a request of the user, with no call open.
fn native_places(entries: &[Entry]) -> Vec<usize> {
    let mut open = 0usize;
    let mut places = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(message) = entry.message() else {
            continue;
        };
        match message.role.as_str() {
            "assistant" => open = message.tool_calls().len(),
            "toolResult" => open = open.saturating_sub(1),
            "user" if open == 0 && at > 0 => places.push(at),
            _ => {}
        }
    }
    places
}

fn native(number: usize, plant: &Plant) -> Vec<Value> {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let answer =
        |words: &str| json!({"role": "assistant", "content": text(words), "stopReason": "stop"});
    let exchange =
        |name: &str, input: &Value, words: &str, ending: &Ending, said: Option<Value>| {
            let id = format!("call-planted-{number}");
            let call = json!({"type": "toolCall", "id": id, "name": name, "arguments": input});
            let mut result = json!({
                "role": "toolResult", "toolCallId": id, "toolName": name, "content": text(words),
                "isError": matches!(ending, Ending::Failed | Ending::Refused),
            });
            if let Some(said) = said {
                result["userText"] = json!([said]);
            }
            if matches!(ending, Ending::Refused) {
                result["rejected"] = json!(true);
            }
            vec![
                json!({"role": "assistant", "content": [call], "stopReason": "toolUse"}),
                result,
            ]
        };
    match plant {
        Plant::Words(words) => vec![answer(words)],
        Plant::Said(channel, words) => match through_a_tool(*channel, words) {
            Some((name, input, result)) => {
                let said = json!({"channel": channel.as_str(), "text": words});
                exchange(name, &input, &result, &Ending::Refused, Some(said))
            }
            None => {
                let mut message = json!({"role": "user", "content": text(words)});
                if *channel != Channel::Prompt {
                    message["userText"] = json!([{"channel": channel.as_str(), "text": words}]);
                }
                vec![message, answer("Understood.")]
            }
        },
        Plant::Tool(name, input, result, ending) => {
            let said = match ending {
                Ending::Answered(question, answer) => {
                    Some(json!({"channel": "answer", "question": question, "text": answer}))
                }
                _ => None,
            };
            exchange(name, input, result, ending, said)
        }
    }
}

/// An entry with this message.
fn native_entry(id: &str, time: Millis, mut message: Value) -> Entry {
    message["timestamp"] = time.0.into();
    let stamp = Stamp {
        id: EntryId::new(id),
        time,
    };
    Draft::Message(message.to_string()).to_entry(&stamp, None)
}

/// A plain message of somebody.
pub fn says(id: &str, time: Millis, role: &str, text: &str) -> Entry {
    let mut message = json!({"role": role, "content": [{"type": "text", "text": text}]});
    if role == "assistant" {
        message["stopReason"] = "stop".into();
    }
    native_entry(id, time, message)
}
