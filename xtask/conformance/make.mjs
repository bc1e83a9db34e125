#!/usr/bin/env node
// Session files written by the real pi (and odd ones built by hand), with what pi makes of each.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PNG_2X2, UsageError, deterministic, evaluateWithPi, loadPi, msg, parseArgs, run, sessionId, usage, writeCase } from "./lib.mjs";

const USAGE = `usage: node make.mjs --pi <pi package>/dist/bundle/index.js --out <folder>
Writes <case>.jsonl and <case>.golden.json for every case. Same input, same bytes.`;

const CWD = "/home/dev/shop";
const cases = [];

/** A file that pi's SessionManager writes while `fn(manager, pi)` drives it. */
const written = (name, fn) => cases.push({ name, fn, kind: "written" });
/** A file built by hand: `fn()` gives its bytes or text. */
const built = (name, fn) => cases.push({ name, fn, kind: "built" });

// ---- helpers for hand-built files --------------------------------------------------------------

const BASE = Date.UTC(2026, 2, 3, 8, 0, 0);
const at = (n) => new Date(BASE + n * 1000).toISOString();
const header = (name, extra = {}) => ({ type: "session", version: 3, id: sessionId(name), timestamp: at(0), cwd: CWD, ...extra });
const lines = (items, end = "\n") => items.map((item) => (typeof item === "string" ? item : JSON.stringify(item)) + end).join("");
let clock = 0;
const entry = (type, id, parentId, fields = {}) => ({ type, id, parentId, timestamp: at(++clock), ...fields });
const message = (id, parentId, value) => entry("message", id, parentId, { message: value });
const user = (content, extra = {}) => ({ role: "user", content, timestamp: BASE + ++clock, ...extra });
const assistant = (content, extra = {}) => ({
	role: "assistant",
	content: typeof content === "string" ? [{ type: "text", text: content }] : content,
	provider: "openai",
	model: "gpt-5-mini",
	stopReason: "stop",
	timestamp: BASE + ++clock,
	...extra,
});

// ---- written by pi -----------------------------------------------------------------------------

written("plain", (s) => {
	s.appendModelChange("anthropic", "claude-sonnet-4-5");
	s.appendThinkingLevelChange("medium");
	s.appendMessage(msg.user("The checkout page shows the wrong tax. Can you look at src/tax.ts?"));
	s.appendMessage(
		msg.assistant([
			msg.thinking("Look at the file first.", "c2lnbmF0dXJl"),
			msg.text("I will read the file."),
			msg.call("toolu_01", "read", { path: "src/tax.ts", limit: 40 }),
		], { usage: usage(2400, 80, 1600, 320, { input: 0.0072, output: 0.0012, cacheRead: 0.00048, cacheWrite: 0.0012, total: 0.01008 }) }),
	);
	s.appendMessage(msg.result("toolu_01", "read", "export const tax = (net: number) => net * 0.19;\n", { details: { lines: 1 } }));
	s.appendMessage(msg.assistant([msg.call("toolu_02", "edit", { path: "src/tax.ts", edits: [{ oldText: "0.19", newText: "rate(country)" }] })]));
	s.appendMessage(msg.result("toolu_02", "edit", "edit failed: rate is not defined", { isError: true }));
	s.appendMessage(msg.assistant("`rate` does not exist yet; I need to add it."));
	s.appendMessage(msg.user([msg.text("Fine, add it."), msg.text("And a test.")]));
	s.appendMessage(msg.assistant([msg.text("Working"), msg.thinking("", undefined)], { stopReason: "aborted", errorMessage: "Request was aborted", usage: usage(0, 0) }));
});

written("system-messages", (s) => {
	s.appendMessage(
		msg.system("", {
			sections: { preamble: "You help with a web shop.", rules: "<rules>\n- be brief\n</rules>", empty: "" },
			toolsAdded: [{ name: "read", description: "Read a file", parameters: { type: "object", required: ["path"], properties: { path: { type: "string" } } } }],
		}),
	);
	s.appendMessage(msg.user("Which rules do you follow?"));
	s.appendMessage(msg.assistant("I am brief."));
	s.appendMessage(msg.system("", { sections: { rules: "<rules>\n- be brief\n- cite files\n</rules>" }, toolsRemoved: ["read"] }));
	s.appendMessage(msg.user("And now?"));
	s.appendMessage(msg.assistant("I am brief and cite files."));
});

written("custom-entries", (s) => {
	s.appendModelChange("openai", "gpt-5-mini");
	s.appendCustomEntry("todo-list", { items: [{ text: "fix tax", done: false }] });
	s.appendMessage(msg.user("Start."));
	s.appendCustomMessageEntry("git-status", "On branch main\nnothing to commit", true, { branch: "main" });
	s.appendCustomMessageEntry("hidden-note", [msg.text("Remember: prices are in cents."), msg.image()], false);
	s.appendMessage(msg.assistant("Noted."));
	s.appendUsage("title", "openai", "gpt-5-nano", usage(120, 8), "session title");
	s.appendUsage("title", "openai", "gpt-5-nano", usage(130, 9));
	s.appendSessionInfo("  Tax\nfix  ");
	s.appendThinkingLevelChange("high");
	s.appendModelChange("google", "gemini-3-pro");
	s.appendCustomEntry("empty");
	s.appendSessionInfo("");
});

written("bash-executions", (s) => {
	s.appendMessage(msg.user("I ran some commands myself."));
	s.appendMessage(msg.bash("ls src", "cart.ts\ntax.ts"));
	s.appendMessage(msg.bash("true", ""));
	s.appendMessage(msg.bash("npm test", "1 failing", { exitCode: 1 }));
	s.appendMessage(msg.bash("sleep 100", "", { exitCode: undefined, cancelled: true }));
	s.appendMessage(msg.bash("kill -9 $$", "gone", { exitCode: 137, cancelled: true }));
	s.appendMessage(msg.bash("cat big.log", "last line", { truncated: true, fullOutputPath: "/home/dev/.cache/pi-bash-7.log" }));
	s.appendMessage(msg.bash("cat other.log", "last line", { truncated: true }));
	s.appendMessage(msg.bash("env", "TOKEN=hidden", { excludeFromContext: true }));
	s.appendMessage(msg.bash("exit null", "x", { exitCode: null, excludeFromContext: false }));
	s.appendMessage(msg.assistant("One test fails."));
});

written("images", (s) => {
	s.appendMessage(msg.user([msg.text("What is on this picture?"), msg.image(PNG_2X2), msg.image()]));
	s.appendMessage(msg.assistant([msg.call("toolu_11", "read", { path: "logo.png" })]));
	s.appendMessage(msg.result("toolu_11", "read", [msg.text("Read image file [image/png]"), msg.image(PNG_2X2)]));
	s.appendMessage(msg.assistant("Four coloured squares."));
	s.appendMessage(msg.user([msg.image()]));
	s.appendMessage(msg.assistant("A blue dot."));
});

written("unicode", (s) => {
	s.appendMessage(msg.user("税率が間違っています。修正してください。ありがとう！"));
	s.appendMessage(msg.assistant("好的，我来检查 `src/税.ts`。🛒👩‍👩‍👧‍👦🇯🇵"));
	s.appendMessage(msg.user("한국어도 됩니까? é vs é, 𝒳𝓎𝓏 𠮷野家"));
	s.appendMessage(msg.assistant([msg.text("line\u2028separator\u2029paragraph\u0085next\u00a0nbsp\ufefffeff"), msg.call("call_ü", "write", { path: "données/été.txt", content: "tab\tnl\ncr\r\"quoted\" back\\slash \u0000\u0001\u001f\u007f </script>" })]));
	s.appendMessage(msg.result("call_ü", "write", "书写完成 ✅\u2028次の行"));
	s.appendCustomMessageEntry("ノート", "🧾".repeat(9) + "é".repeat(7), true, { 鍵: "値", "🔑": ["𠮷"] });
	s.branchWithSummary(s.getLeafId(), "要約：税率を修正した。🧾");
	s.appendCompaction("总结：修正了税率。👍", null, 4321);
	s.appendMessage(msg.user("続けて。"));
});

written("branches", (s) => {
	const root = s.appendMessage(msg.user("Add a discount code field."));
	const first = s.appendMessage(msg.assistant("As a modal or inline?"));
	s.appendMessage(msg.user("A modal."));
	s.appendThinkingLevelChange("high");
	s.appendMessage(msg.assistant("Built a modal.", { provider: "openai", model: "gpt-5" }));
	s.branch(first);
	s.appendMessage(msg.user("Inline."));
	const inline = s.appendMessage(msg.assistant("Built it inline."));
	s.branch(first);
	s.appendMessage(msg.user("Neither, a separate page."));
	s.branch(inline);
	s.appendMessage(msg.user("Make it narrower."));
	s.branch(root);
	s.appendMessage(msg.assistant("Another first answer."));
	s.branch(inline);
	s.appendMessage(msg.user("Good as it is."));
	s.appendMessage(msg.assistant("Done."));
});

written("branch-new-root", (s) => {
	s.appendMessage(msg.user("First try of the first question."));
	s.appendMessage(msg.assistant("First answer."));
	s.resetLeaf();
	s.appendMessage(msg.user("Second try of the first question."));
	s.appendMessage(msg.assistant("Second answer."));
	s.branchWithSummary(null, "Two tries were made.");
	s.appendMessage(msg.user("Third try."));
});

written("branch-summaries", (s) => {
	s.appendMessage(msg.user("Speed up the product list."));
	const plan = s.appendMessage(msg.assistant("Cache or paginate?"));
	s.appendMessage(msg.user("Cache."));
	s.appendMessage(msg.assistant("The cache went stale."));
	s.branchWithSummary(plan, "Caching was tried; it went stale.", { readFiles: ["src/list.ts"], modifiedFiles: [] }, false, usage(500, 40));
	s.appendMessage(msg.user("Paginate then."));
	s.appendMessage(msg.assistant("Paginated."));
	s.branchWithSummary(plan, "");
	s.appendMessage(msg.user("Do both."));
	s.branchWithSummary(s.getLeafId(), "A summary on the spot.", undefined, true);
	s.appendMessage(msg.assistant("Both done."));
});

written("labels", (s) => {
	const first = s.appendMessage(msg.user("Rename Cart to Basket."));
	s.appendLabelChange(first, "start");
	const answer = s.appendMessage(msg.assistant("Renamed in 4 files."));
	const mark = s.appendLabelChange(answer, "renamed");
	s.appendMessage(msg.user("Also in the docs."));
	s.appendLabelChange(first, undefined);
	s.appendMessage(msg.assistant("Docs done."));
	s.branch(mark);
	s.appendMessage(msg.user("Leave the docs alone."));
	s.appendLabelChange(mark, "a label on a label");
	s.appendLabelChange(answer, "");
	s.appendLabelChange(answer, "renamed again");
});

written("context-edits", (s) => {
	const ask = s.appendMessage(msg.user("Read the log and tell me what broke."));
	const call = s.appendMessage(msg.assistant([msg.text("Reading."), msg.call("toolu_21", "bash", { command: "cat app.log" })]));
	const result = s.appendMessage(msg.result("toolu_21", "bash", "a very long log\n".repeat(20), { details: { truncated: false } }));
	const note = s.appendCustomMessageEntry("lint", [msg.text("12 warnings")], true);
	const other = s.appendMessage(msg.user([msg.text("Ignore the warnings."), msg.image()]));
	s.appendContextEdit(result, { content: "[log removed]" });
	s.appendContextEdit(result, { content: "[log: timeout in cart.ts]" });
	s.appendContextEdit(call, { content: "Reading the log." });
	s.appendContextEdit(note, { content: "2 warnings" });
	s.appendContextEdit(other, null);
	s.appendContextEdit(ask, { content: [msg.text("Read the log."), msg.image()] });
	s.appendMessage(msg.assistant("A timeout in cart.ts."));
	s.appendContextEdit(other, { content: "Ignore warnings." });
	const late = s.appendMessage(msg.user("Thanks."));
	s.appendContextEdit(late, null);
	s.appendContextEdit(result, { content: [] });
	s.appendContextEdit(note, { content: [msg.text("1 warning")] });
});

written("context-edit-branches", (s) => {
	const ask = s.appendMessage(msg.user("Which port?"));
	const answer = s.appendMessage(msg.assistant("3000."));
	s.appendContextEdit(ask, { content: "Which port does the server use?" });
	s.appendMessage(msg.user("On the edited branch."));
	s.branch(answer);
	s.appendMessage(msg.user("On a branch without the edit."));
});

written("context-edit-then-compaction", (s) => {
	const old = s.appendMessage(msg.user("Old question."));
	s.appendMessage(msg.assistant("Old answer."));
	s.appendContextEdit(old, { content: "edited before the boundary" });
	const kept = s.appendMessage(msg.user("Kept question."));
	const keptAnswer = s.appendMessage(msg.assistant("Kept answer."));
	s.appendContextEdit(kept, { content: "Kept question, edited in the kept range." });
	s.appendCompaction("Old things were discussed.", kept, 15000);
	s.appendMessage(msg.user("Next."));
	s.appendContextEdit(old, { content: "target is before the boundary" });
	s.appendContextEdit(keptAnswer, { content: "Kept answer, edited after the compaction." });
	s.appendMessage(msg.assistant("Next answer."));
});

written("context-edit-before-kept", (s) => {
	s.appendMessage(msg.user("One."));
	const target = s.appendMessage(msg.assistant("Answer to keep."));
	const second = s.appendMessage(msg.user("Two."));
	s.appendContextEdit(second, null);
	const third = s.appendMessage(msg.user("Three."));
	s.appendContextEdit(target, { content: "this edit is kept, its target is not" });
	s.appendCompaction("One and two.", third, 900);
	s.appendMessage(msg.assistant("Three it is."));
});

written("compaction-first-kept-is-edit", (s) => {
	s.appendMessage(msg.user("One."));
	const answer = s.appendMessage(msg.assistant("First."));
	const edit = s.appendContextEdit(answer, { content: "First, edited." });
	s.appendMessage(msg.user("Two."));
	s.appendMessage(msg.assistant("Second."));
	s.appendCompaction("One was asked.", edit, 2000);
	s.appendMessage(msg.user("Three."));
});

written("compaction-basic", (s) => {
	s.appendModelChange("anthropic", "claude-sonnet-4-5");
	s.appendThinkingLevelChange("low");
	s.appendMessage(msg.user("Set up the project."));
	s.appendMessage(msg.assistant([msg.call("toolu_31", "bash", { command: "npm init -y" })]));
	s.appendMessage(msg.result("toolu_31", "bash", "Wrote to package.json"));
	s.appendMessage(msg.assistant("Set up."));
	const kept = s.appendMessage(msg.user("Add a linter."));
	s.appendMessage(msg.assistant("Added."));
	s.appendCompaction("## Goal\nSet up the project.\n\n## Done\n- [x] npm init", kept, 18234, { readFiles: [], modifiedFiles: ["package.json"] }, false, usage(15000, 300));
	s.appendMessage(msg.user("Now tests."));
	s.appendMessage(msg.assistant("Tests added."));
});

written("compaction-keeps-nothing", (s) => {
	s.appendMessage(msg.user("A long story."));
	s.appendMessage(msg.assistant("I see."));
	s.appendCompaction("A long story was told.", null, 99999);
	s.appendMessage(msg.user("And then?"));
});

written("compaction-last", (s) => {
	s.appendMessage(msg.user("Compact me."));
	const kept = s.appendMessage(msg.assistant("Soon."));
	s.appendCompaction("Asked to compact.", kept, 10, undefined, true);
});

written("compaction-not-on-path", (s) => {
	const root = s.appendMessage(msg.user("Root."));
	s.appendMessage(msg.assistant("Left answer."));
	const left = s.appendMessage(msg.user("Left."));
	s.branch(root);
	s.appendMessage(msg.assistant("Right answer."));
	s.appendMessage(msg.user("Right."));
	s.appendCompaction("The first kept entry is on the other branch.", left, 500);
	s.appendMessage(msg.assistant("Going on."));
});

written("compaction-several", (s) => {
	s.appendMessage(msg.user("Part one."));
	const a = s.appendMessage(msg.user("Part one, kept."));
	s.appendCompaction("First summary.", a, 1000);
	s.appendMessage(msg.assistant("Between."));
	const b = s.appendMessage(msg.user("Part two, kept."));
	s.appendMessage(msg.assistant("Two."));
	s.appendCompaction("Second summary.", b, 2000);
	const c = s.appendMessage(msg.user("Part three."));
	s.appendMessage(msg.assistant("Three."));
	s.appendCompaction("Third summary.", c, 3000);
	s.appendMessage(msg.user("Part four."));
});

written("compaction-older-in-kept-range", (s) => {
	s.appendMessage(msg.user("Start."));
	const kept = s.appendMessage(msg.user("Kept by both."));
	s.appendMessage(msg.assistant("Yes."));
	s.appendCompaction("Older summary.", kept, 700);
	s.appendMessage(msg.user("After the older one."));
	s.appendCompaction("Newer summary.", kept, 800);
	s.appendMessage(msg.assistant("After both."));
});

written("compaction-first-kept-is-compaction", (s) => {
	s.appendMessage(msg.user("Start."));
	const older = s.appendCompaction("Older summary.", null, 700);
	s.appendMessage(msg.user("Middle."));
	s.appendCompaction("Newer summary.", older, 800);
	s.appendMessage(msg.assistant("End."));
});

written("compaction-first-kept-is-label", (s) => {
	const first = s.appendMessage(msg.user("Start."));
	const label = s.appendLabelChange(first, "here");
	s.appendMessage(msg.assistant("Middle."));
	s.appendCompaction("From the label on.", label, 800);
	s.appendMessage(msg.user("End."));
});

written("compaction-system-message", (s) => {
	s.appendMessage(msg.system("You help with a web shop.", { sections: { rules: "be brief", tools: "read" }, toolsAdded: [{ name: "read", description: "Read", parameters: { type: "object" } }] }));
	s.appendMessage(msg.user("Old."));
	const kept = s.appendMessage(msg.assistant("Kept."));
	s.appendMessage(msg.system("", { sections: { rules: "be very brief" } }));
	s.appendMessage(msg.user("Kept too."));
	s.appendCompaction("Old things.", kept, 1234);
	s.appendMessage(msg.assistant("New."));
	s.appendMessage(msg.system("", { sections: { rules: "be brief again" } }));
	s.appendMessage(msg.user("Last."));
	s.appendCompaction("Old and new things.", null, 2345);
	s.appendMessage(msg.user("Really last."));
});

written("branch-before-compaction", (s) => {
	s.appendMessage(msg.user("Start."));
	const before = s.appendMessage(msg.assistant("Before."));
	s.appendMessage(msg.user("To be compacted."));
	s.appendCompaction("A summary that this leaf does not see.", before, 100);
	s.appendMessage(msg.user("After."));
	s.branch(before);
	s.appendMessage(msg.user("The other way."));
	s.appendMessage(msg.assistant("No compaction here."));
});

written("forked-session", (s) => {
	const first = s.appendMessage(msg.user("Origin."));
	const label = s.appendLabelChange(first, "origin");
	s.appendMessage(msg.assistant("Yes."));
	s.appendCompaction("Kept from a label, which forking leaves out.", label, 50);
	const tail = s.appendMessage(msg.user("Tail."));
	s.appendLabelChange(tail, "tail");
	s.appendMessage(msg.user("Not in the fork."));
	return s.createBranchedSession(tail);
});

written("nested-calls-and-blocks", (s) => {
	s.appendMessage(msg.user("Run the script."));
	s.appendMessage(
		msg.assistant([
			{ type: "thinking", thinking: "", thinkingSignature: "ZW5jcnlwdGVk", redacted: true },
			{ type: "text", text: "Two calls.", textSignature: "msg_1" },
			{ type: "toolCall", id: "call_a|fc_1", name: "codemode", arguments: { code: "await read('a')" }, thoughtSignature: "dGhvdWdodA==" },
			{ type: "toolCall", id: "call_b|fc_2", name: "read", arguments: {} },
		], { responseId: "resp_1", api: "openai-responses", provider: "openai", model: "gpt-5" }),
	);
	s.appendMessage(msg.result("call_a|fc_1", "codemode", "ok", { nestedCalls: [{ name: "read", arguments: { path: "a" }, isError: false }] }));
	s.appendMessage(msg.result("call_b|fc_2", "read", [], { isError: true }));
	s.appendMessage(msg.assistant([], { stopReason: "error", errorMessage: "overloaded" }));
	s.appendMessage(msg.assistant([msg.text("")], { stopReason: "length" }));
	s.appendMessage(msg.user(""));
	s.appendMessage(msg.user([]));
});

// ---- built by hand -----------------------------------------------------------------------------

built("header-only", () => lines([header("header-only")]));

built("header-extra-fields", () =>
	lines([
		header("header-extra-fields", { version: 7, parentSession: "/home/dev/.pi/agent/sessions/earlier.jsonl", future: { a: 1 } }),
		{ ...message("aa000001", null, user("A version number from the future.", { futureField: [1, 2] })), futureEntryField: true },
		message("aa000002", "aa000001", assistant("Read all the same.", { diagnostics: { cached: true } })),
	]));

built("null-and-missing-content", () =>
	lines([
		header("null-and-missing-content"),
		message("ab000001", null, { role: "system", content: null, sections: { a: "x" }, timestamp: 1 }),
		message("ab000002", "ab000001", { role: "system", timestamp: 2 }),
		message("ab000003", "ab000002", { role: "user", content: null, timestamp: 3 }),
		message("ab000004", "ab000003", { role: "user", timestamp: 4 }),
		message("ab000005", "ab000004", { role: "assistant", content: null, provider: "openai", model: "gpt-5", stopReason: "error", timestamp: 5 }),
		message("ab000006", "ab000005", { role: "assistant", timestamp: 6 }),
		message("ab000007", "ab000006", { role: "toolResult", toolCallId: "x", toolName: "read", content: null, isError: true, timestamp: 7 }),
		message("ab000008", "ab000007", { role: "toolResult", toolCallId: "y", toolName: "read", isError: false, timestamp: 8 }),
		message("ab000009", "ab000008", { role: "custom", customType: "c", content: null, display: true, timestamp: 9 }),
		entry("custom_message", "ab00000a", "ab000009", { customType: "c", content: null, display: true, details: null }),
		entry("custom_message", "ab00000b", "ab00000a", { customType: "c", display: false }),
		entry("custom_message", "ab00000c", "ab00000b", { content: "no type, no display" }),
		message("ab00000d", "ab00000c", { role: "user", content: "plain", timestamp: null }),
	]));

built("string-contents", () =>
	lines([
		header("string-contents"),
		message("ac000001", null, { role: "assistant", content: "a string instead of blocks", provider: "p", model: "m", timestamp: 1 }),
		message("ac000002", "ac000001", { role: "toolResult", toolCallId: "x", toolName: "read", content: "also a string", isError: false, timestamp: 2 }),
		message("ac000003", "ac000002", { role: "custom", customType: "c", content: "custom string", display: true, timestamp: 3 }),
		message("ac000004", "ac000003", { role: "user", content: [{ type: "text" }, { type: "text", text: null }, { type: "audio", data: "AAAA" }, { type: "text", text: "one real block" }], timestamp: 4 }),
	]));

built("unknown-types-and-roles", () =>
	lines([
		header("unknown-types-and-roles"),
		message("ad000001", null, user("Hello.")),
		entry("telemetry", "ad000002", "ad000001", { data: { ms: 12 } }),
		message("ad000003", "ad000002", { role: "narrator", content: "unknown role", timestamp: 3 }),
		entry("reset", "ad000004", "ad000003", { reason: "new" }),
		message("ad000005", "ad000004", assistant("Hangs off an unknown type.")),
		entry("leaf", "ad000006", "ad000005", { targetId: "ad000001" }),
		message("ad000007", "ad000006", user("pi knows neither reset nor leaf.")),
		message("ad000008", "ad000007", { role: "compactionSummary", summary: "as a message", tokensBefore: 5, timestamp: 8 }),
		message("ad000009", "ad000008", { role: "branchSummary", summary: "as a message too", fromId: "root", timestamp: 9 }),
		message("ad00000a", "ad000009", { content: "no role", timestamp: 10 }),
		{ id: "ad00000b", parentId: "ad00000a", note: "no type" },
		message("ad00000c", "ad00000b", user("Still here.")),
	]));

built("unknown-type-last", () =>
	lines([header("unknown-type-last"), message("ae000001", null, user("One.")), message("ae000002", "ae000001", assistant("Two.")), entry("leaf", "ae000003", "ae000002", { targetId: "ae000001" })]));

built("version-1-linear", () => {
	const bare = (type, fields) => ({ type, timestamp: at(++clock), ...fields });
	return lines([
		{ type: "session", id: sessionId("version-1-linear"), timestamp: at(0), cwd: CWD, provider: "anthropic", modelId: "claude-sonnet-4-5", thinkingLevel: "off" },
		bare("message", { message: user("First.") }),
		bare("message", { message: assistant("Answer one.") }),
		bare("thinking_level_change", { thinkingLevel: "high" }),
		bare("message", { message: user("Second.") }),
		bare("message", { message: assistant("Answer two.") }),
		bare("compaction", { summary: "First and second.", firstKeptEntryIndex: 4, tokensBefore: 1000 }),
		bare("message", { message: user("Third.") }),
		bare("model_change", { provider: "openai", modelId: "gpt-5" }),
		bare("message", { message: { role: "hookMessage", customType: "status", content: "clean tree", display: true, details: { n: 1 }, timestamp: BASE } }),
		bare("message", { message: assistant("Answer three.", { provider: "anthropic", model: "claude-opus-4-5" }) }),
	]);
});

built("version-1-two-compactions", () => {
	const bare = (type, fields) => ({ type, timestamp: at(++clock), ...fields });
	return lines([
		{ type: "session", id: sessionId("version-1-two-compactions"), timestamp: at(0), cwd: CWD },
		bare("message", { message: user("One.") }),
		"{\"type\":\"message\",\"timestamp\":\"2026-03-03T08:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"torn in the mid",
		bare("message", { message: user("Two: an index counts parsed lines only.") }),
		bare("compaction", { summary: "One.", firstKeptEntryIndex: 2, tokensBefore: 10 }),
		"",
		bare("message", { message: user("Three.") }),
		bare("compaction", { summary: "One and two.", firstKeptEntryIndex: 4, tokensBefore: 20 }),
		bare("message", { message: user("Four.") }),
	]);
});

built("version-1-index-out-of-range", () => {
	const bare = (type, fields) => ({ type, timestamp: at(++clock), ...fields });
	return lines([
		{ type: "session", version: 1, id: sessionId("version-1-index-out-of-range"), timestamp: at(0), cwd: CWD },
		bare("message", { message: user("One.") }),
		bare("compaction", { summary: "The index is past the end.", firstKeptEntryIndex: 40, tokensBefore: 10 }),
		bare("message", { message: user("Two.") }),
	]);
});

built("version-1-index-zero", () => {
	const bare = (type, fields) => ({ type, timestamp: at(++clock), ...fields });
	return lines([
		{ type: "session", id: sessionId("version-1-index-zero"), timestamp: at(0), cwd: CWD },
		bare("message", { message: user("One.") }),
		bare("compaction", { summary: "The index is the header.", firstKeptEntryIndex: 0, tokensBefore: 10 }),
		bare("message", { message: user("Two.") }),
	]);
});

built("version-2-hook-message", () =>
	lines([
		header("version-2-hook-message", { version: 2 }),
		message("af000001", null, user("Hello.")),
		message("af000002", "af000001", { role: "hookMessage", customType: "git", content: [{ type: "text", text: "3 files changed" }], display: true, timestamp: 2 }),
		message("af000003", "af000002", { role: "hookMessage", content: "no customType", display: false, timestamp: 3 }),
		message("af000004", "af000003", assistant("Seen.")),
	]));

built("version-3-hook-message", () =>
	lines([
		header("version-3-hook-message"),
		message("b0000001", null, user("Hello.")),
		message("b0000002", "b0000001", { role: "hookMessage", customType: "git", content: "not renamed in version 3", display: true, timestamp: 2 }),
		message("b0000003", "b0000002", assistant("Seen?")),
	]));

built("crlf", () => lines([header("crlf"), message("b1000001", null, user("Windows line ends.\r\nInside too.")), message("b1000002", "b1000001", assistant("Fine."))], "\r\n"));

built("blank-lines", () =>
	lines(["", "   ", header("blank-lines"), "", message("b2000001", null, user("Blank lines around.")), "\t", "\u2028", "\ufeff", message("b2000002", "b2000001", assistant("Skipped.")), "", ""]));

built("padded-lines", () =>
	lines([`  ${JSON.stringify(header("padded-lines"))}  `, `\t${JSON.stringify(message("b2100001", null, user("JSON white space around.")))}`, `\u00a0${JSON.stringify(message("b2100002", "b2100001", assistant("A no-break space is not JSON.")))}`, message("b2100003", "b2100001", user("End."))]));

built("byte-order-mark", () => `\ufeff${lines([header("byte-order-mark"), message("b3000001", null, user("The header is not JSON with a mark before it."))])}`);

built("not-a-session", () => lines([message("b3100001", null, user("No header at all."))]));

built("header-after-junk", () => lines(["not json", header("header-after-junk"), message("b3200001", null, user("Junk first."))]));

built("header-twice", () =>
	lines([header("header-twice"), message("b3300001", null, user("One.")), header("header-twice", { id: "another-id", version: 1 }), message("b3300002", "b3300001", assistant("Two."))]));

built("malformed-middle", () =>
	lines([
		header("malformed-middle"),
		message("b4000001", null, user("Before.")),
		JSON.stringify(message("b4000002", "b4000001", assistant("This line is torn."))).slice(0, 90),
		message("b4000003", "b4000002", user("My parent is lost: the path starts here.")),
		message("b4000004", "b4000003", assistant("After.")),
	]));

built("joined-lines", () => {
	const a = JSON.stringify(message("b4100002", "b4100001", assistant("First of two on one line.")));
	const b = JSON.stringify(message("b4100003", "b4100002", user("Second of two on one line.")));
	return lines([header("joined-lines"), message("b4100001", null, user("Before.")), a + b, message("b4100004", "b4100003", assistant("After."))]);
});

built("torn-last-line", () => {
	const whole = lines([header("torn-last-line"), message("b5000001", null, user("Whole.")), message("b5000002", "b5000001", assistant("Whole too."))]);
	return whole + JSON.stringify(message("b5000003", "b5000002", user("Torn by a power cut."))).slice(0, 120);
});

built("no-final-newline", () => lines([header("no-final-newline"), message("b5100001", null, user("Whole.")), message("b5100002", "b5100001", assistant("No newline after me."))]).slice(0, -1));

built("torn-in-character", () => {
	const whole = Buffer.from(lines([header("torn-in-character"), message("b5200001", null, user("Whole."))]));
	const torn = Buffer.from(JSON.stringify(message("b5200002", "b5200001", user("税"))));
	return Buffer.concat([whole, torn.subarray(0, torn.indexOf(Buffer.from("税")) + 2)]);
});

built("invalid-utf8", () => {
	const text = lines([header("invalid-utf8"), message("b5300001", null, user("bad: @A@ end")), message("b5300002", "b5300001", assistant("cut: @B@ end")), message("b5300003", "b5300002", user("surrogate: @C@ end"))]);
	let bytes = Buffer.from(text);
	for (const [mark, data] of [["@A@", [0xff, 0xfe, 0x80]], ["@B@", [0xe7, 0xa8, 0x41, 0xf0, 0x9f, 0x98]], ["@C@", [0xed, 0xa0, 0xbd, 0xc0, 0xaf, 0xf8]]]) {
		const i = bytes.indexOf(mark);
		bytes = Buffer.concat([bytes.subarray(0, i), Buffer.from(data), bytes.subarray(i + 3)]);
	}
	return bytes;
});

built("scalar-lines", () =>
	lines([header("scalar-lines"), "null", "false", "0", "\"\"", message("b6000001", null, user("Values that are not objects.")), "42", "\"text\"", "[1,2]", "true", "{}", message("b6000002", "b6000001", assistant("Ignored."))]));

built("scalar-last-line", () => lines([header("scalar-last-line"), message("b6100001", null, user("The last line is a number.")), "42"]));

built("missing-id-last", () =>
	lines([header("missing-id-last"), message("b6200001", null, user("One.")), message("b6200002", "b6200001", assistant("Two.")), { type: "message", parentId: "b6200001", timestamp: at(90), message: user("No id, but a parent.") }]));

built("duplicate-ids", () =>
	lines([
		header("duplicate-ids"),
		message("b7000001", null, user("Root.")),
		message("b7000002", "b7000001", assistant("First with this id.")),
		message("b7000003", "b7000002", user("Child of the id.")),
		message("b7000002", "b7000001", assistant("Second with this id wins.", { model: "gpt-5" })),
		message("b7000004", "b7000003", assistant("End.")),
	]));

built("duplicate-compaction-id", () =>
	lines([
		header("duplicate-compaction-id"),
		message("b7100001", null, user("Root.")),
		message("b7100002", "b7100001", assistant("Kept.")),
		entry("compaction", "b7100003", "b7100002", { summary: "First text.", firstKeptEntryId: "b7100001", tokensBefore: 1 }),
		message("b7100004", "b7100003", user("After.")),
		entry("compaction", "b7100003", "b7100002", { summary: "Second text, same id.", firstKeptEntryId: "b7100002", tokensBefore: 2 }),
		message("b7100005", "b7100004", assistant("End.")),
	]));

built("child-before-parent", () =>
	lines([
		header("child-before-parent"),
		message("b8000003", "b8000002", assistant("Third on the path, first in the file.")),
		message("b8000001", null, user("First on the path.")),
		message("b8000004", "b8000003", user("The leaf's parent.")),
		message("b8000002", "b8000001", user("Second on the path.")),
		message("b8000005", "b8000004", assistant("The last line is the leaf.")),
	]));

built("parent-shapes", () =>
	lines([
		header("parent-shapes"),
		message("b8100001", null, user("An old root.")),
		message("b8100002", "", user("An empty parent is a root.")),
		{ type: "message", id: "b8100003", timestamp: at(50), message: user("A missing parent is a root.") },
		message("b8100004", "b8100003", assistant("Leaf.")),
	]));

built("last-line-on-old-branch", () =>
	lines([
		header("last-line-on-old-branch"),
		message("b8200001", null, user("Root.")),
		message("b8200002", "b8200001", assistant("A.")),
		message("b8200003", "b8200002", user("B.")),
		message("b8200004", "b8200001", assistant("The last line decides.")),
	]));

built("label-to-nowhere", () =>
	lines([header("label-to-nowhere"), message("b8300001", null, user("Root.")), entry("label", "b8300002", "b8300001", { targetId: "ffffffff", label: "ghost" }), message("b8300003", "b8300002", assistant("Child of the label.")), entry("label", "b8300004", "b8300003", { targetId: "b8300001", label: "root" })]));

built("context-edit-odd-targets", () =>
	lines([
		header("context-edit-odd-targets"),
		message("b9000001", null, { role: "system", content: "Rules.", timestamp: 1 }),
		message("b9000002", "b9000001", user("Question.")),
		message("b9000003", "b9000002", { role: "bashExecution", command: "ls", output: "a", exitCode: 0, cancelled: false, truncated: false, timestamp: 3 }),
		message("b9000004", "b9000003", { role: "bashExecution", command: "pwd", output: "/", exitCode: 0, cancelled: false, truncated: false, timestamp: 4 }),
		message("b9000005", "b9000004", { role: "custom", customType: "c", content: [{ type: "text", text: "custom" }], display: true, timestamp: 5 }),
		entry("branch_summary", "b9000006", "b9000005", { fromId: "root", summary: "Came back." }),
		entry("branch_summary", "b9000007", "b9000006", { fromId: "root", summary: "Came back again." }),
		message("b9000008", "b9000007", { role: "assistant", content: [{ type: "toolCall", id: "t", name: "read", arguments: {} }], provider: "p", model: "m", timestamp: 8 }),
		message("b9000009", "b9000008", { role: "toolResult", toolCallId: "t", toolName: "read", isError: false, timestamp: 9 }),
		entry("custom", "b900000a", "b9000009", { customType: "state" }),
		entry("context_edit", "b9000011", "b900000a", { targetId: "b9000001", replacement: { content: "system messages are not edited" } }),
		entry("context_edit", "b9000012", "b9000011", { targetId: "b9000003", replacement: { content: "bash is not edited" } }),
		entry("context_edit", "b9000013", "b9000012", { targetId: "b9000004", replacement: null }),
		entry("context_edit", "b9000014", "b9000013", { targetId: "b9000005", replacement: { content: "a string for a custom message" } }),
		entry("context_edit", "b9000015", "b9000014", { targetId: "b9000006", replacement: { content: "summaries are not edited" } }),
		entry("context_edit", "b9000016", "b9000015", { targetId: "b9000007", replacement: null }),
		entry("context_edit", "b9000017", "b9000016", { targetId: "b9000008", replacement: { content: "stored as a string" } }),
		entry("context_edit", "b9000018", "b9000017", { targetId: "b9000009", replacement: { content: "content had been missing" } }),
		entry("context_edit", "b9000019", "b9000018", { targetId: "b900000a", replacement: { content: "no message" } }),
		entry("context_edit", "b900001a", "b9000019", { targetId: "ffffffff", replacement: null }),
		entry("context_edit", "b900001b", "b900001a", { targetId: "b9000014", replacement: null }),
		entry("context_edit", "b900001c", "b900001b", { targetId: "b9000002", replacement: {} }),
	]));

built("context-edit-before-target", () =>
	lines([
		header("context-edit-before-target"),
		entry("context_edit", "b9100001", null, { targetId: "b9100003", replacement: { content: "edited in advance" } }),
		message("b9100002", "b9100001", user("First.")),
		message("b9100003", "b9100002", user("The edit stands before me on the path.")),
	]));

built("context-edit-of-compaction", () =>
	lines([
		header("context-edit-of-compaction"),
		message("b9200001", null, user("Old.")),
		message("b9200002", "b9200001", user("Kept.")),
		entry("compaction", "b9200003", "b9200002", { summary: "Removed by an edit.", firstKeptEntryId: "b9200002", tokensBefore: 3, systemMessage: { role: "system", content: "Rules.", timestamp: 3 } }),
		entry("context_edit", "b9200004", "b9200003", { targetId: "b9200003", replacement: null }),
		message("b9200005", "b9200004", assistant("End.")),
	]));

built("context-edit-without-replacement", () =>
	lines([header("context-edit-without-replacement"), message("b9300001", null, user("pi throws on this.")), entry("context_edit", "b9300002", "b9300001", { targetId: "b9300001" })]));

built("message-missing", () => lines([header("message-missing"), message("b9400001", null, user("pi throws on the next line.")), entry("message", "b9400002", "b9400001")]));

built("compaction-odd-fields", () =>
	lines([
		header("compaction-odd-fields"),
		message("ba000001", null, user("Old.")),
		entry("compaction", "ba000002", "ba000001", { firstKeptEntryId: "ba000001", tokensAfter: 12, details: null }),
		message("ba000003", "ba000002", assistant("No summary, no tokensBefore.")),
	]));

built("compaction-no-first-kept", () =>
	lines([header("compaction-no-first-kept"), message("ba100001", null, user("Old.")), entry("compaction", "ba100002", "ba100001", { summary: "", tokensBefore: "12" }), message("ba100003", "ba100002", assistant("End."))]));

built("compaction-keeps-all", () =>
	lines([
		header("compaction-keeps-all"),
		entry("model_change", "ba200001", null, { provider: "p", modelId: "m" }),
		message("ba200002", "ba200001", { role: "system", content: "Rules.", timestamp: 2 }),
		message("ba200003", "ba200002", user("Kept.")),
		entry("custom_message", "ba200004", "ba200003", { customType: "c", content: "kept too", display: true }),
		entry("branch_summary", "ba200005", "ba200004", { fromId: "ba200003", summary: "Kept as well." }),
		entry("compaction", "ba200006", "ba200005", { summary: "Everything is kept but system messages.", firstKeptEntryId: "ba200001", tokensBefore: 6 }),
		message("ba200007", "ba200006", { role: "system", content: "After: kept.", timestamp: 7 }),
		message("ba200008", "ba200007", user("End.")),
	]));

built("compaction-first-kept-after", () =>
	lines([
		header("compaction-first-kept-after"),
		message("ba300001", null, user("Old.")),
		entry("compaction", "ba300002", "ba300001", { summary: "The first kept entry comes later.", firstKeptEntryId: "ba300003", tokensBefore: 6 }),
		message("ba300003", "ba300002", user("Later.")),
		message("ba300004", "ba300003", assistant("End.")),
	]));

built("timestamps", () => {
	const shapes = [
		"2026-03-03T08:00:00.000Z", "2026-03-03T08:00:00Z", "2026-03-03T08:00Z", "2026-03-03", "2026-03", "2026", "2026-03-03T08:00:00", "2026-03-03T08:00:00.5Z", "2026-03-03T08:00:00.123456789Z", "2026-03-03T08:00:00+02:00", "2026-03-03T08:00:00-0330",
		"2026-03-03T08:00:00.25+05:45", "2026-03-03T24:00:00Z", "2026-03-03T24:00:01Z", "2026-02-30T08:00:00Z", "2026-13-01T08:00:00Z", "2026-03-03t08:00:00z", "2026-03-03 08:00:00", "2026-03-03 08:00:00Z", "+002026-03-03T08:00:00Z", "-000001-01-01T00:00:00Z", "-000000-01-01T00:00:00Z",
		"+275760-09-13T00:00:00.000Z", "+275760-09-13T00:00:00.001Z", "1969-12-31T23:59:59.999Z", "Tue, 03 Mar 2026 08:00:00 GMT", "yesterday", "", " 2026-03-03T08:00:00Z", "2026-03-03T08:00:60Z", "2026-03-03T08:00:00,5Z", "1772524800000",
		1772524800000, 1772524800000.9, 0, -1.5, 8640000000000001, null, true, false, [], {},
	];
	const items = [header("timestamps")];
	let parent = null;
	shapes.forEach((timestamp, i) => {
		const id = `bb${String(i).padStart(6, "0")}`;
		items.push({ type: "custom_message", customType: "ts", content: JSON.stringify(timestamp), display: true, id, parentId: parent, timestamp });
		parent = id;
	});
	items.push({ type: "custom_message", customType: "ts", content: "missing", display: true, id: "bb100000", parentId: parent });
	items.push({ type: "branch_summary", id: "bb100001", parentId: "bb100000", timestamp: "not a time", fromId: "root", summary: "Invalid time." });
	items.push({ type: "message", id: "bb100002", parentId: "bb100001", timestamp: "not a time", message: { role: "user", content: "A message keeps its own timestamp.", timestamp: "2026-03-03T08:00:00Z" } });
	return lines(items);
});

built("timestamp-compaction", () =>
	lines([header("timestamp-compaction", { timestamp: "yesterday" }), message("bc000001", null, user("Kept.")), { type: "compaction", id: "bc000002", parentId: "bc000001", timestamp: "2026-03-03T08:00:00.250+01:00", summary: "With an offset.", firstKeptEntryId: "bc000001", tokensBefore: 5 }, message("bc000003", "bc000002", user("End."))]));

built("json-numbers", () =>
	lines([
		header("json-numbers"),
		'{"type":"message","id":"bd000001","parentId":null,"timestamp":"2026-03-03T08:00:01.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"n","name":"calc","arguments":{"negzero":-0,"negzerof":-0.0,"one":1.0,"exp":1E3,"exp2":1e+2,"big":12345678901234567890,"safe":9007199254740991,"unsafe":9007199254740993,"i64":-9223372036854775808,"u64":18446744073709551615,"e20":100000000000000000000,"e21":1000000000000000000000,"e21b":1e21,"tiny":0.000001,"tinier":0.0000001,"denormal":5e-324,"under":1e-400,"over":1e400,"negover":-1e400,"third":0.3333333333333333333,"sum":0.30000000000000004,"long":3.141592653589793238462643,"max":1.7976931348623157e308,"half":0.5,"trail":1.50}}],"provider":"p","model":"m","usage":{"input":1.0,"output":2e0,"cacheRead":0,"cacheWrite":-0,"totalTokens":3,"cost":{"input":0.00012,"output":1.2e-05,"cacheRead":0,"cacheWrite":0,"total":0.000132}},"stopReason":"toolUse","timestamp":1772524801000.0}}',
		'{"type":"message","id":"bd000002","parentId":"bd000001","timestamp":"2026-03-03T08:00:02.000Z","message":{"role":"user","content":"end","timestamp":1.772524802e12}}',
	]));

built("json-escapes", () =>
	lines([
		header("json-escapes"),
		'{"type":"message","id":"be000001","parentId":null,"timestamp":"2026-03-03T08:00:01.000Z","message":{"role":"user","content":"\\u0041\\u00e9\\u7a0e \\ud83d\\ude00 \\/ \\b\\f\\n\\r\\t \\u0000\\u001F\\u007f\\u2028\\u2029 \\"\\\\ \\u003cb\\u003e","timestamp":1}}',
		'{ "type" : "message" , "id" : "be000002" , "parentId" : "be000001" , "timestamp" : "2026-03-03T08:00:02.000Z" , "message" : { "\\u0072ole" : "assistant" , "content" : [ { "type" : "t\\u0065xt" , "text" : "spaces between tokens" } ] , "provider" : "p" , "model" : "m" , "timestamp" : 2 } }',
		'{"type":"message","id":"be000003","parentId":"be000002","timestamp":"2026-03-03T08:00:03.000Z","message":{"role":"user","content":"raw del \u007f raw ls \u2028 raw nbsp \u00a0","timestamp":3}}',
		'{"type":"message","id":"be000004","parentId":"be000003","timestamp":"2026-03-03T08:00:04.000Z","message":{"role":"user","content":"raw tab \t makes the line malformed","timestamp":4}}',
		'{"type":"message","id":"be000005","parentId":"be000003","timestamp":"2026-03-03T08:00:05.000Z","message":{"role":"user","content":"end","timestamp":5}}',
	]));

built("json-keys", () =>
	lines([
		header("json-keys"),
		'{"type":"message","id":"bf000001","parentId":null,"timestamp":"2026-03-03T08:00:01.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"k","name":"put","arguments":{"b":1,"10":"ten","2":"two","a":2,"01":"no index","-1":"no index","4294967294":"an index","4294967295":"not an index","b":3,"":"empty","__proto__":{"x":1},"constructor":"c","toString":null}}],"provider":"first","model":"m","provider":"last wins","timestamp":1}}',
		'{"timestamp":"2026-03-03T08:00:02.000Z","message":{"timestamp":2,"content":null,"7":"seven","role":"user"},"parentId":"bf000001","id":"bf000002","type":"message"}',
		'{"type":"custom_message","id":"bf000003","parentId":"bf000002","timestamp":"2026-03-03T08:00:03.000Z","display":true,"details":{"z":1,"1":2},"content":[],"customType":"ordered"}',
		'{"type":"message","id":"bf000004","parentId":"bf000003","timestamp":"2026-03-03T08:00:04.000Z","message":{"content":"edited","role":"user","__proto__":{"y":2},"timestamp":4}}',
		'{"type":"context_edit","id":"bf000005","parentId":"bf000004","timestamp":"2026-03-03T08:00:05.000Z","targetId":"bf000004","replacement":{"content":"after the edit"}}',
	]));

built("json-lone-surrogates", () =>
	lines([
		header("json-lone-surrogates"),
		'{"type":"message","id":"c0000001","parentId":null,"timestamp":"2026-03-03T08:00:01.000Z","message":{"role":"user","content":"high \\ud83d alone, low \\uDE00 alone, swapped \\ude00\\ud83d, pair \\ud83d\\ude00","timestamp":1}}',
		'{"type":"message","id":"c0000002","parentId":"c0000001","timestamp":"2026-03-03T08:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"s","name":"put","arguments":{"\\ud83d":"key"}}],"provider":"p","model":"m","timestamp":2}}',
	]));

built("json-deep", () => {
	const deep = (n) => "[".repeat(n) + "]".repeat(n);
	return lines([
		header("json-deep"),
		`{"type":"message","id":"c1000001","parentId":null,"timestamp":"2026-03-03T08:00:01.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"d","name":"nest","arguments":{"deep":${deep(200)}}}],"provider":"p","model":"m","timestamp":1}}`,
		'{"type":"message","id":"c1000002","parentId":"c1000001","timestamp":"2026-03-03T08:00:02.000Z","message":{"role":"user","content":"200 levels deep","timestamp":2}}',
	]);
});

built("not-quite-json", () =>
	lines([
		header("not-quite-json"),
		'{"type":"message","id":"c2000001","parentId":null,"timestamp":"2026-03-03T08:00:01.000Z","message":{"role":"user","content":"good","timestamp":1}}',
		'{"type":"message","id":"c2000002","parentId":"c2000001","message":{"role":"user","content":"trailing comma","timestamp":1},}',
		"{'type':'message'}",
		'{"type":"message","id":"c2000003","parentId":"c2000001","message":{"role":"user","content":"leading zero","timestamp":01}}',
		'{"type":"message","id":"c2000004","parentId":"c2000001","message":{"role":"user","content":"plus","timestamp":+1}}',
		'{"type":"message","id":"c2000005","parentId":"c2000001","message":{"role":"user","content":"nan","timestamp":NaN}}',
		'{"type":"message","id":"c2000006","parentId":"c2000001","message":{"role":"user","content":"bad \\x escape","timestamp":1}}',
		'{"type":"message","id":"c2000007","parentId":"c2000001","message":{"role":"user","content":"dot","timestamp":1.}}',
		'{"type":"message","id":"c2000008","parentId":"c2000001","message":{"role":"user","content":"comment","timestamp":1}} // no',
		'{"type":"message","id":"c2000009","parentId":"c2000001","timestamp":"2026-03-03T08:00:09.000Z","message":{"role":"user","content":"end","timestamp":9}}',
	]));

// ---- run ---------------------------------------------------------------------------------------

/** Let pi write one session file in a scratch folder and give its bytes. */
async function writeWithPi(pi, { name, fn }) {
	const dir = mkdtempSync(join(tmpdir(), "conformance-"));
	try {
		const file = await deterministic(name, () => {
			const manager = pi.SessionManager.create(CWD, dir, { id: sessionId(name) });
			return fn(manager, pi) ?? manager.getSessionFile();
		});
		if (!existsSync(file)) throw new Error(`case ${name}: pi wrote no file (${readdirSync(dir).length} others)`);
		// A fork's header names the file it came from, and pi makes up its session id.
		const [first, ...rest] = readFileSync(file, "utf8").split("\n");
		const head = JSON.parse(first);
		head.id = sessionId(name);
		if (head.parentSession) head.parentSession = "/home/dev/.pi/agent/sessions/--home-dev-shop--/origin.jsonl";
		return [JSON.stringify(head), ...rest].join("\n");
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
}

await run(async () => {
	const { options, files } = parseArgs(process.argv.slice(2), { pi: "required", out: "required" }, USAGE);
	if (files.length > 0) throw new UsageError(`unexpected argument ${files[0]}`);
	const pi = await loadPi(options.pi);
	mkdirSync(options.out, { recursive: true });
	for (const item of cases) {
		clock = 0;
		const bytes = item.kind === "written" ? await writeWithPi(pi, item) : item.fn();
		const path = join(options.out, `${item.name}.jsonl`);
		writeFileSync(path, bytes);
		const record = evaluateWithPi(pi, path);
		record.writtenBy = item.kind === "written" ? pi.producer : "hand";
		writeCase(options.out, item.name, bytes, record);
	}
	process.stdout.write(`${cases.length} cases in ${options.out}\n`);
}, USAGE);
