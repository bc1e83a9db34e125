// Shared by the scripts in this folder: arguments, golden shape, fixed ids and clock.
import crypto, { createHash } from "node:crypto";
import { copyFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Date strings without an offset are local time: every result here is for UTC.
process.env.TZ = "UTC";

/** A context whose JSON is smaller than this many bytes is stored whole in its golden file. */
export const INLINE_LIMIT = 20 * 1024;

export class UsageError extends Error {}

/** Parse `--name value` options and positional files; `spec` maps option name to "required" | "optional". */
export function parseArgs(argv, spec, usage) {
	const options = {};
	const files = [];
	for (let i = 0; i < argv.length; i++) {
		const arg = argv[i];
		if (arg === "--help" || arg === "-h") {
			process.stdout.write(`${usage}\n`);
			process.exit(0);
		}
		if (!arg.startsWith("--")) {
			files.push(arg);
			continue;
		}
		const name = arg.slice(2);
		if (!(name in spec)) throw new UsageError(`unknown option ${arg}`);
		const value = argv[++i];
		if (value === undefined) throw new UsageError(`${arg} needs a value`);
		options[name] = value;
	}
	for (const [name, kind] of Object.entries(spec)) {
		if (kind === "required" && options[name] === undefined) throw new UsageError(`--${name} is missing`);
	}
	return { options, files };
}

/** Run `main`, turning errors into one line on stderr (2: wrong use, 1: failure). */
export async function run(main, usage) {
	try {
		await main();
	} catch (error) {
		if (error instanceof UsageError) {
			process.stderr.write(`error: ${error.message}\n${usage}\n`);
			process.exit(2);
		}
		process.stderr.write(`error: ${error?.message ?? error}\n`);
		process.exit(1);
	}
}

/** Import pi's stand-alone bundle and check that it has what is needed. */
export async function loadPi(bundle) {
	const path = resolve(bundle);
	if (!existsSync(path)) throw new UsageError(`no such file: ${bundle} (expected pi's dist/bundle/index.js)`);
	let pi;
	try {
		pi = await import(pathToFileURL(path).href);
	} catch (error) {
		throw new Error(`cannot import ${bundle} with node ${process.version} (pi 1.5.0 needs 22 or newer): ${error.message}`);
	}
	for (const name of ["SessionManager", "buildSessionContext", "convertToLlm", "estimateTokens", "serializeConversation"]) {
		if (typeof pi[name] !== "function") throw new Error(`${bundle} does not export ${name}`);
	}
	const manifest = resolve(path, "../../../package.json");
	const version = existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : "unknown";
	return { ...pi, producer: `pi ${version}` };
}

/** Find OpenClaw's session manager, context converter and estimator among its hashed chunks. */
export async function loadOpenClaw(packageDir) {
	const dir = resolve(packageDir);
	const manifest = join(dir, "package.json");
	if (!existsSync(manifest)) throw new UsageError(`no package.json in ${packageDir} (expected the openclaw package folder)`);
	const { name, version } = JSON.parse(readFileSync(manifest, "utf8"));
	if (name !== "openclaw") throw new UsageError(`${packageDir} is the package ${name}, not openclaw`);
	const dist = join(dir, "dist");
	const chunks = readdirSync(dist).filter((file) => file.endsWith(".mjs"));
	const find = async (prefix, exported) => {
		for (const chunk of chunks.filter((file) => file.startsWith(prefix))) {
			if (!new RegExp(`(function|class|var) ${exported}\\b`).test(readFileSync(join(dist, chunk), "utf8"))) continue;
			const module = await import(pathToFileURL(join(dist, chunk)).href);
			const value = Object.values(module).find((item) => typeof item === "function" && item.name === exported);
			if (value) return value;
		}
		throw new Error(`openclaw ${version}: no chunk ${prefix}*.mjs exports ${exported}`);
	};
	return {
		SessionManager: await find("session-manager-", "SessionManager"),
		convertToLlm: await find("session-", "convertToLlm"),
		estimateTokens: await find("compaction-", "estimateTokens"),
		serializeConversation: await find("compaction-", "serializeConversation"),
		rewriteTranscriptEntries: await find("transcript-rewrite-", "rewriteTranscriptEntriesInSessionManager"),
		producer: `openclaw ${version}`,
	};
}

export const sha256 = (data) => createHash("sha256").update(data).digest("hex");

function isWellFormed(value) {
	if (typeof value === "string") return value.isWellFormed();
	if (value === null || typeof value !== "object") return true;
	return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item));
}

function attempt(fn) {
	try {
		return fn();
	} catch {
		return null;
	}
}

/** The golden record of one context. `null` stands where the program itself throws. */
export function golden({ file, producer, entries, context, leafId, leafIndex, labels, program, allMessages = false }) {
	const { messages, model, thinkingLevel } = context;
	const text = JSON.stringify(messages);
	const llm = attempt(() => program.convertToLlm(messages));
	const record = {
		file,
		producer,
		entries,
		messages: messages.length,
		roles: messages.map((message) => message?.role ?? null),
		messagesSha256: sha256(text),
		llmSha256: llm && sha256(JSON.stringify(llm)),
		serializedSha256: llm && attempt(() => sha256(program.serializeConversation(llm))),
		model,
		thinkingLevel,
		estTokensPerMessage: messages.map((message) => attempt(() => program.estimateTokens(message))),
		leafId,
		leafIndex,
		labels,
	};
	if (allMessages) {
		record.contextMessages = messages;
		record.llmMessages = llm;
	} else if (Buffer.byteLength(text) < INLINE_LIMIT && isWellFormed(messages)) record.contextMessages = messages;
	return record;
}

/** Open a copy of `path` with pi and describe its context; the file itself is never touched. */
export function evaluateWithPi(pi, path, { allMessages } = {}) {
	const file = basename(path);
	const dir = mkdtempSync(join(tmpdir(), "conformance-"));
	const copy = join(dir, "session.jsonl");
	try {
		copyFileSync(path, copy);
		chmodSync(copy, 0o600);
		const before = readFileSync(copy);
		let manager;
		let context;
		try {
			manager = pi.SessionManager.open(copy);
			context = manager.buildSessionContext();
		} catch (error) {
			const message = String(error?.message ?? error).replaceAll(copy, file);
			return { file, producer: pi.producer, error: `${error?.name ?? "Error"}: ${message}` };
		}
		const after = readFileSync(copy);
		const rewritten = !before.equals(after) && !Buffer.concat([before, Buffer.from("\n")]).equals(after);
		const entries = manager.getEntries();
		const leafId = manager.getLeafId();
		// The branch summary and the edits refer to stored ids; ids that pi made up while migrating are random.
		const labels = {};
		for (const entry of entries) {
			const label = manager.getLabel(entry?.id);
			if (label !== undefined) labels[entry.id] = label;
		}
		const record = golden({
			file,
			producer: pi.producer,
			entries: entries.length,
			context,
			leafId: rewritten && !before.includes(`"${leafId}"`) ? null : (leafId ?? null),
			leafIndex: entries.findLastIndex((entry) => entry?.id === leafId),
			labels,
			program: pi,
			allMessages,
		});
		record.rewrittenOnOpen = rewritten;
		return record;
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
}

/** Load parsed lines into OpenClaw's in-memory session manager and describe its context. */
export function evaluateWithOpenClaw(openclaw, path) {
	const file = basename(path);
	const lines = [];
	for (const line of readFileSync(path, "utf8").split("\n")) {
		if (!line.trim()) continue;
		try {
			lines.push(JSON.parse(line));
		} catch {
			// Skipped, as OpenClaw's own reader does.
		}
	}
	let manager;
	let context;
	try {
		manager = openclaw.SessionManager.fromEntries(lines, "/home/dev/shop");
		context = manager.buildSessionContext();
	} catch (error) {
		return { file, producer: openclaw.producer, error: `${error?.name ?? "Error"}: ${error?.message ?? error}` };
	}
	const leafId = manager.getLeafId();
	const labels = {};
	for (const entry of manager.getEntries()) {
		const label = manager.getLabel(entry.id);
		if (label !== undefined) labels[entry.id] = label;
	}
	const stored = lines.filter((line) => line?.type !== "session");
	const record = golden({
		file,
		producer: openclaw.producer,
		entries: stored.length,
		context,
		leafId,
		leafIndex: leafId === null ? -1 : stored.findLastIndex((line) => line?.id === leafId),
		labels,
		program: openclaw,
	});
	record.appendParentId = manager.getAppendParentId();
	record.appendMode = manager.getAppendMode() ?? null;
	record.pathIds = manager.getBranch().map((entry) => entry.id);
	return record;
}

/** One top-level key a line, one context message a line: small and still readable in a diff. */
export function formatGolden(record) {
	const lines = Object.entries(record).map(([key, value]) => {
		const items = key === "contextMessages" && value.length > 0;
		const text = items ? `[\n${value.map((item) => `    ${JSON.stringify(item)}`).join(",\n")}\n  ]` : JSON.stringify(value);
		return `  ${JSON.stringify(key)}: ${text}`;
	});
	return `{\n${lines.join(",\n")}\n}\n`;
}

/**
 * Fixed ids and a fixed clock while `fn` runs: ids are derived from `seed` and a counter,
 * every look at the clock is 1.5 s later than the one before.
 */
export async function deterministic(seed, fn) {
	const RealDate = globalThis.Date;
	const realUuid = crypto.randomUUID;
	let ticks = 0;
	let ids = 0;
	const now = () => RealDate.UTC(2026, 2, 2, 9, 0, 0) + 1500 * ticks++;
	globalThis.Date = class extends RealDate {
		constructor(...args) {
			if (args.length === 0) super(now());
			else super(...args);
		}
		static now() {
			return now();
		}
	};
	crypto.randomUUID = () => {
		const hex = sha256(`${seed}:${ids++}`);
		return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
	};
	syncBuiltinESMExports();
	try {
		return await fn();
	} finally {
		globalThis.Date = RealDate;
		crypto.randomUUID = realUuid;
		syncBuiltinESMExports();
	}
}

/** A session id in the shape of a uuid, fixed by the case's name. */
export function sessionId(name) {
	const hex = sha256(`session:${name}`);
	return `019cac10-${hex.slice(0, 4)}-7${hex.slice(5, 8)}-8${hex.slice(9, 12)}-${hex.slice(12, 24)}`;
}

export function writeCase(out, name, bytes, record) {
	writeFileSync(join(out, `${name}.golden.json`), formatGolden(record));
	writeFileSync(join(out, `${name}.jsonl`), bytes);
}

/** A 2 x 2 PNG, and one of a single pixel. */
export const PNG_2X2 =
	"iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR42mP4z8DAAMIM/4EAAB/uBfvxq7p3AAAAAElFTkSuQmCC";
export const PNG_1X1 =
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNQSFgAAAHEASFcollRAAAAAElFTkSuQmCC";

export const usage = (input, output, cacheRead = 0, cacheWrite = 0, cost = undefined) => ({
	input,
	output,
	cacheRead,
	cacheWrite,
	totalTokens: input + output + cacheRead + cacheWrite,
	...(cost ? { cost } : {}),
});

/** Small makers of messages; timestamps come from the (fixed) clock. */
export const msg = {
	system: (content, extra = {}) => ({ role: "system", content, ...extra, timestamp: Date.now() }),
	user: (content, extra = {}) => ({ role: "user", content, ...extra, timestamp: Date.now() }),
	text: (text) => ({ type: "text", text }),
	image: (data = PNG_1X1) => ({ type: "image", data, mimeType: "image/png" }),
	thinking: (thinking, thinkingSignature) => ({ type: "thinking", thinking, ...(thinkingSignature ? { thinkingSignature } : {}) }),
	call: (id, name, args) => ({ type: "toolCall", id, name, arguments: args }),
	assistant: (content, extra = {}) => ({
		role: "assistant",
		content: typeof content === "string" ? [{ type: "text", text: content }] : content,
		api: "anthropic-messages",
		provider: "anthropic",
		model: "claude-sonnet-4-5",
		usage: usage(1200, 64, 800),
		stopReason: Array.isArray(content) && content.some((block) => block.type === "toolCall") ? "toolUse" : "stop",
		timestamp: Date.now(),
		...extra,
	}),
	result: (toolCallId, toolName, content, extra = {}) => ({
		role: "toolResult",
		toolCallId,
		toolName,
		content: typeof content === "string" ? [{ type: "text", text: content }] : content,
		isError: false,
		timestamp: Date.now(),
		...extra,
	}),
	bash: (command, output, extra = {}) => ({
		role: "bashExecution",
		command,
		output,
		exitCode: 0,
		cancelled: false,
		truncated: false,
		timestamp: Date.now(),
		...extra,
	}),
};
