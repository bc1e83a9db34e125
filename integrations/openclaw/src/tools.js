// The tools for the agent. The definitions are copies of the program's own
// (`tools/list`), because the host asks for them before the program runs; a test
// holds them equal.

const text = (description) => ({ type: "string", description });
const whole = (description) => ({ type: "integer", description });

export const RECALL = {
  name: "recall",
  description:
    "Bring back what has left the context of this session: by entry id, by exact words, by " +
    "file or by topic. Give one of id, text, path and query.",
  inputSchema: {
    type: "object",
    properties: {
      id: text("The id of an entry, or a range FROM..TO of ids; comes back whole"),
      text: text("Words that the entry contains, in this order; case, spacing and punctuation do not matter"),
      path: text("A file that the entry read, changed or named; part of the path is enough"),
      query: text("What it was about, in a few words"),
      scope: {
        type: "string",
        enum: ["session", "family", "all"],
        description:
          "This session, also those it came from or that came from it, or all that are known",
      },
      limit: whole("How many entries at most (5)"),
      offset: whole("With an id: the character to continue from"),
    },
  },
};

export const NOTE = {
  name: "note",
  description:
    "Write down what must outlive this context: a decision and why it was taken, a fact that " +
    "must not be forgotten, an open item, something learnt (what failed, what works). Call it " +
    "when it happens; one thing a call, in a sentence or two that make sense without the " +
    "conversation. Notes stand word for word in every summary, checkpoint and hand-off. Do " +
    "not repeat what the user said: that is kept anyway. No secrets.",
  inputSchema: {
    type: "object",
    properties: {
      kind: {
        type: "string",
        enum: ["decision", "fact", "open_item", "learning"],
        description: "What it is",
      },
      text: { ...text("What to keep; of a decision also why"), maxLength: 2000 },
    },
    required: ["kind", "text"],
  },
};

export const MEMORY_SEARCH = {
  name: "memory_search",
  description:
    "Search the memory files for earlier work, decisions, preferences and errors. Memory is a " +
    "hint: check it against the source before acting on it.",
  inputSchema: {
    type: "object",
    properties: {
      query: text("What to look for"),
      maxResults: whole("How many passages at most; left out, as many as are usual here"),
    },
    required: ["query"],
  },
};

export const MEMORY_GET = {
  name: "memory_get",
  description:
    "Read lines of a memory file that memory_search has named, and of no other file. The result is quoted data with its date.",
  inputSchema: {
    type: "object",
    properties: {
      path: text("The memory file, such as memory/2026-11-15.md"),
      from: whole("The first line (1)"),
      lines: whole("How many lines"),
    },
    required: ["path"],
  },
};

/** Those that no other plugin of the host has. */
const ALWAYS = [RECALL, NOTE];

/** Whether another plugin of the host answers memory_search and memory_get. */
export function offersMemory(setting, hostConfig) {
  if (setting === "on") return true;
  if (setting === "off") return false;
  const slot = hostConfig?.plugins?.slots?.memory;
  return typeof slot === "string" && slot.trim().toLowerCase() === "none";
}

/** A tool of the host whose work is done by the program. */
function hostTool(definition, sidecar, timeoutMs, context) {
  const { workspaceDir, agentDir, agentId, sessionId, sessionKey } = context;
  return {
    name: definition.name,
    label: definition.name,
    description: definition.description,
    parameters: definition.inputSchema,
    // Nobody looks for these two, so they must be in sight and not behind a tool search.
    ...(ALWAYS.includes(definition) ? { catalogMode: "direct-only" } : {}),
    async execute(_callId, args, signal) {
      let answer;
      try {
        answer = await sidecar.call(
          "tools/call",
          {
            name: definition.name,
            arguments: args ?? {},
            sessionId,
            sessionKey,
            workspaceDir,
            agentDir,
            agentId,
          },
          { signal, timeoutMs, where: { workspaceDir, agentDir, agentId } },
        );
      } catch (error) {
        if (signal?.aborted) throw error;
        throw new Error(`${definition.name} cannot be used now: ${error.message}`);
      }
      // The host marks the result of a tool that throws as an error.
      if (answer?.isError) throw new Error(answer.text);
      return { content: [{ type: "text", text: answer?.text ?? "" }], details: {} };
    },
  };
}

/** Registers the tools with the host. */
export function registerTools(api, sidecar, settings) {
  const timeoutMs = settings.timeoutMs;
  for (const definition of [...ALWAYS, MEMORY_SEARCH, MEMORY_GET]) {
    api.registerTool(
      (context) => {
        const config = context.getRuntimeConfig?.() ?? context.runtimeConfig ?? context.config;
        const ours = ALWAYS.includes(definition) || offersMemory(settings.memoryTools, config);
        return ours ? hostTool(definition, sidecar, timeoutMs, context) : null;
      },
      { name: definition.name },
    );
  }
}
