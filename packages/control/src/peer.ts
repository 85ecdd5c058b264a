// Who is at the other end of a connection. Node does not say which process is behind a socket, so the client shows it: it
// opens an unnamed file that is known to this connection only, and the kernel says which process holds it
// (Linux). What this runtime started is turned away: it cannot answer for a user (MCP-11).

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { isStartedHere } from "@soong/platform";
import { ControlError } from "./protocol.ts";

export interface Peer {
  /** Its input is the terminal that controls it; false where that is unknown. */
  readonly isTerminal: boolean;
}

export type Challenge = NonNullable<ReturnType<typeof createChallenge>>;

/** Undefined where the system does not say which process holds a file. */
export function createChallenge(folder: string) {
  if (process.platform !== "linux") return undefined;
  const name = join(folder, `.who-${randomBytes(8).toString("hex")}`);
  const file = openSync(name, "wx", 0o600);
  unlinkSync(name);
  const own = fstatSync(file, { bigint: true });
  return {
    /** To be opened by the client. */
    path: `/proc/${process.pid}/fd/${file}`,
    /** Throws a `ControlError` when it is not what holds the file, or may not act here. */
    identify(pid: number, descriptor: number): Peer {
      if (!holds(pid, descriptor)) {
        throw new ControlError("not_identified", `Process ${pid} does not hold the file open.`);
      }
      // The runtime's own descriptor proves nothing about the client, who could have read it off the path.
      const isOwn = pid === process.pid && descriptor === file;
      if (isOwn || isStartedHere(pid) !== false) {
        throw new ControlError(
          "refused",
          "What a runtime has started cannot act on it: answer from another terminal.",
        );
      }
      return { isTerminal: isAtTerminal(pid) };
    },
    close: () => closeSync(file),
  };

  function holds(pid: number, descriptor: number): boolean {
    try {
      const held = statSync(`/proc/${pid}/fd/${descriptor}`, { bigint: true });
      return held.dev === own.dev && held.ino === own.ino;
    } catch {
      return false;
    }
  }
}

function isAtTerminal(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // After the name, which may hold anything: state, parent, group, session, terminal.
    const terminal = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4]);
    const input = statSync(`/proc/${pid}/fd/0`);
    return terminal !== 0 && input.isCharacterDevice() && input.rdev === terminal;
  } catch {
    return false;
  }
}
