// Runs ripgrep once: no configuration, no environment, no input. Its output is handed on piece by piece,
// and it is gone when the promise settles, however that comes about.

import { spawn } from "node:child_process";
import { ToolFailure } from "@soong/core";
import { createRipgrepMessages } from "./ripgrep-messages.ts";

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

export function runRipgrep(run: RipgrepRun): Promise<RipgrepEnd> {
  const { signal } = run;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(run.executable, ["--no-config", ...run.argv], {
      cwd: run.cwd,
      env: {},
      stdio: ["ignore", "pipe", "pipe", ...(run.descriptors ?? [])],
    });
    let enough = false;
    let failure: Error | undefined;
    const messages = createRipgrepMessages(run.onExcluded ?? (() => {}));
    const end = (): void => {
      child.kill("SIGKILL");
    };
    signal.addEventListener("abort", end, { once: true });
    child.stdout?.on("data", (chunk: Buffer) => {
      if (enough) return;
      try {
        enough = run.onOutput(chunk) === "enough";
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
        enough = true;
      }
      if (enough) end();
    });
    child.stderr?.on("data", (chunk: Buffer) => messages.add(chunk));
    child.on("error", (error) => {
      failure ??= startFailure(run.executable, error);
      if (child.pid === undefined) settle(null, null);
    });
    child.on("close", settle);

    function settle(exitCode: number | null, endedBy: NodeJS.Signals | null): void {
      signal.removeEventListener("abort", end);
      messages.end();
      if (signal.aborted) reject(signal.reason as Error);
      else if (failure !== undefined) reject(failure);
      else if (endedBy !== null && !enough) reject(endedFailure(endedBy));
      else resolve({ exitCode, complaint: messages.complaint, unreadable: messages.unreadable });
    }
  });
}

function startFailure(executable: string, error: Error): ToolFailure {
  const why = "code" in error ? String(error.code) : error.message;
  return new ToolFailure({
    code: "ripgrep_failed",
    error_class: "dependency_unavailable",
    message: `ripgrep (${JSON.stringify(executable)}) could not be started: ${why}. Check that it may be executed.`,
    recovery: "set_up_first",
  });
}

function endedFailure(endedBy: NodeJS.Signals): ToolFailure {
  return new ToolFailure({
    code: "ripgrep_failed",
    message: `ripgrep was ended by ${endedBy} before it was done. Search in a smaller directory, or try again.`,
    recovery: "change_arguments",
  });
}
