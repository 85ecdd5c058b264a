// One program as a process group of its own, and the end of the whole group: asked by the end of its
// input, then by SIGTERM, then killed, all within a bound.

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

export interface GroupPatience {
  /** After the end of its input, before SIGTERM. */
  readonly politeMs: number;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
}

const AFTER_KILL_MS = 1000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;

/** Settles when nobody of the group is left, or nothing more can be done. */
export async function endGroup(leader: number, patience: GroupPatience): Promise<void> {
  if (await isGoneWithin(leader, patience.politeMs)) return;
  signalGroup(leader, "SIGTERM");
  // A stopped process would only learn of it when it runs again.
  signalGroup(leader, "SIGCONT");
  if (await isGoneWithin(leader, patience.graceMs)) return;
  signalGroup(leader, "SIGKILL");
  await isGoneWithin(leader, AFTER_KILL_MS);
}

async function isGoneWithin(leader: number, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (!isGroupAlive(leader)) return true;
    if (performance.now() >= end) return false;
    await delay(pause);
  }
}

function isGroupAlive(leader: number): boolean {
  if (!signalGroup(leader, 0)) return false;
  const states = groupStates(leader);
  // Who has ended and was not yet collected by its parent is still counted by the system.
  return states === undefined || states.some((state) => state !== "Z" && state !== "X");
}

/** Undefined where the system has no /proc. */
function groupStates(group: number): string[] | undefined {
  let pids: string[];
  try {
    pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  if (pids.length === 0) return undefined;
  return pids.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      // After the name, which may hold anything: state, parent, group.
      const [state = "", , processGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(processGroup) === group ? [state] : [];
    } catch {
      return [];
    }
  });
}

/** Whether there was anybody to send it to. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch (error) {
    // Another user's process in the group is somebody too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
