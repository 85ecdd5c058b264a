// Whether ripgrep waits for something other than the disk and the processor: it opens whatever is named
// `.gitignore` anywhere in the tree, and a FIFO of that name never answers. Told by the kernel (Linux); elsewhere the
// call's own timeout ends it.

import { readdirSync, readFileSync } from "node:fs";

/** Counted in rounds of the event loop, not by the clock: while the runtime is busy, its output waits for us. */
const TICK_MS = 50;
const IDLE_TICKS = 20;

/** In hundredths of a second, over all these rounds: its idle threads look for work a thousand times a second. */
const IDLE_PROCESSOR_TIME = 30;

/** The function ends it. */
export function watchForStall(pid: number, onStall: () => void): () => void {
  let idleTicks = 0;
  let idleSince: Work | undefined;
  const timer = setInterval(() => {
    const now = workOf(pid);
    const isIdle =
      now !== undefined &&
      now.bytesRead === idleSince?.bytesRead &&
      now.processorTime - idleSince.processorTime < IDLE_PROCESSOR_TIME;
    idleTicks = isIdle ? idleTicks + 1 : 0;
    if (!isIdle) idleSince = now;
    if (idleTicks < IDLE_TICKS) return;
    clearInterval(timer);
    onStall();
  }, TICK_MS);
  return () => clearInterval(timer);
}

interface Work {
  readonly bytesRead: string;
  readonly processorTime: number;
}

/** What it has done so far; undefined while it waits for a disk, and where the system does not tell. */
function workOf(pid: number): Work | undefined {
  let processorTime = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
      // After the name, which may hold anything: the state first, user and system time as the 12th and 13th.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "D") return undefined;
      processorTime += Number(fields[11]) + Number(fields[12]);
    }
    const bytesRead = /^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "latin1"))?.[1];
    return bytesRead === undefined ? undefined : { bytesRead, processorTime };
  } catch {
    return undefined;
  }
}
