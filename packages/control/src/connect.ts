// The other end of a socket: what a second terminal, `grants` and a program say to a live runtime, and hear; and which
// runtimes of a home are live.

import { once } from "node:events";
import { closeSync, lstatSync, openSync, readdirSync, rmSync } from "node:fs";
import { connect as openConnection, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { createLineReader, inTime } from "@soong/platform";
import {
  ControlUnavailable,
  controlPath,
  findControlDirectory,
  isOwn,
  SOCKET_ENDING,
  UNREADY_BEGINNING,
} from "./control-directory.ts";
import {
  CONTROL_PROTOCOL,
  ControlError,
  type ControlAnswer,
  type ControlEvent,
  type ControlHello,
  type ControlMethod,
  type ControlMethods,
  type RequestId,
} from "./protocol.ts";

export interface ControlClient {
  readonly hello: ControlHello;
  /** Rejects with a `ControlError` when the runtime refuses it, or is gone. */
  request<Method extends ControlMethod>(
    method: Method,
    params: ControlMethods[Method]["params"],
  ): Promise<ControlMethods[Method]["result"]>;
  /** The runtime is gone, or we are. Everything it sent has been read. */
  readonly closed: Promise<void>;
  /** Until `resume`, nothing more is read than is on the way. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface ConnectOptions {
  /** What comes automatically. */
  onEvent?(event: ControlEvent): void;
}

/** One that takes longer to say hello is stopped, or no runtime. */
const HELLO_MS = 5000;

/** A fact may hold a result, a question a long diff. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export async function connect(path: string, options: ConnectOptions = {}): Promise<ControlClient> {
  const socket = await reach(path);
  const lines = createLineReader(MAX_ANSWER_BYTES);
  /** Hello is the answer to what no one asked. */
  const asked = new Map<RequestId | null, Asked>();
  let identifying: Promise<void> | undefined;
  let isIdentified = false;
  let count = 0;
  const greeting = waitFor<ControlHello>(null);
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      const gone = new ControlError("unreachable", "The runtime is gone.");
      for (const one of asked.values()) one.reject(gone);
      resolve();
    });
  });
  socket.on("error", () => {});
  socket.on("data", (bytes: Uint8Array) => {
    try {
      for (const line of lines.take(bytes))
        receive(JSON.parse(line) as ControlAnswer | ControlEvent);
    } catch (error) {
      // What does not speak the protocol is no runtime of ours.
      const message = `${path} does not speak ${CONTROL_PROTOCOL}.`;
      take(null)?.reject(new ControlError("unreachable", message));
      socket.destroy(error as Error);
    }
  });
  let hello: ControlHello;
  try {
    const came = await inTime(greeting, { ms: HELLO_MS });
    if (came.kind !== "done") throw new ControlError("unreachable", `${path} does not answer.`);
    hello = came.value;
  } catch (error) {
    socket.destroy();
    throw error;
  }

  return {
    hello,
    closed,
    request(method, params) {
      // Without a detour once that is done: what is answered is taken up in the order it came.
      if (isIdentified) return ask(method, params);
      identifying ??= identify().then(() => {
        isIdentified = true;
      });
      return identifying.then(() => ask(method, params));
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
  };

  function ask<Method extends ControlMethod>(
    method: Method,
    params: ControlMethods[Method]["params"],
  ): Promise<ControlMethods[Method]["result"]> {
    if (socket.destroyed) {
      return Promise.reject(new ControlError("unreachable", "The runtime is gone."));
    }
    const id = (count += 1);
    socket.write(`${JSON.stringify({ id, method, params })}\n`);
    return waitFor(id);
  }

  function waitFor<Result extends object>(id: RequestId | null): Promise<Result> {
    return new Promise((resolve, reject) => {
      asked.set(id, { resolve: (result) => resolve(result as Result), reject });
    });
  }

  function take(id: RequestId | null): Asked | undefined {
    const one = asked.get(id);
    asked.delete(id);
    return one;
  }

  /** Shows who we are: without that, a runtime lets us look and not act. */
  async function identify(): Promise<void> {
    let descriptor: number | undefined;
    try {
      const { open } = await ask("identify", {});
      if (open === undefined) return;
      descriptor = openSync(open, "r");
      await ask("identify", { pid: process.pid, descriptor });
    } catch {
      // It will be said again when we act.
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  function receive(record: ControlAnswer | ControlEvent): void {
    if ("event" in record) {
      if (record.event !== "hello") options.onEvent?.(record);
      else if (record.data.protocol === CONTROL_PROTOCOL) take(null)?.resolve(record.data);
      else {
        const message = `This runtime speaks ${record.data.protocol}, and this program ${CONTROL_PROTOCOL}; use the program it was started with.`;
        take(null)?.reject(new ControlError("unreachable", message));
      }
    } else if ("result" in record) take(record.id)?.resolve(record.result);
    else take(record.id)?.reject(new ControlError(record.error.code, record.error.message));
  }
}

interface Asked {
  readonly resolve: (result: object) => void;
  readonly reject: (error: Error) => void;
}

/** Connected, or a `ControlError`; what is no socket of ours is not talked to. */
async function reach(path: string): Promise<Socket> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const directory = findControlDirectory(dirname(path));
  if (stats === undefined || directory === undefined) {
    throw new ControlError("unreachable", `There is no runtime at ${path} any more.`);
  }
  if (!stats.isSocket() || !isOwn(stats)) {
    directory.close();
    throw new ControlUnavailable(`${path} is not a socket of yours; move it away.`);
  }
  try {
    const socket = openConnection(directory.addressOf(basename(path)));
    await once(socket, "connect");
    return socket;
  } finally {
    directory.close();
  }
}

export interface LiveRuntime {
  readonly path: string;
  readonly hello: ControlHello;
}

export interface LiveRuntimes {
  readonly live: readonly LiveRuntime[];
  /** What is there and does not answer, each as a sentence. */
  readonly problems: readonly string[];
}

/** A socket that was made longer ago than this and does not listen yet never will. */
const UNREADY_MS = 60_000;

export async function listLive(home: string): Promise<LiveRuntimes> {
  const path = controlPath(home);
  const directory = findControlDirectory(path);
  if (directory === undefined) return { live: [], problems: [] };
  directory.close();
  const found = await Promise.all(
    readdirSync(path)
      .toSorted()
      .map((name) => lookAt(join(path, name), name)),
  );
  return {
    live: found.flatMap((one) => (typeof one === "object" ? [one] : [])),
    problems: found.flatMap((one) => (typeof one === "string" ? [one] : [])),
  };
}

/** Undefined: nothing is there, or not any more. */
async function lookAt(path: string, name: string): Promise<LiveRuntime | string | undefined> {
  const isUnready = name.startsWith(UNREADY_BEGINNING);
  if (!isUnready && !name.endsWith(SOCKET_ENDING)) return undefined;
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (isUnready && Date.now() - stats.mtimeMs < UNREADY_MS) return undefined;
  try {
    const client = await connect(path);
    client.close();
    return { path, hello: client.hello };
  } catch (error) {
    const { name: kind, code, message } = error as NodeJS.ErrnoException;
    // Its process is gone. Names are used once, so no one else can have it by now.
    if (code === "ECONNREFUSED") rmSync(path, { force: true });
    if (code === "ECONNREFUSED" || code === "ENOENT") return undefined;
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    return kind === "Error" ? `${path} cannot be reached: ${message}.` : message;
  }
}
