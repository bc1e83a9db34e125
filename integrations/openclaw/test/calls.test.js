import assert from "node:assert/strict";
import { test } from "node:test";

import { Calls } from "../src/calls.js";

const call = (timestamp, ...ids) => ({
  role: "assistant",
  content: [{ type: "text", text: "so" }, ...ids.map((id) => ({ type: "toolCall", id, name: "read" }))],
  timestamp,
});
const result = (toolCallId) => ({ role: "toolResult", toolCallId, content: [] });

test("however the host writes the ids, longhaul sees the same", () => {
  const raw = [call(5, "call_1", "call_2"), result("call_1"), result("call_2")];
  const strict = [call(5, "call1", "call2"), result("call1"), result("call2")];
  assert.deepEqual(new Calls(raw).list, new Calls(strict).list);
  assert.deepEqual(new Calls(raw).list, [call(5, "t5n0", "t5n1"), result("t5n0"), result("t5n1")]);
});

test("what longhaul made gets the ids of the list that was given", () => {
  const calls = new Calls([call(5, "call_1"), result("call_1")]);
  assert.deepEqual(calls.restore(result("t5n0")), result("call_1"));
  assert.deepEqual(calls.restore(call(5, "t5n0")), call(5, "call_1"));
  assert.deepEqual(calls.restore(result("unknown")), result("unknown"));
});

test("an id that a provider uses again belongs to the latest call", () => {
  const list = [call(5, "0"), result("0"), call(9, "0"), result("0")];
  const expected = [call(5, "t5n0"), result("t5n0"), call(9, "t9n0"), result("t9n0")];
  assert.deepEqual(new Calls(list).list, expected);
});

test("the host's messages are not changed, and those without calls are not copied", () => {
  const user = { role: "user", content: "hi", timestamp: 1 };
  const assistant = call(5, "a");
  const calls = new Calls([user, assistant]);
  assert.equal(calls.list[0], user);
  assert.deepEqual(assistant, call(5, "a"));
});

test("a call without a time keeps its id", () => {
  const list = [call(undefined, "a"), result("a")];
  assert.deepEqual(new Calls(list).list, list);
});
