// CMD-3 while the runtime lives: whatever a command starts ends with it, on its own, by timeout or abort.

import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  commandEnvironment,
  type ProcessOptions,
  type RunningProcess,
  startProcess,
} from "../../packages/platform/src/process/index.ts";
import { bundleProcessRoom, type ProcessBundle } from "./process-bundle.ts";
import { isAlive, pidsIn, startRuntime } from "./process-watching.ts";

let bundle: ProcessBundle;
beforeAll(async () => {
  bundle = await bundleProcessRoom();
});
afterAll(() => bundle.remove());

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
  "scrubbed-job",
  "scrubbed-session",
  "respawning",
  "many",
];

describe("a command that is over", () => {
  test("leaves no descendant when it ended on its own, however that resists", async () => {
    verifies("CMD-3");
    const ended = KINDS.map(async (kind) => {
      const { running, family, ready } = await familyOf(kind, "exit");
      await ready;
      const end = await running.end;
      expect(end, kind).toMatchObject({
        exit_code: 0,
        signal: null,
        ended_by: "exit",
        survivors: 0,
      });
      expect(end.leftovers, kind).toBeGreaterThanOrEqual(family().length);
      expect(family().filter(isAlive), kind).toEqual([]);
      return kind;
    });
    expect(await Promise.all(ended)).toEqual(KINDS);
  });

  test("leaves no descendant when it was aborted, however that resists", async () => {
    verifies("CMD-3");
    const aborted = KINDS.map(async (kind) => {
      const controller = new AbortController();
      const options = { signal: controller.signal };
      const { running, family, ready } = await familyOf(kind, "stay", options);
      await ready;
      controller.abort();
      const end = await running.end;
      expect(end, kind).toMatchObject({ exit_code: null, ended_by: "abort", survivors: 0 });
      expect([running.pid, ...family()].filter(isAlive), kind).toEqual([]);
      return kind;
    });
    expect(await Promise.all(aborted)).toEqual(KINDS);
  });

  test("leaves no descendant for a user without rights either", async () => {
    verifies("CMD-3");
    const stopped = KINDS.map(async (kind) => {
      const folder = await bundle.place();
      const args = [bundle.family, kind, folder, "stay"];
      const runtime = startRuntime(bundle, { deed: "stop", args, asNobody: true });
      const { pid } = await runtime.next();
      await runtime.next();
      expect(await runtime.next(), kind).toMatchObject({ ended_by: "abort", survivors: 0 });
      expect([Number(pid), ...pidsIn(folder)].filter(isAlive), kind).toEqual([]);
      await runtime.closed;
      return kind;
    });
    expect(await Promise.all(stopped)).toEqual(KINDS);
  });

  test("after a timeout of 300 ms is not held up by a deaf grandchild that holds its pipes", async () => {
    verifies("CMD-3");
    const { running, family } = await familyOf("deaf", "stay", { timeoutMs: 300 });
    const end = await running.end;
    expect(end).toMatchObject({ exit_code: null, signal: "SIGKILL", ended_by: "timeout" });
    expect([running.pid, ...family()].filter(isAlive)).toEqual([]);
  });

  test("ends although a process without any trace of it still holds its pipes", async () => {
    const folder = await bundle.place();
    const hidden = 'env -i setsid sh -c \'echo $$ >"$0"; exec sleep 300\' "$0/pids" & exit 0';
    const script = `sh -c '${hidden.replaceAll("'", String.raw`'\''`)}' "$0"; until [ -s "$0/pids" ]; do sleep 0.02; done; echo done`;
    let text = "";
    const { end } = startProcess({
      ...shell(script, folder),
      onStdout: (chunk) => {
        text += chunk.toString();
      },
    });
    expect(await end).toMatchObject({ exit_code: 0, ended_by: "exit" });
    expect(text).toBe("done\n");
    for (const pid of pidsIn(folder)) process.kill(pid, "SIGKILL");
  });

  test("hands over what is written by those that end on their own right after it", async () => {
    let text = "";
    const { end } = startProcess({
      ...shell("(sleep 0.03; echo late) & echo soon"),
      onStdout: (chunk) => {
        text += chunk.toString();
      },
    });
    expect(await end).toMatchObject({ exit_code: 0, ended_by: "exit", leftovers: 0 });
    expect(text).toBe("soon\nlate\n");
  });

  test("leaves unrelated processes alone: another command, and one with a similar marker", async () => {
    const others = Array.from({ length: 12 }, () => startProcess(shell("exec sleep 300")));
    const first = startProcess(shell("setsid sleep 300 & exit 0"));
    expect(await first.end).toMatchObject({ leftovers: 1 });
    await others[0]!.stop("abort");
    expect(others.map((other) => isAlive(other.pid))).toEqual([
      false,
      ...others.slice(1).map(() => true),
    ]);
    await Promise.all(others.map((other) => other.stop("abort")));
  });
});

describe("a command that is stopped", () => {
  test("is asked once, may clean up, and what it says last is handed over", async () => {
    let text = "";
    let settle = () => {};
    const ready = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const running = startProcess({
      ...shell(
        'trap "echo asked; n=1" TERM; echo ready; until [ "$n" ]; do sleep 0.02; done; sleep 0.2; echo bye; exit 7',
      ),
      onStdout: (chunk) => {
        text += chunk.toString();
        settle();
      },
    });
    await ready;
    const end = await running.stop("abort");
    expect(text).toBe("ready\nasked\nbye\n");
    expect(end).toMatchObject({ exit_code: 7, signal: null, ended_by: "abort" });
  });

  test("says so for the first reason only, and again for everyone who asks", async () => {
    const running = startProcess({ ...shell("exec sleep 300"), timeoutMs: 60_000 });
    const [first, second] = await Promise.all([running.stop("timeout"), running.stop("abort")]);
    expect(first).toMatchObject({
      exit_code: null,
      signal: "SIGTERM",
      ended_by: "timeout",
      leftovers: 0,
      survivors: 0,
    });
    expect(second).toBe(first);
    expect(await running.stop("abort")).toBe(first);
  });

  test("keeps its own end when that came first", async () => {
    const running = startProcess(shell("exit 3"));
    const end = await running.end;
    expect(await running.stop("abort")).toBe(end);
    expect(end).toMatchObject({ exit_code: 3, ended_by: "exit" });
  });

  test("gets no longer grace than the law leaves", async () => {
    verifies("CMD-3");
    const { running, ready, family } = await familyOf("deaf", "stay", { graceMs: 60_000 });
    await ready;
    expect(await running.stop("abort")).toMatchObject({ signal: "SIGKILL" });
    expect(family().filter(isAlive)).toEqual([]);
  });

  test("takes a consumer along that never comes to an end", async () => {
    const running = startProcess({
      ...shell("echo stuck; exec sleep 300"),
      onStdout: () => new Promise<void>(() => {}),
      timeoutMs: 200,
    });
    expect(await running.end).toMatchObject({ ended_by: "timeout" });
  });

  test("counts as timed out when it ended in time but its output was never taken", async () => {
    const running = startProcess({
      ...shell("echo stuck"),
      onStdout: () => new Promise<void>(() => {}),
      timeoutMs: 500,
    });
    expect(await running.end).toMatchObject({ exit_code: 0, ended_by: "timeout" });
  });
});

interface StartedFamily {
  running: RunningProcess;
  ready: Promise<void>;
  family: () => number[];
}

async function familyOf(
  kind: string,
  then: "exit" | "stay",
  options: Partial<ProcessOptions> = {},
): Promise<StartedFamily> {
  const folder = await bundle.place();
  let settle: () => void;
  const ready = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const running = startProcess({
    executable: "/bin/sh",
    argv: ["sh", bundle.family, kind, folder, then],
    cwd: folder,
    env: commandEnvironment(),
    onStdout: () => settle(),
    onStderr: () => {},
    ...options,
  });
  return { running, ready, family: () => pidsIn(folder) };
}

function shell(script: string, folder = "/"): ProcessOptions {
  return {
    executable: "/bin/sh",
    argv: ["sh", "-c", script, folder],
    cwd: "/",
    env: commandEnvironment(),
  };
}
