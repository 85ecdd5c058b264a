import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { createHeldClock, createMemoryArtifacts, type ArtifactStore, type Fact } from "@soong/core";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  openStage,
  textOf,
  until,
  untilExists,
  type Stage,
  type StageOptions,
} from "./command-stage.ts";
import { isAlive } from "./process-watching.ts";

let stage: Stage | undefined;
afterEach(() => stage?.close());

async function open(options: StageOptions = {}): Promise<Stage> {
  stage = await openStage(options);
  return stage;
}

/** Tells its own process and a grandchild that does not listen to SIGTERM, then stays. */
const STUBBORN = `
  trap '' TERM
  echo started
  ( trap '' TERM; echo $BASHPID > grandchild; while :; do sleep 1000; done ) &
  echo $$ > child
  while :; do sleep 1000; done`;

describe("a command that is cut short", () => {
  const limits: [name: string, input: object, ms: number][] = [
    ["the time everyone has", {}, 120_000],
    ["the time it asked for", { timeout_ms: 600_000 }, 600_000],
  ];
  test.each(limits)("by %s leaves what it wrote, and no process", async (_, input, ms) => {
    verifies("CMD-1", "CMD-2", "PIPE-5");
    const clock = createHeldClock();
    const { command, project, facts } = await open({ clock });
    const ended = command(["bash", "-c", STUBBORN], input);
    await untilExists(join(project, "child"));
    await untilExists(join(project, "grandchild"));
    await clock.advance(ms - 1);
    const isOver = (): boolean => facts.some(({ type }) => type === "tool.failed");
    expect(isOver()).toBe(false);
    await clock.advance(1);
    const result = await ended;
    expect(result).toMatchObject({ status: "timed_out", error: { code: "timed_out" } });
    expect(textOf(result)).toContain(`did not end within ${ms} ms`);
    expect(textOf(result)).toContain("started");
    await allGone(project);
  });

  test("is stopped after the time the config gives to every tool, and the model may raise it", async () => {
    verifies("PIPE-5", "CMD-1");
    const clock = createHeldClock();
    const { command, facts, project } = await open({
      clock,
      config: { tools: { default_timeout_ms: 5_000 } },
    });
    const sleeper = ["bash", "-c", "echo > started; exec sleep 1000"];
    const ended = command(sleeper);
    await untilExists(join(project, "started"));
    await clock.advance(4_999);
    expect(facts.some(({ type }) => type === "tool.failed")).toBe(false);
    await clock.advance(1);
    expect(textOf(await ended)).toContain("did not end within 5000 ms");
    rmSync(join(project, "started"));
    const longer = command(sleeper, { timeout_ms: 9_000 });
    await untilExists(join(project, "started"));
    await clock.advance(9_000);
    expect(textOf(await longer)).toContain("did not end within 9000 ms");
  });

  test("by an abort leaves the same", async () => {
    verifies("CMD-2", "PIPE-7");
    const { command, run, project } = await open();
    const ended = command(["bash", "-c", STUBBORN]);
    await untilExists(join(project, "child"));
    await untilExists(join(project, "grandchild"));
    await run.abort("enough");
    const result = await ended;
    expect(result).toMatchObject({ status: "aborted", is_error: true });
    expect(textOf(result)).toContain("started");
    await allGone(project);
  });

  test("keeps both ends of much output in its result, and all of it as an artifact", async () => {
    verifies("CMD-2", "PIPE-7");
    const store = createMemoryArtifacts();
    // Closing takes a while, as on a disk.
    const artifacts: ArtifactStore = {
      ...store,
      open(about) {
        const sink = store.open(about);
        return {
          ...sink,
          async close() {
            for (let turns = 0; turns < 50; turns += 1) await immediate();
            return sink.close();
          },
        };
      },
    };
    const { command, run, project } = await open({ session: { artifacts } });
    const script = "seq 100000; echo 'the last words' >&2; touch written; sleep 1000";
    const ended = command(["bash", "-c", script]);
    await untilExists(join(project, "written"));
    await until(() => latest(stage?.facts ?? [])?.stderr_bytes === 15, "all has been read");
    await run.abort("enough");
    const result = await ended;
    expect(textOf(result)).toContain("1\n2\n3\n");
    expect(textOf(result)).toContain("\n100000\nstderr:\nthe last words");
    expect(textOf(result).length).toBeLessThan(70_000);
    const ofCalls = store.list().filter(({ tool_call_id }) => tool_call_id !== undefined);
    expect(ofCalls.map(({ size }) => size)).toEqual([588_895]);
  });

  test("says nothing about output where there was none", async () => {
    verifies("CMD-2");
    const { command } = await open();
    const result = await command(["sleep", "1000"], { timeout_ms: 100 });
    expect(result.status).toBe("timed_out");
    expect(result.content).toHaveLength(1);
  });

  test("before it began, never begins", async () => {
    verifies("CMD-1");
    const { run, project } = await open({
      rules: [],
      answer() {
        void run.abort("enough");
        return { decision: "allow_once" };
      },
    });
    const result = await run.call("code.run_command", { argv: ["touch", "x"] });
    expect(result.status).toBe("aborted");
    expect(existsSync(join(project, "x"))).toBe(false);
  });
});

describe("progress", () => {
  test("comes at once and at least every two seconds while it runs, and not afterwards", async () => {
    verifies("CMD-5");
    const clock = createHeldClock();
    const { command, facts, write } = await open({ tool: () => ({ clock }) });
    const script = "echo one; echo two >&2; until [ -e stop ]; do sleep 0.02; done";
    const ended = command(["bash", "-c", script], { description: "wait for it" });
    await until(() => progressOf(facts).length === 1, "the first progress");
    expect(progressOf(facts)[0]).toMatchObject({
      message: "wait for it",
      data: { elapsed_ms: 0 },
    });
    for (let seconds = 2; seconds <= 20; seconds += 2) {
      const before = progressOf(facts).length;
      await clock.advance(2000);
      expect(progressOf(facts).length).toBeGreaterThan(before);
    }
    const times = progressOf(facts).map(({ data }) => data.elapsed_ms);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2000);
    write("stop", "");
    await ended;
    expect(clock.pending).toBe(0);
    const last = progressOf(facts).length;
    await clock.advance(10_000);
    expect(progressOf(facts)).toHaveLength(last);
  });

  test("shows the last line and how much there was, when there is no description", async () => {
    verifies("CMD-5");
    const clock = createHeldClock();
    const { command, facts, write } = await open({ tool: () => ({ clock }) });
    const script = "echo one; echo two; until [ -e stop ]; do sleep 0.02; done";
    const ended = command(["bash", "-c", script]);
    await until(() => progressOf(facts).length === 1, "the first progress");
    for (let tries = 0; tries < 500 && latest(facts)?.stdout_bytes !== 8; tries += 1) {
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
      await clock.advance(2000);
    }
    expect(progressOf(facts).at(-1)).toMatchObject({
      message: "two",
      data: { stdout_bytes: 8, stderr_bytes: 0 },
    });
    write("stop", "");
    await ended;
  });

  test("ends with a command that cannot be started", async () => {
    verifies("CMD-5");
    const clock = createHeldClock();
    const { command, write } = await open({ tool: () => ({ clock }) });
    write("broken", "#!/does/not/exist\n", 0o755);
    const result = await command(["./broken"]);
    expect(result.is_error).toBe(true);
    expect(clock.pending).toBe(0);
  });
});

interface Told {
  message?: string;
  data: { elapsed_ms: number; stdout_bytes: number; stderr_bytes: number };
}

function progressOf(facts: readonly Fact[]): Told[] {
  return facts
    .filter(({ type }) => type === "tool.progress")
    .map(({ data }) => data as unknown as Told);
}

function latest(facts: readonly Fact[]): Told["data"] | undefined {
  return progressOf(facts).at(-1)?.data;
}

test("a command whose children were stopped says how many", async () => {
  verifies("CMD-3");
  const { command } = await open();
  const result = await command(["bash", "-c", "sleep 1000 & sleep 1000 & exit 0"]);
  expect(result.data).toMatchObject({ exit_code: 0, leftovers: 2 });
  expect((await command(["true"])).data).not.toHaveProperty("leftovers");
});

async function allGone(project: string): Promise<void> {
  const pids = ["child", "grandchild"].map((name) =>
    Number(readFileSync(join(project, name), "utf8").trim()),
  );
  expect(pids.every((pid) => pid > 1)).toBe(true);
  await until(() => !pids.some((pid) => isAlive(pid)), "every process of it is gone");
}
