// Places in a writable directory that are bound on themselves. Another command that runs there could replace one by a link between
// the look at it and its mount, and so open what the link leads to. So they are opened first, and bubblewrap mounts what is
// open and refuses where it is no longer what the path leads to.

import { closeSync, constants, fstatSync, openSync, readlinkSync } from "node:fs";
import { sandboxFailure } from "../process/index.ts";

export interface HeldPlaces {
  /** For `stdio`, in the order of their numbers. */
  readonly descriptors: readonly number[];
  /** Arguments of bubblewrap that bind it on itself, writable. */
  bind(path: string): string[];
  /** When bubblewrap has its own. */
  close(): void;
}

/** Of Linux; Node does not name it. Nothing is read through it, so nothing has to be readable. */
const O_PATH = 0o10000000;

/** `first` is the number that bubblewrap has for the first. Versions without the option bind by path. */
export function holdPlaces(first: number, hasOption: boolean): HeldPlaces {
  const descriptors: number[] = [];
  return {
    descriptors,
    bind(path) {
      if (!hasOption) return ["--bind", path, path];
      const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
      descriptors.push(descriptor);
      const isMoved = readlinkSync(`/proc/self/fd/${descriptor}`) !== path;
      if (isMoved || fstatSync(descriptor).isSymbolicLink()) {
        throw sandboxFailure(`${path} is a link, or behind one`);
      }
      return ["--bind-fd", `${first + descriptors.length - 1}`, path];
    },
    close() {
      for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
    },
  };
}
