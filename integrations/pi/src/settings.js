// What is set about the extension: longhaul.json in pi's folder, if there is one.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** What pi may wait for an answer: it is a file that is read, and arithmetic. */
const TIMEOUT_MS = 10_000;

const KNOWN = {
  binary: "string",
  stateDir: "string",
  config: "object",
  timeoutMs: "number",
};

/** pi's own folder. */
export function agentDir(env = process.env) {
  return env.PI_CODING_AGENT_DIR || join(homedir(), ".pi", "agent");
}

/**
 * @returns {{binary?: string, stateDir?: string, config?: object, timeoutMs: number,
 * problem?: string}} `problem` says what of the file is not obeyed
 */
export function readSettings(file = join(agentDir(), "longhaul.json")) {
  const settings = { timeoutMs: TIMEOUT_MS };
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") settings.problem = `${file} cannot be read: ${error.message}`;
    return settings;
  }
  let given;
  try {
    given = JSON.parse(text);
  } catch (error) {
    settings.problem = `${file} is not JSON (${error.message}); it is not obeyed until it is`;
    return settings;
  }
  const problems = [];
  for (const [key, value] of Object.entries(given ?? {})) {
    const right = KNOWN[key] && typeof value === KNOWN[key] && value !== null;
    if (right && (key !== "timeoutMs" || value > 0)) settings[key] = value;
    else if (KNOWN[key]) problems.push(`"${key}" should be a ${KNOWN[key]}`);
    else problems.push(`"${key}" is not known (${Object.keys(KNOWN).join(", ")} are)`);
  }
  if (problems.length > 0) settings.problem = `${file}: ${problems.join("; ")}`;
  return settings;
}
