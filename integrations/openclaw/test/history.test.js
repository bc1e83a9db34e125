import assert from "node:assert/strict";
import { test } from "node:test";

import { Histories, fingerprint, resolve } from "../src/history.js";

const user = (text, timestamp = 1) => ({ role: "user", content: [{ type: "text", text }], timestamp });

test("a list that grew is sent as its tail", () => {
  const histories = new Histories();
  const first = [user("one"), user("two")];
  const { prints, params } = histories.params("s", first);
  assert.deepEqual(params, { messages: first });
  histories.accept("s", "t1", prints);
  // The host reads its store anew: equal messages, other objects.
  const second = [user("one"), user("two"), user("three")];
  assert.deepEqual(histories.params("s", second).params, {
    history: { base: "t1", keep: 2, tail: [user("three")] },
  });
});

test("of several lists the one with most in common is taken", () => {
  const histories = new Histories();
  const transcript = [user("one"), user("two"), user("three")];
  const assembled = [user("summary"), user("three")];
  histories.accept("s", "transcript", histories.params("s", transcript).prints);
  histories.accept("s", "assembled", histories.params("s", assembled).prints);
  const next = histories.params("s", [...transcript, user("four")]).params;
  assert.deepEqual(next, { history: { base: "transcript", keep: 3, tail: [user("four")] } });
  const loop = histories.params("s", assembled).params;
  assert.deepEqual(loop, { history: { base: "assembled", keep: 2, tail: [] } });
});

test("another session shares no list, and a forgotten one is sent whole", () => {
  const histories = new Histories();
  const list = [user("one")];
  histories.accept("s", "t", histories.params("s", list).prints);
  assert.deepEqual(histories.params("other", list).params, { messages: list });
  histories.forget("s");
  assert.deepEqual(histories.params("s", list).params, { messages: list });
  histories.accept("s", "t", histories.params("s", list).prints);
  histories.clear();
  assert.deepEqual(histories.params("s", list).params, { messages: list });
});

test("a message edited in place is not taken for the one that was sent", () => {
  const histories = new Histories();
  const list = [user("one"), user("a long result ".repeat(1000))];
  histories.accept("s", "t", histories.params("s", list).prints);
  list[1].content[0].text = "[pruned]";
  assert.deepEqual(histories.params("s", list).params.history.keep, 1);
});

test("an edit of equal length is seen wherever it is made", () => {
  const long = "secret ".repeat(2000);
  const deep = { a: { b: { c: { d: { e: { f: { g: "secret" } } } } } } };
  const edits = [
    [user(long), (m) => (m.content[0].text = `${long.slice(0, 5000)}******${long.slice(5006)}`)],
    [{ role: "user", content: long }, (m) => (m.content = `${long.slice(0, 999)}*${long.slice(1000)}`)],
    [
      { role: "assistant", content: [{ type: "toolCall", id: "1", arguments: { key: "secret" } }] },
      (m) => (m.content[0].arguments.key = "******"),
    ],
    [
      { role: "assistant", content: [{ type: "toolCall", id: "1", arguments: deep }] },
      (m) => (m.content[0].arguments.a.b.c.d.e.f.g = "******"),
    ],
    [
      { role: "assistant", content: [{ type: "thinking", thinking: long }] },
      (m) => (m.content[0].thinking = long.replaceAll("secret", "******")),
    ],
    [{ role: "compactionSummary", summary: long }, (m) => (m.summary = long.replaceAll("e", "*"))],
    [{ role: "user", content: new Map([["text", "secret"]]) }, (m) => m.content.set("text", "******")],
  ];
  for (const [message, edit] of edits) {
    const histories = new Histories();
    const list = [user("one"), message];
    histories.accept("s", "t", histories.params("s", list).prints);
    assert.equal(histories.params("s", list).params.history.keep, 2);
    edit(message);
    assert.equal(histories.params("s", list).params.history.keep, 1, message.role);
  }
});

test("a message that holds itself has a fingerprint", () => {
  const message = { role: "hologram", parts: ["a"] };
  message.parts.push(message);
  const before = fingerprint(message);
  message.parts[0] = "b";
  assert.notEqual(fingerprint(message), before);
});

test("fingerprints tell messages apart by role, time, ids, calls and the ends of long texts", () => {
  const long = "x".repeat(10_000);
  const messages = [
    user("a"),
    user("a", 2),
    { ...user("a"), role: "assistant" },
    { role: "toolResult", toolCallId: "1", content: [{ type: "text", text: long }] },
    { role: "toolResult", toolCallId: "2", content: [{ type: "text", text: long }] },
    { role: "toolResult", toolCallId: "1", content: [{ type: "text", text: `${long}y` }] },
    { role: "toolResult", toolCallId: "1", content: [{ type: "text", text: `y${long.slice(1)}` }] },
    { role: "assistant", content: [{ type: "toolCall", id: "1", arguments: { path: "a" } }] },
    { role: "assistant", content: [{ type: "toolCall", id: "1", arguments: { path: "b" } }] },
  ];
  assert.equal(new Set(messages.map(fingerprint)).size, messages.length);
});

test("references come back as the host's own objects", () => {
  const own = [user("one"), user("two")];
  const summary = user("summary");
  const list = resolve([summary, { ref: 1 }], own);
  assert.equal(list[0], summary);
  assert.equal(list[1], own[1]);
});

test("an answer that refers to nothing is refused", () => {
  for (const answer of [undefined, {}, [null], [{ ref: 2 }], [{ ref: -1 }], [{ ref: "0" }]]) {
    assert.throws(() => resolve(answer, [user("one"), user("two")]));
  }
});
