// Which runtimes of a home are live: those whose socket answers. What a killed one has left behind is cleared
// away on the occasion, and nothing else.

import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { connect } from "./connect.ts";
import { controlPath, findControlDirectory } from "./control-directory.ts";
import { SOCKET_ENDING, UNREADY_BEGINNING } from "./listen.ts";
import type { ControlHello } from "./protocol.ts";

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
