import assert from "node:assert/strict";
import { test } from "node:test";

import { line } from "../src/plain.js";

test("sets become arrays, and what cannot be sent is left out", () => {
  const params = {
    tools: new Set(["read", "exec"]),
    map: new Map([["a", 1]]),
    signal: new AbortController().signal,
    complete: () => 1,
    nested: { rewrite: async () => {}, when: new Date(0), kept: [1, null] },
  };
  assert.deepEqual(JSON.parse(line(params)), {
    tools: ["read", "exec"],
    map: { a: 1 },
    nested: { when: "1970-01-01T00:00:00.000Z", kept: [1, null] },
  });
});

test("a circle is cut where it closes, and what is only shared stays", () => {
  const shared = { text: "twice" };
  const round = { shared, again: shared };
  round.self = { round };
  const plain = JSON.parse(line(round));
  assert.deepEqual(plain, { shared: { text: "twice" }, again: { text: "twice" }, self: {} });
});

test("a message is one line", () => {
  assert.equal(line({ text: "a\nb\u2028c" }).includes("\n"), false);
});
