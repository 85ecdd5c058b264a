// Runs ripgrep once: no configuration, no environment, no input. Its output is handed on piece by piece,
// and it is gone when the promise settles, however that comes about.

import { ToolFailure } from "@soong/core";
import { startProcess, type ProcessOptions, type RunningProcess } from "@soong/platform";
import { createRipgrepMessages } from "./ripgrep-messages.ts";
import { watchForStall } from "./ripgrep-stall.ts";

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
    super("ripgrep waits for something that is no regular file");
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
  if (end.signal !== null && stopped === undefined) throw endedFailure(end.signal);
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
    throw error instanceof ToolFailure ? startFailure(executable, error) : error;
  }
}

function startFailure(executable: string, { message }: ToolFailure): ToolFailure {
  return new ToolFailure({
    code: "ripgrep_failed",
    error_class: "dependency_unavailable",
    message: `ripgrep (${JSON.stringify(executable)}) could not be started: ${message}`,
    recovery: "set_up_first",
  });
}

function endedFailure(endedBy: string): ToolFailure {
  return new ToolFailure({
    code: "ripgrep_failed",
    message: `ripgrep was ended by ${endedBy} before it was done. Search in a smaller directory, or try again.`,
    recovery: "change_arguments",
  });
}
