// Finding the longhaul program.

import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join } from "node:path";

const ownRequire = createRequire(import.meta.url);
const NAME = process.platform === "win32" ? "longhaul.exe" : "longhaul";

/** The npm package that carries the program for this platform. */
export function platformPackage(platform = process.platform, arch = process.arch) {
  return `@longhaul/cli-${platform}-${arch}`;
}

function isProgram(file) {
  try {
    if (!statSync(file).isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function fromPackage(require) {
  try {
    const manifest = require.resolve(`${platformPackage()}/package.json`);
    return join(dirname(manifest), "bin", NAME);
  } catch {
    return undefined;
  }
}

/**
 * Where the program is: the configured file, LONGHAUL_BINARY, the package for
 * this platform, PATH. One that is named and not there is an error; to take
 * another in its place would hide the mistake.
 *
 * @param {{binary?: string, env?: object, require?: NodeJS.Require}} where
 * @returns {{path: string, source: string} | {path: null, problem: string}}
 */
export function findBinary({ binary, env = process.env, require = ownRequire } = {}) {
  const named = [
    [binary, "plugins.entries.longhaul.config.binary"],
    [env.LONGHAUL_BINARY, "LONGHAUL_BINARY"],
  ];
  for (const [path, source] of named) {
    if (!path) continue;
    if (isProgram(path)) return { path, source };
    const problem = `${source} names ${path}, which is not there or cannot be run`;
    return { path: null, problem };
  }
  const packaged = fromPackage(require);
  if (packaged && isProgram(packaged)) return { path: packaged, source: platformPackage() };
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    // A relative folder would depend on where the gateway was started.
    if (!isAbsolute(folder)) continue;
    const path = join(folder, NAME);
    if (isProgram(path)) return { path, source: "PATH" };
  }
  const problem =
    "the longhaul program was not found: install it so that it is on the gateway's PATH, or set " +
    "plugins.entries.longhaul.config.binary";
  return { path: null, problem };
}
