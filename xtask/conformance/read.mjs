#!/usr/bin/env node
// What pi makes of session files: one JSON line a file, in the shape of the golden files.
import { existsSync } from "node:fs";
import { UsageError, evaluateWithPi, loadPi, parseArgs, run } from "./lib.mjs";

const USAGE = `usage: node read.mjs --pi <pi package>/dist/bundle/index.js [--messages all] FILE...
Prints one JSON line per session file: the context that pi itself builds from it.
With "--messages all" a line holds the messages whatever their size, and as llmMessages what pi sends to a model.
Files are opened as copies and never changed. Exit code 1 if pi cannot read one of them.`;

await run(async () => {
	const { options, files } = parseArgs(process.argv.slice(2), { pi: "required", messages: "optional" }, USAGE);
	if (options.messages !== undefined && options.messages !== "all") throw new UsageError(`--messages can only be all, not ${options.messages}`);
	if (files.length === 0) throw new UsageError("no session file given");
	for (const file of files) if (!existsSync(file)) throw new UsageError(`no such file: ${file}`);
	const pi = await loadPi(options.pi);
	let failed = false;
	for (const file of files) {
		const record = evaluateWithPi(pi, file, { allMessages: options.messages === "all" });
		failed ||= record.error !== undefined;
		process.stdout.write(`${JSON.stringify(record)}\n`);
	}
	if (failed) process.exitCode = 1;
}, USAGE);
