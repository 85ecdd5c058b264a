// What a process in a sandbox may do (CMD-6). The caller says what is open; how the operating system closes the
// rest is behind this port.

import type { ChildProcess } from "node:child_process";
import { ToolFailure } from "@soong/core";

/** Of several paths the most specific one counts; of one path in several lists masked before fixed before writable. */
export interface SandboxProfile {
  /** Directories and files that may be written: canonical, and there. All else is read-only. */
  readonly writable: readonly string[];
  /** Inside of them, and kept as they are: neither changed nor moved nor replaced. What is not there is skipped. */
  readonly fixed: readonly string[];
  /** Files and directories that can neither be read nor written, wherever they are. What is not there is skipped. */
  readonly masked: readonly string[];
  /**
   * Names in writable directories under which nothing may come into being. What is there by now is fixed. The others are an
   * empty directory meanwhile, which git does not see.
   */
  readonly absent: readonly string[];
  /** The same for names under which programs need a file, if anything: meanwhile there is one with this text. */
  readonly absentFiles?: readonly AbsentFile[];
  /** What stays readable in a masked directory, or in one that is not there at all: the program itself, or what was allowed. */
  readonly readable?: readonly string[];
  /** Why a host may not be reached; undefined where it may. Without this function the network is closed. */
  readonly refuseHost?: (host: string, port: number) => string | undefined;
  /** The patterns of the hosts that are open. A host of this machine or of a private network has to be one of them itself. */
  readonly openHosts?: readonly string[];
  /** Once for each host and port that is refused. */
  readonly onRefusedHost?: (refused: RefusedHost) => void;
}

export interface AbsentFile {
  readonly path: string;
  readonly text: string;
}

export type SandboxState =
  | { readonly backend: "bubblewrap" | "seatbelt"; readonly version: string }
  | {
      /** Why there is none, as a clause: `bubblewrap is not installed`. */
      readonly missing: string;
      /** What to do about it, as a sentence. */
      readonly fix: string;
    };

/** A host that a process in the sandbox wanted and did not get. */
export interface RefusedHost {
  readonly host: string;
  readonly port: number;
  readonly why: string;
}

/** The sandbox of this machine, for all processes of one runtime. */
export interface Sandbox {
  /** Found out by trying it once, when it is first asked. */
  state(): SandboxState;
  /** Prepares the start of one command in it. Throws a ToolFailure (`sandbox_failed`) where that cannot be. */
  enter(command: SandboxedCommand, profile: SandboxProfile): SandboxEntry;
  /** Removes what it keeps for its processes, such as their directory for temporary files. */
  close(): void;
}

export interface SandboxedCommand {
  /** Absolute, and what the command sees as its own name. */
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The number of the first descriptor that the sandbox may use. */
  readonly descriptor: number;
}

/** What is started instead of the command, and what becomes of it. */
export interface SandboxEntry {
  readonly executable: string;
  readonly args: readonly string[];
  /** What the program that sets up the sandbox sees; the command has its own. */
  readonly env: Readonly<Record<string, string>>;
  /** The descriptors it uses, from the one given on. */
  readonly stdio: readonly ("pipe" | "ipc" | "ignore" | number)[];
  /** A descriptor for a stream that no one reads or writes. */
  readonly empty?: number;
  /** Whether the first process waits outside of it; then its end is the end of all that is inside. */
  readonly isMonitored: boolean;
  /** Right after the start. */
  started(child: ChildProcess): void;
  /** How the command ended, by how the first process did. Rejects with a ToolFailure (`sandbox_failed`) where it never ran; `said` is what was on stderr first. */
  outcome(end: ExitStatus & { readonly wasStopped: boolean }, said: string): Promise<ExitStatus>;
  refusedHosts(): readonly RefusedHost[];
  /** When nothing of it is left, or it could not be started. */
  release(): void;
}

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

export function sandboxFailure(why: string): ToolFailure {
  return new ToolFailure({
    code: "sandbox_failed",
    error_class: "setup_required",
    recovery: "ask_the_user",
    message: `The sandbox could not be set up, so the command was not run: ${why}.`,
  });
}
