// How a command that cannot do its work says so: one sentence on stderr, with what to do next, and an exit
// code. Anything that is not one of ours is a fault of the program, reported without its internals.

import { SoongError, visible, visibleLine } from "@soong/core";

/** 2: used or set up wrongly, and nothing was begun. 3: denied. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  stoppedByHook: 7,
  interrupted: 130,
} as const;

/** Soong was not used as it can be. */
export class UsageError extends SoongError {
  override readonly name = "UsageError";

  constructor(message: string) {
    super("usage", message, { exitCode: EXIT.usage });
  }
}

/** What was asked for cannot be done, and the message says what can. */
export class CommandError extends SoongError {
  override readonly name = "CommandError";

  constructor(message: string) {
    super("failed", message, { exitCode: EXIT.failed });
  }
}

export interface Failure {
  readonly message: string;
  readonly exitCode: number;
}

export function describeFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: internal(String(error)), exitCode: EXIT.failed };
  const message = visible(error.message);
  if (error instanceof SoongError) {
    return { message: `${message}${storeHint(error)}`, exitCode: error.exitCode };
  }
  return { message: ofSystem(error) ?? internal(error.message), exitCode: EXIT.failed };
}

function storeHint(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === "session_unknown" ? " `soong sessions` lists those that are kept." : "";
}

/** What the operating system refused, with the file it refused it for. */
function ofSystem(error: Error): string | undefined {
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (typeof code !== "string" || typeof path !== "string") return undefined;
  // Of a directory that is to be made with all above it, Node says this where the disk refuses.
  const isUnmakeable = syscall === "mkdir" && code === "ENOENT";
  const why = isUnmakeable ? UNMAKEABLE : (REASONS.get(code) ?? `the system says ${code}`);
  return `${visibleLine(path)} cannot be used: ${why}.`;
}

const UNMAKEABLE =
  "it cannot be made; its disk may be read-only, or a link on the way lead nowhere";

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "this user may not; look at its owner and rights"],
  ["EPERM", "this user may not; look at its owner and rights"],
  ["EROFS", "its disk is read-only"],
  ["ENOSPC", "there is no room on its disk"],
  ["ENOENT", "it is not there"],
  ["ENOTDIR", "something on the way is not a directory"],
  ["EISDIR", "it is a directory"],
]);

function internal(message: string): string {
  return `Soong itself failed: ${visibleLine(message)}. Nothing more was done; \`soong doctor\` checks what it needs.`;
}
