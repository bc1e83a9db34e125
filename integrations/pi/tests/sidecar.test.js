import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Sidecar } from "../src/sidecar.js";

const binary = fileURLToPath(new URL("./fake-longhaul.mjs", import.meta.url));

function sidecar(t, fake = {}, more = {}) {
  const env = { ...process.env, FAKE: JSON.stringify(fake) };
  const made = new Sidecar({ binary, env, host: { name: "test", version: "1" }, ...more });
  t.after(() => made.stop());
  return made;
}

test("a process that was killed is replaced at the next call", async (t) => {
  const beside = sidecar(t);
  const first = await beside.call("any", { a: 1 });
  assert.deepEqual(first.params, { a: 1 });
  process.kill(first.pid, "SIGKILL");
  const second = await beside.call("any", {});
  assert.notEqual(second.pid, first.pid);
});

test("another protocol is a program that is too old", async (t) => {
  const beside = sidecar(t, { protocol: 0 });
  await assert.rejects(beside.call("any", {}), /protocol 0, not 1; .* too old/);
});

test("a program that does not know rpc is too old", async (t) => {
  const beside = sidecar(t, { answers: { initialize: "usage" } });
  await assert.rejects(beside.call("any", {}), /code 2: unrecognized .* too old/);
});

test("a program that refuses is too old", async (t) => {
  const beside = sidecar(t, { answers: { initialize: "error" } });
  await assert.rejects(beside.call("any", {}), /did not start: no; .* too old/);
});

test("a program that is slow to start, or cannot be run, is not called too old", async (t) => {
  const slow = sidecar(t, { answers: { initialize: "silence" } }, { startMs: 300 });
  await assert.rejects(slow.call("any", {}), /took longer than 300 ms$/);
  const folder = mkdtempSync(join(tmpdir(), "longhaul-pi-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const broken = join(folder, "longhaul");
  writeFileSync(broken, "#!/no/such/interpreter\n", { mode: 0o700 });
  const unable = sidecar(t, {}, { binary: broken });
  await assert.rejects(unable.call("any", {}), /did not start: .*ENOENT$/);
});

test("a process that keeps ending is not started again and again", async (t) => {
  const beside = sidecar(t, { answers: { any: "crash" } });
  for (let times = 0; times < 3; times += 1) await assert.rejects(beside.call("any", {}));
  // It is waited for now, and said why.
  await assert.rejects(beside.call("other", {}), /SIGKILL/);
});

test("a call that is aborted ends at once", async (t) => {
  const beside = sidecar(t, { answers: { any: "silence" } });
  await beside.call("other", {});
  const controller = new AbortController();
  const call = beside.call("any", {}, { signal: controller.signal });
  controller.abort();
  await assert.rejects(call, /abort/);
});

test("calls are answered each for itself", async (t) => {
  const beside = sidecar(t);
  const all = await Promise.all([1, 2, 3].map((n) => beside.call("any", { n })));
  assert.deepEqual(all.map(({ params }) => params.n), [1, 2, 3]);
});
