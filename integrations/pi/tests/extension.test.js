import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import longhaul from "../index.js";

const fake = fileURLToPath(new URL("./fake-longhaul.mjs", import.meta.url));
const tools = ["recall", "note"].map((name) => ({
  name,
  description: "Brings back. More.",
  inputSchema: { type: "object" },
}));

/** pi, as far as an extension sees it. */
function host(t, { binary = fake, answers = {}, settings = {}, file = "/sessions/one.jsonl" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "longhaul-pi-"));
  writeFileSync(join(folder, "longhaul.json"), JSON.stringify({ binary, timeoutMs: 5000, ...settings }));
  process.env.PI_CODING_AGENT_DIR = folder;
  process.env.FAKE = JSON.stringify({ answers: { "tools/list": tools, ...answers } });
  const handlers = {};
  const pi = {
    tools: {},
    commands: {},
    sent: [],
    sendMessage: (...sent) => pi.sent.push(sent),
    on: (event, handler) => (handlers[event] = handler),
    registerTool: (tool) => (pi.tools[tool.name] = tool),
    registerCommand: (name, command) => (pi.commands[name] = command),
    getSettings: () => ({ compaction: { reserveTokens: 4000, modelOverrides: { "p/m": { reserveTokens: 5000 } } } }),
  };
  longhaul(pi);
  const notices = [];
  const ctx = {
    cwd: "/work",
    hasUI: true,
    ui: { notify: (text) => notices.push(text) },
    model: { provider: "p", id: "m", contextWindow: 24_000 },
    sessionManager: { getSessionFile: () => file, getLeafId: () => "leaf" },
    getContextUsage: () => ({ tokens: 1234 }),
  };
  const emit = (event, body = {}) => handlers[event](body, ctx);
  t.after(async () => {
    await emit("session_shutdown");
    rmSync(folder, { recursive: true });
  });
  return { pi, ctx, notices, emit };
}

const turn = { outcome: "completed", entries: [] };
const compact = { reason: "threshold", preparation: { tokensBefore: 99 } };
const large = { toolName: "bash", toolCallId: "c", isError: false, content: [{ type: "text", text: "x".repeat(7000) }] };

test("what is due is appended after what others propose", async (t) => {
  const entry = { type: "context_edit", targetId: "a", replacement: { content: "b" } };
  const { emit, notices } = host(t, { answers: { "pi/turnEnd": { entries: [entry], notices: ["hid one"] } } });
  const theirs = { type: "custom", customType: "other" };
  const result = await emit("turn_end", { ...turn, entries: [theirs] });
  assert.deepEqual(result, { entries: [theirs, entry] });
  assert.deepEqual(notices, ["hid one"]);
});

test("nothing is changed where another extension changes the context, or the round failed", async (t) => {
  const { emit } = host(t, { answers: { "pi/turnEnd": { entries: [{ type: "custom" }] } } });
  assert.equal(await emit("turn_end", { ...turn, entries: [{ type: "compaction" }] }), undefined);
  assert.equal(await emit("turn_end", { ...turn, outcome: "aborted" }), undefined);
});

test("pi's own count is kept in a compaction of ours", async (t) => {
  const compaction = { summary: "s", firstKeptEntryId: "k", tokensBefore: 1, details: {} };
  const { emit } = host(t, { answers: { "pi/beforeCompact": { compaction } } });
  const result = await emit("session_before_compact", compact);
  assert.deepEqual(result, { compaction: { ...compaction, tokensBefore: 99 } });
});

test("without a compaction of ours, pi makes its own", async (t) => {
  const { emit } = host(t, { answers: { "pi/beforeCompact": {} } });
  assert.equal(await emit("session_before_compact", compact), undefined);
});

test("where nothing would come free, pi does not compact and its user is told", async (t) => {
  const { emit, notices } = host(t, { answers: { "pi/beforeCompact": { nothing: true } } });
  assert.deepEqual(await emit("session_before_compact", { ...compact, reason: "manual" }), { cancel: true });
  assert.match(notices.join(), /nothing to compact/);
});

test("a note is the last message and nothing in front of it changes", async (t) => {
  const { emit } = host(t, { answers: { "pi/context": { append: "[Context: 81%]" } } });
  const messages = [{ role: "system" }, { role: "user" }];
  const result = await emit("context_with_system", { messages });
  assert.deepEqual(result.messages.slice(0, 2), messages);
  assert.equal(result.messages.length, 3);
  assert.deepEqual(result.messages[2].content, [{ type: "text", text: "[Context: 81%]" }]);
});

test("what is put back stands behind what the agent said and before what the user says", async (t) => {
  const { emit } = host(t, { answers: { "pi/context": { restored: "the state", append: "[Context: 81%]" } } });
  const roles = async (...roles) => {
    const messages = roles.map((role) => ({ role }));
    const result = await emit("context_with_system", { messages });
    return result.messages.map(({ role, content }) => content?.[0].text ?? role);
  };
  const note = "[Context: 81%]";
  assert.deepEqual(await roles("system", "compactionSummary", "user"), ["system", "compactionSummary", "the state", "user", note]);
  assert.deepEqual(await roles("user", "assistant", "user", "custom"), ["user", "assistant", "the state", "user", "custom", note]);
  assert.deepEqual(await roles("user", "assistant", "toolResult"), ["user", "assistant", "toolResult", "the state", note]);
});

test("before a run, what is put back is given to pi to write", async (t) => {
  const message = { customType: "longhaul:restore", content: "the state", display: false };
  const { emit, pi } = host(t, { answers: { "pi/beforeRun": { message } } });
  assert.equal(await emit("before_agent_start"), undefined);
  assert.deepEqual(pi.sent, [[message, { triggerTurn: false }]]);
});

test("only results that may be too large are asked about", async (t) => {
  const content = [{ type: "text", text: "part" }];
  const { emit, pi } = host(t, { answers: { "pi/toolResult": { content } } });
  await emit("session_start");
  const small = { ...large, content: [{ type: "text", text: "x".repeat(5000) }] };
  assert.equal(await emit("tool_result", small), undefined);
  assert.deepEqual(await emit("tool_result", large), { content });
  // What was brought back is not cut again.
  assert.ok(pi.tools.recall);
  assert.equal(await emit("tool_result", { ...large, toolName: "recall" }), undefined);
});

test("the program is told where pi is and what pi keeps free", async (t) => {
  const { emit, pi, ctx } = host(t, { answers: { "pi/tool": "echo" } });
  await emit("session_start");
  const shown = await pi.tools.recall.execute("call", { id: "x" }, undefined, undefined, ctx);
  assert.deepEqual(JSON.parse(shown.content[0].text), {
    sessionFile: "/sessions/one.jsonl",
    leafId: "leaf",
    cwd: "/work",
    model: "p/m",
    contextWindow: 24_000,
    reserveTokens: 5000,
    autoCompaction: true,
    name: "recall",
    arguments: { id: "x" },
  });
  const noting = { kind: "fact", text: "y" };
  const noted = await pi.tools.note.execute("call", noting, undefined, undefined, ctx);
  const asked = JSON.parse(noted.content[0].text);
  assert.deepEqual([asked.name, asked.arguments], ["note", noting]);
});

const handlersOf = [
  ["turn_end", turn],
  ["session_before_compact", compact],
  ["before_agent_start", {}],
  ["context_with_system", { messages: [] }],
  ["tool_result", large],
  ["session_start", {}],
];

test("a program that is missing is told once and changes nothing", async (t) => {
  const { emit, notices, pi } = host(t, { binary: "/nowhere/longhaul" });
  for (const [event, body] of handlersOf) assert.equal(await emit(event, body), undefined, event);
  assert.equal(notices.length, 1);
  assert.match(notices[0], /pi goes on without it: .*longhaul.json names \/nowhere\/longhaul/);
  assert.deepEqual(pi.tools, {});
});

test("a program that cannot do what is asked is told once and changes nothing", async (t) => {
  for (const how of ["error", "crash"]) {
    const names = ["tools/list", "pi/turnEnd", "pi/beforeCompact", "pi/beforeRun", "pi/context", "pi/toolResult"];
    const answers = Object.fromEntries(names.map((name) => [name, how]));
    const { emit, notices } = host(t, { answers });
    for (const [event, body] of handlersOf) assert.equal(await emit(event, body), undefined, event);
    assert.equal(notices.length, 1, notices.join("\n"));
  }
});

test("a program that is silent is waited for no longer than is set", async (t) => {
  const { emit, notices } = host(t, { answers: { "pi/context": "silence" }, settings: { timeoutMs: 50 } });
  assert.equal(await emit("context_with_system", { messages: [] }), undefined);
  assert.match(notices.join(), /pi\/context took longer than 50 ms/);
});

test("trouble of the program's own is told once, and that it is over", async (t) => {
  const answers = { "pi/context": { degraded: "the file is gone" }, "pi/beforeCompact": {} };
  const { emit, notices } = host(t, { answers });
  await emit("context_with_system", { messages: [] });
  await emit("context_with_system", { messages: [] });
  await emit("session_before_compact", compact);
  assert.equal(notices.length, 2, notices.join("\n"));
  assert.match(notices[0], /the file is gone/);
  assert.match(notices[1], /is back/);
});

test("a session that is kept in no file is left alone", async (t) => {
  const { emit, notices } = host(t, { binary: "/nowhere/longhaul", file: null });
  for (const [event, body] of handlersOf.slice(0, 5)) assert.equal(await emit(event, body), undefined);
  assert.deepEqual(notices, []);
});

test("settings that are wrong are named", async (t) => {
  const { emit, notices } = host(t, { settings: { timeoutMs: "soon", binry: "x" } });
  await emit("session_start");
  assert.match(notices[0], /"timeoutMs" should be a number; "binry" is not known/);
});
