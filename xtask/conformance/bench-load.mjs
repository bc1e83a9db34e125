#!/usr/bin/env node
// How long pi itself takes to open a session file and build its context.
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { UsageError, loadPi, parseArgs, run } from "./lib.mjs";

const USAGE = `usage: node bench-load.mjs --pi <pi package>/dist/bundle/index.js FILE [--runs N]
Times SessionManager.open + buildSessionContext on a copy of FILE (default: 10 runs after one warm-up run)
and prints {file, bytes, runs, medianMs, minMs, maxRssBytes, messages} as JSON.
An old file version is migrated by the warm-up run, so the timed runs read what pi then holds on disk.`;

await run(async () => {
	const { options, files } = parseArgs(process.argv.slice(2), { pi: "required", runs: "optional" }, USAGE);
	if (files.length !== 1) throw new UsageError("exactly one session file is needed");
	const [file] = files;
	if (!existsSync(file)) throw new UsageError(`no such file: ${file}`);
	const runs = Number(options.runs ?? 10);
	if (!Number.isInteger(runs) || runs < 1) throw new UsageError(`--runs must be a positive whole number, not ${options.runs}`);
	const pi = await loadPi(options.pi);
	const dir = mkdtempSync(join(tmpdir(), "bench-load-"));
	try {
		const copy = join(dir, "session.jsonl");
		copyFileSync(file, copy);
		chmodSync(copy, 0o600);
		const load = () => pi.SessionManager.open(copy).buildSessionContext().messages.length;
		const messages = load();
		const times = [];
		for (let i = 0; i < runs; i++) {
			const start = process.hrtime.bigint();
			load();
			times.push(Number(process.hrtime.bigint() - start) / 1e6);
		}
		times.sort((a, b) => a - b);
		const middle = runs >> 1;
		const median = runs % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
		const round = (ms) => Math.round(ms * 1000) / 1000;
		process.stdout.write(
			`${JSON.stringify({
				file: basename(file),
				bytes: statSync(file).size,
				runs,
				medianMs: round(median),
				minMs: round(times[0]),
				maxRssBytes: process.resourceUsage().maxRSS * 1024,
				messages,
			})}\n`,
		);
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
}, USAGE);
