import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { findBinary } from "../src/binary.js";

const name = process.platform === "win32" ? "longhaul.exe" : "longhaul";

function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "longhaul-pi-"));
  t.after(() => rmSync(path, { recursive: true }));
  const program = join(path, name);
  writeFileSync(program, "");
  chmodSync(program, 0o755);
  return { path, program };
}

test("a file that is configured comes before the environment, and that before PATH", (t) => {
  const { path, program } = folder(t);
  const other = folder(t);
  const env = { LONGHAUL_BINARY: other.program, PATH: path };
  assert.deepEqual(findBinary({ env, binary: program }), { path: program, source: "longhaul.json" });
  assert.deepEqual(findBinary({ env }), { path: other.program, source: "LONGHAUL_BINARY" });
  assert.deepEqual(findBinary({ env: { PATH: path } }), { path: program, source: "PATH" });
});

test("a file that is named and not there is not replaced by another", (t) => {
  const { path } = folder(t);
  const missing = join(path, "nowhere");
  const found = findBinary({ env: { LONGHAUL_BINARY: missing, PATH: path } });
  assert.equal(found.path, null);
  assert.match(found.problem, /LONGHAUL_BINARY names .*nowhere, which is not there/);
});

test("without any, the problem says what to do", () => {
  const found = findBinary({ env: { PATH: "relative" } });
  assert.equal(found.path, null);
  assert.match(found.problem, /LONGHAUL_BINARY/);
});
