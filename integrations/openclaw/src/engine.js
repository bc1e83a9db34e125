// The context engine as the host sees it. No method breaks a turn: where
// longhaul cannot answer, the host gets its own messages back and goes on as it
// would without a plugin. `commitTurn` alone throws, because the host keeps the
// turn then and hands it over again.

import { AsyncResource } from "node:async_hooks";

import { Calls } from "./calls.js";
import { resolve } from "./history.js";
import { Crashed, Refused, Unavailable } from "./sidecar.js";

/** The list that a change refers to is not known (any more). */
const UNKNOWN_BASE = -32010;
/** How long a call waits until a process that crashed may be started again. */
const WAIT_MS = 2_000;
/** The same for a turn that is to be committed, with several starts. */
const COMMIT_WAIT_MS = 10_000;
/** OpenClaw's limit of a compaction where its configuration sets none. */
const COMPACTION_SECONDS = 180;

/** How many sessions' budgets are remembered. */
const SESSIONS = 64;

/** Calls that may be repeated when the process has died over them. */
const REPEATABLE = new Set(["bootstrap", "assemble", "compact", "commitTurn", "maintain"]);

const ACCEPTED = [
  "sessionKey",
  "prompt",
  "runtimeSettings",
  "sessionTarget",
  "runtimeContext",
  "abortSignal",
];

/**
 * What longhaul learns of the host's runtime. The rest stays here: it holds the
 * whole configuration, with the keys of providers.
 */
const RUNTIME = [
  "agentDir",
  "allowDeferredCompactionExecution",
  "attempt",
  "currentTokenCount",
  "cwd",
  "forceReason",
  "maxAttempts",
  "model",
  "modelContextWindow",
  "modelId",
  "promptCache",
  "provider",
  "sessionTarget",
  "thinkLevel",
  "tokenBudget",
  "transcriptStorage",
  "trigger",
  "workspaceDir",
];

function runtimeOf(context) {
  if (typeof context !== "object" || context === null) return undefined;
  const some = RUNTIME.filter((key) => context[key] !== undefined);
  return Object.fromEntries(some.map((key) => [key, context[key]]));
}

/**
 * What did not compact, in words that the host takes for a reason and not for a
 * failure. Before a turn it compacts by its own count of tokens, and gives the
 * turn up if it hears anything but that there was no need; whether there is, is
 * ours to know, because what is sent is what we assemble.
 */
function unneeded(params, result) {
  if (result.compacted) return result;
  const asked = params.runtimeContext?.forceReason === "preflight_required";
  if (!result.ok && !asked) return result;
  const reason = `already under target${result.reason ? ` (${result.reason})` : ""}`;
  return { ...result, ok: true, reason };
}

function agentOf(params) {
  const { sessionTarget, agentId, sessionKey } = params;
  return sessionTarget?.agentId ?? agentId ?? /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1];
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export class Engine {
  #sidecar;
  #histories;
  #settings;
  #log;
  #sdk;
  #where;
  #compactionMs;
  #said;
  #limits;
  #models;
  #budgets = new Map();

  /**
   * @param shared what all instances share: `sidecar`, `histories`, `settings`, `log`,
   * `sdk` (the host's helpers), `said` (what was logged already), `limits` (of providers),
   * `models` (of the hosts' latest calls)
   * @param context what the host says of this instance
   */
  constructor(shared, context = {}) {
    this.#sidecar = shared.sidecar;
    this.#histories = shared.histories;
    this.#settings = shared.settings;
    this.#log = shared.log;
    this.#sdk = shared.sdk;
    this.#said = shared.said;
    this.#limits = shared.limits;
    this.#models = shared.models;
    this.#where = { workspaceDir: context.workspaceDir, agentDir: context.agentDir };
    const seconds = context.config?.agents?.defaults?.compaction?.timeoutSeconds;
    const limit = Number.isFinite(seconds) && seconds > 0 ? seconds : COMPACTION_SECONDS;
    this.#compactionMs = limit * 1000;
  }

  get info() {
    return {
      id: "longhaul",
      name: "longhaul",
      version: this.#settings.version,
      // While there is no process, the host must go on compacting by itself.
      ownsCompaction: this.#sidecar.available,
      acceptedHostParams: ACCEPTED,
      turnMaintenanceMode: "background",
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    };
  }

  async bootstrap(params) {
    return await this.#or("bootstrap", params, (reason) => ({ bootstrapped: false, reason }));
  }

  async ingest(params) {
    return await this.#or("ingest", params, () => ({ ingested: false }));
  }

  async ingestBatch(params) {
    return await this.#or("ingestBatch", params, () => ({ ingestedCount: 0 }));
  }

  async assemble(params) {
    const memory = this.#memorySection(params);
    const room = this.#room(params);
    const budget = room.tokenBudget ?? params.tokenBudget;
    const tokenBudget = this.#limits.within(params.sessionId, budget);
    const result = await this.#or(
      "assemble",
      params,
      () => ({ messages: params.messages, estimatedTokens: 0 }),
      { refs: true, ...room, tokenBudget },
    );
    this.#limits.assembled(params.sessionId, result.estimatedTokens, budget);
    const addition = [memory, result.systemPromptAddition].filter(Boolean).join("\n\n");
    const estimatedTokens = Number.isFinite(result.estimatedTokens) ? result.estimatedTokens : 0;
    return { ...result, estimatedTokens, ...(addition ? { systemPromptAddition: addition } : {}) };
  }

  async compact(params) {
    const extra = { timeoutMs: this.#compactionMs };
    const failed = (reason) => ({ degraded: reason });
    const result = (await this.#or("compact", params, failed, extra)) ?? failed("no answer");
    const refused = params.runtimeContext?.trigger === "overflow";
    const smaller = refused && this.#limits.refused(params.sessionId);
    if (!result.degraded) {
      if (result.compacted || !refused) return unneeded(params, result);
      // The host tries again only if something was compacted, and it will be: the
      // next list is made for less than what was refused.
      if (smaller) return { ...result, ok: true, compacted: true };
    }
    return await this.#compactByHost(params, result.degraded ?? result.reason);
  }

  async commitTurn(params) {
    const until = Date.now() + COMMIT_WAIT_MS;
    for (;;) {
      try {
        const result = await this.#ask("commitTurn", params);
        this.#limits.accepted(params.sessionId);
        return result;
      } catch (error) {
        // The host offers the turn again before the next one of this session, and
        // leaves that one to its own engine if it fails then: worth a short wait.
        if (!this.#comesBack(error, until - Date.now())) throw error;
        await pause(this.#sidecar.wait);
      }
    }
  }

  async afterTurn(params) {
    await this.#or("afterTurn", params, () => undefined);
  }

  async maintain(params) {
    return await this.#or("maintain", params, (reason) => ({
      changed: false,
      bytesFreed: 0,
      rewrittenEntries: 0,
      reason,
    }));
  }

  async prepareSubagentSpawn(params) {
    const prepared = await this.#or("prepareSubagentSpawn", params, () => undefined);
    if (!prepared) return undefined;
    const { parentSessionKey, childSessionKey, childSessionId } = params;
    return {
      rollback: async () => {
        const spawn = { parentSessionKey, childSessionKey, childSessionId };
        await this.#or("rollbackSubagentSpawn", { ...prepared, ...spawn }, () => undefined);
      },
    };
  }

  async onSubagentEnded(params) {
    await this.#or("onSubagentEnded", params, () => undefined);
  }

  /** The process is shared and outlives the instance; nothing else is held. */
  async dispose() {}

  /** Asks longhaul; whatever goes wrong is said in the log and the host goes on. */
  async #or(method, params, fallback, extra) {
    try {
      const result = await this.#ask(method, params, extra);
      this.#trouble(params, result?.degraded);
      return result;
    } catch (error) {
      // An aborted call is the host's own wish, and it knows its own error.
      if (params.abortSignal?.aborted) throw error;
      // What concerns the process itself has been said where it was noticed.
      if (!(error instanceof Unavailable)) this.#trouble(params, `${method}: ${error.message}`);
      return fallback(`longhaul: ${error.message}`);
    }
  }

  async #ask(method, params, extra) {
    const begun = performance.now();
    try {
      const result = await this.#askOnce(method, params, extra);
      this.#served(method, params, result, performance.now() - begun);
      return result;
    } catch (error) {
      const forgotten = error instanceof Refused && error.code === UNKNOWN_BASE;
      const again = REPEATABLE.has(method) && this.#comesBack(error, WAIT_MS);
      if (!forgotten && !again) throw error;
      this.#histories.forget(params.sessionId);
      if (again) await pause(this.#sidecar.wait);
      const result = await this.#askOnce(method, params, extra);
      this.#served(method, params, result, performance.now() - begun);
      return result;
    }
  }

  /** Whether a process that is gone may be started again within this time. */
  #comesBack(error, ms) {
    const { wait, available } = this.#sidecar;
    // One that does not even start is not worth waiting for.
    const gone = error instanceof Crashed || (error instanceof Unavailable && available);
    return gone && wait <= ms;
  }

  /** The trail of what longhaul did, for whoever turns debugging on. */
  #served(method, params, result, ms) {
    if (!this.#log.debug || result?.degraded) return;
    const session = params.sessionKey ?? params.sessionId ?? params.childSessionKey ?? "";
    let how = result?.status ? `, ${result.status}` : "";
    if (method === "assemble") how = `, ${params.messages.length} to ${result.messages.length}`;
    this.#log.debug(`longhaul served ${method} of ${session} in ${ms.toFixed(1)} ms${how}`);
  }

  async #askOnce(method, params, extra) {
    const { messages, abortSignal, runtimeContext, ...rest } = params;
    rest.runtimeContext = runtimeOf(runtimeContext);
    const llm = runtimeContext?.llm;
    // The program's question arrives in the context in which it was started, and the
    // host closes that with the turn: its model answers only within the turn that asks.
    if (typeof llm?.complete === "function") {
      this.#models.delete(params.sessionId);
      this.#models.set(
        params.sessionId,
        AsyncResource.bind((ask) => llm.complete(ask)),
      );
      if (this.#models.size > SESSIONS) this.#models.delete(this.#models.keys().next().value);
    }
    // In a tool loop the host names no model; the one that the turn began with answers.
    const complete = this.#models.get(params.sessionId);
    const where = { ...this.#where, agentId: agentOf(params) };
    const long = method === "compact" || method === "maintain";
    const timeoutMs = long
      ? Math.max(this.#compactionMs, this.#settings.timeoutMs)
      : this.#settings.timeoutMs;
    const options = {
      signal: abortSignal,
      timeoutMs,
      modelMs: this.#compactionMs,
      complete,
      session: { sessionId: params.sessionId, sessionKey: params.sessionKey },
      where,
    };
    // A restart forgets all lists, so it must not fall between looking and sending.
    await this.#sidecar.start(where);
    const calls = Array.isArray(messages) ? new Calls(messages) : undefined;
    // A turn is small, and must not depend on a list that may have been forgotten.
    const { prints, params: sent } =
      calls && method !== "commitTurn"
        ? this.#histories.params(params.sessionId, messages, calls.list)
        : { params: calls ? { messages: calls.list } : {} };
    const body = { ...rest, ...where, ...sent, ...extra, llm: complete !== undefined };
    const result = await this.#sidecar.call(method, body, options);
    if (method !== "assemble") return result;
    const { base, ...assembled } = result ?? {};
    const restore = (message) => calls.restore(message);
    const whole = { ...assembled, messages: resolve(assembled.messages, messages, restore) };
    this.#histories.accept(params.sessionId, base, prints);
    return whole;
  }

  /**
   * How much the messages may take. For the first request of a turn the host
   * gives what the window leaves beside system prompt and answer; for those
   * after it, the whole window less the messages of the turn. `messages` is then
   * what was assembled for the turn, not the transcript.
   */
  #room({ sessionId, tokenBudget, runtimeSettings }) {
    const whole = runtimeSettings?.limits?.promptTokenBudget;
    if (!Number.isFinite(tokenBudget)) return {};
    if (!Number.isFinite(whole) || whole === tokenBudget) {
      this.#budgets.delete(sessionId);
      this.#budgets.set(sessionId, tokenBudget);
      if (this.#budgets.size > SESSIONS) this.#budgets.delete(this.#budgets.keys().next().value);
      return {};
    }
    const first = this.#budgets.get(sessionId);
    if (first === undefined) return { toolLoop: true };
    return { toolLoop: true, tokenBudget: Math.max(1, first - (whole - tokenBudget)) };
  }

  /**
   * The host leaves its section about memory out of the system prompt for every
   * engine but its own; it is for the engine to put it back.
   */
  #memorySection({ availableTools, citationsMode, sessionKey }) {
    try {
      return this.#sdk?.buildMemorySystemPromptAddition?.({
        availableTools: availableTools ?? new Set(),
        citationsMode,
        agentSessionKey: sessionKey,
      });
    } catch (error) {
      this.#log.debug?.(`longhaul: the host's section about memory: ${error.message}`);
      return undefined;
    }
  }

  async #compactByHost(params, reason) {
    const delegate = this.#sdk?.delegateCompactionToRuntime;
    if (typeof delegate !== "function") return { ok: false, compacted: false, reason };
    this.#log.warn(`longhaul: this compaction is OpenClaw's own (${reason})`);
    try {
      return await delegate(params);
    } catch (error) {
      // What a compaction throws is counted against the engine, for good.
      if (params.abortSignal?.aborted) throw error;
      return { ok: false, compacted: false, reason: error.message };
    }
  }

  /** Says what went wrong once, and again only when it is something else. */
  #trouble(params, what) {
    const session = params.sessionKey ?? params.sessionId ?? "";
    if (!what) {
      if (this.#said.delete(session)) this.#log.info(`longhaul serves ${session} again`);
      return;
    }
    if (this.#said.get(session) === what) return;
    this.#said.set(session, what);
    this.#log.warn(`longhaul: ${session} goes on with the host's own messages: ${what}`);
  }
}
