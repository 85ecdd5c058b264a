// A server as a program of ours: JSON lines on its standard input and output. The SDK's own transport gives
// its child neither a group nor an end to what the child started, so this one stands in its place.

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { setImmediate as immediately, setTimeout as delay } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { BoundedLog } from "./bounded-log.ts";
import { McpServerFailure } from "./failure.ts";
import { createLineSplitter, LineTooLong } from "./line-splitter.ts";
import { oneLine } from "../authorization/index.ts";
import { endGroup } from "./process-group.ts";
import { unwatchGroup, watchGroup } from "./watchdog.ts";

export interface StdioTransport extends Transport {
  // The SDK knows a pipe by these two: on one, silence means a server of the older era.
  readonly pid: number | undefined;
  readonly stderr: null;
  /** Lines on its output that were no messages. */
  readonly garbageLines: number;
  /** Why it is over, where that was not our doing. */
  readonly end: string | undefined;
  /** Settles when nobody of its group is left. */
  readonly gone: Promise<void>;
}

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly log: BoundedLog | undefined;
  /** Not to appear in what is said about its end. */
  readonly secrets: readonly string[];
}

const MAX_LINE_BYTES = 32 * 1024 * 1024;
const MAX_LOGGED_GARBAGE = 100;
const LAST_WORDS_BYTES = 2000;
/** A child of the server may hold its pipes open; it is not waited for longer than this. */
const DRAIN_MS = 1000;
const PATIENCE = { politeMs: 1000, graceMs: 1000 };
/** One that ended by itself had its time; what it left behind is only asked once. */
const LEFT_BEHIND = { politeMs: 0, graceMs: 1000 };

export function createStdioTransport(options: StdioOptions): StdioTransport {
  let child: ChildProcessWithoutNullStreams | undefined;
  let isOver = false;
  let end: string | undefined;
  let garbageLines = 0;
  let lastWords = "";
  let gone = Promise.resolve();
  const transport: StdioTransport = {
    get pid() {
      return child?.pid;
    },
    stderr: null,
    get garbageLines() {
      return garbageLines;
    },
    get end() {
      return end;
    },
    get gone() {
      return gone;
    },
    start,
    send,
    close() {
      finish(undefined, PATIENCE);
      return gone;
    },
  };
  return transport;

  async function start(): Promise<void> {
    const started = spawnGroup(options);
    child = started;
    // Before anything is waited for: we may be killed at any moment.
    if (started.pid !== undefined) watchGroup(started.pid);
    started.stderr.on("data", (bytes: Buffer) => {
      options.log?.append(bytes);
      lastWords = (lastWords + bytes.toString("utf8")).slice(-LAST_WORDS_BYTES);
    });
    for (const emitter of [started, started.stdin, started.stdout, started.stderr]) {
      emitter.on("error", () => {});
    }
    await new Promise<void>((resolve, reject) => {
      started.once("spawn", resolve);
      started.once("error", (error: NodeJS.ErrnoException) => {
        reject(startFailure(options, error));
      });
    });
    const isRead = read(started.stdout);
    started.once("exit", (code, signal) => {
      // What it wrote before is still in the pipes: an answer there counts, and so do its last words.
      const isDrained = Promise.all([isRead, once(started, "close")]);
      void Promise.race([isDrained, delay(DRAIN_MS)]).then(() => {
        finish(describeExit(code, signal), LEFT_BEHIND);
      });
    });
  }

  async function read(stdout: Readable): Promise<void> {
    const lines = createLineSplitter(MAX_LINE_BYTES);
    try {
      for await (const bytes of stdout) {
        for (const line of lines.push(bytes as Buffer)) await takeLine(line);
      }
    } catch (error) {
      if (error instanceof LineTooLong) {
        finish(`it sent a line of more than ${MAX_LINE_BYTES} bytes`, LEFT_BEHIND);
      }
    }
  }

  async function takeLine(line: string): Promise<void> {
    if (isOver || line.trim() === "") return;
    for (const message of messagesOf(line)) {
      if (message === undefined) {
        garbageLines += 1;
        if (garbageLines <= MAX_LOGGED_GARBAGE) {
          options.log?.append(Buffer.from(`[not a message] ${line.slice(0, 1000)}\n`));
        }
        continue;
      }
      transport.onmessage?.(message);
      // The SDK handles a notification a little later, and drops progress whose answer came meanwhile.
      if (!("id" in message)) await immediately();
    }
  }

  function send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      if (child === undefined || isOver) {
        reject(new Error("the server is gone"));
        return;
      }
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error === null || error === undefined) resolve();
        // Its end is about to be known, and says more than a broken pipe.
        else setTimeout(reject, DRAIN_MS, error);
      });
    });
  }

  /** The first reason counts. Whoever waits for an answer learns of it now, not when the group is gone. */
  function finish(why: string | undefined, patience: typeof PATIENCE): void {
    if (isOver) return;
    isOver = true;
    const words = oneLine(lastWords, options.secrets);
    end = why === undefined || words === "" ? why : `${why}; its last words: ${words}`;
    const { pid } = child ?? {};
    if (child !== undefined && pid !== undefined) {
      const ending = child;
      ending.stdin.end();
      gone = endGroup(pid, patience).then(() => {
        unwatchGroup(pid);
        for (const stream of [ending.stdin, ending.stdout, ending.stderr]) stream.destroy();
        return options.log?.close();
      });
    } else {
      gone = options.log?.close() ?? gone;
    }
    transport.onclose?.();
  }
}

function spawnGroup(options: StdioOptions): ChildProcessWithoutNullStreams {
  try {
    return spawn(options.command, options.args, {
      cwd: options.cwd,
      // Node would add its coverage variable by itself where it is not mentioned.
      env: { NODE_V8_COVERAGE: undefined, ...options.env },
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
  } catch (error) {
    throw startFailure(options, error as NodeJS.ErrnoException);
  }
}

function startFailure(options: StdioOptions, error: NodeJS.ErrnoException): McpServerFailure {
  const { command, cwd } = options;
  const why = existsSync(cwd) ? reasonOf(error.code) : `its folder ${cwd} does not exist`;
  return new McpServerFailure("unreachable", `"${oneLine(command)}" could not be started: ${why}.`);
}

function reasonOf(code: string | undefined): string {
  if (code === "ENOENT") return "there is no such program on the PATH it is given";
  if (code === "EACCES") return "it may not be executed";
  return `the system says ${code ?? "nothing about why"}`;
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it ended with code ${String(code)}` : `it was ended by ${signal}`;
}

/** Undefined for what is none. Some servers send several in a list. */
function messagesOf(line: string): (JSONRPCMessage | undefined)[] {
  try {
    const parsed: unknown = JSON.parse(line);
    return Array.isArray(parsed) ? parsed.map(asMessage) : [asMessage(parsed)];
  } catch {
    return [undefined];
  }
}

function asMessage(value: unknown): JSONRPCMessage | undefined {
  const isMessage =
    typeof value === "object" &&
    value !== null &&
    (value as { jsonrpc?: unknown }).jsonrpc === "2.0";
  return isMessage ? (value as JSONRPCMessage) : undefined;
}
