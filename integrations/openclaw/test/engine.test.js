import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Engine } from "../src/engine.js";
import { Histories } from "../src/history.js";
import { Limits } from "../src/limits.js";
import { Sidecar } from "../src/sidecar.js";
import { registerTools } from "../src/tools.js";

const PROGRAM = fileURLToPath(new URL("../fixtures/program.mjs", import.meta.url));

let folder;
let sidecar;
const folders = [];

/** A folder with a program of its own. */
function ground() {
  folder = mkdtempSync(join(tmpdir(), "longhaul-shim-"));
  folders.push(folder);
  const binary = join(folder, "longhaul");
  const text = `#!/bin/sh\nPROGRAM_FOLDER='${folder}' exec '${process.execPath}' '${PROGRAM}'\n`;
  writeFileSync(binary, text);
  chmodSync(binary, 0o700);
  return binary;
}

const feel = (mood) => writeFileSync(join(folder, "mood"), mood);
const lines = (name) => {
  const file = join(folder, name);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
};
const heard = (method) => lines("heard").map((line) => JSON.parse(line)).filter((m) => m.method === method);

function engine({ binary = ground(), timeoutMs = 20_000, sdk, config } = {}) {
  const said = [];
  const keep = (level) => (message) => said.push(`${level} ${message}`);
  const log = { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
  sidecar = new Sidecar({ binary, host: { name: "openclaw", version: "test" } }, log);
  const histories = new Histories();
  sidecar.onRestart(() => histories.clear());
  const settings = { version: "1", timeoutMs, memoryTools: "auto" };
  const memory = { said: new Map(), limits: new Limits(), models: new Map() };
  const shared = { sidecar, histories, settings, log, sdk, ...memory };
  return { engine: new Engine(shared, { workspaceDir: "/w", config }), said, settings };
}

const user = (text, timestamp = 1) => ({ role: "user", content: text, timestamp });
const turn = (messages, more) => ({ sessionId: "s", sessionKey: "agent:main:x", messages, ...more });
const loud = (said) => said.filter((line) => /^(warn|error)/.test(line));

beforeEach(async () => {
  await sidecar?.stop();
});
after(async () => {
  await sidecar?.stop();
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

test("an assembled list holds the host's own objects, and the next one is sent as a change", async () => {
  const { engine: ours, said } = engine();
  const messages = [user("one"), user("two")];
  const result = await ours.assemble(turn(messages, { availableTools: new Set(["read"]) }));
  assert.equal(result.messages.length, 2);
  assert.equal(result.messages[1], messages[1]);
  assert.equal(result.systemPromptAddition, "ours");
  assert.equal("base" in result, false);
  const more = [...messages, user("three")];
  assert.equal((await ours.assemble(turn(more))).messages[1], more[2]);
  const [first, second] = heard("assemble").map(({ params }) => params);
  assert.deepEqual(first.availableTools, ["read"]);
  assert.equal(first.workspaceDir, "/w");
  assert.equal(first.agentId, "main");
  assert.deepEqual(second.history, { base: "t0", keep: 2, tail: [user("three")] });
  assert.deepEqual(loud(said), []);
});

test("a list that the program has forgotten is sent whole", async () => {
  const { engine: ours } = engine();
  feel("forgetful");
  const messages = [user("one")];
  await ours.assemble(turn(messages));
  const result = await ours.assemble(turn(messages));
  assert.equal(result.messages[1], messages[0]);
  assert.deepEqual(heard("assemble").map(({ params }) => Object.hasOwn(params, "messages")), [true, false, true]);
});

test("the keys in the host's configuration do not leave the gateway", async () => {
  const { engine: ours } = engine();
  const runtimeContext = { config: { key: "sk-secret" }, tokenBudget: 9, llm: { complete() {} } };
  await ours.bootstrap({ sessionId: "s", sessionFile: "f", runtimeContext });
  assert.equal(lines("heard").join("").includes("sk-secret"), false);
  assert.deepEqual(heard("bootstrap")[0].params.runtimeContext, { tokenBudget: 9 });
});

test("in a tool loop the budget is what the first request of the turn left, less what is pending", async () => {
  const { engine: ours } = engine();
  const limits = (promptTokenBudget) => ({ runtimeSettings: { limits: { promptTokenBudget } } });
  await ours.assemble(turn([], { tokenBudget: 11_000, ...limits(11_000) }));
  await ours.assemble(turn([], { tokenBudget: 21_000, ...limits(24_000) }));
  const budgets = heard("assemble").map(({ params }) => [params.tokenBudget, params.toolLoop]);
  assert.deepEqual(budgets, [[11_000, undefined], [8_000, true]]);
});

test("one session's budget is not another's", async () => {
  const { engine: ours } = engine();
  const limits = (promptTokenBudget) => ({ runtimeSettings: { limits: { promptTokenBudget } } });
  const ask = (sessionId, tokenBudget, whole) =>
    ours.assemble({ ...turn([], { tokenBudget, ...limits(whole) }), sessionId });
  await ask("a", 11_000, 11_000);
  await ask("b", 90_000, 90_000);
  await ask("a", 21_000, 24_000);
  await ask("b", 98_000, 99_000);
  const budgets = heard("assemble").map(({ params }) => params.tokenBudget);
  assert.deepEqual(budgets.slice(2), [8_000, 89_000]);
});

test("without a program the host's messages come back, it says so once, and later it serves", async () => {
  const binary = join(mkdtempSync(join(tmpdir(), "longhaul-shim-")), "none");
  const { engine: ours, said } = engine({ binary });
  const messages = [user("one")];
  assert.equal(ours.info.ownsCompaction, true);
  for (let time = 0; time < 3; time += 1) {
    assert.equal((await ours.assemble(turn(messages))).messages, messages);
  }
  assert.equal(ours.info.ownsCompaction, false);
  await assert.rejects(ours.commitTurn(turn(messages)), /not there/);
  assert.equal(loud(said).length, 1);
  assert.match(loud(said)[0], /none, which is not there or cannot be run/);
  writeFileSync(binary, readFileSync(ground()));
  chmodSync(binary, 0o700);
  assert.equal((await ours.assemble(turn(messages))).messages.length, 2);
  assert.equal(ours.info.ownsCompaction, true);
  assert.equal(said.some((line) => /is back/.test(line)), true);
});

test("a program that is too old is named with the remedy, and is not started in a loop", async () => {
  const { engine: ours, said } = engine();
  feel("old");
  const messages = [user("one")];
  for (let time = 0; time < 20; time += 1) {
    assert.equal((await ours.assemble(turn(messages))).messages, messages);
  }
  assert.equal(loud(said).length, 1);
  assert.match(loud(said)[0], /unrecognized subcommand.*too old for this plugin: update longhaul/);
  assert.ok(lines("starts").length <= 3, `${lines("starts").length} starts`);
});

test("another protocol is refused with the remedy", async () => {
  const { engine: ours, said } = engine();
  feel("other protocol");
  const messages = [user("one")];
  assert.equal((await ours.assemble(turn(messages))).messages, messages);
  assert.match(loud(said)[0], /protocol 1 is not spoken.*update longhaul/);
});

test("a program that answers in another protocol is too old, one that cannot be run is not", async () => {
  const { engine: old, said } = engine();
  feel("protocol 0");
  await old.assemble(turn([]));
  assert.match(loud(said)[0], /speaks protocol 0, not 1; .* too old/);
  const binary = ground();
  writeFileSync(binary, "#!/no/such/interpreter\n");
  const { engine: unable, said: why } = engine({ binary });
  await unable.assemble(turn([]));
  assert.match(loud(why)[0], /did not start: .*ENOENT/);
  assert.doesNotMatch(loud(why)[0], /too old/);
});

test("a program that dies over a call is started again and asked once more", async () => {
  const { engine: ours } = engine();
  feel("crash once");
  const messages = [user("one")];
  assert.equal((await ours.assemble(turn(messages))).messages.length, 2);
  assert.equal(lines("starts").length, 2);
});

test("a program that always dies leaves the turn as it was, and commitTurn fails", async () => {
  const { engine: ours } = engine();
  feel("crash");
  const messages = [user("one")];
  for (let time = 0; time < 6; time += 1) {
    assert.equal((await ours.assemble(turn(messages))).messages, messages);
  }
  assert.ok(lines("starts").length <= 6, `${lines("starts").length} starts`);
  await assert.rejects(ours.commitTurn(turn(messages)));
});

test("a crash is survived by commitTurn", async () => {
  const { engine: ours } = engine();
  feel("crash once");
  assert.deepEqual(await ours.commitTurn(turn([user("one")])), { status: "committed" });
  assert.equal(heard("commitTurn").length, 2);
});

test("a call that takes too long is cancelled, and the host goes on", async () => {
  const { engine: ours, said } = engine({ timeoutMs: 200 });
  feel("silent");
  const messages = [user("one")];
  assert.equal((await ours.assemble(turn(messages))).messages, messages);
  assert.match(loud(said)[0], /assemble took longer/);
  feel("");
  assert.equal((await ours.assemble(turn(messages))).messages.length, 2);
  const [cancelled] = heard("cancel");
  assert.equal(cancelled.params.id, heard("assemble")[0].id);
});

test("an abort of the host cancels the call and is not swallowed", async () => {
  const { engine: ours } = engine();
  feel("silent");
  const abort = new AbortController();
  const running = ours.compact({ sessionId: "s", sessionKey: "k", abortSignal: abort.signal });
  while (heard("compact").length === 0) await new Promise((done) => setTimeout(done, 5));
  abort.abort("stop");
  await assert.rejects(running, (reason) => reason === "stop");
  feel("");
  await ours.assemble(turn([user("one")]));
  assert.equal(heard("cancel")[0].params.id, heard("compact")[0].id);
});

test("the program may ask the model of the call that runs", async () => {
  const { engine: ours } = engine();
  let asked;
  const llm = {
    async complete(params) {
      asked = params;
      return { text: "short", model: "m", usage: { input: 1 }, audit: {} };
    },
  };
  const result = await ours.compact({ sessionId: "s", sessionKey: "k", runtimeContext: { llm } });
  assert.deepEqual(JSON.parse(result.result.summary), { text: "short", usage: { input: 1 }, model: "m" });
  assert.deepEqual(asked.messages, [{ role: "user", content: "summarise" }]);
  assert.deepEqual([asked.maxTokens, asked.purpose], [9, "longhaul.summary"]);
});

test("the model is asked within the turn that asks, not within the one that started the program", async () => {
  const { engine: ours } = engine();
  const scope = new AsyncLocalStorage();
  await scope.run("the first turn", () => ours.assemble(turn([user("one")])));
  let within;
  const llm = {
    async complete() {
      within = scope.getStore();
      return { text: "short" };
    },
  };
  const ask = { sessionId: "s", sessionKey: "k", runtimeContext: { llm } };
  await scope.run("the second turn", () => ours.compact(ask));
  assert.equal(within, "the second turn");
});

test("a call that has no model is answered by the one that its turn began with", async () => {
  const { engine: ours } = engine();
  const llm = { complete: async () => ({ text: "short" }) };
  const call = { sessionId: "s", sessionKey: "k" };
  await ours.bootstrap({ ...call, sessionFile: "f", runtimeContext: { llm } });
  assert.equal(JSON.parse((await ours.compact(call)).result.summary).text, "short");
  await ours.compact({ sessionId: "t", sessionKey: "l" });
  assert.deepEqual(heard("compact").map(({ params }) => params.llm), [true, false]);
});

test("a model that fails is an error for the program, not for the host", async () => {
  const { engine: ours } = engine();
  const llm = { complete: () => Promise.reject(new Error("no credit")) };
  const result = await ours.compact({ sessionId: "s", sessionKey: "k", runtimeContext: { llm } });
  assert.match(result.result.summary, /no credit/);
});

test("a model that never answers is given up, and the call ends", async () => {
  const config = { agents: { defaults: { compaction: { timeoutSeconds: 0.2 } } } };
  const { engine: ours } = engine({ config });
  let signal;
  const llm = {
    complete(params) {
      signal = params.signal;
      return new Promise(() => {});
    },
  };
  const result = await ours.compact({ sessionId: "s", sessionKey: "k", runtimeContext: { llm } });
  assert.match(result.result.summary, /the model took longer than 0.2 s/);
  assert.equal(signal.aborted, true);
});

test("a model that the program gives up is told so", async () => {
  const { engine: ours } = engine();
  feel("impatient");
  const llm = {
    complete: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  };
  const result = await ours.compact({ sessionId: "s", sessionKey: "k", runtimeContext: { llm } });
  assert.match(result.result.summary, /cancelled by longhaul/);
});

test("where longhaul cannot compact, OpenClaw does", async () => {
  const delegated = [];
  const sdk = {
    async delegateCompactionToRuntime(params) {
      delegated.push(params);
      return { ok: true, compacted: true };
    },
  };
  const binary = join(tmpdir(), "longhaul-shim-none", "none");
  const { engine: ours } = engine({ binary, sdk });
  const params = { sessionId: "s", sessionKey: "k", force: true };
  assert.deepEqual(await ours.compact(params), { ok: true, compacted: true });
  assert.equal(delegated[0], params);
});

test("a compaction of OpenClaw's own that throws is an answer, not an exception", async () => {
  const sdk = { delegateCompactionToRuntime: () => Promise.reject(new Error("no model")) };
  const { engine: ours } = engine({ binary: join(tmpdir(), "longhaul-shim-none", "none"), sdk });
  const result = await ours.compact({ sessionId: "s", sessionKey: "k" });
  assert.deepEqual(result, { ok: false, compacted: false, reason: "no model" });
});

test("after an overflow OpenClaw compacts where longhaul finds nothing to leave out", async () => {
  const sdk = { delegateCompactionToRuntime: async () => ({ ok: true, compacted: true }) };
  const { engine: ours } = engine({ sdk });
  feel("nothing to do");
  const runtimeContext = { trigger: "overflow" };
  const result = await ours.compact({ sessionId: "s", sessionKey: "k", runtimeContext });
  assert.deepEqual(result, { ok: true, compacted: true });
});

test("after an overflow the next list is made for less than what was refused", async () => {
  const { engine: ours } = engine();
  feel("nothing to do");
  await ours.assemble(turn([user("one")], { tokenBudget: 900 }));
  const runtimeContext = { trigger: "overflow" };
  const result = await ours.compact({ sessionId: "s", sessionKey: "k", runtimeContext });
  assert.deepEqual([result.ok, result.compacted], [true, true]);
  await ours.assemble(turn([user("one")], { tokenBudget: 900 }));
  assert.deepEqual(heard("assemble").map(({ params }) => params.tokenBudget), [900, 3]);
});

test("what needs no compaction is told in words that do not end the host's turn", async () => {
  const { engine: ours } = engine();
  feel("nothing to do");
  const preflight = { runtimeContext: { forceReason: "preflight_required" } };
  const compact = (more) => ours.compact({ sessionId: "s", sessionKey: "k", ...more });
  assert.deepEqual(await compact(), { ok: true, compacted: false, reason: "already under target (small)" });
  feel("cannot");
  assert.deepEqual(await compact(), { ok: false, compacted: false, reason: "too large" });
  const before = { ok: true, compacted: false, reason: "already under target (too large)" };
  assert.deepEqual(await compact(preflight), before);
});

test("the host's section about memory is kept, in front of ours", async () => {
  const sdk = { buildMemorySystemPromptAddition: ({ availableTools }) => `memory of ${availableTools.size}` };
  const { engine: ours } = engine({ sdk });
  const result = await ours.assemble(turn([user("one")], { availableTools: new Set(["a"]) }));
  assert.equal(result.systemPromptAddition, "memory of 1\n\nours");
});

test("an answer that makes no sense is not given to the host", async () => {
  const { engine: ours, said } = engine();
  feel("wrong refs");
  const messages = [user("one")];
  assert.equal((await ours.assemble(turn(messages))).messages, messages);
  assert.match(loud(said)[0], /refers to message 99 of 1/);
  feel("garbage");
  assert.equal((await ours.assemble(turn(messages))).messages.length, 2);
  assert.equal(said.some((line) => /not JSON/.test(line)), true);
});

test("tools run in the session of the caller, and their errors are errors", async () => {
  const { settings } = engine();
  const tools = new Map();
  const api = { registerTool: (make, { name }) => tools.set(name, make) };
  registerTools(api, sidecar, settings);
  const context = { sessionId: "s", sessionKey: "k", workspaceDir: "/w", agentId: "main", config: {} };
  const recall = tools.get("recall")(context);
  assert.deepEqual((await recall.execute("id", { text: "port" })).content, [
    { type: "text", text: "recall: port" },
  ]);
  await assert.rejects(recall.execute("id", { text: "bad" }), /no such thing/);
  assert.equal(heard("tools/call")[0].params.sessionKey, "k");
  const note = tools.get("note")(context);
  assert.deepEqual(note.parameters.required, ["kind", "text"]);
  assert.deepEqual((await note.execute("id", { kind: "fact", text: "six" })).content, [
    { type: "text", text: "note: six" },
  ]);
  assert.equal(tools.get("memory_search")(context), null);
  const free = { ...context, config: { plugins: { slots: { memory: "none" } } } };
  assert.equal(tools.get("memory_search")(free).name, "memory_search");
});
