// Finding the longhaul program.

import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join } from "node:path";

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
 * @returns {{file: string, from: string} | {problem: string}}
 */
export function findBinary(configured, env = process.env, require = createRequire(import.meta.url)) {
  const named = [
    [configured, "plugins.entries.longhaul.config.binary"],
    [env.LONGHAUL_BINARY, "LONGHAUL_BINARY"],
  ];
  for (const [file, from] of named) {
    if (!file) continue;
    if (isProgram(file)) return { file, from };
    return { problem: `${from} names ${file}, which is not there or cannot be run` };
  }
  const packaged = fromPackage(require);
  if (packaged && isProgram(packaged)) return { file: packaged, from: platformPackage() };
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    // A relative folder would depend on where the gateway was started.
    if (!isAbsolute(folder)) continue;
    const file = join(folder, NAME);
    if (isProgram(file)) return { file, from: "PATH" };
  }
  return {
    problem:
      `the longhaul program was not found: install it so that it is on the gateway's PATH, ` +
      `or set plugins.entries.longhaul.config.binary`,
  };
}
