//! Lines of a session file, byte for byte as pi writes them.
use std::io::{self, BufWriter, Write};

use longhaul_transcript::Millis;

use super::plan::Plan;
use super::rng::{BASE62, Rng, mix};
use super::step::Step;
use super::window::{Id, Window, tokens_of};

/// Dollars a million tokens: input, output, cache read, cache write.
const PRICES: [f64; 4] = [3.0, 15.0, 0.3, 3.75];
/// A provider forgets a cached prefix after five minutes.
const CACHE_MS: i64 = 300_000;
/// How long a model takes; half of the answers need less than 7 seconds.
const ANSWER_MS: &[i64] = &[
    1_400, 2_600, 3_700, 4_900, 6_000, 7_000, 8_900, 12_000, 18_000, 34_000, 110_000,
];
/// pi counts a picture as so many characters.
const PICTURE_CHARS: u64 = 4_800;

/// How an answer of the model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Done,
    ToolUse,
    Failed(&'static str),
}

/// Writes the file and keeps what the next line depends on.
pub(super) struct Recorder<'a> {
    out: BufWriter<&'a mut dyn Write>,
    line: Vec<u8>,
    pub(super) bytes: u64,
    pub(super) lines: u64,
    pub(super) window: Window,
    now: i64,
    id_key: u32,
    parent: Option<Id>,
    api: &'static str,
    provider: String,
    model: String,
    last_request: i64,
    cached: u64,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(plan: &Plan, out: &'a mut dyn Write) -> Recorder<'a> {
        Recorder {
            out: BufWriter::with_capacity(256 * 1024, out),
            line: Vec::with_capacity(64 * 1024),
            bytes: 0,
            lines: 0,
            window: Window::new(plan.compactions),
            now: plan.start.0,
            id_key: mix(plan.seed ^ 0x1d) as u32,
            parent: None,
            api: match plan.provider.as_str() {
                "anthropic" => "anthropic-messages",
                "openai" => "openai-responses",
                "google" => "google-generative-ai",
                _ => "openai-completions",
            },
            provider: plan.provider.clone(),
            model: plan.model.clone(),
            last_request: i64::MIN / 2,
            cached: 0,
        }
    }

    pub(super) fn wait(&mut self, ms: i64) {
        self.now += ms;
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    pub(super) fn header(&mut self, id: &str, cwd: &str) -> io::Result<()> {
        self.raw("{\"type\":\"session\",\"version\":3,\"id\":");
        self.quoted(id)?;
        self.raw(",\"timestamp\":\"");
        self.iso();
        self.raw("\",\"cwd\":");
        self.quoted(cwd)?;
        self.end()?;
        Ok(())
    }

    pub(super) fn settings(&mut self, level: &str) -> io::Result<()> {
        self.wait(231);
        self.begin("model_change");
        self.raw(",\"provider\":");
        let (provider, model) = (self.provider.clone(), self.model.clone());
        self.quoted(&provider)?;
        self.raw(",\"modelId\":");
        self.quoted(&model)?;
        self.end()?;
        self.thinking_level(level)
    }

    pub(super) fn thinking_level(&mut self, level: &str) -> io::Result<()> {
        self.begin("thinking_level_change");
        self.raw(",\"thinkingLevel\":");
        self.quoted(level)?;
        self.end()?;
        Ok(())
    }

    pub(super) fn user(&mut self, text: &str, picture: Option<&str>) -> io::Result<u64> {
        let said = self.now;
        self.wait(4);
        let id = self.begin("message");
        self.raw(",\"message\":{\"role\":\"user\",\"content\":[");
        self.content(text, picture)?;
        self.raw(&format!("],\"timestamp\":{said}}}"));
        self.window
            .push(id, chars(text) + picture.map_or(0, |_| PICTURE_CHARS), true);
        self.end()
    }

    pub(super) fn assistant(
        &mut self,
        thinking: Option<&str>,
        text: &str,
        steps: &[Step],
        stop: Stop,
        rng: &mut Rng,
    ) -> io::Result<u64> {
        self.wait(2);
        let asked = self.now;
        self.wait(rng.along(ANSWER_MS));
        let id = self.begin("message");
        self.raw(",\"message\":{\"role\":\"assistant\",\"content\":[");
        let mut length = 0;
        let mut separator = "";
        if let Some(thinking) = thinking {
            let mut signature = String::from("Er");
            rng.letters(BASE62, 180, &mut signature);
            self.raw("{\"type\":\"thinking\",\"thinking\":");
            self.quoted(thinking)?;
            self.raw(&format!(",\"thinkingSignature\":\"{signature}\"}}"));
            separator = ",";
            length += chars(thinking);
        }
        if !text.is_empty() {
            self.raw(separator);
            self.raw("{\"type\":\"text\",\"text\":");
            self.quoted(text)?;
            self.raw("}");
            separator = ",";
            length += chars(text);
        }
        for step in steps {
            self.raw(separator);
            self.raw("{\"type\":\"toolCall\",\"id\":\"");
            self.raw(&step.id);
            self.raw("\",\"name\":\"");
            self.raw(step.tool);
            self.raw("\",\"arguments\":");
            self.raw(&step.arguments);
            self.raw("}");
            separator = ",";
            length += chars(&step.arguments) + step.tool.len() as u64;
        }
        self.raw(&format!("],\"api\":\"{}\",\"provider\":", self.api));
        let (provider, model) = (self.provider.clone(), self.model.clone());
        self.quoted(&provider)?;
        self.raw(",\"model\":");
        self.quoted(&model)?;
        let (usage, reason, error) = match stop {
            Stop::Failed(error) => ([0; 4], "error", Some(error)),
            Stop::Done => (self.usage(asked, length, rng), "stop", None),
            Stop::ToolUse => (self.usage(asked, length, rng), "toolUse", None),
        };
        self.write_usage(usage);
        self.raw(&format!(
            ",\"stopReason\":\"{reason}\",\"timestamp\":{asked}"
        ));
        if let Some(error) = error {
            self.raw(",\"errorMessage\":");
            self.quoted(error)?;
        }
        self.raw("}");
        self.window.push(id, length, true);
        self.end()
    }

    pub(super) fn result(&mut self, step: &Step) -> io::Result<u64> {
        self.wait(step.took);
        let done = self.now;
        self.wait(1);
        let id = self.begin("message");
        self.raw(",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"");
        self.raw(&step.id);
        self.raw("\",\"toolName\":\"");
        self.raw(step.tool);
        self.raw("\",\"content\":[");
        self.content(&step.result, step.picture.as_deref())?;
        self.raw("]");
        if let Some(details) = &step.details {
            self.raw(",\"details\":");
            self.raw(details);
        }
        self.raw(&format!(
            ",\"isError\":{},\"timestamp\":{done}}}",
            step.failed
        ));
        let pictures = step.picture.as_ref().map_or(0, |_| PICTURE_CHARS);
        self.window.push(id, chars(&step.result) + pictures, false);
        self.end()
    }

    /// A command that the user ran in the agent's prompt.
    pub(super) fn bash_execution(&mut self, command: &str, output: &str) -> io::Result<u64> {
        let done = self.now;
        let id = self.begin("message");
        self.raw(",\"message\":{\"role\":\"bashExecution\",\"command\":");
        self.quoted(command)?;
        self.raw(",\"output\":");
        self.quoted(output)?;
        self.raw(&format!(
            ",\"exitCode\":0,\"cancelled\":false,\"truncated\":false,\"timestamp\":{done}}}"
        ));
        self.window.push(id, chars(command) + chars(output), true);
        self.end()
    }

    pub(super) fn compaction(
        &mut self,
        first: Id,
        tokens_before: u64,
        summary: &str,
        details: &str,
    ) -> io::Result<u64> {
        self.wait(17_350);
        self.begin("compaction");
        self.raw(",\"summary\":");
        self.quoted(summary)?;
        self.raw(",\"firstKeptEntryId\":\"");
        self.line.extend_from_slice(&first);
        self.raw(&format!(
            "\",\"tokensBefore\":{tokens_before},\"details\":{details}"
        ));
        self.window.compact(first, chars(summary));
        self.cached = Window::fixed_tokens();
        self.end()
    }

    fn content(&mut self, text: &str, picture: Option<&str>) -> io::Result<()> {
        self.raw("{\"type\":\"text\",\"text\":");
        self.quoted(text)?;
        self.raw("}");
        if let Some(picture) = picture {
            self.raw(",{\"type\":\"image\",\"data\":\"");
            self.raw(picture);
            self.raw("\",\"mimeType\":\"image/png\"}");
        }
        Ok(())
    }

    /// Input, output, cache read and cache write of a request made at `asked`.
    fn usage(&mut self, asked: i64, answer_chars: u64, rng: &mut Rng) -> [u64; 4] {
        let prompt = self.window.tokens();
        let output = tokens_of(answer_chars) + rng.between(4, 40) as u64;
        let read = match asked - self.last_request {
            gap if gap <= CACHE_MS => self.cached.min(prompt),
            _ => 0,
        };
        self.last_request = asked;
        self.cached = prompt;
        if self.api == "anthropic-messages" {
            let input = (rng.between(2, 10) as u64).min(prompt - read);
            [input, output, read, prompt - read - input]
        } else {
            [prompt - read, output, read, 0]
        }
    }

    fn write_usage(&mut self, usage: [u64; 4]) {
        let [input, output, read, write] = usage;
        let total: u64 = usage.iter().sum();
        let cost: [f64; 4] = std::array::from_fn(|at| PRICES[at] / 1_000_000.0 * usage[at] as f64);
        let sum = cost[0] + cost[1] + cost[2] + cost[3];
        self.raw(&format!(
            ",\"usage\":{{\"input\":{input},\"output\":{output},\"cacheRead\":{read},\
             \"cacheWrite\":{write},\"totalTokens\":{total},\"cost\":{{\"input\":{},\
             \"output\":{},\"cacheRead\":{},\"cacheWrite\":{},\"total\":{sum}}}}}",
            cost[0], cost[1], cost[2], cost[3],
        ));
    }

    fn begin(&mut self, kind: &str) -> Id {
        let id = self.next_id();
        self.raw("{\"type\":\"");
        self.raw(kind);
        self.raw("\",\"id\":\"");
        self.line.extend_from_slice(&id);
        match self.parent.replace(id) {
            Some(parent) => {
                self.raw("\",\"parentId\":\"");
                self.line.extend_from_slice(&parent);
                self.raw("\"");
            }
            None => self.raw("\",\"parentId\":null"),
        }
        self.raw(",\"timestamp\":\"");
        self.iso();
        self.raw("\"");
        id
    }

    /// Ends the line and returns its number.
    fn end(&mut self) -> io::Result<u64> {
        self.raw("}\n");
        self.out.write_all(&self.line)?;
        self.bytes += self.line.len() as u64;
        self.lines += 1;
        self.line.clear();
        Ok(self.lines)
    }

    /// Ids are a permutation of the line numbers: unique without a list of
    /// those already used, which a file of a gigabyte could not afford.
    fn next_id(&self) -> Id {
        let mut bits = self.lines as u32 ^ self.id_key;
        bits = (bits ^ (bits >> 16)).wrapping_mul(0x7feb_352d);
        bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
        bits ^= bits >> 16;
        std::array::from_fn(|at| b"0123456789abcdef"[(bits >> (28 - 4 * at) & 15) as usize])
    }

    fn iso(&mut self) {
        let text = Millis(self.now).to_iso();
        self.raw(&text);
    }

    fn raw(&mut self, text: &str) {
        self.line.extend_from_slice(text.as_bytes());
    }

    fn quoted(&mut self, text: &str) -> io::Result<()> {
        serde_json::to_writer(&mut self.line, text).map_err(io::Error::from)
    }
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}
