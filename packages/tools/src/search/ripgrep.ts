// Runs ripgrep once: no configuration, no environment, no input. Its output is handed on piece by piece,
// and it is gone when the promise settles, however that comes about. Also finds it, and reads what it says.

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ToolFailure, type Roots } from "@soong/core";
import {
  findExecutable,
  rootOfProgram,
  startProcess,
  type ProcessOptions,
  type RunningProcess,
} from "@soong/platform";

export interface RipgrepRun {
  readonly executable: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Descriptors it gets as 3, 4, …; they stay ours to close. */
  readonly descriptors?: readonly number[];
  /** `enough`: nothing more is wanted, and it is ended. */
  readonly onOutput: (chunk: Buffer) => "more" | "enough";
  /** With --debug: every entry of the walk that a glob of the command line excludes. */
  readonly onExcluded?: (path: string) => void;
  readonly signal: AbortSignal;
}

export interface RipgrepEnd {
  /** 0 found, 1 found nothing, 2 something went wrong; null when it was ended. */
  readonly exitCode: number | null;
  /** The beginning of what it complained about. */
  readonly complaint: string;
  /** How many files and directories it could not read. */
  readonly unreadable: number;
}

/** It waits for something that may never come: a FIFO in the place of an ignore file, which ripgrep opens (PATH-4). */
export class RipgrepStalled extends Error {
  constructor() {
    super("ripgrep waits for something that is not a regular file");
    this.name = "RipgrepStalled";
  }
}

export async function runRipgrep(run: RipgrepRun): Promise<RipgrepEnd> {
  const { signal } = run;
  signal.throwIfAborted();
  const messages = createRipgrepMessages(run.onExcluded ?? (() => {}));
  let stopped: "enough" | "stalled" | undefined;
  const stop = (why: typeof stopped): void => {
    stopped ??= why;
    void running.stop("abort");
  };
  const running = start(run, {
    onStdout(chunk) {
      if (stopped === undefined && run.onOutput(chunk) === "enough") stop("enough");
    },
    onStderr: (chunk) => messages.add(chunk),
  });
  const unwatch = watchForStall(running.pid, () => stop("stalled"));
  const end = await running.end.finally(unwatch);
  messages.end();
  signal.throwIfAborted();
  if (stopped === "stalled") throw new RipgrepStalled();
  if (end.signal !== null && stopped === undefined) {
    throw new ToolFailure({
      code: "ripgrep_failed",
      message: `ripgrep was ended by ${end.signal} before it was done. Search in a smaller directory, or try again.`,
      recovery: "change_arguments",
    });
  }
  return {
    exitCode: end.exit_code,
    complaint: messages.complaint,
    unreadable: messages.unreadable,
  };
}

function start(
  { executable, argv, cwd, descriptors = [], signal }: RipgrepRun,
  consumers: Required<Pick<ProcessOptions, "onStdout" | "onStderr">>,
): RunningProcess {
  try {
    return startProcess({
      executable,
      argv: [executable, "--no-config", ...argv],
      cwd,
      env: {},
      descriptors,
      signal,
      // It only reads: there is nothing it would have to put in order.
      graceMs: 0,
      ...consumers,
    });
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    throw new ToolFailure({
      code: "ripgrep_failed",
      error_class: "dependency_unavailable",
      message: `ripgrep (${JSON.stringify(executable)}) could not be started: ${error.message}`,
      recovery: "set_up_first",
    });
  }
}

/** Output that arrives in pieces, cut at a byte that ends every record. */
export function createPieces(end: number, onRecord: (record: Buffer) => void) {
  let open: Buffer[] = [];
  return {
    add(chunk: Buffer): void {
      let from = 0;
      for (let at = chunk.indexOf(end); at !== -1; at = chunk.indexOf(end, from)) {
        const record = chunk.subarray(from, at);
        from = at + 1;
        if (open.length === 0) onRecord(record);
        else {
          const whole = Buffer.concat([...open, record]);
          open = [];
          onRecord(whole);
        }
      }
      if (from < chunk.length) open.push(chunk.subarray(from));
    },
    /** What came after the last end. */
    rest: () => Buffer.concat(open),
  };
}

/**
 * What ripgrep writes beside its results. With --debug it names every entry that its walk passes over, and why: so
 * one walk both leaves the sensitive entries unread and counts them. That form is no promise of ripgrep's; the one
 * that comes with us is pinned and tested, and any other has to show it first. `onExcluded` is given the path of every entry that a glob of the command line excludes.
 */
export function createRipgrepMessages(onExcluded: (path: string) => void) {
  let message = "";
  let complaint = "";
  let unreadable = 0;
  const finish = (): void => {
    const excluded = EXCLUDED.exec(message)?.[1];
    if (excluded !== undefined) onExcluded(excluded);
    else if (!DEBUG.test(message)) {
      if (/\(os error \d+\)$/.test(message)) unreadable += 1;
      if (complaint.length < MOST_COMPLAINT) {
        complaint = `${complaint}${message}\n`.slice(0, MOST_COMPLAINT);
      }
    }
    message = "";
  };
  const take = (line: string): void => {
    // A name may hold a line break, so a message ends where the next one begins.
    if (line.startsWith("rg: ") && message !== "") finish();
    message = message === "" ? line : `${message}\n${line}`.slice(0, LONGEST_MESSAGE);
  };
  const lines = createPieces(LINE_FEED, (line) => take(line.toString()));
  return {
    add: (chunk: Buffer) => lines.add(chunk),
    /** Nothing more comes. */
    end(): void {
      const rest = lines.rest();
      if (rest.length > 0) take(rest.toString());
      if (message !== "") finish();
    },
    /** The beginning of what it complained about. */
    get complaint() {
      return complaint;
    },
    /** How many files and directories it could not read. */
    get unreadable() {
      return unreadable;
    },
  };
}

const DEBUG = /^rg: (?:DEBUG|TRACE|INFO)\|/;
const EXCLUDED =
  /^rg: DEBUG\|ignore::walk\|[^\n]*?: ignoring (?:\.\/)?([^]+): Ignore\(IgnoreMatch\(Override\(/;
export const LINE_FEED = 10;
const MOST_COMPLAINT = 8 * 1024;
const LONGEST_MESSAGE = 16 * 1024;

/** Counted in rounds of the event loop, not by the clock: while the runtime is busy, its output waits for us. */
const TICK_MS = 50;
const IDLE_TICKS = 20;

/** In hundredths of a second, over all these rounds: its idle threads look for work a thousand times a second. */
const IDLE_PROCESSOR_TIME = 30;

/**
 * Whether ripgrep waits for something other than the disk and the processor: it opens everything named `.gitignore`
 * anywhere in the tree, and a FIFO of that name never answers. The kernel says so (Linux); elsewhere the call's own
 * timeout ends it. The function returned ends the watch.
 */
function watchForStall(pid: number, onStall: () => void): () => void {
  let idleTicks = 0;
  let idleSince: Work | undefined;
  const timer = setInterval(() => {
    const now = measureWork(pid);
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

/** What it has done so far; undefined while it waits for a disk, and where the system does not say. */
function measureWork(pid: number): Work | undefined {
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

/** Of every walk: only the ignore files of git count. */
export const TREE_FLAGS = [
  "--null",
  "--color=never",
  "--no-ignore-messages",
  "--no-ignore-dot",
  "--no-ignore-global",
];

/**
 * Where ripgrep is: the one that came with us, else one on PATH, but never a program that the project or anything
 * the agent may write could have put there. Undefined: none, and the plain walk serves.
 */
export async function locateRipgrep(roots: Roots): Promise<string | undefined> {
  return (await bundledRipgrep(roots)) ?? ripgrepOnPath(roots, process.env.PATH ?? "");
}

/** The first one that does what is expected of it. */
export async function ripgrepOnPath(roots: Roots, path: string): Promise<string | undefined> {
  for (const directory of path.split(":")) {
    const rg = findExecutable("rg", { path: directory, cwd: "/" });
    if (rg === undefined || rootOfProgram(rg, roots) !== undefined) continue;
    const fit = proven.get(rg.resolved) ?? namesWhatItExcludes(rg.resolved);
    proven.set(rg.resolved, fit);
    if (await fit) return rg.resolved;
  }
  return undefined;
}

async function bundledRipgrep(roots: Roots): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    const rg = findExecutable(rgPath, { path: "", cwd: "/" });
    return rg === undefined || rootOfProgram(rg, roots) !== undefined ? undefined : rgPath;
  } catch {
    return undefined;
  }
}

const proven = new Map<string, Promise<boolean>>();

/** A version of another time may know other options, or tell in another form: it is asked to leave itself out. */
async function namesWhatItExcludes(executable: string): Promise<boolean> {
  const name = basename(executable);
  let named = false;
  try {
    await runRipgrep({
      executable,
      cwd: dirname(executable),
      argv: ["--debug", "--files", "--max-depth=1", ...TREE_FLAGS, `--glob=!${name}`, "--", "./"],
      onOutput: () => "more",
      onExcluded(path) {
        if (path === name) named = true;
      },
      signal: AbortSignal.timeout(LONGEST_PROOF_MS),
    });
  } catch {
    return false;
  }
  return named;
}

const LONGEST_PROOF_MS = 5000;
