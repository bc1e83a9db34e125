// longhaul in pi. pi runs the model and writes the session; a longhaul process
// beside it reads the file and says what to append: pruned tool results, the
// compaction entry, the state of the work put back after it.
//
// Whatever goes wrong here, pi goes on as if the extension were not there, and its
// user is told once.

import { Sidecar } from "./src/sidecar.js";
import { readSettings } from "./src/settings.js";

/** What pi keeps free before it compacts, where nobody has set it. */
const PI_RESERVE = 16_384;
/** Results are looked at from this part of the window on; the program counts. */
const LARGE_PART = 4;
/** Reading a large session for the first time. */
const SLOW_FACTOR = 3;

/** What the user's next words come behind, as pi names its messages. */
const BEFORE_THE_USER = new Set(["system", "assistant", "toolResult", "compactionSummary"]);

export default function longhaul(pi) {
  const settings = readSettings();
  let sidecar;
  /** The trouble that the user was told of last. */
  let told;
  const tools = new Set();

  function notify(ctx, text, level = "info") {
    if (ctx.hasUI) ctx.ui.notify(text, level);
    else if (level !== "info") process.stderr.write(`${text}\n`);
  }

  /** Said once, until it works again. */
  function trouble(ctx, what) {
    if (!told) notify(ctx, `longhaul cannot help now, and pi goes on without it: ${what}`, "warning");
    told = what;
  }

  /** One request; undefined when there is no answer, whatever the reason. */
  async function ask(ctx, method, params, { signal, patience = 1 } = {}) {
    sidecar ??= new Sidecar({
      ...settings,
      env: process.env,
      host: { name: "pi", version: "unknown" },
      workspaceDir: ctx.cwd,
    });
    try {
      const timeoutMs = settings.timeoutMs * patience;
      const answer = await sidecar.call(method, params, { signal, timeoutMs });
      if (answer?.degraded) {
        trouble(ctx, answer.degraded);
      } else {
        if (told) notify(ctx, "longhaul is back");
        told = undefined;
      }
      return answer;
    } catch (error) {
      if (!signal?.aborted) trouble(ctx, error.message);
      return undefined;
    }
  }

  /** Where pi is. Undefined for a session that is not kept in a file. */
  function place(ctx) {
    const sessionFile = ctx.sessionManager.getSessionFile();
    if (!sessionFile) return undefined;
    const { model } = ctx;
    const name = model ? `${model.provider}/${model.id}` : undefined;
    const compaction = pi.getSettings?.()?.compaction ?? {};
    const override = compaction.modelOverrides?.[name] ?? {};
    return {
      sessionFile,
      leafId: ctx.sessionManager.getLeafId() ?? undefined,
      cwd: ctx.cwd,
      model: name,
      contextWindow: model?.contextWindow > 0 ? model.contextWindow : undefined,
      reserveTokens: override.reserveTokens ?? compaction.reserveTokens ?? PI_RESERVE,
      autoCompaction: compaction.enabled ?? true,
    };
  }

  function tell(ctx, answer) {
    for (const notice of answer?.notices ?? []) notify(ctx, notice);
  }

  pi.on("session_start", async (_event, ctx) => {
    if (settings.problem) notify(ctx, `longhaul: ${settings.problem}`, "warning");
    await offerTools(ctx);
  });

  pi.on("session_shutdown", async () => {
    await sidecar?.stop();
    sidecar = undefined;
  });

  // A round has ended and is in the file: what is due is appended by pi.
  pi.on("turn_end", async (event, ctx) => {
    const at = place(ctx);
    if (!at || event.outcome !== "completed") return;
    await offerTools(ctx);
    // Another extension is changing the context; what we would say is of another one.
    if (event.entries.some(({ type }) => type === "compaction" || type === "context_edit")) return;
    const { signal } = ctx;
    const tokens = ctx.getContextUsage?.()?.tokens ?? undefined;
    const answer = await ask(ctx, "pi/turnEnd", { ...at, tokens }, { signal, patience: SLOW_FACTOR });
    tell(ctx, answer);
    if (!answer?.entries?.length) return;
    return { entries: [...event.entries, ...answer.entries] };
  });

  pi.on("session_before_compact", async (event, ctx) => {
    const at = place(ctx);
    if (!at) return;
    const { customInstructions, reason, preparation, signal } = event;
    const { tokensBefore } = preparation;
    const params = { ...at, customInstructions, reason, tokensBefore };
    const answer = await ask(ctx, "pi/beforeCompact", params, { signal, patience: SLOW_FACTOR });
    tell(ctx, answer);
    // pi would ask a model to summarise our summary, and nothing would come free.
    if (answer?.nothing) {
      notify(ctx, "longhaul: there is nothing to compact; all that is left is the work at hand");
      return { cancel: true };
    }
    // Without a compaction of ours, pi makes its own.
    if (!answer?.compaction) return;
    return { compaction: { ...answer.compaction, tokensBefore } };
  });

  // What is put back after a compaction is written before what the user says next,
  // so that it stands there in every request. In a run it comes behind a tool result.
  pi.on("before_agent_start", async (_event, ctx) => {
    const at = place(ctx);
    if (!at) return;
    const answer = await ask(ctx, "pi/beforeRun", at, { patience: SLOW_FACTOR });
    // A message that is returned would stand behind the user's.
    if (answer?.message) pi.sendMessage(answer.message, { triggerTurn: false });
  });

  // After "context", so that no other extension can put something behind it, and
  // with the transcript as it is sent, so that nothing in front of it moves.
  pi.on("context_with_system", async (event, ctx) => {
    const at = place(ctx);
    if (!at) return;
    const { restored, append } = (await ask(ctx, "pi/context", at, { signal: ctx.signal })) ?? {};
    if (!restored && !append) return;
    const message = (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: Date.now() });
    const { messages } = event;
    const said = 1 + messages.findLastIndex(({ role }) => BEFORE_THE_USER.has(role));
    return {
      messages: [
        ...messages.slice(0, said),
        ...(restored ? [message(restored)] : []),
        ...messages.slice(said),
        ...(append ? [message(append)] : []),
      ],
    };
  });

  pi.on("tool_result", async (event, ctx) => {
    const at = place(ctx);
    if (!at || tools.has(event.toolName)) return;
    const chars = event.content.reduce((sum, block) => sum + (block.text?.length ?? 0), 0);
    // A character is a token at most, nearly always: what is short is not asked about.
    if (chars <= (at.contextWindow ?? 0) / LARGE_PART) return;
    const { toolCallId, toolName, content, isError } = event;
    const params = { ...at, toolCallId, toolName, content, isError };
    const answer = await ask(ctx, "pi/toolResult", params, { signal: ctx.signal });
    if (!answer?.content) return;
    return { content: answer.content };
  });

  /** The tools are the program's own; they are known once it has answered. */
  async function offerTools(ctx) {
    if (tools.size > 0) return;
    const listed = await ask(ctx, "tools/list", {});
    const all = Array.isArray(listed) ? listed : (listed?.tools ?? []);
    for (const definition of all) {
      tools.add(definition.name);
      pi.registerTool(tool(definition));
    }
  }

  function tool({ name, description, inputSchema }) {
    return {
      name,
      label: name,
      description,
      promptSnippet: description.split(/(?<=\.) /)[0],
      parameters: inputSchema,
      async execute(_id, args, signal, _update, ctx) {
        const at = place(ctx);
        const result = (text, isError) => ({
          content: [{ type: "text", text }],
          details: {},
          ...(isError ? { isError } : {}),
        });
        if (!at) return result("This session is not kept in a file, so nothing of it is kept here.", true);
        const params = { ...at, name, arguments: args ?? {} };
        const answer = await ask(ctx, "pi/tool", params, { signal, patience: SLOW_FACTOR });
        if (!answer) return result(`${name} cannot be used now: ${told ?? "it was stopped"}`, true);
        return result(answer.text ?? "", answer.isError === true);
      },
    };
  }

  pi.registerCommand("longhaul", {
    description: "How full and how worn this session is, and whether longhaul runs",
    handler: async (_args, ctx) => {
      const at = place(ctx);
      if (!at) {
        notify(ctx, "longhaul: this session is not kept in a file, so there is nothing to keep");
        return;
      }
      const status = await ask(ctx, "pi/status", at);
      if (!status) return notify(ctx, `longhaul does not run: ${told}`, "warning");
      const { about } = sidecar;
      const number = (value) => Math.round(value).toLocaleString("en");
      const lines = [
        `longhaul ${about?.version} (${about?.path}, process ${sidecar.pid})`,
        `context ${number(status.size.tokens)} of ${number(status.window.size)} tokens ` +
          `(${Math.round(status.fullness * 100)} %), compacts at ${number(status.window.activation)}`,
        `compactions ${status.degradation.compactions}, checkpoint ${status.checkpoint ?? "none yet"}`,
      ];
      if (status.breaker) lines.push(`stopped: ${status.breaker.join("; ")}`);
      notify(ctx, lines.join("\n"));
    },
  });
}
