// Ids of tool calls that stay the same.
//
// The host rewrites them for the provider of the moment: what was `call_1` when
// a turn was committed is `call1` in the next list, or nine characters of a
// hash. A message must not become another one by that. So longhaul is told ids
// made of when the call was said, and in what comes back they are the host's
// again.

const isCall = (block) => block?.type === "toolCall" && typeof block.id === "string";

/** The ids in one list. */
export class Calls {
  #steady = new Map();
  #own = new Map();
  #list;

  /** @param {object[]} list a whole list of the host's, in order */
  constructor(list) {
    this.#list = list.map((message) => this.#translate(message));
  }

  /** The list with steady ids; messages without calls are the same objects. */
  get list() {
    return this.#list;
  }

  /** A message of longhaul's making, with the ids that the host has in this list. */
  restore(message) {
    if (message.role === "toolResult") {
      const own = this.#own.get(message.toolCallId);
      return own === undefined ? message : { ...message, toolCallId: own };
    }
    return renamed(message, (block) => this.#own.get(block.id) ?? block.id);
  }

  #translate(message) {
    if (message?.role === "toolResult") {
      const steady = this.#steady.get(message.toolCallId);
      return steady === undefined ? message : { ...message, toolCallId: steady };
    }
    if (message?.role !== "assistant" || !Number.isFinite(message.timestamp)) return message;
    let number = 0;
    return renamed(message, (block) => {
      let steady = `t${message.timestamp}n${number++}`;
      // Two messages of the same millisecond.
      while (this.#own.has(steady)) steady += "x";
      this.#steady.set(block.id, steady);
      this.#own.set(steady, block.id);
      return steady;
    });
  }
}

function renamed(message, name) {
  const { content } = message;
  if (!Array.isArray(content) || !content.some(isCall)) return message;
  const blocks = content.map((block) => (isCall(block) ? { ...block, id: name(block) } : block));
  return { ...message, content: blocks };
}
