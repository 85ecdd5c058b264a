// Waits until no process is left that works below a folder: commands of a killed runtime are ended by their own
// watchdog, which takes a few seconds.

import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const PATIENCE_MS = 20_000;

export async function nobodyWorksBelow(folder: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const left = workingBelow(folder);
    if (left.length === 0) return;
    if (performance.now() > until) throw new Error(`Still at work: processes ${left.join(", ")}`);
    await delay(50);
  }
}

function workingBelow(folder: string): number[] {
  const pids = processes().map(Number);
  return pids.filter((pid) => pid > 0 && workingDirectory(pid).startsWith(`${folder}/`));
}

/** None where the system does not say. */
function processes(): string[] {
  try {
    return readdirSync("/proc");
  } catch {
    return [];
  }
}

/** Empty for one that has ended, even if no one has collected it. */
function workingDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}
