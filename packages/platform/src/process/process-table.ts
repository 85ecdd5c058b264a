// What the system says of its processes: /proc on Linux, `ps` elsewhere. Read synchronously: some ten
// microseconds a process, and nothing can slip by because the event loop was busy in between.

import { spawnSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readSync } from "node:fs";

/** What is known of one running process, whichever way the system tells. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  /** 0 where the system does not say. */
  session: number;
  /** A zombie has ended: it only waits for its parent to notice. */
  ended: boolean;
  /**
   * Unknown while it is just being replaced by another program, when its environment reads empty, and
   * when it has gone meanwhile.
   */
  environmentHolds(text: Buffer): boolean | "unknown";
}

export interface ProcessTable {
  entries: ProcessEntry[];
  /** Some went while the table was read, and may have started others that are not in it. */
  hasGaps: boolean;
}

/** The pids a command's processes can have: from its own up to the newest one, or all of them. */
export type PidRange = { from: number } | "all";

export function processTable(range: PidRange): ProcessTable {
  return process.platform === "linux" ? linuxTable(range) : psTable();
}

/** The pid given out last, or undefined where the system does not say. */
export function newestPid(): number | undefined {
  if (process.platform !== "linux") return undefined;
  const text = readText("/proc/loadavg") ?? "";
  const newest = Number(text.slice(text.lastIndexOf(" ")));
  return newest > 0 ? newest : undefined;
}

function linuxTable(range: PidRange): ProcessTable {
  const isInRange = rangeTest(range, newestPid());
  const entries: ProcessEntry[] = [];
  let hasGaps = false;
  for (const name of namesIn("/proc")) {
    const pid = Number(name);
    if (!(pid > 0 && isInRange(pid))) continue;
    const entry = linuxEntry(pid);
    if (entry === undefined) hasGaps = true;
    else entries.push(entry);
  }
  return { entries, hasGaps };
}

/** Empty without a mounted /proc: then the group is all that is known of a command. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Pids are given out in order and start again at the bottom, so the newest may be below the oldest. */
export function rangeTest(range: PidRange, newest: number | undefined): (pid: number) => boolean {
  if (range === "all" || newest === undefined) return () => true;
  const { from } = range;
  return newest >= from
    ? (pid) => pid >= from && pid <= newest
    : (pid) => pid >= from || pid <= newest;
}

/** PF_KTHREAD of Linux, in the ninth field of `stat`. */
const kernelThreadFlag = 0x0020_0000;

function linuxEntry(pid: number): ProcessEntry | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in parentheses, which may itself hold spaces and parentheses.
  const [state, parent, group, session, , , flags] = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ", 7);
  // Session 0 is no evidence: that is also what a process shows whose session began outside the container.
  const isKernelThread = (Number(flags) & kernelThreadFlag) !== 0;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    ended: state === "Z" || state === "X",
    // The environment of a kernel thread reads empty for ever.
    environmentHolds: (wanted) => !isKernelThread && environmentHolds(pid, wanted),
  };
}

function environmentHolds(pid: number, wanted: Buffer): boolean | "unknown" {
  let before: Buffer = Buffer.alloc(0);
  const read = readThrough(`/proc/${pid}/environ`, (bytes) => {
    // The wanted text may lie across two pieces.
    const joined = before.length === 0 ? bytes : Buffer.concat([before, bytes]);
    if (joined.includes(wanted)) return true;
    before = Buffer.from(joined.subarray(-wanted.length));
    return false;
  });
  if (read === "found") return true;
  return read === "gone" || (read === "read" && before.length === 0) ? "unknown" : false;
}

function readText(path: string): string | undefined {
  let text = "";
  const read = readThrough(path, (bytes) => void (text += bytes.toString("latin1")));
  return read === "read" ? text : undefined;
}

/** One for all: a buffer a process would be most of what a look around costs. */
const scratch = Buffer.allocUnsafeSlow(65_536);

/** Hands over a file piece by piece until `visit` says it has found what it looks for. */
function readThrough(
  path: string,
  visit: (bytes: Buffer) => boolean | void,
): "found" | "read" | "gone" | "denied" {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    for (;;) {
      const length = readSync(descriptor, scratch, 0, scratch.length, null);
      if (length === 0) return "read";
      if (visit(scratch.subarray(0, length)) === true) return "found";
    }
  } catch (error) {
    return /^(EACCES|EPERM)$/.test(String((error as NodeJS.ErrnoException).code))
      ? "denied"
      : "gone";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * The processes as `ps` tells them, for systems without Linux's /proc. Best effort: macOS and the BSDs show the
 * environment of one's own processes only, and not of all programs, so what has left both the group and its
 * parents may stay unseen there. Sessions have no numbers there at all.
 */
function psTable(): ProcessTable {
  const withEnvironment = process.platform === "darwin" ? "-axEww" : "-axeww";
  const columns = ["-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat=", "-o", "command="];
  const { stdout } = spawnSync("/bin/ps", [withEnvironment, ...columns], {
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 64 * 1024 * 1024,
    timeout: 2000,
    killSignal: "SIGKILL",
    env: { LC_ALL: "C" },
  });
  return { entries: parsePs(stdout), hasGaps: false };
}

export function parsePs(output: Buffer | null): ProcessEntry[] {
  const lines = output?.toString("latin1").split("\n") ?? [];
  return lines.flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s?(.*)$/s.exec(line);
    if (match === null) return [];
    const [, pid, parent, group, state = "", command = ""] = match;
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      ended: state.startsWith("Z"),
      environmentHolds: (wanted: Buffer) => command.includes(wanted.toString("latin1")),
    };
  });
}

/** Whether a process runs under that id. Ids are reused: where that matters, compare when it was started, too. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Only "no such process" is an answer: a process of another user is alive, too.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
