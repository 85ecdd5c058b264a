// How the runtime deals with its watchdog; what the watchdog does is in watchdog-script.test.ts.

import type * as ChildProcessModule from "node:child_process";
import type { SpawnOptions } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolFailure } from "@soong/core";
import { verifies } from "#laws";
import { expect, onTestFinished, test, vi } from "vitest";
import { startProcess } from "./start-process.ts";

/** What replaces the system's shell. */
const shell = vi.hoisted(() => ({ file: "/nowhere/sh", args: [] as string[] }));
vi.mock("node:child_process", async (load) => {
  const original = await load<typeof ChildProcessModule>();
  const spawn = (file: string, args: string[], options: SpawnOptions) =>
    file === "/bin/sh"
      ? original.spawn(shell.file, shell.args, options)
      : original.spawn(file, args, options);
  return { ...original, spawn };
});

const SLEEP = { executable: "/bin/sleep", argv: ["sleep", "300"], cwd: "/", env: {} };

test("where no watchdog can be started no command is, because nothing would end it after a crash", () => {
  verifies("CMD-3");
  // Said each time, not only when it was first tried.
  for (const _ of ["first", "again"]) {
    expect(codeOfStart()).toBe("watchdog_unavailable");
  }
});

test("it receives every command's group, and its end", async () => {
  verifies("CMD-3");
  const folder = await mkdtemp(join(tmpdir(), "soong-watchdog-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const received = join(folder, "received");
  Object.assign(shell, { file: "/usr/bin/env", args: ["sh", "-c", `cat >'${received}'`] });
  const [one, two] = [startProcess(SLEEP), startProcess(SLEEP)];
  await two.stop("abort");
  await one.stop("abort");
  const lines = [`+${one.pid}`, `+${two.pid}`, `-${two.pid}`, `-${one.pid}`, ""].join("\n");
  await vi.waitFor(async () => expect(await readFile(received, "utf8")).toBe(lines), 10_000);
});

function codeOfStart(): string {
  try {
    startProcess(SLEEP);
  } catch (error) {
    if (error instanceof ToolFailure) return error.error.code;
  }
  return "started";
}
