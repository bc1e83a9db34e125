// longhaul as OpenClaw's context engine. This module runs inside the gateway and
// does no work of its own: `longhaul rpc` does, as a process beside it.

import { createRequire } from "node:module";

import { Engine } from "./src/engine.js";
import { Histories } from "./src/history.js";
import { Limits } from "./src/limits.js";
import { Sidecar } from "./src/sidecar.js";
import { registerTools } from "./src/tools.js";

const { version } = createRequire(import.meta.url)("./package.json");
const DEFAULT_TIMEOUT_SECONDS = 60;

/** One process for the gateway, however often the plugin is loaded into it. */
const SHARED = Symbol.for("longhaul.openclaw.sidecar");

function shared(options, log) {
  const key = JSON.stringify(options);
  const held = globalThis[SHARED];
  if (held?.key === key) {
    held.sidecar.log = log;
    return held;
  }
  void held?.sidecar.stop();
  const made = {
    key,
    sidecar: new Sidecar(options, log),
    histories: new Histories(),
    said: new Map(),
    limits: new Limits(),
    models: new Map(),
  };
  made.sidecar.onRestart(() => made.histories.clear());
  globalThis[SHARED] = made;
  return made;
}

/** The host's helpers; absent outside of a gateway. */
async function hostHelpers(log) {
  try {
    return await import("openclaw/plugin-sdk/core");
  } catch (error) {
    log.debug?.(`longhaul: the plugin SDK cannot be imported: ${error.message}`);
    return undefined;
  }
}

export default {
  id: "longhaul",
  name: "longhaul",
  description: "Context engine for sessions many times longer than the model's window",
  kind: "context-engine",
  register(api) {
    const log = api.logger;
    const config = api.pluginConfig ?? {};
    const { binary, stateDir, config: overrides } = config;
    const host = { name: "openclaw", version: api.runtime?.version ?? "unknown" };
    const held = shared({ binary, stateDir, config: overrides, host }, log);
    const { sidecar, histories, said, limits, models } = held;
    const settings = {
      version,
      timeoutMs: (config.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
      memoryTools: config.memoryTools ?? "auto",
    };
    let helpers;
    api.registerContextEngine("longhaul", async (context = {}) => {
      helpers ??= hostHelpers(log);
      const sdk = await helpers;
      const { workspaceDir, agentDir } = context;
      // Tried here so that `info` tells the truth from the first turn on.
      await sidecar.start({ workspaceDir, agentDir }).catch(() => undefined);
      return new Engine({ sidecar, histories, settings, log, sdk, said, limits, models }, context);
    });
    registerTools(api, sidecar, settings);
    api.registerService?.({
      id: "longhaul",
      start() {},
      stop: () => sidecar.stop(),
    });
  },
};
