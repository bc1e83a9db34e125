#!/usr/bin/env node
// A program that speaks the protocol and does what its test says in FAKE.

import { createInterface } from "node:readline";

const how = JSON.parse(process.env.FAKE ?? "{}");
const answer = (id, body) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "initialize" && how.answers?.initialize === "usage") {
    process.stderr.write("unrecognized subcommand 'rpc'\n");
    process.exit(2);
  }
  if (method === "initialize" && how.answers?.initialize === undefined) {
    answer(id, { result: { protocol: how.protocol ?? 1, version: "0.0.0" } });
    return;
  }
  const result = how.answers?.[method];
  if (result === "crash") process.kill(process.pid, "SIGKILL");
  else if (result === "silence") return;
  else if (result === "echo") answer(id, { result: { text: JSON.stringify(params) } });
  else if (result === "error") answer(id, { error: { code: -32602, message: "no" } });
  else answer(id, { result: result ?? { params, pid: process.pid } });
});
process.stdin.on("end", () => process.exit(0));
