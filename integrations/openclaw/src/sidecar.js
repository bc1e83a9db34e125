// The longhaul process beside the gateway: one for all sessions, started when it
// is first needed, started again after a crash, never in a tight loop.

import { spawn } from "node:child_process";
import { statSync } from "node:fs";

import { findBinary } from "./binary.js";
import { line } from "./plain.js";

/** The protocol that is spoken. */
export const PROTOCOL = 1;
/** How long a process may take until it answers for the first time. */
const START_MS = 20_000;
/** A process that lived this long, or answered this much, is in no crash loop. */
const STEADY_MS = 30_000;
const STEADY_CALLS = 5;
/** The longest wait between two starts. */
const LONGEST_WAIT_MS = 60_000;
/** How long the host's model may take where the call does not say. */
const MODEL_MS = 180_000;
/** How long a process may take to end once its input is closed. */
const END_MS = 5_000;
/** Lines of stderr that are kept for the message about a crash. */
const LAST_WORDS = 3;

/** There is no process to talk to; the message says why and what to do. */
export class Unavailable extends Error {
  name = "Unavailable";
}

/** The process ended while a call was running. */
export class Crashed extends Unavailable {
  name = "Crashed";
}

/** The process speaks another protocol. */
class Foreign extends Error {}

/** A call took too long and was cancelled. */
export class TimedOut extends Error {
  name = "TimedOut";
}

/** The process answered with an error. */
export class Refused extends Error {
  name = "Refused";
  constructor(error) {
    super(error?.message ?? "longhaul answered with an error");
    this.code = error?.code;
    this.data = error?.data;
  }
}

/** Splits a stream into lines without copying a long one again and again. */
function eachLine(stream, take) {
  let parts = [];
  stream.on("data", (chunk) => {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(10, from);
      if (end < 0) break;
      parts.push(chunk.subarray(from, end));
      const whole = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      from = end + 1;
      if (whole.length > 0) take(whole.toString("utf8"));
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  });
}

/** What a file is, so that a replaced program is tried at once. */
function identity(file) {
  try {
    const { mtimeMs, size, ino } = statSync(file);
    return `${file} ${mtimeMs} ${size} ${ino}`;
  } catch {
    return file;
  }
}

export class Sidecar {
  #options;
  #log;
  #child;
  #starting;
  #pending = new Map();
  #nextId = 1;
  #failures = 0;
  #failed;
  #retryAt = 0;
  #said;
  #restarted = new Set();
  #asking = new Map();

  /**
   * @param options `binary`, `stateDir`, `config`, `host: {name, version}`
   * @param log the gateway's logger
   */
  constructor(options, log) {
    this.#options = options;
    this.#log = log;
  }

  /** The logger of the latest registration: an older one may have been closed. */
  set log(log) {
    this.#log = log;
  }

  /** Whether the latest attempt to reach the process succeeded, or none was made. */
  get available() {
    return this.#said === undefined;
  }

  /** The id of the running process. */
  get pid() {
    return this.#child?.process.pid;
  }

  /** Has this called whenever a new process has been started. */
  onRestart(callback) {
    this.#restarted.add(callback);
  }

  /** Starts the process if there is none. Throws `Unavailable`. */
  async start(where = {}) {
    if (this.#child) return this.#child;
    this.#starting ??= this.#launch(where).finally(() => {
      this.#starting = undefined;
    });
    return await this.#starting;
  }

  /** Milliseconds until another start may be tried. */
  get wait() {
    return this.#child ? 0 : Math.max(0, this.#retryAt - Date.now());
  }

  /**
   * One request.
   *
   * @param options `signal` cancels it; `timeoutMs` limits it, time spent in the
   * host's model not counted, which `modelMs` limits; `complete` answers the process's questions to a model
   * while this call runs; `session` is whose call it is; `where` is told at a start
   */
  async call(method, params, options = {}) {
    options.signal?.throwIfAborted();
    const child = await this.start(options.where);
    options.signal?.throwIfAborted();
    return await this.#request(child, method, params, options);
  }

  /** Ends the process; the next call starts another. */
  async stop() {
    const child = this.#child ?? (await this.#starting?.catch(() => undefined));
    if (!child) return;
    if (this.#child === child) this.#child = undefined;
    child.ending = true;
    child.process.ref();
    await new Promise((done) => {
      const late = setTimeout(() => child.process.kill("SIGKILL"), END_MS);
      child.process.once("close", () => {
        clearTimeout(late);
        done();
      });
      if (child.closed) {
        clearTimeout(late);
        done();
      }
      child.process.stdin.end();
    });
  }

  async #launch(where) {
    const found = findBinary({ binary: this.#options.binary });
    if (found.path === null) throw this.#unavailable(found.problem);
    const program = identity(found.path);
    if (this.#failed?.program === program && Date.now() < this.#retryAt) {
      throw new Unavailable(this.#failed.problem);
    }
    let child;
    try {
      child = this.#spawn(found.path, program);
      const answer = await this.#request(
        child,
        "initialize",
        {
          protocol: PROTOCOL,
          host: this.#options.host,
          workspaceDir: where.workspaceDir,
          agentDir: where.agentDir,
          agentId: where.agentId,
          stateDir: this.#options.stateDir,
          config: this.#options.config,
          llm: true,
        },
        { timeoutMs: START_MS },
      );
      if (answer?.protocol !== PROTOCOL) {
        throw new Foreign(`it speaks protocol ${answer?.protocol}, not ${PROTOCOL}`);
      }
      child.since = Date.now();
      this.#child = child;
      this.#recovered(found, answer);
      return child;
    } catch (error) {
      if (child) {
        child.ending = true;
        child.process.kill("SIGKILL");
      }
      // One that is slow, or cannot be run at all, would be so after an update too.
      const ended = error instanceof Crashed && child.process.pid !== undefined;
      const old =
        error instanceof Refused || error instanceof Foreign || ended
          ? `; a program that does not know "rpc" with protocol ${PROTOCOL} is too old for this ` +
            `plugin: update longhaul`
          : "";
      const problem =
        `${found.path} (from ${found.source}) did not start: ${error.message}${old}`;
      this.#delay(program, problem);
      throw this.#unavailable(problem);
    }
  }

  #spawn(file, program) {
    const process = spawn(file, ["rpc", "--stdio"], {
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    const child = { process, program, words: [], held: 0, answered: 0, ending: false, closed: false };
    process.on("error", (error) => this.#ended(child, error.message));
    process.on("close", (code, signal) => {
      this.#ended(child, signal ? `ended by ${signal}` : `ended with code ${code}`);
    });
    // Writing to a process that has just ended is no error of ours: "close" follows.
    process.stdin.on("error", () => {});
    eachLine(process.stdout, (text) => this.#heard(child, text));
    eachLine(process.stderr, (text) => {
      child.words.push(text);
      if (child.words.length > LAST_WORDS) child.words.shift();
      this.#log.debug?.(`longhaul: ${text}`);
    });
    this.#hold(child, 0);
    return child;
  }

  /** An idle process must not keep a one-shot command of the host alive. */
  #hold(child, change) {
    child.held += change;
    const how = child.held > 0 ? "ref" : "unref";
    const { process } = child;
    for (const handle of [process, process.stdin, process.stdout, process.stderr]) handle[how]?.();
  }

  #request(child, method, params, options) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const call = { id, child, options, timer: undefined, asking: 0 };
      const finish = (settle, value) => {
        if (!this.#pending.delete(id)) return;
        clearTimeout(call.timer);
        options.signal?.removeEventListener("abort", aborted);
        this.#hold(child, -1);
        settle(value);
      };
      const aborted = () => {
        this.#send(child, { jsonrpc: "2.0", method: "cancel", params: { id } });
        // The very reason: by it the host knows its own abort from a failure.
        finish(reject, options.signal.reason);
      };
      call.resolve = (value) => finish(resolve, value);
      call.reject = (error) => finish(reject, error);
      call.arm = () => {
        clearTimeout(call.timer);
        if (!options.timeoutMs || call.asking > 0) return;
        call.timer = setTimeout(() => {
          this.#send(child, { jsonrpc: "2.0", method: "cancel", params: { id } });
          const seconds = Math.round(options.timeoutMs / 1000);
          call.reject(new TimedOut(`${method} took longer than ${seconds} s`));
        }, options.timeoutMs);
        call.timer.unref();
      };
      this.#pending.set(id, call);
      this.#hold(child, 1);
      if (child.closed) {
        call.reject(new Crashed(`longhaul ${child.end}`));
        return;
      }
      options.signal?.addEventListener("abort", aborted, { once: true });
      call.arm();
      this.#send(child, { jsonrpc: "2.0", id, method, params });
    });
  }

  #send(child, message) {
    if (!child.closed && child.process.stdin.writable) child.process.stdin.write(`${line(message)}\n`);
  }

  #heard(child, text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      this.#log.warn(`longhaul said something that is not JSON: ${text.slice(0, 200)}`);
      return;
    }
    if (typeof message?.method === "string") {
      if (message.id === undefined) this.#notified(child, message);
      else void this.#asked(child, message);
      return;
    }
    const call = this.#pending.get(message?.id);
    // The answer to a call that was cancelled meanwhile.
    if (!call || call.child !== child) return;
    child.answered += 1;
    if (message.error) call.reject(new Refused(message.error));
    else call.resolve(message.result);
  }

  #notified(child, { method, params }) {
    if (method === "cancel") {
      const asking = this.#asking.get(params?.id);
      if (asking?.child === child) asking.given.abort(new Error("cancelled by longhaul"));
    } else if (method === "event") {
      this.#log.debug?.(`longhaul event: ${line(params) ?? ""}`);
    } else if (method === "log") {
      const { level, message } = params ?? {};
      const say = level === "error" ? "error" : level === "warn" ? "warn" : "debug";
      this.#log[say]?.(`longhaul: ${message}`);
    }
  }

  async #asked(child, { id, method, params }) {
    const answer = (body) => this.#send(child, { jsonrpc: "2.0", id, ...body });
    if (method !== "llm.complete") {
      answer({ error: { code: -32601, message: `there is no method ${method} here` } });
      return;
    }
    const call = this.#modelFor(child, params ?? {});
    if (!call) {
      const message = "no call of this session is running that has a model";
      answer({ error: { code: -32003, message } });
      return;
    }
    call.asking += 1;
    call.arm();
    const { signal, modelMs = MODEL_MS } = call.options;
    const given = new AbortController();
    const aborted = () => given.abort(signal.reason);
    const late = () => given.abort(new TimedOut(`the model took longer than ${modelMs / 1000} s`));
    const timer = setTimeout(late, modelMs);
    timer.unref();
    signal?.addEventListener("abort", aborted, { once: true });
    this.#asking.set(id, { child, given });
    try {
      const { messages, systemPrompt, maxTokens, purpose } = params;
      // A model that heeds no signal is not waited for either.
      const ended = new Promise((_, reject) => {
        given.signal.addEventListener("abort", () => reject(given.signal.reason), { once: true });
      });
      const completed = call.options.complete({
        messages,
        systemPrompt,
        maxTokens,
        purpose: purpose ? `longhaul.${purpose}` : "longhaul",
        signal: given.signal,
      });
      const { text, usage, model } = await Promise.race([completed, ended]);
      answer({ result: { text, usage, model } });
    } catch (error) {
      answer({ error: { code: -32004, message: error?.message ?? String(error) } });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
      this.#asking.delete(id);
      call.asking -= 1;
      call.arm();
    }
  }

  /** The running call whose model may be asked. */
  #modelFor(child, { sessionId, sessionKey }) {
    for (const call of [...this.#pending.values()].reverse()) {
      const { complete, session } = call.options;
      if (call.child !== child || !complete) continue;
      if (sessionId !== undefined && session?.sessionId === sessionId) return call;
      if (sessionKey !== undefined && session?.sessionKey === sessionKey) return call;
    }
    return undefined;
  }

  #ended(child, how) {
    if (child.closed) return;
    child.closed = true;
    child.end = child.words.length > 0 ? `${how}: ${child.words.join(" | ")}` : how;
    const running = this.#child === child;
    if (running) this.#child = undefined;
    if (running && !child.ending) {
      const steady = Date.now() - child.since >= STEADY_MS || child.answered > STEADY_CALLS;
      if (steady) this.#failures = 0;
      this.#delay(child.program, `longhaul ${child.end}`);
      this.#log.warn(`longhaul ${child.end}; it is started again when it is needed`);
    }
    for (const call of [...this.#pending.values()]) {
      if (call.child === child) call.reject(new Crashed(`longhaul ${child.end}`));
    }
  }

  /** The first failure costs nothing; each further one doubles the wait. */
  #delay(program, problem) {
    this.#failures += 1;
    const wait = this.#failures === 1 ? 0 : 1000 * 2 ** Math.min(this.#failures - 2, 10);
    this.#retryAt = Date.now() + Math.min(wait, LONGEST_WAIT_MS);
    this.#failed = { program, problem };
  }

  #unavailable(problem) {
    if (this.#said !== problem) {
      this.#said = problem;
      this.#log.error(
        `longhaul does not run, and sessions go on without it (OpenClaw's own compaction is ` +
          `used): ${problem}. It is tried again.`,
      );
    }
    return new Unavailable(problem);
  }

  #recovered(found, answer) {
    const again = this.#said !== undefined;
    this.#said = undefined;
    for (const callback of this.#restarted) callback();
    this.#log.info(
      `longhaul ${answer.version} ${again ? "is back" : "runs"} (${found.path}, from ` +
        `${found.source}, process ${this.pid})`,
    );
  }
}
