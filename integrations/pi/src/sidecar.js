// The longhaul process beside pi: started when it is first needed, started again
// when it has ended, never in a tight loop. It speaks JSON-RPC, one object a line.

import { spawn } from "node:child_process";

import { findBinary } from "./binary.js";

/** The protocol that is spoken. */
export const PROTOCOL = 1;
/** How long a process may take until it answers for the first time. */
const START_MS = 10_000;
/** The longest wait between two starts. */
const LONGEST_WAIT_MS = 60_000;
/** How long a process may take to end once its input is closed. */
const END_MS = 3_000;
/** Lines of stderr that are kept for the message about a crash. */
const LAST_WORDS = 3;

/** Something that has to do with the process, not with what was asked. */
export class Unavailable extends Error {
  name = "Unavailable";
}

/** The process ended while a call was running. */
export class Crashed extends Unavailable {
  name = "Crashed";
}

/** The process speaks another protocol. */
class Foreign extends Error {}

/** The process answered with an error. */
export class Refused extends Error {
  name = "Refused";
  constructor(error) {
    super(error?.message ?? "longhaul answered with an error");
    this.code = error?.code;
  }
}

/** Splits a stream into lines without copying a long one again and again. */
function eachLine(stream, take) {
  let parts = [];
  stream.on("data", (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      const line = Buffer.concat(parts).toString("utf8");
      parts = [];
      from = end + 1;
      if (line.trim()) take(line);
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  });
}

export class Sidecar {
  #options;
  #child;
  #starting;
  #nextId = 1;
  #failures = 0;
  #retryAt = 0;
  #problem;

  /** @param options `binary`, `stateDir`, `config`, `host`, `env`, `workspaceDir`, `startMs` */
  constructor(options) {
    this.#options = options;
  }

  /** The id of the running process. */
  get pid() {
    return this.#child?.process.pid;
  }

  /** What the running process said of itself. */
  get about() {
    return this.#child?.about;
  }

  /**
   * One request. It is asked once more when the process ends while it is running:
   * nothing that is asked here changes anything of pi's.
   */
  async call(method, params, { signal, timeoutMs } = {}) {
    const child = await this.#start();
    try {
      return await this.#request(child, method, params, { signal, timeoutMs });
    } catch (error) {
      if (!(error instanceof Unavailable) || !child.closed || signal?.aborted) throw error;
      const again = await this.#start();
      return await this.#request(again, method, params, { signal, timeoutMs });
    }
  }

  /** Ends the process; the next call would start another. */
  async stop() {
    const child = this.#child ?? (await this.#starting?.catch(() => undefined));
    this.#child = undefined;
    if (!child || child.closed) return;
    child.process.ref();
    await new Promise((done) => {
      const late = setTimeout(() => child.process.kill("SIGKILL"), END_MS);
      child.process.once("close", () => {
        clearTimeout(late);
        done();
      });
      child.process.stdin.end();
    });
  }

  async #start() {
    if (this.#child) return this.#child;
    this.#starting ??= this.#launch().finally(() => {
      this.#starting = undefined;
    });
    return await this.#starting;
  }

  async #launch() {
    const { binary, env, host, stateDir, config, workspaceDir } = this.#options;
    const { startMs = START_MS } = this.#options;
    const { path, source, problem } = findBinary({ env, binary });
    if (!path) throw new Unavailable(problem);
    if (Date.now() < this.#retryAt) throw new Unavailable(this.#problem);
    let child;
    try {
      child = this.#spawn(path);
      const params = { protocol: PROTOCOL, host, stateDir, config, workspaceDir, llm: false };
      const about = await this.#request(child, "initialize", params, { timeoutMs: startMs });
      if (about?.protocol !== PROTOCOL) {
        throw new Foreign(`it speaks protocol ${about?.protocol}, not ${PROTOCOL}`);
      }
      child.about = { ...about, path, source };
      this.#child = child;
      return child;
    } catch (error) {
      child?.process.kill("SIGKILL");
      // One that is slow, or cannot be run at all, would be so after an update too.
      const ended = error instanceof Crashed && child.process.pid !== undefined;
      const old =
        error instanceof Refused || error instanceof Foreign || ended
          ? `; a program that does not know "rpc" with protocol ${PROTOCOL} is too old for this ` +
            "extension: update longhaul"
          : "";
      this.#problem = `${path} (from ${source}) did not start: ${error.message}${old}`;
      this.#delay();
      throw new Unavailable(this.#problem);
    }
  }

  #spawn(path) {
    const process = spawn(path, ["rpc", "--stdio"], {
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
      env: this.#options.env,
    });
    const child = { process, words: [], pending: new Map(), closed: false, since: Date.now() };
    process.on("error", (error) => this.#ended(child, error.message));
    process.on("close", (code, signal) => {
      this.#ended(child, signal ? `was ended by ${signal}` : `ended with code ${code}`);
    });
    // Writing to a process that has just ended is no error of ours: "close" follows.
    process.stdin.on("error", () => {});
    eachLine(process.stdout, (line) => this.#heard(child, line));
    eachLine(process.stderr, (line) => {
      child.words.push(line);
      if (child.words.length > LAST_WORDS) child.words.shift();
    });
    // An idle process must not keep pi from ending.
    this.#hold(child);
    return child;
  }

  #hold(child) {
    const how = child.pending.size > 0 ? "ref" : "unref";
    const { process } = child;
    for (const handle of [process, process.stdin, process.stdout, process.stderr]) handle[how]?.();
  }

  #request(child, method, params, { signal, timeoutMs }) {
    // Meanwhile, perhaps: a process was started first.
    if (signal?.aborted) return Promise.reject(new Error("aborted"));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      let timer;
      const settle = (how) => (value) => {
        if (!child.pending.delete(id)) return;
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        this.#hold(child);
        how(value);
      };
      const call = { resolve: settle(resolve), reject: settle(reject) };
      const cancel = (error) => {
        this.#send(child, { jsonrpc: "2.0", method: "cancel", params: { id } });
        call.reject(error);
      };
      const aborted = () => cancel(new Error("aborted"));
      child.pending.set(id, call);
      if (child.closed) {
        call.reject(new Crashed(`longhaul ${child.end}`));
        return;
      }
      this.#hold(child);
      signal?.addEventListener("abort", aborted, { once: true });
      if (timeoutMs) {
        const late = () => cancel(new Unavailable(`${method} took longer than ${timeoutMs} ms`));
        timer = setTimeout(late, timeoutMs);
      }
      this.#send(child, { jsonrpc: "2.0", id, method, params });
    });
  }

  #send(child, message) {
    if (!child.closed && child.process.stdin.writable) {
      child.process.stdin.write(`${JSON.stringify(message)}\n`);
    }
  }

  #heard(child, line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    // It asks for nothing: it was told that there is no model for it here.
    if (typeof message?.method === "string") {
      if (message.id === undefined) return;
      const error = { code: -32601, message: `there is no method ${message.method} here` };
      this.#send(child, { jsonrpc: "2.0", id: message.id, error });
      return;
    }
    const call = child.pending.get(message?.id);
    if (!call) return;
    if (message.error) call.reject(new Refused(message.error));
    else call.resolve(message.result);
  }

  #ended(child, how) {
    if (child.closed) return;
    child.closed = true;
    child.end = child.words.length > 0 ? `${how}: ${child.words.join(" | ")}` : how;
    if (this.#child === child) {
      this.#child = undefined;
      // One that ran for a while is no crash loop.
      if (Date.now() - child.since > LONGEST_WAIT_MS / 2) this.#failures = 0;
      this.#problem = `longhaul ${child.end}`;
      this.#delay();
    }
    for (const call of [...child.pending.values()]) {
      call.reject(new Crashed(`longhaul ${child.end}`));
    }
  }

  /** The first failure costs nothing; each further one doubles the wait. */
  #delay() {
    this.#failures += 1;
    const wait = this.#failures === 1 ? 0 : 1000 * 2 ** Math.min(this.#failures - 2, 10);
    this.#retryAt = Date.now() + Math.min(wait, LONGEST_WAIT_MS);
  }
}
