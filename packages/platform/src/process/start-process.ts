// Starts one program as a group and session of its own, marked and guarded, and lets go of it only when
// nothing of it is left: a command never outlives its call (CMD-3).

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { ToolFailure } from "@soong/core";
import { createFamily } from "./family.ts";
import { followProcess, OPEN_INPUT } from "./follow.ts";
import type { OpenInput, ProcessEnd } from "./follow.ts";
import { MARKER_NAME, nextMarker } from "./marker.ts";
import type { Marker } from "./marker.ts";
import type { OutputConsumer } from "./output.ts";
import { refuseUnstartable, startFailure } from "./start-failure.ts";
import { createStop } from "./stop.ts";
import type { StopReason } from "./stop.ts";
import { ensureWatchdog, unwatchGroup, watchGroup } from "./watchdog.ts";

export interface ProcessOptions {
  /** Absolute: nothing is looked up here. */
  executable: string;
  /** argv[0] is what the program sees as its own name. */
  argv: readonly string[];
  cwd: string;
  /** All of it but the marker, and SHLVL with stdin: nothing of the runtime's own is added. */
  env: Readonly<Record<string, string>>;
  /** Written and closed, or left open for the caller; without it the program reads an end of file at once. */
  stdin?: string | Uint8Array | OpenInput;
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
}

export interface RunningProcess {
  readonly pid: number;
  /** With the input left open: where the caller writes. */
  readonly input: Writable | undefined;
  /** Resolves when nothing of it is left. Rejects only with what a consumer of its output threw. */
  readonly end: Promise<ProcessEnd>;
  stop(why: StopReason): Promise<ProcessEnd>;
}

/** Throws a ToolFailure when it cannot be started (executable_not_found, cwd_not_found…). */
export function startProcess(options: ProcessOptions): RunningProcess {
  refuseUnstartable(options);
  if (options.signal?.aborted === true) throw abortedBefore(options.executable);
  // First, so that there is no moment in which a command would survive the runtime.
  ensureWatchdog();
  const marker = nextMarker();
  const child = spawnChild(options, marker);
  const { pid } = child;
  watchGroup(pid);
  const stop = createStop(options);
  const end = followProcess(child, createFamily(pid, marker), options, stop).finally(() => {
    stop.release();
    unwatchGroup(pid);
  });
  // Whoever waits for it gets the error; nobody has to wait.
  end.catch(() => {});
  return {
    pid,
    input: options.stdin === OPEN_INPUT ? (child.stdin ?? undefined) : undefined,
    end,
    stop(why) {
      stop.request(why);
      return end;
    },
  };
}

function spawnChild(options: ProcessOptions, marker: Marker): ChildProcess & { pid: number } {
  const { executable, argv, cwd, env, stdin, onStdout, onStderr, descriptors = [] } = options;
  let child: ChildProcess;
  try {
    child = spawn(executable, argv.slice(1), {
      argv0: argv[0] ?? executable,
      cwd,
      env: { ...unlessGiven(stdin), ...env, [MARKER_NAME]: marker.value },
      detached: true,
      stdio: [pipeIf(stdin), pipeIf(onStdout), pipeIf(onStderr), ...descriptors],
    });
  } catch (error) {
    throw startFailure(options, (error as NodeJS.ErrnoException).code);
  }
  // Node says a second time, later, what the missing pid says now.
  child.on("error", () => {});
  if (child.pid === undefined) throw startFailure(options, undefined);
  return child as ChildProcess & { pid: number };
}

function unlessGiven(stdin: unknown): Record<string, string | undefined> {
  return {
    // Node would add its coverage variable by itself where it is not mentioned.
    NODE_V8_COVERAGE: undefined,
    // bash takes a pipe of Node's for a remote login and would run ~/.bashrc, except in an inner shell.
    ...(stdin === undefined ? {} : { SHLVL: "1" }),
  };
}

function pipeIf(used: unknown): "pipe" | "ignore" {
  return used === undefined ? "ignore" : "pipe";
}

function abortedBefore(executable: string): ToolFailure {
  return new ToolFailure({
    code: "aborted",
    error_class: "canceled",
    message: `${executable} was not started: the call had been aborted before.`,
  });
}
