// Against the real program, where LONGHAUL_BINARY names one.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Engine } from "../src/engine.js";
import { Histories } from "../src/history.js";
import { Limits } from "../src/limits.js";
import { Sidecar } from "../src/sidecar.js";
import { MEMORY_GET, MEMORY_SEARCH, NOTE, RECALL } from "../src/tools.js";

const binary = process.env.LONGHAUL_BINARY;
const skip = binary ? false : "LONGHAUL_BINARY does not name a program";

let folder;
let sidecar;
let ours;
const said = [];

before(() => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "longhaul-openclaw-"));
  const keep = (level) => (message) => said.push(`${level} ${message}`);
  const log = { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
  const host = { name: "openclaw", version: "test" };
  sidecar = new Sidecar({ binary, stateDir: join(folder, "state"), host }, log);
  const histories = new Histories();
  sidecar.onRestart(() => histories.clear());
  const settings = { version: "test", timeoutMs: 60_000, memoryTools: "on" };
  const memory = { said: new Map(), limits: new Limits(), models: new Map() };
  const shared = { sidecar, histories, settings, log, ...memory };
  ours = new Engine(shared, { workspaceDir: folder, agentDir: join(folder, "agent") });
});

after(async () => {
  await sidecar?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const session = { sessionId: "11111111-2222-4333-8444-555555555555", sessionKey: "agent:main:t" };
const clock = 1_794_700_000_000;

/** Turn number n: a question, a call with a large result, an answer. */
function turn(n) {
  const at = clock + n * 10_000;
  const id = `call_${n}`;
  const lines = Array.from({ length: 60 }, (_, line) => `line ${line} of file ${n}: ${(n * 7919 + line) * 31}`);
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
  const assistant = (content, stopReason, later) => ({
    role: "assistant",
    content,
    api: "openai-completions",
    provider: "p",
    model: "m",
    usage,
    stopReason,
    timestamp: at + later,
  });
  const words = n === 0 ? "Never change the file deploy.lock. Read file 0." : `Read file ${n}.`;
  return [
    { role: "user", content: words, timestamp: at, idempotencyKey: `turn-${n}:user` },
    assistant([{ type: "toolCall", id, name: "read", arguments: { path: `${n}.txt` } }], "toolUse", 1),
    {
      role: "toolResult",
      toolCallId: id,
      toolName: "read",
      content: [{ type: "text", text: lines.join("\n") }],
      isError: false,
      timestamp: at + 2,
    },
    assistant([{ type: "text", text: `File ${n} is read.` }], "stop", 3),
  ];
}

async function commit(n) {
  const entry = (id) => ({ ...session, agentId: "main", entryId: id });
  return await ours.commitTurn({
    ...session,
    advancementKey: `turn-${n}`,
    admission: { ...entry(`u${n}`), logicalTurnId: `turn-${n}`, role: "user" },
    terminal: entry(`a${n}`),
    messages: turn(n),
  });
}

const tokenBudget = 12_000;
const limits = { runtimeSettings: { limits: { promptTokenBudget: tokenBudget } } };
const assemble = (messages) =>
  ours.assemble({ ...session, messages, tokenBudget, model: "m", prompt: "next", ...limits });
const text = (messages) => JSON.stringify(messages);

test("what is small is given back as it came", { skip }, async () => {
  const messages = turn(0);
  const result = await assemble(messages);
  assert.deepEqual(result.messages, messages);
  assert.equal(result.degraded, undefined);
  assert.ok(result.estimatedTokens > 0);
});

test("a turn is committed once, however often it is offered", { skip }, async () => {
  assert.deepEqual(await commit(0), { status: "committed" });
  assert.deepEqual(await commit(0), { status: "duplicate" });
});

test("over many windows the rule stays, calls keep their results, and no message comes twice", { skip }, async () => {
  const history = turn(0);
  for (let n = 1; n < 40; n += 1) {
    const { messages } = await assemble([...history]);
    assert.match(text(messages), /deploy\.lock/);
    const calls = messages.flatMap((m) => (Array.isArray(m.content) ? m.content : []));
    const open = calls.filter((block) => block.type === "toolCall").map((block) => block.id);
    const closed = messages.filter((m) => m.role === "toolResult").map((m) => m.toolCallId);
    assert.deepEqual(closed, open);
    const keys = messages.map((m) => m.idempotencyKey).filter(Boolean);
    assert.equal(new Set(keys).size, keys.length);
    assert.deepEqual(await commit(n), { status: "committed" });
    history.push(...turn(n));
  }
  const { messages, estimatedTokens } = await assemble([...history]);
  assert.ok(estimatedTokens <= tokenBudget, `${estimatedTokens} tokens`);
  assert.ok(messages.length < history.length);
  assert.ok(said.some((line) => /"event":"compacted"/.test(line)));
});

test("tool-call ids that the host rewrites for a provider make no other message of it", { skip }, async () => {
  const other = { sessionId: "22222222-2222-4333-8444-555555555555", sessionKey: "agent:main:ids" };
  const rewritten = (messages) => JSON.parse(JSON.stringify(messages).replaceAll("call_", "call"));
  const history = [];
  for (let n = 0; n < 12; n += 1) {
    const given = rewritten(history);
    const result = await ours.assemble({ ...other, messages: given, tokenBudget, prompt: "next", ...limits });
    const blocks = result.messages.flatMap((m) => (Array.isArray(m.content) ? m.content : []));
    const open = blocks.filter((block) => block.type === "toolCall").map((block) => block.id);
    const closed = result.messages.filter((m) => m.role === "toolResult").map((m) => m.toolCallId);
    assert.deepEqual(closed, open);
    assert.equal(text(result.messages).includes("call_"), false);
    // A few turns fit as they are, below the day's log of the sessions before.
    if (n > 0 && n < 4) {
      const [log, ...rest] = result.messages;
      assert.match(text([log]), /<longhaul:daily-logs>/);
      assert.deepEqual(rest, given);
    }
    const keys = result.messages.map((m) => m.idempotencyKey).filter(Boolean);
    assert.equal(new Set(keys).size, keys.length);
    await ours.commitTurn({
      ...other,
      advancementKey: `ids-${n}`,
      admission: { ...other, entryId: `u${n}`, logicalTurnId: `ids-${n}`, role: "user" },
      terminal: { ...other, entryId: `a${n}` },
      messages: turn(n),
    });
    history.push(...turn(n));
  }
  const recalled = await sidecar.call("tools/call", {
    name: "recall",
    arguments: { text: "line 7 of file 1", limit: 5 },
    workspaceDir: folder,
    ...other,
  });
  assert.equal(recalled.text.split("line 7 of file 1:").length, 2, recalled.text);
});

test("what has left the context is recalled in the caller's session", { skip }, async () => {
  const answer = await sidecar.call("tools/call", {
    name: "recall",
    arguments: { text: "line 7 of file 3" },
    workspaceDir: folder,
    ...session,
  });
  assert.equal(answer.isError, false, answer.text);
  assert.match(answer.text, /line 7 of file 3/);
});

test("what a provider refused is made smaller", { skip }, async () => {
  const history = Array.from({ length: 40 }, (_, n) => turn(n)).flat();
  const before = await assemble(history);
  const runtimeContext = { trigger: "overflow" };
  const compacted = await ours.compact({ ...session, force: true, tokenBudget, runtimeContext });
  assert.equal(compacted.compacted, true);
  const after = await assemble(history);
  assert.ok(text(after.messages).length < text(before.messages).length);
  assert.match(text(after.messages), /deploy\.lock/);
});

test("the process may die between two turns", { skip }, async () => {
  process.kill(sidecar.pid, "SIGKILL");
  assert.deepEqual(await commit(3), { status: "duplicate" });
  assert.deepEqual(await commit(40), { status: "committed" });
});

test("the definitions of the tools are the program's own", { skip }, async () => {
  const listed = await sidecar.call("tools/list", {});
  const tools = Array.isArray(listed) ? listed : listed.tools;
  const byName = (a, b) => a.name.localeCompare(b.name);
  const expected = [RECALL, NOTE, MEMORY_SEARCH, MEMORY_GET].sort(byName);
  assert.deepEqual([...tools].sort(byName), expected);
});

test("nothing in all of this was trouble", { skip }, () => {
  const trouble = said.filter((line) => /^(warn|error)/.test(line) && !/ended by SIGKILL/.test(line));
  assert.deepEqual(trouble, []);
});
