// Finds the live runtimes of this home, for commands that connect to their sockets (CLI-8).

import {
  connectControl,
  hasControlSockets,
  listLiveRuntimes,
  type ControlClient,
  type LiveRuntime,
} from "@soong/control";
import { CommandError, visibleLine } from "../../output/index.ts";
import { resolveHome } from "../context.ts";
import type { CommandContext } from "../handler.ts";

/** A session that can be attached to. */
export interface LiveTarget extends Pick<LiveRuntime, "hello"> {
  /** The host of a session that is reached through the store. */
  readonly host?: string;
}

export function describeTarget({ hello, host }: LiveTarget): string {
  const on = host === undefined ? "" : ` on ${host}`;
  // Tells the session that drives a task from those of its workers.
  const roles = new Set(hello.runs.map(({ role }) => role).filter((role) => role !== ""));
  const what = roles.size === 0 ? "" : `, ${[...roles].join(", ")}`;
  return `${hello.session_id}, ${hello.project} (process ${hello.pid}${on}${what})`;
}

/** Prints a note for each runtime that does not answer. */
export async function liveRuntimes(context: CommandContext): Promise<readonly LiveRuntime[]> {
  if (!hasControlSockets()) {
    throw new CommandError(
      "Live sessions cannot be reached on Windows yet; use the terminal they run in.",
    );
  }
  try {
    const { live, problems } = await listLiveRuntimes(resolveHome(context));
    for (const problem of problems) context.output.note(visibleLine(problem));
    return live;
  } catch (error) {
    if ((error as Error).name !== "ControlUnavailable") throw error;
    throw new CommandError(`Live sessions cannot be reached: ${(error as Error).message}`);
  }
}

/** Returns undefined if the runtime has ended meanwhile. */
export async function withClient<T>(
  { path }: LiveRuntime,
  work: (client: ControlClient) => Promise<T>,
): Promise<T | undefined> {
  try {
    const client = await connectControl(path);
    try {
      return await work(client);
    } finally {
      client.close();
    }
  } catch (error) {
    rethrowUnlessGone(error);
    return undefined;
  }
}

export function isGone(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "unreachable" || code === "ECONNREFUSED" || code === "ENOENT";
}

export function rethrowUnlessGone(error: unknown): void {
  if (!isGone(error)) throw error;
}
