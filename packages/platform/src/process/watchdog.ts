// The watchdog: one small process beside the runtime that ends what is left of its commands when the
// runtime is gone, be it killed, crashed or done (CMD-3). Started with the first command, before it; a
// system where it cannot be started runs no commands at all, because nothing would end them.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { ToolFailure } from "@soong/core";
import { commandEnvironment } from "./environment.ts";
import { RUNTIME_TOKEN } from "./marker.ts";
import { WATCHDOG_SCRIPT } from "./watchdog-script.ts";

const SHELL = "/bin/sh";
const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin";

/** Then only with the next command: where no shell lives long, starting them for ever would not help. */
const MOST_REPLACEMENTS = 20;

const groups = new Set<number>();
let watchdog: ChildProcess | undefined;
let replacements = 0;

export function ensureWatchdog(): void {
  watchdog ??= startWatchdog();
}

export function watchGroup(group: number): void {
  groups.add(group);
  tell(`+${group}\n`);
}

export function unwatchGroup(group: number): void {
  groups.delete(group);
  tell(`-${group}\n`);
}

/** A process group, or session, of a program that runs now. */
export function isWatchedGroup(number: number): boolean {
  return groups.has(number);
}

function tell(line: string): void {
  watchdog?.stdin?.write(line);
}

function startWatchdog(): ChildProcess {
  const child = spawnWatchdog();
  child?.on("error", () => {});
  if (child?.pid === undefined) throw unavailable();
  child.unref();
  child.stdin.on("error", () => {});
  for (const group of groups) child.stdin.write(`+${group}\n`);
  child.once("exit", () => {
    if (watchdog !== child) return;
    watchdog = undefined;
    if (groups.size > 0) replaceWatchdog();
  });
  return child;
}

/** Node throws for some failures; the others show in the missing pid. */
function spawnWatchdog() {
  const half = RUNTIME_TOKEN.length / 2;
  const token = [RUNTIME_TOKEN.slice(0, half), RUNTIME_TOKEN.slice(half)];
  const { PATH = "/bin" } = commandEnvironment({ allowlist: ["PATH"] });
  try {
    // A session of its own, so that a signal to the runtime's group or terminal does not reach it, and
    // no folder, stream or marker of the runtime's that it would hold on to.
    return spawn(SHELL, ["-c", 'eval "$SCRIPT"', "soong-watchdog", ...token], {
      detached: true,
      cwd: "/",
      // The script in the environment keeps lists of processes readable.
      env: { PATH: `${SYSTEM_PATH}:${PATH}`, SCRIPT: WATCHDOG_SCRIPT },
      stdio: ["pipe", "ignore", "ignore"],
    });
  } catch {
    return undefined;
  }
}

function replaceWatchdog(): void {
  replacements += 1;
  if (replacements > MOST_REPLACEMENTS) return;
  try {
    ensureWatchdog();
  } catch {
    // The next command will say so.
  }
}

function unavailable(): ToolFailure {
  return new ToolFailure({
    code: "watchdog_unavailable",
    error_class: "setup_required",
    recovery: "set_up_first",
    message: `No command can be run: ${SHELL} could not be started, and it is needed to end commands when the runtime itself is killed. See that it is there, and that this user may start more processes and open more files.`,
  });
}
