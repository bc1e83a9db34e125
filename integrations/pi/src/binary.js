// Finding the longhaul program.

import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join } from "node:path";

const NAME = process.platform === "win32" ? "longhaul.exe" : "longhaul";

/** The npm package that carries the program for a platform. */
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

function fromPackage() {
  try {
    const require = createRequire(import.meta.url);
    return join(dirname(require.resolve(`${platformPackage()}/package.json`)), "bin", NAME);
  } catch {
    return undefined;
  }
}

/**
 * Where the program is: the file that is configured, LONGHAUL_BINARY, the package
 * for this platform, PATH. One that is named and not there is an error: to take
 * another in its place would hide the mistake.
 *
 * @param {{env?: Record<string, string | undefined>, binary?: string}} options
 * @returns {{path: string | null, source: string, problem?: string}} `path` is null
 * when there is none; `problem` then says why, and what to do
 */
export function findBinary({ env = process.env, binary } = {}) {
  const named = [
    [binary, "longhaul.json"],
    [env.LONGHAUL_BINARY, "LONGHAUL_BINARY"],
  ];
  for (const [file, source] of named) {
    if (!file) continue;
    if (isProgram(file)) return { path: file, source };
    const problem = `${source} names ${file}, which is not there or cannot be run`;
    return { path: null, source, problem };
  }
  const packaged = fromPackage();
  if (packaged && isProgram(packaged)) return { path: packaged, source: platformPackage() };
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    // What a relative folder means depends on where pi was started.
    if (!isAbsolute(folder)) continue;
    const file = join(folder, NAME);
    if (isProgram(file)) return { path: file, source: "PATH" };
  }
  const problem =
    "the longhaul program was not found; install it so that it is on PATH, or name it in " +
    "LONGHAUL_BINARY";
  return { path: null, source: "none", problem };
}
