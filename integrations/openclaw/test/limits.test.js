import assert from "node:assert/strict";
import { test } from "node:test";

import { Limits } from "../src/limits.js";

test("what was refused is made smaller, again and again", () => {
  const limits = new Limits();
  limits.assembled("s", 8000, 12_000);
  assert.equal(limits.within("s", 12_000), 12_000);
  assert.equal(limits.refused("s"), true);
  assert.equal(limits.within("s", 12_000), 6000);
  limits.assembled("s", 6000, 6000);
  assert.equal(limits.refused("s"), true);
  assert.equal(limits.within("s", 12_000), 4500);
  assert.equal(limits.within("other", 12_000), 12_000);
});

test("turns that go through widen it until the host's budget counts again", () => {
  const limits = new Limits();
  limits.assembled("s", 8000, 12_000);
  limits.refused("s");
  limits.accepted("s");
  assert.equal(limits.within("s", 12_000), 9000);
  limits.accepted("s");
  assert.equal(limits.within("s", 12_000), 12_000);
});

test("nothing is promised where no size is known", () => {
  const limits = new Limits();
  assert.equal(limits.refused("s"), false);
  limits.assembled("s", Number.NaN, 10);
  assert.equal(limits.refused("s"), false);
  assert.equal(limits.within("s", undefined), undefined);
});
