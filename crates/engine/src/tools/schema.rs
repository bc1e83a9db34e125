//! What a model is told of each tool: name, description, parameters.

pub(super) const RECALL: &str = r#"{"type":"object","properties":{"id":{"type":"string","description":"The id of an entry, or a range FROM..TO of ids; comes back whole"},"text":{"type":"string","description":"Words that the entry contains, in this order; case, spacing and punctuation do not matter"},"path":{"type":"string","description":"A file that the entry read, changed or named; part of the path is enough"},"query":{"type":"string","description":"What it was about, in a few words"},"scope":{"type":"string","enum":["session","family","all"],"description":"This session, also those it came from or that came from it, or all that are known"},"limit":{"type":"integer","description":"How many entries at most (5)"},"offset":{"type":"integer","description":"With an id: the character to continue from"}}}"#;

pub(super) const NOTE: &str = r#"{"type":"object","properties":{"kind":{"type":"string","enum":["decision","fact","open_item","learning"],"description":"What it is"},"text":{"type":"string","maxLength":2000,"description":"What to keep; of a decision also why"}},"required":["kind","text"]}"#;

pub(super) const ALL: &[(&str, &str, &str)] = &[
    (
        "bash",
        "Run a command with bash in the workspace and get its output (stdout and stderr \
         together). It has nothing to read from, so it must not ask questions. Long output is \
         shown with its beginning and its end, and kept whole in a file that is named. What it \
         leaves running is ended with it.",
        r#"{"type":"object","properties":{"command":{"type":"string","description":"The command line"},"timeout":{"type":"integer","description":"Seconds after which it is ended (120)"}},"required":["command"]}"#,
    ),
    (
        "edit",
        "Replace exact texts in a file. Each oldText must stand in the file exactly once, to the \
         last space; all edits apply to the file as it is before the call, and none of them if \
         one does not fit.",
        r#"{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the workspace"},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string","description":"The text to replace; must be unique in the file"},"newText":{"type":"string","description":"What takes its place"}},"required":["oldText","newText"]}}},"required":["path","edits"]}"#,
    ),
    (
        "memory_get",
        "Read lines of a memory file that memory_search has named, and of no other file. The result is \
         quoted data with its date.",
        r#"{"type":"object","properties":{"path":{"type":"string","description":"The memory file, such as memory/2026-11-15.md"},"from":{"type":"integer","description":"The first line (1)"},"lines":{"type":"integer","description":"How many lines"}},"required":["path"]}"#,
    ),
    (
        "memory_search",
        "Search the memory files for earlier work, decisions, preferences and errors. Memory is a \
         hint: check it against the source before acting on it.",
        r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for"},"maxResults":{"type":"integer","description":"How many passages at most; left out, as many as are usual here"}},"required":["query"]}"#,
    ),
    (
        "note",
        "Write down what must outlive this context: a decision and why it was taken, a fact that \
         must not be forgotten, an open item, something learnt (what failed, what works). Call it \
         when it happens; one thing a call, in a sentence or two that make sense without the \
         conversation. Notes stand word for word in every summary, checkpoint and hand-off. Do \
         not repeat what the user said: that is kept anyway. No secrets.",
        NOTE,
    ),
    (
        "read",
        "Read a text file. Without offset and limit, its first 2000 lines or 50 KB; a notice \
         says how to go on.",
        r#"{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the workspace"},"offset":{"type":"integer","description":"The first line, from 1"},"limit":{"type":"integer","description":"How many lines"}},"required":["path"]}"#,
    ),
    (
        "recall",
        "Bring back what has left the context of this session: by entry id, by exact words, by \
         file or by topic. Give one of id, text, path and query.",
        RECALL,
    ),
    (
        "write",
        "Write a whole file: create it, or replace what is in it. Folders on the way are made.",
        r#"{"type":"object","properties":{"path":{"type":"string","description":"The file, relative to the workspace"},"content":{"type":"string","description":"All of the new content"}},"required":["path","content"]}"#,
    ),
];
