// The folder the sockets are in: ours alone, and reachable also where its path is longer than the address of a
// socket may be.

import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import { SoongError } from "@soong/core";

type ControlDirectory = ReturnType<typeof reachable>;

/** There can be no socket here. The message says why, and what helps. */
export class ControlUnavailable extends SoongError {
  override readonly name = "ControlUnavailable";

  constructor(message: string) {
    super("control_unavailable", message);
  }
}

export const SOCKET_ENDING = ".sock";
export const UNREADY_BEGINNING = ".new-";

export function controlPath(home: string): string {
  return join(home, "control");
}

/** Makes it where it is not there. */
export function makeControlDirectory(home: string): ControlDirectory {
  const path = controlPath(home);
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!isThere) mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = ownDirectory(path);
  if ((mode & 0o777) !== 0o700) chmodSync(path, 0o700);
  return reachable(path);
}

/** Undefined where nothing ever listened. */
export function findControlDirectory(path: string): ControlDirectory | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  ownDirectory(path);
  return reachable(path);
}

/** Another user may have put anything there. */
export function isOwn({ uid }: Pick<Stats, "uid">): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own;
}

/** A link is refused as well: its author would choose where we listen. */
function ownDirectory(path: string): Stats {
  const stats = lstatSync(path);
  if (!stats.isDirectory()) {
    throw new ControlUnavailable(`${path} is not a directory; move it away.`);
  }
  if (!isOwn(stats)) {
    throw new ControlUnavailable(`${path} belongs to another user; move it away.`);
  }
  return stats;
}

/** With the zero at its end, an address has 104 bytes on some systems and 108 on others. */
const MAX_ADDRESS_BYTES = 103;

function reachable(path: string) {
  let handle: number | undefined;
  return {
    path,
    /** Where to bind or connect. Good until the directory is closed. */
    addressOf(name: string): string {
      const direct = join(path, name);
      if (Buffer.byteLength(direct) <= MAX_ADDRESS_BYTES) return direct;
      if (process.platform !== "linux") {
        throw new ControlUnavailable(
          `${direct} is longer than the address of a socket may be here; set SOONG_AGENT_HOME to a shorter path.`,
        );
      }
      // The kernel's short name for an open directory, however long its path.
      handle ??= openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      return `/proc/self/fd/${handle}/${name}`;
    },
    close(): void {
      if (handle !== undefined) closeSync(handle);
      handle = undefined;
    },
  };
}
