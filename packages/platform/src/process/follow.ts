// One process from its start to the end of all that belongs to it: its output, whom it leaves behind,
// and the last bytes in its pipes.

import type { ChildProcess } from "node:child_process";
import { drainOutput } from "./drain.ts";
import { endFamily } from "./end-family.ts";
import type { Family } from "./family.ts";
import { deliverOutput } from "./output.ts";
import type { OutputConsumer } from "./output.ts";
import type { Stop, StopReason } from "./stop.ts";

/** As `stdin`: the caller writes the input, and it ends when the process is stopped. */
export const OPEN_INPUT = Symbol("open input");
export type OpenInput = typeof OPEN_INPUT;

export interface FollowOptions {
  stdin?: string | Uint8Array | OpenInput;
  onStdout?: OutputConsumer;
  onStderr?: OutputConsumer;
  politeMs?: number;
  graceMs?: number;
}

export interface ProcessEnd {
  exit_code: number | null;
  signal: string | null;
  /** "exit" only when all it wrote was handed over, too. */
  ended_by: "exit" | StopReason;
  duration_ms: number;
  /** Processes beside the program itself that were still there and had to be ended. */
  leftovers: number;
  /** Processes that could not be ended: uninterruptible, or another user's. */
  survivors: number;
}

const DEFAULT_GRACE_MS = 1000;
const LONGEST_GRACE_MS = 2000;
const LONGEST_POLITENESS_MS = 1000;

/** For what a program leaves behind when it ends by itself: a moment to do so too, then when asked. */
const LEFTOVER_PATIENCE_MS = 100;
const LEFTOVER_GRACE_MS = 250;

/** To be called right after the start, or the first output is lost. */
export async function followProcess(
  child: ChildProcess & { pid: number },
  family: Family,
  options: FollowOptions,
  stop: Stop,
): Promise<ProcessEnd> {
  const started = performance.now();
  let failure: { error: unknown } | undefined;
  const onFailure = (error: unknown) => {
    failure ??= { error };
    stop.request("abort");
  };
  const outputs = [
    ...(child.stdout && options.onStdout
      ? [deliverOutput(child.stdout, options.onStdout, onFailure)]
      : []),
    ...(child.stderr && options.onStderr
      ? [deliverOutput(child.stderr, options.onStderr, onFailure)]
      : []),
  ];
  const exit = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      family.leaderReaped();
      resolve({ code, signal, wasStopped: stop.reason() !== undefined });
    });
  });
  // A program need not read what it is given.
  child.stdin?.on("error", () => {});
  if (options.stdin !== OPEN_INPUT) child.stdin?.end(options.stdin);

  try {
    await Promise.race([exit, stop.requested]);
    child.stdin?.end();
    const { ended, survivors } = await endFamily(family, patienceFor(options, stop));
    const status = survivors.includes(child.pid) ? UNKNOWN_EXIT : await exit;
    const drained = await Promise.all(
      outputs.map((output) => drainOutput(output, () => stop.reason() !== undefined)),
    );
    if (failure !== undefined) throw failure.error;
    ended.delete(child.pid);
    return {
      exit_code: status.code,
      signal: status.signal,
      ended_by: status.wasStopped || drained.includes("cut") ? (stop.reason() ?? "exit") : "exit",
      duration_ms: Math.round(performance.now() - started),
      leftovers: ended.size,
      survivors: survivors.length,
    };
  } finally {
    // For one that could not be ended: it must not keep the runtime from its own end.
    child.stdin?.destroy();
    child.unref();
  }
}

interface Exit {
  code: number | null;
  signal: string | null;
  wasStopped: boolean;
}

const UNKNOWN_EXIT: Exit = { code: null, signal: null, wasStopped: true };

function patienceFor(options: FollowOptions, stop: Stop): { patienceMs: number; graceMs: number } {
  const graceMs = Math.min(options.graceMs ?? DEFAULT_GRACE_MS, LONGEST_GRACE_MS);
  const patienceMs = Math.min(options.politeMs ?? 0, LONGEST_POLITENESS_MS);
  if (stop.reason() !== undefined) return { patienceMs, graceMs };
  return { patienceMs: LEFTOVER_PATIENCE_MS, graceMs: Math.min(graceMs, LEFTOVER_GRACE_MS) };
}
