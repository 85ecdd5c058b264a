// Guards (HOOK-3, HOOK-4): a denial by hook, and what a guard that fails to answer means for its call.

import { defineHook, type AnyHook, type ConfigInput, type Hook } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { callOnce } from "./call-once.ts";
import { personWho } from "./people.ts";
import { pre } from "./pre-hook.ts";
import { watchedReader, watchedWriter } from "./watched.ts";
import { allowAll, createWorld, pause, reader, takeTimeBy, textOf, writer } from "./world.ts";

type Guard = "PreToolUse" | "PermissionRequest";

function guard(event: Guard, run: () => unknown, about: Partial<Hook<Guard>> = {}): AnyHook {
  return defineHook<Guard>({ id: "guard", event, run: run as Hook<Guard>["run"], ...about });
}

describe("denied by hook", () => {
  const deny = pre("no", { decision: "deny", reason: "not on a Friday" }, { tool: "notes.x" });

  test("no one is asked, the model learns why, and both facts are there", async () => {
    verifies("HOOK-3");
    const tool = watchedWriter("notes.x");
    const { status, code, asked, world } = await callOnce(tool, {}, { hooks: [deny] });
    expect({ status, code, asked }).toEqual({ status: "denied", code: "hook_denied", asked: 0 });
    expect(tool.inputs).toEqual([]);
    expect(world.facts("hook.denied")).toMatchObject([
      { tool_call_id: "c1", data: { hook: "no", reason: "not on a Friday" } },
    ]);
    const [denied] = world.facts("tool.denied");
    expect(denied?.data.result).toMatchObject({ is_error: true, status: "denied" });
    expect(JSON.stringify(world.journal.nodes[0])).toContain("not on a Friday");
    const story = world.storyOf("c1");
    for (const type of ["permission.evaluated", "permission.requested", "tool.started"] as const) {
      expect(story).not.toContain(type);
    }
  });

  test("later hooks are not run for a call that is denied already", async () => {
    verifies("HOOK-3");
    let ran = false;
    const later = pre("later", () => void (ran = true));
    await callOnce(watchedWriter("notes.x"), {}, { hooks: [deny, later] });
    expect(ran).toBe(false);
  });

  test.each([
    ["readonly goes on with later calls", reader("notes.x"), "succeeded"],
    ["write stops them", writer("notes.x"), "skipped"],
  ])("a denied %s", async (_, tool, later) => {
    verifies("HOOK-3", "SCHED-3");
    const world = await createWorld({
      tools: [tool, writer("notes.edit")],
      hooks: [deny],
      policy: allowAll,
    });
    const results = await world.execute(
      { id: "x", name: "notes.x", arguments: {} },
      { id: "e", name: "notes.edit", arguments: {} },
    );
    expect(results.map(({ status }) => status)).toEqual(["denied", later]);
  });

  test("a PermissionRequest hook denies before the user is asked, for reads and writes alike", async () => {
    verifies("HOOK-3", "HOOK-6");
    const no = guard("PermissionRequest", () => ({ decision: "deny", reason: "never this" }));
    for (const tool of [
      watchedWriter("notes.edit"),
      watchedReader("notes.peek", { tags: ["dangerous"] }),
    ]) {
      const got = await callOnce(tool, {}, { hooks: [no] });
      expect(got).toMatchObject({ status: "denied", code: "hook_denied", asked: 0 });
      expect(got.world.storyOf("c1")).toEqual(
        expect.arrayContaining(["hook.denied", "tool.denied"]),
      );
      expect(tool.inputs).toEqual([]);
    }
  });
});

const failures: [string, () => unknown][] = [
  ["throws", () => failing()],
  ["throws nothing in particular", () => failing(null)],
  ["rejects", async () => Promise.reject(new Error("crashed"))],
  ["never answers", async () => new Promise(() => {})],
  ["answers with text", () => "ok"],
  ["answers with true", () => true],
  ["answers with a list", () => [{ decision: "pass" }]],
  ["answers a decision nobody knows", () => ({ decision: "allow" })],
  ["answers a field nobody knows", () => ({ decision: "pass", permissionDecision: "allow" })],
  ["answers with a reason that is not text", () => ({ decision: "pass", reason: 1 })],
  [
    "answers with something that is not JSON",
    () => ({ decision: "pass", reason: "x", input: { n: 1n } }),
  ],
  [
    "answers with a getter that throws",
    () => ({
      get decision() {
        return failing();
      },
    }),
  ],
];

describe.each<Guard>(["PreToolUse", "PermissionRequest"])("a %s hook that fails", (event) => {
  test.each(failures)("because it %s denies a write", async (_, run) => {
    verifies("HOOK-4");
    const tool = watchedWriter("notes.edit");
    const got = await callOnce(tool, {}, { hooks: [guard(event, run)] });
    expect(got).toMatchObject({ status: "denied", code: "hook_denied", asked: 0 });
    expect(tool.inputs).toEqual([]);
    const story = got.world.storyOf("c1");
    expect(story).toEqual(expect.arrayContaining(["hook.failed", "hook.denied", "tool.denied"]));
    expect(got.world.facts("hook.failed")[0]?.level).toBe("warn");
  });

  test.each(failures)("because it %s makes a readonly call ask", async (_, run) => {
    verifies("HOOK-4");
    // Only a call that is asked about gets to PermissionRequest at all.
    const about = event === "PermissionRequest" ? { tags: ["dangerous"] } : {};
    const tool = watchedReader("notes.read", about);
    const hooks = [guard(event, run)];
    const got = await callOnce(tool, {}, { hooks });
    expect(got).toMatchObject({ status: "succeeded", asked: 1 });
    expect(got.world.storyOf("c1")).toContain("hook.failed");

    const unattended = await callOnce(
      watchedReader("notes.read", about),
      {},
      { hooks, ask: undefined as never },
    );
    expect(unattended.status).toBe("denied");
  });

  test.each(failures)(
    "because it %s changes nothing where it says on_failure: continue",
    async (_, run) => {
      verifies("HOOK-4");
      const hooks = [guard(event, run, { on_failure: "continue" })];
      const write = await callOnce(watchedWriter("notes.edit"), {}, { hooks });
      expect(write).toMatchObject({ status: "succeeded", asked: 1 });
      expect(write.world.storyOf("c1")).toContain("hook.failed");
      if (event === "PermissionRequest") return;
      const read = await callOnce(watchedReader("notes.read"), {}, { hooks });
      expect(read).toMatchObject({ status: "succeeded", asked: 0 });
    },
  );

  test("does not hide the others: a later guard may still deny", async () => {
    verifies("HOOK-4");
    const about = event === "PermissionRequest" ? { tags: ["dangerous"] } : {};
    const broken = guard(event, () => failing());
    const no = guard(event, () => ({ decision: "deny" }), { id: "no" });
    const got = await callOnce(watchedReader("notes.read", about), {}, { hooks: [broken, no] });
    expect(got).toMatchObject({ status: "denied", asked: 0 });
  });
});

describe("a guard that fails while the input is changed", () => {
  test("denies once the call has become a write", async () => {
    verifies("HOOK-4", "PIPE-2");
    const tool = watchedWriter("notes.both", {
      classify: (input) =>
        (input as { write?: boolean }).write === true
          ? {}
          : { read_only: true, concurrency_safe: true },
    });
    const hooks = [pre("broken", () => failing()), pre("write it", { input: { write: true } })];
    const got = await callOnce(tool, {}, { hooks, policy: allowAll });
    expect(got.status).toBe("denied");
    expect(tool.inputs).toEqual([]);
  });
});

describe("time for a guard", () => {
  async function slowGuard(
    answerAfter: number,
    about: Partial<Hook<"PreToolUse">>,
    config: ConfigInput = {},
  ) {
    const tool = watchedWriter("notes.edit");
    const hook = defineHook({
      id: "slow",
      event: "PreToolUse",
      run: async () => {
        await pause(world.clock, answerAfter);
        return { input: { changed: true } };
      },
      ...about,
    });
    const world = await createWorld({
      tools: [tool.tool],
      hooks: [hook],
      policy: allowAll,
      config,
    });
    const executing = world.run.execute([{ id: "c1", name: "notes.edit", arguments: {} }]);
    return { tool, world, executing };
  }

  test.each<[string, Partial<Hook<"PreToolUse">>, ConfigInput, number]>([
    ["its own", { timeout_ms: 1000 }, {}, 1000],
    ["the configured one", {}, { hooks: { timeout_ms: 5000 } }, 5000],
    [
      "its own, over the configured one",
      { timeout_ms: 9000 },
      { hooks: { timeout_ms: 5000 } },
      9000,
    ],
    ["the default", {}, {}, 60_000],
  ])("is %s, to the millisecond; a late answer is not taken", async (_, about, config, limit) => {
    verifies("HOOK-4");
    const { tool, world, executing } = await slowGuard(limit + 1, about, config);
    await world.clock.advance(limit - 1);
    expect(world.facts("hook.failed")).toEqual([]);
    await world.clock.advance(1);
    const [result] = await executing;
    expect(result?.status).toBe("denied");
    expect(world.facts("hook.failed")[0]?.data).toMatchObject({ duration_ms: limit });
    await world.clock.advance(10_000);
    expect(tool.inputs).toEqual([]);
    expect(world.facts("input.mutated")).toEqual([]);
    expect(world.clock.pending).toBe(0);
  });

  test("is enough when the answer comes at the last moment before", async () => {
    verifies("HOOK-4");
    const { tool, world, executing } = await slowGuard(999, {
      timeout_ms: 1000,
      tool: "notes.edit",
    });
    // The changed input goes past the guard again.
    await world.clock.advance(999 * 2);
    await executing;
    expect(tool.inputs).toEqual([{ changed: true }]);
  });

  test.each([10, 1])(
    "is each call's own: slow hooks of parallel calls do not time each other out (%i at a time)",
    async (max_concurrency) => {
      verifies("HOOK-4");
      const slow = (id: string): AnyHook =>
        defineHook({ id, event: "PreToolUse", run: async () => pause(world.clock, 50_000) });
      const config = { tools: { max_concurrency } };
      const world = await createWorld({
        tools: [reader("notes.read")],
        hooks: [slow("a"), slow("b")],
        config,
      });
      const calls = Array.from({ length: 10 }, (_, i) => ({
        id: `c${i}`,
        name: "notes.read",
        arguments: {},
      }));
      const executing = world.run.execute(calls);
      await world.clock.advance((100_000 * 10) / max_concurrency);
      const results = await executing;
      expect(results.map(({ status }) => status)).toEqual(Array(10).fill("succeeded"));
      expect(world.facts("hook.failed")).toEqual([]);
    },
  );

  test("spent on a question in between is not counted: the user may take longer than any hook", async () => {
    verifies("HOOK-4", "PIPE-6");
    const world = await createWorld({
      tools: [writer("notes.edit")],
      hooks: [guard("PermissionRequest", () => ({ decision: "pass" }))],
      ask: async () => {
        await pause(world.clock, 600_000);
        return { decision: "allow_once" };
      },
    });
    const [result] = await world.execute({ name: "notes.edit", arguments: {} });
    expect(result?.status).toBe("succeeded");
  });

  test("ends with the call: an abort reaches the hook through its signal", async () => {
    verifies("HOOK-4");
    let aborted = false;
    const hook = defineHook({
      id: "slow",
      event: "PreToolUse",
      run: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener("abort", () => {
            aborted = true;
          });
        }),
    });
    const tool = watchedWriter("notes.edit");
    const world = await createWorld({
      tools: [tool.tool],
      hooks: [hook],
      ask: personWho("allow_once").ask,
    });
    takeTimeBy(world.clock);
    const executing = world.run.execute([{ name: "notes.edit", arguments: {} }]);
    await world.clock.settle();
    await world.run.abort("enough");
    const [result] = await executing;
    expect(result?.status, textOf(result)).toBe("aborted");
    expect(aborted).toBe(true);
    expect(tool.inputs).toEqual([]);
    expect(world.clock.pending).toBe(0);
  });
});

function failing(error: Error | null = new Error("crashed")): never {
  throw error;
}
