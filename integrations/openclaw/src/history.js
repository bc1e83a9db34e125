// Lists of messages, sent as what changed.
//
// The host hands over the whole history at every turn. Serialising it each time
// would cost more than all else that happens here, so a list is compared with
// the one that was sent before for the same session, and only its tail is sent.
// Lists are compared by hashes of all that is said in them: an object that was
// seen before may have been edited in place, and a text masked at equal length.

import { createHash } from "node:crypto";

/** How many sessions' lists are remembered. */
const SESSIONS = 64;
/**
 * And of each, how many: in a tool loop the host hands over what was assembled
 * before, at the next turn the transcript again.
 */
const LISTS = 3;
/** Texts up to this length stand for themselves. */
const SHORT = 64;

/** A text as itself or as its hash, with its length in front of it. */
function told(text) {
  if (text.length <= SHORT) return `${text.length}:${text}`;
  return `${text.length}#${createHash("sha1").update(text).digest("base64")}`;
}

/** Any value, down to its last text. What holds itself is left out, as in what is sent. */
function value(part, out, above = []) {
  if (typeof part === "string") out.push(told(part));
  else if (typeof part !== "object" || part === null) out.push(String(part));
  else if (!above.includes(part)) {
    above.push(part);
    if (Array.isArray(part) || part instanceof Set) {
      out.push(`[${part.length ?? part.size}`);
      for (const item of part) value(item, out, above);
    } else {
      const fields = part instanceof Map ? [...part] : Object.entries(part);
      out.push(`{${fields.length}`);
      for (const [key, item] of fields) {
        out.push(told(String(key)));
        value(item, out, above);
      }
    }
    above.pop();
  }
}

/** What of a message of a known kind makes it that message. */
const FIELDS = [
  "role",
  "timestamp",
  "id",
  "idempotencyKey",
  "toolCallId",
  "toolName",
  "customType",
  "isError",
  "stopReason",
  "sections",
  "content",
];
const KINDS = new Set(["user", "assistant", "toolResult"]);

/**
 * What tells a message from another: all that it says, its role, time and ids.
 * What only counts or describes (usage, model) is left out where the message is
 * of a kind that is known.
 */
export function fingerprint(message) {
  const out = [];
  if (KINDS.has(message?.role)) for (const field of FIELDS) value(message[field], out);
  else value(message, out);
  return out.join("\u0002");
}

/** How many messages two lists begin with in common. */
function common(prints, others) {
  const most = Math.min(prints.length, others.length);
  let keep = 0;
  while (keep < most && prints[keep] === others[keep]) keep += 1;
  return keep;
}

/** The lists that the other side has, by session. */
export class Histories {
  #sessions = new Map();

  /**
   * The parameters that stand for a list: whole, or as a change of one that
   * was given before. `sent` is the list as it is to be sent, message by message.
   */
  params(session, messages, sent = messages) {
    const prints = messages.map(fingerprint);
    let best = { keep: 0, token: undefined };
    for (const list of this.#sessions.get(session) ?? []) {
      const keep = common(prints, list.prints);
      if (keep > best.keep) best = { keep, token: list.token };
    }
    if (best.keep === 0) return { prints, params: { messages: sent } };
    const { keep, token } = best;
    return { prints, params: { history: { base: token, keep, tail: sent.slice(keep) } } };
  }

  /** Remembers what the other side now has under a token. */
  accept(session, token, prints) {
    // A list that is only passing, as in a tool loop, has no name.
    if (typeof token !== "string" || token === "") return;
    const lists = (this.#sessions.get(session) ?? []).filter((list) => list.token !== token);
    lists.unshift({ token, prints });
    this.#sessions.delete(session);
    this.#sessions.set(session, lists.slice(0, LISTS));
    if (this.#sessions.size > SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value);
  }

  /** Forgets one session's lists. */
  forget(session) {
    this.#sessions.delete(session);
  }

  /** Forgets all: the other side has started anew. */
  clear() {
    this.#sessions.clear();
  }
}

/**
 * The messages of an answer: `{ref: i}` is the host's own i-th message, which is
 * given back as the same object. What is not the host's goes through `made`.
 */
export function resolve(answered, own, made = (message) => message) {
  if (!Array.isArray(answered)) throw new Error("the answer holds no list of messages");
  return answered.map((message) => {
    if (typeof message !== "object" || message === null) {
      throw new Error("the answer holds something that is no message");
    }
    if (!("ref" in message)) return made(message);
    const { ref } = message;
    if (!Number.isInteger(ref) || ref < 0 || ref >= own.length) {
      throw new Error(`the answer refers to message ${ref} of ${own.length}`);
    }
    return own[ref];
  });
}
