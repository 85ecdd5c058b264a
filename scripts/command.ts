// Runs one command of the tooling to its end, with the binaries of node_modules at hand.

import { spawnSync } from "node:child_process";
import type { SpawnSyncOptions } from "node:child_process";
import { delimiter, resolve } from "node:path";

export class CommandFailed extends Error {}

/** Runs with our own output; throws CommandFailed unless it exits with 0. */
export function run(
  command: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): void {
  spawn(command, args, { stdio: "inherit", ...options });
}

/** The same, quietly: returns what it printed, and tells that only when it fails. */
export function capture(
  command: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): string {
  return spawn(command, args, { stdio: "pipe", ...options });
}

function spawn(command: string, args: readonly string[], options: SpawnSyncOptions): string {
  const path = `${resolve("node_modules", ".bin")}${delimiter}${process.env.PATH ?? ""}`;
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    ...options,
    encoding: "utf8",
    env: { ...process.env, ...options.env, PATH: path },
    // The shims of npm are batch files there.
    shell: process.platform === "win32",
  });
  if (status === 0) return stdout;
  const said = [error?.message, stdout, stderr].filter(Boolean).join("\n");
  const how = signal === null ? "failed" : `was stopped (${signal})`;
  throw new CommandFailed(`\`${[command, ...args].join(" ")}\` ${how}\n${said}`);
}
