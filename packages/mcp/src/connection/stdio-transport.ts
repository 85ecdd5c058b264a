// A server as a program of ours: JSON lines on its standard input and output. The SDK's own transport gives
// its child neither a group nor an end to what the child started, so this one replaces it.

import { setImmediate as immediately } from "node:timers/promises";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { messageOf, type Roots } from "@soong/core";
import { isRecord } from "@soong/schema";
import {
  LineTooLong,
  OPEN_INPUT,
  type EntrySandbox,
  type OpenEntrySandbox,
  type ProcessOptions,
  type RefusedHost,
  type RunningProcess,
  createLineReader,
  findProgram,
  startProcess,
} from "@soong/platform";
import { serverLine } from "../authorization/login-failure.ts";
import { McpServerFailure } from "./failure.ts";
import type { BoundedLog } from "./server-log.ts";

export interface StdioTransport extends Transport {
  // The SDK knows a pipe by these two: on one, silence means a server of the older era.
  readonly pid: number | undefined;
  readonly stderr: null;
  /** Lines on its output that were no messages. */
  readonly garbageLines: number;
  /** Why it is over, where that was not our doing. */
  readonly end: string | undefined;
  /** Settles when nothing of it is left. */
  readonly gone: Promise<void>;
}

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Where the agent works: no program is taken from there. */
  readonly roots: Roots | undefined;
  readonly log: BoundedLog | undefined;
  /** Not to appear in what is said about its end. */
  readonly secrets: readonly string[];
  /** It runs in a sandbox with this open, or not at all. */
  readonly sandbox: EntrySandbox | undefined;
  readonly openSandbox: OpenEntrySandbox | undefined;
  readonly onRefusedHost: ((refused: RefusedHost) => void) | undefined;
}

const MAX_LINE_BYTES = 32 * 1024 * 1024;
const MAX_LOGGED_GARBAGE = 100;
const LAST_WORDS_BYTES = 2000;
/** How long its end may take to be known after its input broke. */
const END_KNOWN_MS = 1000;
/** A server ends when its input ends; then it is asked to, then killed. */
const POLITE_MS = 1000;

export function createStdioTransport(options: StdioOptions): StdioTransport {
  let running: RunningProcess | undefined;
  let isOver = false;
  let end: string | undefined;
  let garbageLines = 0;
  let lastWords = "";
  let gone = Promise.resolve();
  const transport: StdioTransport = {
    get pid() {
      return running?.pid;
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
    // A failure to start rejects; it is not thrown.
    async start() {
      const sandbox = options.sandbox === undefined ? undefined : await openSandbox(options);
      if (isOver) throw new McpServerFailure("unreachable", "it was closed before it started");
      start(sandbox);
    },
    send,
    close() {
      finish(undefined);
      return gone;
    },
  };
  return transport;

  function start(sandbox: ProcessOptions["sandbox"]): void {
    const lines = createLineReader(MAX_LINE_BYTES);
    running = startServer(options, {
      sandbox,
      onStdout: (bytes) => deliver(messagesIn(lines.take(bytes))),
      onStderr(bytes) {
        options.log?.append(bytes);
        lastWords = (lastWords + bytes.toString("utf8")).slice(-LAST_WORDS_BYTES);
      },
    });
    running.end.then(
      // All it wrote before was taken: an answer there counts, and so do its last words.
      ({ exit_code, signal }) =>
        finish(
          signal === null ? `it ended with code ${String(exit_code)}` : `it was ended by ${signal}`,
        ),
      (error: unknown) =>
        finish(
          error instanceof LineTooLong
            ? `it sent a line of more than ${MAX_LINE_BYTES} bytes`
            : serverLine(messageOf(error), options.secrets),
        ),
    );
  }

  function* messagesIn(lines: Iterable<string>): Generator<JSONRPCMessage, void> {
    for (const line of lines) {
      if (isOver || line.trim() === "") continue;
      for (const message of parseMessages(line)) {
        if (message !== undefined) {
          yield message;
          continue;
        }
        garbageLines += 1;
        if (garbageLines <= MAX_LOGGED_GARBAGE) {
          options.log?.append(Buffer.from(`[not a message] ${line.slice(0, 1000)}\n`));
        }
      }
    }
  }

  /** Without a promise for answers: it would stop and start the pipe for each of them. */
  function deliver(messages: Generator<JSONRPCMessage, void>): void | Promise<void> {
    for (let next = messages.next(); next.done !== true; next = messages.next()) {
      transport.onmessage?.(next.value);
      // The SDK handles a notification a little later, and drops progress whose answer came meanwhile.
      if (!("id" in next.value)) return immediately().then(() => deliver(messages));
    }
  }

  function send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      if (running?.input === undefined || isOver) {
        reject(new Error("the server is gone"));
        return;
      }
      running.input.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error === null || error === undefined) resolve();
        // Its end is about to be known, and says more than a broken pipe.
        else setTimeout(reject, END_KNOWN_MS, error);
      });
    });
  }

  /** The first reason counts. Callers that wait for an answer learn of it now, not when all of it is gone. */
  function finish(why: string | undefined): void {
    if (isOver) return;
    isOver = true;
    const words = serverLine(lastWords, options.secrets);
    end = why === undefined || words === "" ? why : `${why}; its last words: ${words}`;
    gone = Promise.resolve(running?.stop("abort"))
      .catch(() => {})
      .then(() => options.log?.close());
    transport.onclose?.();
  }
}

/** As a hook's program is found: on the PATH it is given, and never in the project (MCP-11). */
function startServer(
  { command, args, env, cwd, roots }: StdioOptions,
  more: Pick<ProcessOptions, "onStdout" | "onStderr" | "sandbox">,
): RunningProcess {
  try {
    const { found } = findProgram(command, { directory: cwd, roots }, env);
    return startProcess({
      executable: found,
      argv: [found, ...args],
      cwd,
      env,
      stdin: OPEN_INPUT,
      politeMs: POLITE_MS,
      ...more,
    });
  } catch (error) {
    throw notStarted(command, error);
  }
}

async function openSandbox(options: StdioOptions): Promise<ProcessOptions["sandbox"]> {
  const { command, args, env, cwd, roots, sandbox = {}, openSandbox: open, log } = options;
  try {
    if (open === undefined) throw new Error("it wants a sandbox, and this program has none");
    const { resolved } = findProgram(command, { directory: cwd, roots }, env);
    const { by, profile } = await open(sandbox, { executable: resolved, args, cwd });
    const onRefusedHost = (refused: RefusedHost): void => {
      const { host, port, why } = refused;
      log?.append(Buffer.from(`[sandbox] ${host} ${why} (port ${port})\n`));
      options.onRefusedHost?.(refused);
    };
    return { by, profile: { ...profile, onRefusedHost } };
  } catch (error) {
    throw notStarted(command, error);
  }
}

function notStarted(command: string, error: unknown): McpServerFailure {
  const message = `"${serverLine(command)}" could not be started: ${serverLine(messageOf(error))}`;
  return new McpServerFailure("unreachable", message);
}

/** Undefined for what is none. Some servers send several in a list. */
function parseMessages(line: string): (JSONRPCMessage | undefined)[] {
  try {
    const parsed: unknown = JSON.parse(line);
    return Array.isArray(parsed) ? parsed.map(asMessage) : [asMessage(parsed)];
  } catch {
    return [undefined];
  }
}

function asMessage(value: unknown): JSONRPCMessage | undefined {
  return isRecord(value) && value["jsonrpc"] === "2.0" ? (value as JSONRPCMessage) : undefined;
}
