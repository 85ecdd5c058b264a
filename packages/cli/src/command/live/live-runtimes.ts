// The runtimes of this home that are live now, for commands that talk to them through their sockets (CLI-8).

import {
  connectControl,
  hasControlSockets,
  listLiveRuntimes,
  type ControlClient,
  type ControlEvent,
  type LiveRuntime,
} from "@soong/control";
import { CommandError, visibleLine } from "../../output/index.ts";
import { resolveHome, type CommandContext } from "../context.ts";

/** What is there and does not answer is noted. */
export async function liveRuntimes(context: CommandContext): Promise<readonly LiveRuntime[]> {
  if (!hasControlSockets()) {
    throw new CommandError(
      "Live sessions cannot be reached on Windows yet; use the terminal they run in.",
    );
  }
  const home = await resolveHome(context);
  try {
    const { live, problems } = await listLiveRuntimes(home);
    for (const problem of problems) context.output.note(visibleLine(problem));
    return live;
  } catch (error) {
    if ((error as Error).name !== "ControlUnavailable") throw error;
    throw new CommandError(`Live sessions cannot be reached: ${(error as Error).message}`);
  }
}

/** Undefined when the runtime has ended meanwhile. */
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
    if (isGone(error)) return undefined;
    throw error;
  }
}

export function isGone(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "unreachable" || code === "ECONNREFUSED" || code === "ENOENT";
}

export function rethrowUnlessGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

/** A live session that a command is attached to. */
export interface Attached {
  readonly runtime: LiveRuntime;
  readonly client: ControlClient;
  /** Aborted when the command leaves. */
  readonly left: AbortSignal;
}

/** Shows it: at a terminal, or as records for a program. */
export interface AttachedView {
  event(event: ControlEvent): void;
  /** The session has ended, or we leave it. */
  end(how: "ended" | "left"): void;
}
