// Lists of messages, sent as what changed.
//
// The host hands over the whole history at every turn. Serialising it each time
// would cost more than all else that happens here, so a list is compared with
// the one that was sent before for the same session, and only its tail is sent.

/** How many sessions' lists are remembered. */
const SESSIONS = 64;
/**
 * And of each, how many: in a tool loop the host hands over what was assembled
 * before, at the next turn the transcript again.
 */
const LISTS = 3;
/** Characters of one sample of a text. */
const SAMPLE = 48;

const known = new WeakMap();

/**
 * A text as its length and samples of it. A rewritten text of the very same
 * length that differs in none of the samples would go unseen; a host that
 * edits messages (pruning, redaction) changes their length or their ends.
 */
function sampled(text) {
  const length = text.length;
  if (length <= SAMPLE * 4) return text;
  const third = Math.floor(length / 3);
  return [
    length,
    text.slice(0, SAMPLE),
    text.slice(third, third + SAMPLE),
    text.slice(2 * third, 2 * third + SAMPLE),
    text.slice(-SAMPLE),
  ].join("\u0001");
}

/** Arguments of calls and the like: small as a rule, and then taken whole. */
function value(part, depth, out) {
  if (typeof part === "string") out.push(sampled(part));
  else if (Array.isArray(part)) {
    out.push(`[${part.length}`);
    if (depth > 0) for (const item of part) value(item, depth - 1, out);
  } else if (typeof part === "object" && part !== null) {
    for (const key of Object.keys(part)) {
      out.push(key);
      if (depth > 0) value(part[key], depth - 1, out);
    }
  } else out.push(String(part));
}

/** A block of content: its text, or whatever else it holds. */
function block(part, out) {
  if (typeof part?.text === "string") out.push(part.type, sampled(part.text));
  else value(part, 4, out);
}

/**
 * What tells a message from another: role, time, ids, lengths and samples of
 * its texts. Computed for every message of every list, and so without a hash;
 * what only counts or describes (usage, model) is left out where the message is
 * of a kind that is known.
 */
export function fingerprint(message) {
  if (typeof message !== "object" || message === null) return JSON.stringify(message) ?? "";
  const out = [];
  const { role, content } = message;
  if (role === "user" || role === "assistant" || role === "toolResult") {
    const { timestamp, id, idempotencyKey, toolCallId, isError, stopReason } = message;
    out.push(role, timestamp, id, idempotencyKey, toolCallId, isError, stopReason);
    if (Array.isArray(content)) for (const part of content) block(part, out);
    else value(content, 4, out);
  } else value(message, 5, out);
  return out.join("\u0002");
}

/** The shape of a message that is changed when someone edits it in place. */
function shape(message) {
  const { content } = message;
  if (typeof content === "string") return content.length;
  if (!Array.isArray(content)) return -1;
  let size = content.length;
  for (const block of content) {
    size = size * 31 + (block?.text?.length ?? block?.thinking?.length ?? block?.data?.length ?? 7);
  }
  return size;
}

/** The fingerprint, by identity where this very object was seen before. */
export function print(message) {
  if (typeof message !== "object" || message === null) return fingerprint(message);
  const seen = known.get(message);
  const now = shape(message);
  if (seen && seen.shape === now) return seen.print;
  const made = fingerprint(message);
  known.set(message, { shape: now, print: made });
  return made;
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
    const prints = messages.map(print);
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
