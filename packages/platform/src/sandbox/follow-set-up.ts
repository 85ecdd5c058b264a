// A sandbox that is set up while another one lives is held back until its mounts are checked: a command there could put a link
// in the place of a directory meanwhile. The first one need not be, but those that come while it is set up wait for it. So
// commands one after the other pay nothing for this.

import { createMountCheck, type MountState } from "./check-mounts.ts";

export interface SetUp {
  /** Then bubblewrap has to wait for `open`. */
  readonly isHeld: boolean;
  /** With the first process inside; then one of these is called if it is held, unless it ends before. */
  begun(pid: number, answers: { open(): void; refuse(): void }): void;
  isRefused(): boolean;
  /** When nothing of it is left, or it could not be started. */
  ended(): void;
}

interface Live {
  isPending(): boolean;
}

/** Of this process, whichever sandbox they are of. */
const live = new Set<Live>();

/** Mounts take milliseconds. */
const LOOK_AGAIN_MS = 1;

/** `args` of bubblewrap; `isAlone` where no other runtime has sandboxes. */
export function followSetUp(args: readonly string[], isAlone: boolean): SetUp {
  const others = [...live];
  const isHeld = others.length > 0 || !isAlone;
  let check: ((pid: number) => MountState) | undefined;
  let process: number | undefined;
  let isRefused = false;
  const look = (pid: number) => (check ??= createMountCheck(args))(pid);
  const own: Live = {
    // One that is held is checked itself, also while others run.
    isPending: () => !isHeld && (process === undefined || look(process) === "pending"),
  };
  live.add(own);
  return {
    isHeld,
    begun(pid, answers) {
      process = pid;
      if (isHeld) decide(pid, answers);
    },
    isRefused: () => isRefused,
    ended: () => void live.delete(own),
  };

  function decide(pid: number, answers: { open(): void; refuse(): void }): void {
    const state = live.has(own) ? look(pid) : "gone";
    const isEarly = others.some((other) => live.has(other) && other.isPending());
    if (state === "pending" || (state === "right" && isEarly)) {
      setTimeout(decide, LOOK_AGAIN_MS, pid, answers);
    } else if (state === "right") {
      answers.open();
    } else if (state === "wrong") {
      isRefused = true;
      answers.refuse();
    }
  }
}
