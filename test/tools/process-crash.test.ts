// CMD-3 when the runtime itself is gone: the watchdog ends what its commands left, whoever killed it.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { bundleProcessRoom, type ProcessBundle } from "./process-bundle.ts";
import {
  isAlive,
  marked,
  pidsIn,
  type RuntimeOptions,
  type RuntimeProcess,
  startRuntime,
  until,
} from "./process-watching.ts";

let bundle: ProcessBundle;
beforeAll(async () => {
  bundle = await bundleProcessRoom();
});
afterAll(() => bundle.remove());

/** The law's own bound. */
const WITHIN_MS = 3000;

const USERS = [
  { user: "this user", asNobody: false },
  { user: "a user without rights", asNobody: true },
];

/** Ways to hold out, of process-family.sh. */
const KINDS = [
  "plain",
  "deaf",
  "session",
  "deaf-session",
  "daemon",
  "silent-daemon",
  "stopped",
  "scrubbed",
  "respawning",
  "many",
];

describe.each(USERS)("a runtime of $user that is killed", ({ asNobody }) => {
  test("leaves no descendant alive, however it resists", async () => {
    verifies("CMD-3");
    const killed = KINDS.map(async (kind) => {
      const { runtime, family, mark } = await familyOf(kind, { asNobody });
      process.kill(runtime.child.pid, "SIGKILL");
      await expectAllGone(family, mark);
      await runtime.closed;
      return kind;
    });
    expect(await Promise.all(killed)).toEqual(KINDS);
  });

  test("leaves nothing alive of commands that were just being started", async () => {
    verifies("CMD-3");
    // Each is killed at another point of starting the next command.
    const killed = [1, 2, 3, 5, 8, 13].map(async (lines) => {
      const mark = randomUUID();
      const runtime = startRuntime(bundle, { deed: "storm", mark, asNobody });
      const started: number[] = [];
      while (started.length < lines) started.push(Number((await runtime.next()).pid));
      process.kill(runtime.child.pid, "SIGKILL");
      await expectAllGone(started, mark);
      return started.length;
    });
    expect(await Promise.all(killed)).toEqual([1, 2, 3, 5, 8, 13]);
  });
});

describe("a runtime that ends", () => {
  test("by an exit, an error or a signal in the middle of a command leaves nothing alive", async () => {
    verifies("CMD-3");
    const ways = ["exit", "throw", "signal"];
    const gone = ways.map(async (way) => {
      const options = { deed: "leave", isQuiet: true, way };
      const { runtime, family, mark } = await familyOf("deaf-session", options);
      await expectAllGone(family, mark);
      await runtime.closed;
      return way;
    });
    expect(await Promise.all(gone)).toEqual(ways);
  });

  test("closes its output at once: the watchdog holds none of its streams", async () => {
    const { runtime, family, mark } = await familyOf("session");
    const watchdog = watchdogOf(runtime);
    onTestFailed(() => void process.kill(watchdog, "SIGCONT"));
    process.kill(watchdog, "SIGSTOP");
    process.kill(runtime.child.pid, "SIGKILL");
    await runtime.closed;
    expect(isAlive(watchdog)).toBe(true);
    process.kill(watchdog, "SIGCONT");
    await expectAllGone(family, mark);
  });

  test("without a running command ends its watchdog too", async () => {
    const runtime = startRuntime(bundle, { deed: "many" });
    await until(() => childrenOf(runtime.child.pid).some(isWatchdog));
    const watchdog = watchdogOf(runtime);
    await runtime.closed;
    await until(() => !isAlive(watchdog));
    expect(isAlive(watchdog)).toBe(false);
  });
});

describe("the watchdog", () => {
  test("survives signals to the runtime's group, and those that end a program politely", async () => {
    verifies("CMD-3");
    const { runtime, family, mark } = await familyOf("deaf-session");
    const watchdog = watchdogOf(runtime);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const) {
      process.kill(watchdog, signal);
    }
    process.kill(-runtime.child.pid, "SIGKILL");
    await expectAllGone(family, mark);
  });

  test("that was killed is replaced while a command runs, and receives its group", async () => {
    verifies("CMD-3");
    // Without an environment of their own, these are only known by their group.
    const { runtime, family, mark } = await familyOf("scrubbed");
    const first = watchdogOf(runtime);
    process.kill(first, "SIGKILL");
    await until(() =>
      childrenOf(runtime.child.pid).some((pid) => pid !== first && isWatchdog(pid)),
    );
    process.kill(runtime.child.pid, "SIGKILL");
    await expectAllGone(family, mark);
  });

  test("that was killed while nothing ran is started again with the next command", async () => {
    verifies("CMD-3");
    const mark = randomUUID();
    const runtime = startRuntime(bundle, { deed: "twice", mark });
    await runtime.next();
    const first = watchdogOf(runtime);
    process.kill(first, "SIGKILL");
    await until(() => !childrenOf(runtime.child.pid).includes(first));
    process.kill(runtime.child.pid, "SIGUSR2");
    const { pid } = await runtime.next();
    expect(watchdogOf(runtime)).not.toBe(first);
    process.kill(runtime.child.pid, "SIGKILL");
    await expectAllGone([Number(pid)], mark);
  });

  test("also ends the commands of a runtime that is itself a command", async () => {
    verifies("CMD-3");
    const mark = randomUUID();
    const folder = await bundle.place();
    const inner = [
      bundle.runtime,
      bundle.room,
      "hold",
      bundle.family,
      "deaf-session",
      folder,
      "stay",
    ];
    const outer = startRuntime(bundle, { deed: "nest", args: inner, mark });
    const { pid } = await outer.next();
    await until(() => hasLine(folder));
    const family = pidsIn(folder);
    // Both runtimes can find it: the outer one's marker comes first.
    const [outerMarker, ...others] = [Number(pid), ...family].map(markerOf);
    expect(outerMarker).toMatch(/^[0-9a-f]{32}\.1;$/);
    for (const other of others) {
      expect(other?.startsWith(String(outerMarker))).toBe(true);
      expect(other).toMatch(/^([0-9a-f]{32}\.1;){2}$/);
    }
    process.kill(outer.child.pid, "SIGKILL");
    await expectAllGone([Number(pid), ...family], mark);
  });
});

interface RunningFamily {
  runtime: RuntimeProcess;
  family: number[];
  mark: string;
}

async function familyOf(
  kind: string,
  options: Partial<RuntimeOptions> & { way?: string } = {},
): Promise<RunningFamily> {
  const { way, ...rest } = options;
  const mark = randomUUID();
  const folder = await bundle.place();
  const args = [bundle.family, kind, folder, "stay", ...(way === undefined ? [] : [way])];
  const runtime = startRuntime(bundle, { deed: "hold", ...rest, args, mark });
  const { pid } = await runtime.next();
  await runtime.next();
  const family = [Number(pid), ...pidsIn(folder)];
  if (way === undefined) expect(family.filter(isAlive)).toEqual(family);
  return { runtime, family, mark };
}

async function expectAllGone(family: readonly number[], mark: string): Promise<void> {
  const took = await until(() => marked(mark).length === 0 && !family.some(isAlive));
  expect(took).toBeLessThan(WITHIN_MS);
}

function watchdogOf(runtime: RuntimeProcess): number {
  const watchdog = childrenOf(runtime.child.pid).find(isWatchdog);
  if (watchdog === undefined) throw new Error("There is no watchdog");
  return watchdog;
}

function childrenOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1");
    return children.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function isWatchdog(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("soong-watchdog");
  } catch {
    return false;
  }
}

function hasLine(folder: string): boolean {
  try {
    return pidsIn(folder).length > 0;
  } catch {
    return false;
  }
}

function markerOf(pid: number): string | undefined {
  const variables = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  return variables
    .find((text) => text.startsWith("SOONG_PROCESS="))
    ?.slice("SOONG_PROCESS=".length);
}
