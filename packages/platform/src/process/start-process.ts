// Starts one program as a group and session of its own, marked and guarded, and lets go of it only when
// nothing of it is left: a command never outlives its call (CMD-3).

import { spawn, type ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { ToolFailure } from "@soong/core";
import { createFamily, endFamily, type Family } from "./family.ts";
import { deliverOutput, drainOutput, type OutputConsumer } from "./output.ts";
import type { RefusedHost, Sandbox, SandboxEntry, SandboxProfile } from "./sandbox-port.ts";
import { refuseUnstartable, startFailure } from "./start-failure.ts";
import {
  ensureWatchdog,
  MARKER_NAME,
  nextMarker,
  unwatchGroup,
  watchGroup,
  type Marker,
} from "./watchdog.ts";

/** As `stdin`: the caller writes the input, and it ends when the process is stopped. */
export const OPEN_INPUT = Symbol("open input");

export interface ProcessOptions {
  /** Absolute: nothing is looked up here. */
  executable: string;
  /** argv[0] is what the program sees as its own name. */
  argv: readonly string[];
  cwd: string;
  /** All of it but the marker, and SHLVL with stdin: nothing of the runtime's own is added. */
  env: Readonly<Record<string, string>>;
  /** Written and closed, or left open for the caller; without it the program reads an end of file at once. */
  stdin?: string | Uint8Array | typeof OPEN_INPUT;
  /** Descriptors it gets as 3, 4, …; they stay the caller's to close. */
  descriptors?: readonly number[];
  /** A pending promise holds that stream back; one that rejects stops the process and rejects `end`. */
  onStdout?: OutputConsumer;
  onStderr?: OutputConsumer;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** When it is stopped: between the end of its input and SIGTERM; 0 unless given, 1000 at most. */
  politeMs?: number;
  /** Between SIGTERM and SIGKILL; 1000 unless given, 2000 at most. */
  graceMs?: number;
  /** Where it runs. What it is called then is the path of the executable, and `end` rejects where it could not be set up. */
  sandbox?: { readonly by: Sandbox; readonly profile: SandboxProfile };
}

export interface RunningProcess {
  readonly pid: number;
  /** With the input left open: where the caller writes. */
  readonly input: Writable | undefined;
  /** Resolves when nothing of it is left. Rejects only with what a consumer of its output threw, or its sandbox. */
  readonly end: Promise<ProcessEnd>;
  stop(why: StopReason): Promise<ProcessEnd>;
  /** By its sandbox, so far. */
  refusedHosts(): readonly RefusedHost[];
}

/** Throws a ToolFailure when it cannot be started (executable_not_found, cwd_not_found…). */
export function startProcess(options: ProcessOptions): RunningProcess {
  refuseUnstartable(options);
  if (options.signal?.aborted === true) {
    throw new ToolFailure({
      code: "aborted",
      error_class: "canceled",
      message: `${options.executable} was not started: the call had been aborted before.`,
    });
  }
  // First, so that there is no moment in which a command would survive the runtime.
  ensureWatchdog();
  const marker = nextMarker();
  const entry = enterSandbox(options);
  let child: ChildProcess & { pid: number };
  try {
    child = spawnChild(options, marker, entry);
  } catch (error) {
    entry?.release();
    throw error;
  }
  const { pid } = child;
  watchGroup(pid);
  entry?.started(child);
  const stop = createStop(options);
  const family = createFamily(pid, marker, entry?.isMonitored === true ? "monitor" : "command");
  const end = followProcess(child, family, options, stop, entry).finally(() => {
    stop.release();
    unwatchGroup(pid);
    entry?.release();
  });
  // A caller that waits for it gets the error; none has to wait.
  end.catch(() => {});
  return {
    pid,
    input: options.stdin === OPEN_INPUT ? (child.stdin ?? undefined) : undefined,
    end,
    stop(why) {
      stop.request(why);
      return end;
    },
    refusedHosts: () => entry?.refusedHosts() ?? [],
  };
}

function enterSandbox(options: ProcessOptions): SandboxEntry | undefined {
  const { executable, argv, cwd, env, stdin, descriptors = [], sandbox } = options;
  return sandbox?.by.enter(
    {
      executable,
      args: argv.slice(1),
      cwd,
      env: { ...shellLevel(stdin), ...env },
      descriptor: STANDARD_STREAMS + descriptors.length,
    },
    sandbox.profile,
  );
}

const STANDARD_STREAMS = 3;

function spawnChild(
  options: ProcessOptions,
  marker: Marker,
  entry: SandboxEntry | undefined,
): ChildProcess & { pid: number } {
  const { executable, argv, cwd, env, stdin, onStdout, onStderr, descriptors = [] } = options;
  let child: ChildProcess;
  try {
    child = spawn(entry?.executable ?? executable, entry?.args ?? argv.slice(1), {
      argv0: entry?.executable ?? argv[0] ?? executable,
      cwd,
      env: {
        // Node would add its coverage variable on its own where it is not mentioned.
        NODE_V8_COVERAGE: undefined,
        ...(entry?.env ?? { ...shellLevel(stdin), ...env }),
        [MARKER_NAME]: marker.value,
      },
      detached: true,
      stdio: [
        pipeIf(stdin, entry),
        pipeIf(onStdout, entry),
        // Where the sandbox says what went wrong.
        pipeIf(onStderr ?? entry, entry),
        ...descriptors,
        ...(entry?.stdio ?? []),
      ],
    });
  } catch (error) {
    throw startFailure(options, (error as NodeJS.ErrnoException).code);
  }
  // Node says a second time, later, what the missing pid says now.
  child.on("error", () => {});
  if (child.pid === undefined) throw startFailure(options, undefined);
  return child as ChildProcess & { pid: number };
}

/** bash takes a pipe of Node's for a remote login and would run ~/.bashrc, except in an inner shell. */
function shellLevel(stdin: ProcessOptions["stdin"]): Record<string, string> {
  return stdin === undefined ? {} : { SHLVL: "1" };
}

function pipeIf(used: unknown, entry: SandboxEntry | undefined): "pipe" | "ignore" | number {
  return used === undefined ? (entry?.empty ?? "ignore") : "pipe";
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

/** How a program ended that did not end well, as a clause. */
export function describeEnd({ exit_code, signal }: ProcessEnd): string {
  return exit_code === null
    ? `was ended by ${signal ?? "a signal"}`
    : `exited with code ${exit_code}`;
}

const DEFAULT_GRACE_MS = 1000;
const LONGEST_GRACE_MS = 2000;
const LONGEST_POLITENESS_MS = 1000;

/** For what a program leaves behind when it ends on its own: a moment to do so too, then when asked. */
const LEFTOVER_PATIENCE_MS = 100;
const LEFTOVER_GRACE_MS = 250;

/**
 * One process from its start to the end of all that belongs to it: its output, whom it leaves behind, and the last bytes
 * in its pipes. To be called right after the start, or the first output is lost.
 */
async function followProcess(
  child: ChildProcess & { pid: number },
  family: Family,
  options: ProcessOptions,
  stop: ReturnType<typeof createStop>,
  entry: SandboxEntry | undefined,
): Promise<ProcessEnd> {
  const started = performance.now();
  let failure: { error: unknown } | undefined;
  const onFailure = (error: unknown) => {
    failure ??= { error };
    stop.request("abort");
  };
  const { onStdout } = options;
  const words = keepFirstWords(options.onStderr);
  const onStderr = entry === undefined ? options.onStderr : words.consume;
  const streams = [[child.stdout, onStdout] as const, [child.stderr, onStderr] as const];
  const outputs = streams.flatMap(([stream, consume]) =>
    stream && consume ? [deliverOutput(stream, consume, onFailure)] : [],
  );
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
    const { code, signal } = (await entry?.outcome(status, words.read())) ?? status;
    return {
      exit_code: code,
      signal,
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

const LONGEST_WORDS = 2000;

function keepFirstWords(consume: OutputConsumer | undefined) {
  let kept = Buffer.alloc(0);
  return {
    consume: (chunk: Buffer): void | Promise<void> => {
      if (kept.length < LONGEST_WORDS)
        kept = Buffer.concat([kept, chunk]).subarray(0, LONGEST_WORDS);
      return consume?.(chunk);
    },
    read: () => kept.toString(),
  };
}

interface Exit {
  code: number | null;
  signal: string | null;
  wasStopped: boolean;
}

const UNKNOWN_EXIT: Exit = { code: null, signal: null, wasStopped: true };

function patienceFor(
  options: ProcessOptions,
  stop: ReturnType<typeof createStop>,
): { patienceMs: number; graceMs: number } {
  const graceMs = Math.min(options.graceMs ?? DEFAULT_GRACE_MS, LONGEST_GRACE_MS);
  const patienceMs = Math.min(options.politeMs ?? 0, LONGEST_POLITENESS_MS);
  if (stop.reason() !== undefined) return { patienceMs, graceMs };
  return { patienceMs: LEFTOVER_PATIENCE_MS, graceMs: Math.min(graceMs, LEFTOVER_GRACE_MS) };
}

type StopReason = "timeout" | "abort";

/** What a timer can hold; more would fire at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * The one reason why a process is stopped before its own end, the first of these: its time is up, its signal fires, or
 * someone asks for it.
 */
function createStop(options: { signal?: AbortSignal; timeoutMs?: number }) {
  const { signal, timeoutMs } = options;
  let reason: StopReason | undefined;
  let settle: () => void;
  const requested = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const request = (why: StopReason) => {
    reason ??= why;
    settle();
  };
  const onAbort = () => request("abort");
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(request, Math.min(timeoutMs, LONGEST_TIMEOUT_MS), "timeout");

  return {
    requested,
    reason: () => reason,
    request,
    /** Lets go of the timer and the signal. */
    release(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

/**
 * Starts a program that belongs to the user and not to the runtime, such as the browser an address is opened in: it is
 * meant to outlive the runtime, so it has neither marker nor watchdog. Only what the user asked for is started so. Best effort: a program that cannot be started is no failure.
 */
export function openForUser(
  executable: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const child = spawn(executable, args, {
    // The marker of a runtime around this one stays: it still has to find what was started in it.
    env: { ...env, [MARKER_NAME]: process.env[MARKER_NAME] },
    stdio: "ignore",
    detached: true,
  });
  child.on("error", () => {});
  child.unref();
}
