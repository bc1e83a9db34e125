#!/usr/bin/env node
// Version-4 transcripts with resets, leaf moves and side appends, and what OpenClaw makes of each.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError, deterministic, evaluateWithOpenClaw, evaluateWithPi, loadOpenClaw, loadPi, msg, parseArgs, run, sessionId, usage, writeCase } from "./lib.mjs";

const USAGE = `usage: node make-openclaw.mjs --openclaw <openclaw package folder> --out <folder> [--pi <pi package>/dist/bundle/index.js]
Writes openclaw-<case>.jsonl and openclaw-<case>.golden.json for every case. Same input, same bytes.
With --pi each golden also says what pi makes of the same file (pi knows neither reset nor leaf).`;

const CWD = "/home/dev/shop";
const cases = [];
/** Driven through OpenClaw's own in-memory SessionManager. */
const written = (name, fn) => cases.push({ name: `openclaw-${name}`, fn, kind: "written" });
/** Lines put together by hand. */
const built = (name, fn) => cases.push({ name: `openclaw-${name}`, fn, kind: "built" });

const BASE = Date.UTC(2026, 2, 4, 8, 0, 0);
let clock = 0;
const entry = (type, id, parentId, fields = {}) => ({ type, id, parentId, timestamp: new Date(BASE + ++clock * 1000).toISOString(), ...fields });
const user = (id, parentId, content, fields = {}) => entry("message", id, parentId, { message: { role: "user", content, timestamp: BASE + clock }, ...fields });
const assistant = (id, parentId, content, fields = {}) =>
	entry("message", id, parentId, {
		message: {
			role: "assistant",
			content: typeof content === "string" ? [{ type: "text", text: content }] : content,
			provider: "openai",
			model: "gpt-5-mini",
			stopReason: "stop",
			timestamp: BASE + clock,
		},
		...fields,
	});
const header = (name) => ({ type: "session", version: 4, id: sessionId(`openclaw-${name}`), timestamp: new Date(BASE).toISOString(), cwd: CWD });
const lines = (items) => items.map((item) => `${JSON.stringify(item)}\n`).join("");

// ---- resets ------------------------------------------------------------------------------------

written("reset-clear", async (s) => {
	await s.appendModelChange("anthropic", "claude-sonnet-4-5");
	await s.appendThinkingLevelChange("low");
	s.appendMessage(msg.user("Remind me to water the plants."));
	s.appendMessage(msg.assistant("I will."));
	s.appendResetBoundary("new");
	s.appendMessage(msg.user("A new day."));
	s.appendMessage(msg.assistant("Good morning."));
});

written("reset-last", (s) => {
	s.appendMessage(msg.user("Before."));
	s.appendMessage(msg.assistant("Yes."));
	s.appendResetBoundary("idle");
});

written("reset-keeps-tail", (s) => {
	s.appendMessage(msg.user("Old question."));
	s.appendMessage(msg.assistant("Old answer."));
	const kept = s.appendMessage(msg.user("Which bus goes home?"));
	s.appendMessage(msg.assistant([msg.text("Looking."), msg.call("call_1", "search", { q: "bus" }), msg.call("call_2", "search", { q: "tram" })]));
	s.appendMessage(msg.result("call_1", "search", "Line 7"));
	s.appendCustomMessageEntry("weather", "rain", true);
	s.appendMessage(msg.bash("date", "Wed"));
	s.appendMessage(msg.result("call_9", "search", "belongs to no call in the kept range"));
	s.appendMessage(msg.result("call_2", "search", "Tram 3"));
	s.branchWithSummary(s.getLeafId(), "A summary in the kept range.");
	s.appendMessage(msg.assistant("Line 7 or tram 3."));
	s.appendResetBoundary("daily", kept);
	s.appendMessage(msg.user("And tomorrow?"));
});

written("reset-keeps-from-result", (s) => {
	s.appendMessage(msg.user("Start."));
	s.appendMessage(msg.assistant([msg.call("call_1", "read", { path: "a" })]));
	const kept = s.appendMessage(msg.result("call_1", "read", "its call is not in the kept range"));
	s.appendMessage(msg.assistant("Done."));
	s.appendResetBoundary("cron-stale", kept);
	s.appendMessage(msg.user("Next."));
});

written("reset-twice", (s) => {
	s.appendMessage(msg.user("Window one."));
	s.appendMessage(msg.assistant("One."));
	s.appendResetBoundary("new");
	const kept = s.appendMessage(msg.user("Window two."));
	s.appendMessage(msg.assistant("Two."));
	s.appendResetBoundary("reset", kept);
	s.appendMessage(msg.user("Window three."));
});

written("reset-keeps-across-reset", (s) => {
	const kept = s.appendMessage(msg.user("Window one."));
	s.appendMessage(msg.assistant("One."));
	s.appendResetBoundary("new");
	s.appendMessage(msg.user("Window two."));
	s.appendResetBoundary("idle", kept);
	s.appendMessage(msg.user("Window three."));
});

written("reset-after-compaction", (s) => {
	s.appendMessage(msg.user("Old."));
	const kept = s.appendMessage(msg.user("Kept by the compaction."));
	s.appendCompaction("Summary that the reset drops.", kept, 5000, undefined, undefined, undefined, 900);
	s.appendMessage(msg.assistant("After the compaction."));
	s.appendResetBoundary("reset", kept);
	s.appendMessage(msg.user("After the reset."));
});

written("compaction-after-reset", (s) => {
	s.appendMessage(msg.user("Old."));
	s.appendMessage(msg.assistant("Old answer."));
	s.appendResetBoundary("new");
	s.appendMessage(msg.user("New."));
	const kept = s.appendMessage(msg.assistant("New answer."));
	s.appendCompaction("Summary of the new window.", kept, 4000, { note: "x" }, true);
	s.appendMessage(msg.user("Go on."));
});

written("compaction-keeps-across-reset", (s) => {
	const old = s.appendMessage(msg.user("From before the reset."));
	s.appendMessage(msg.assistant("Old answer."));
	s.appendResetBoundary("new");
	s.appendMessage(msg.user("New."));
	s.appendCompaction("Keeps from before the reset.", old, 4000);
	s.appendMessage(msg.user("Go on."));
});

// ---- leaf moves --------------------------------------------------------------------------------

written("leaf-move", (s) => {
	s.appendMessage(msg.user("Write a haiku."));
	const first = s.appendMessage(msg.assistant("Draft one."));
	s.appendMessage(msg.user("Another."));
	s.appendMessage(msg.assistant("Draft two."));
	s.appendLeafControl({ targetId: first, appendParentId: first });
});

written("leaf-move-then-append", (s) => {
	s.appendMessage(msg.user("Write a haiku."));
	const first = s.appendMessage(msg.assistant("Draft one."));
	s.appendMessage(msg.user("Another."));
	s.appendMessage(msg.assistant("Draft two."));
	s.appendLeafControl({ targetId: first, appendParentId: first });
	s.appendMessage(msg.user("I like draft one."));
	s.appendMessage(msg.assistant("Glad."));
});

written("leaf-to-null", (s) => {
	s.appendMessage(msg.user("Gone."));
	s.appendMessage(msg.assistant("Gone too."));
	s.appendLeafControl({ targetId: null, appendParentId: null });
});

written("leaf-append-parent", (s) => {
	s.appendMessage(msg.user("Visible."));
	const visible = s.appendMessage(msg.assistant("Visible answer."));
	const hidden = s.appendMessage(msg.user("Hidden."));
	s.appendLeafControl({ targetId: visible, appendParentId: hidden });
	s.appendMessage(msg.user("Stored under the hidden entry, shown under the visible one."));
	s.appendMessage(msg.assistant("Yes."));
});

written("leaf-side", (s) => {
	s.appendMessage(msg.user("Visible."));
	const visible = s.appendMessage(msg.assistant("Visible answer."));
	const hidden = s.appendMessage(msg.user("Hidden."));
	s.appendLeafControl({ targetId: visible, appendParentId: hidden, appendMode: "side" });
	s.appendMessage(msg.user("After a side control."));
});

written("branch-without-append", (s) => {
	s.appendMessage(msg.user("One."));
	const answer = s.appendMessage(msg.assistant("Two."));
	s.appendMessage(msg.user("Three."));
	s.branch(answer);
});

written("branch-and-append", (s) => {
	s.appendMessage(msg.user("One."));
	const answer = s.appendMessage(msg.assistant("Two."));
	s.appendMessage(msg.user("Three."));
	s.branch(answer);
	s.appendMessage(msg.user("Three again."));
	s.branchWithSummary(answer, "Two thirds were tried.");
	const last = s.appendMessage(msg.assistant("Four."));
	s.appendLabelChange(last, "four");
});

written("rewrite-as-side-entries", async (s, openclaw) => {
	s.appendMessage(msg.user("Show the log."));
	s.appendMessage(msg.assistant([msg.call("call_1", "bash", { command: "cat log" })]));
	const result = s.appendMessage(msg.result("call_1", "bash", "very long log ".repeat(12)));
	s.appendMessage(msg.assistant("There is a timeout."));
	await openclaw.rewriteTranscriptEntries({
		sessionManager: s,
		replacements: [{ entryId: result, message: msg.result("call_1", "bash", "[log removed]") }],
	});
	s.appendMessage(msg.user("Fix it."));
	s.appendMessage(msg.assistant("Fixed."));
});

// ---- odd ones ----------------------------------------------------------------------------------

built("side-entries", () =>
	lines([
		header("side-entries"),
		user("u1", null, "Visible."),
		assistant("a1", "u1", "Visible answer."),
		assistant("s1", "a1", "A side note.", { appendMode: "side" }),
		user("s2", "s1", "A side reply.", { appendMode: "side" }),
		user("u2", "s2", "Stored under the side entries, shown under the visible answer."),
		assistant("a2", "u2", "End."),
	]));

built("side-last", () => lines([header("side-last"), user("u1", null, "Visible."), assistant("a1", "u1", "Visible answer."), assistant("s1", "a1", "A side note.", { appendMode: "side" })]));

built("leaf-back-over-reset", () =>
	lines([
		header("leaf-back-over-reset"),
		user("u1", null, "Before the reset."),
		assistant("a1", "u1", "Answer."),
		entry("reset", "r1", "a1", { reason: "new" }),
		user("u2", "r1", "After the reset."),
		assistant("a2", "u2", "Answer after."),
		entry("leaf", "l1", "a2", { targetId: "a1" }),
		user("u3", "a1", "Its parent is before the reset: hung under the current leaf."),
		entry("leaf", "l2", "u3", { targetId: "u2" }),
		user("u4", "u2", "Within the new window a leaf may move."),
	]));

built("root-after-reset", () =>
	lines([header("root-after-reset"), user("u1", null, "Before."), entry("reset", "r1", "u1", { reason: "idle", firstKeptEntryId: "u1" }), user("u2", null, "A root after the reset."), assistant("a2", "u2", "End.")]));

built("invalid-leaves", () =>
	lines([
		header("invalid-leaves"),
		user("u1", null, "One."),
		assistant("a1", "u1", "Two."),
		entry("leaf", "l1", "a1", { targetId: "nowhere" }),
		entry("leaf", "l2", "l1", { targetId: "u1", appendParentId: "nowhere" }),
		entry("leaf", "l3", "l2", {}),
		entry("leaf", "l4", "l3", { targetId: "u1", appendMode: "front" }),
		entry("leaf", "l5", "l4", { targetId: "l1" }),
		user("u2", "l5", "Hangs off controls that count for nothing."),
	]));

built("leaf-through-opaque", () =>
	lines([
		header("leaf-through-opaque"),
		user("u1", null, "One."),
		entry("usage", "x1", "u1", { kind: "title", provider: "p", model: "m", usage: usage(1, 1) }),
		assistant("a1", "x1", "Two."),
		entry("leaf", "l1", "a1", { targetId: "x1" }),
		entry("leaf", "l2", "l1", { targetId: "l1" }),
		user("u2", "l2", "A child of a control is a child of its target."),
	]));

built("pi-only-entries", () =>
	lines([
		header("pi-only-entries"),
		entry("message", "m1", null, { message: { role: "system", content: "Rules.", timestamp: 1 } }),
		user("u1", "m1", "Question."),
		assistant("a1", "u1", "Answer."),
		entry("context_edit", "e1", "a1", { targetId: "u1", replacement: { content: "edited" } }),
		entry("message", "n1", "e1", { message: { role: "user", content: null, timestamp: 4 } }),
		entry("compaction", "c1", "n1", { summary: "Kept from an entry OpenClaw does not know.", firstKeptEntryId: "e1", tokensBefore: 9, systemMessage: { role: "system", content: "Rules.", timestamp: 9 } }),
		entry("message", "b1", "c1", { message: { role: "bashExecution", command: "env", output: "x", exitCode: 0, cancelled: false, truncated: false, excludeFromContext: true, timestamp: 5 } }),
		user("u2", "b1", "End."),
	]));

built("odd-entries", () =>
	lines([
		header("odd-entries"),
		user("u1", null, "One."),
		{ type: "message", id: "a1", timestamp: "2026-03-04T09:00:00.000Z", message: { role: "assistant", content: "a string, and no parent key", provider: "p", model: "m", timestamp: 2 } },
		entry("label", "g1", "a1", { targetId: "nowhere", label: "ghost" }),
		user("u2", "g1", "A child of a label without a target."),
		entry("message", "t1", "u2", { message: { role: "toolResult", toolCallId: "x", toolName: "read", content: "a string", isError: false, timestamp: 3 } }),
		entry("reset", "r1", "t1", { reason: "whim" }),
		entry("custom_message", "k1", "r1", { customType: "carrier", content: "runtime facts", display: false, details: { runtimeContextCarrier: true } }),
		entry("custom_message", "k2", "k1", { customType: "c", content: "no display flag" }),
		entry("branch_summary", "b1", "k2", { fromId: "root", summary: "" }),
		entry("message", "h1", "b1", { message: { role: "custom", content: "no customType", display: true, timestamp: 4 } }),
		user("u3", "h1", "End."),
		entry("label", "g2", "u3", { targetId: "u1", label: "first" }),
	]));

built("unknown-parent", () => lines([header("unknown-parent"), user("u1", null, "One."), user("u2", "nowhere", "A parent that does not exist: the path starts here.")]));

built("cycle", () => lines([header("cycle"), user("u1", "a1", "Our parents form a circle."), assistant("a1", "u1", "Indeed.")]));

built("invalid-timestamp", () => lines([header("invalid-timestamp"), user("u1", null, "OpenClaw throws on this."), { ...entry("custom_message", "k1", "u1", { customType: "c", content: "x", display: true }), timestamp: "yesterday" }]));

built("provider-replay", () => {
	const withReplay = (id, parentId, text, type) => {
		const value = assistant(id, parentId, text);
		value.message.providerReplay = { type, replayIndex: 0 };
		return value;
	};
	return lines([
		header("provider-replay"),
		user("u1", null, "Old."),
		withReplay("a1", "u1", "Kept, loses its checkpoint.", "anthropic-compaction"),
		withReplay("a2", "a1", "Kept, keeps other replay data.", "something-else"),
		entry("compaction", "c1", "a2", { summary: "Old things.", firstKeptEntryId: "a1", tokensBefore: 9 }),
		withReplay("a3", "c1", "After the boundary it stays.", "anthropic-compaction"),
	]);
});

// ---- run ---------------------------------------------------------------------------------------

await run(async () => {
	const { options, files } = parseArgs(process.argv.slice(2), { openclaw: "required", out: "required", pi: "optional" }, USAGE);
	if (files.length > 0) throw new UsageError(`unexpected argument ${files[0]}`);
	const openclaw = await loadOpenClaw(options.openclaw);
	const pi = options.pi ? await loadPi(options.pi) : undefined;
	mkdirSync(options.out, { recursive: true });
	for (const item of cases) {
		clock = 0;
		let bytes;
		if (item.kind === "built") bytes = item.fn();
		else {
			bytes = await deterministic(item.name, async () => {
				const manager = openclaw.SessionManager.inMemory(CWD);
				manager.newSession({ id: sessionId(item.name) });
				await item.fn(manager, openclaw);
				return lines(manager.getPersistedEntries());
			});
		}
		const path = join(options.out, `${item.name}.jsonl`);
		writeFileSync(path, bytes);
		const record = evaluateWithOpenClaw(openclaw, path);
		record.writtenBy = item.kind === "written" ? openclaw.producer : "hand";
		// pi follows parents without end when they form a circle.
		if (pi && item.name !== "openclaw-cycle") {
			const { producer, error, messages, roles, messagesSha256, leafId } = evaluateWithPi(pi, path);
			record.otherReader = error === undefined ? { producer, messages, roles, messagesSha256, leafId } : { producer, error };
		}
		writeCase(options.out, item.name, bytes, record);
	}
	process.stdout.write(`${cases.length} cases in ${options.out}\n`);
	// OpenClaw's modules may keep timers alive.
	process.exit(0);
}, USAGE);
