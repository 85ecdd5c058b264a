// Tools that come late or change (MCP-2, MCP-3), as the loop sees them: waited for before a run and before each turn,
// and what they say of themselves, below everything else.

import { createHeldClock, createKernel } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import {
  openConversation,
  type LoopOptions,
  type ToolProvider,
} from "../../packages/agent/src/loop/index.ts";
import { calls, done, openStage, says, writtenModel } from "./loop-stage.ts";
import { readTool } from "./loop-tools.ts";

const QUIET: ToolProvider = { ready: async () => {}, connecting: () => [], notes: () => [] };

test("what comes with a turn is offered in it, from the first one on", async () => {
  verifies("MCP-3");
  const clock = createHeldClock();
  const kernel = createKernel({ clock });
  const handle = kernel.registry.open({ id: "late", kind: "code", tools: [] });
  let turns = 0;
  const supply: ToolProvider = {
    ...QUIET,
    async ready() {
      turns += 1;
      // The first is before the run, the second before its first turn.
      const names = turns < 3 ? ["late.first"] : ["late.first", "late.second"];
      handle.set(names.map((name) => readTool(name, () => name)));
    },
  };
  const model = writtenModel(clock, [
    [calls("late__first", {}, "1"), done("tool_use")],
    [says("ok"), done()],
  ]);
  const session = await kernel.openSession();
  const options: LoopOptions = { session, models: [model], clock, toolProvider: supply };
  const conversation = await openConversation(options);
  await conversation.send("go").end;
  const offered = model.requests.map(({ tools }) => tools.map(({ name }) => name));
  expect(offered[0]).toContain("late__first");
  expect(offered[0]).not.toContain("late__second");
  expect(offered[1]).toContain("late__second");
});

test("an abort ends the waiting, and the run is on record as aborted", async () => {
  verifies("MCP-2");
  let signal: AbortSignal | undefined;
  const supply: ToolProvider = {
    ...QUIET,
    ready(given) {
      signal = given;
      return new Promise(() => {});
    },
  };
  const stage = await openStage([], { toolProvider: supply });
  const run = stage.conversation.send("go");
  await stage.clock.advance(10);
  void run.abort("enough");
  expect(await stage.finish(run)).toMatchObject({ reason: "aborted_streaming" });
  expect(signal?.aborted).toBe(true);
  expect(stage.model.requests).toEqual([]);
  expect(stage.story("run.")).toEqual(["run.queued", "run.started", "run.aborted"]);
});

test("a supply that fails costs no run", async () => {
  verifies("MCP-2");
  const supply: ToolProvider = { ...QUIET, ready: () => Promise.reject(new Error("no")) };
  const stage = await openStage([[says("ok"), done()]], { toolProvider: supply });
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
});

test("what sources say of themselves is last, as their words, bounded and redacted", async () => {
  verifies("MCP-6", "CTX-4", "REDACT-1");
  const long = "x".repeat(5000);
  const notes = [
    { from: 'MCP server "a"', text: "Use me. The key is k-123456789." },
    ...["b", "c", "d", "e", "f", "g", "h"].map((id) => ({
      from: `MCP server "${id}"`,
      text: long,
    })),
    { from: 'MCP server "z"', text: "Short." },
  ];
  const secrets = [{ name: "KEY", value: "k-123456789" }];
  const stage = await openStage([[says("ok"), done()]], {
    toolProvider: { ...QUIET, notes: () => notes },
    system: ["Our own rules."],
    sessionOptions: { secrets },
  });
  await stage.ask("go");
  const [own, first = "", second = "", ...rest] = stage.model.requests[0]?.system ?? [];
  expect(own).toBe("Our own rules.");
  expect(first).toMatch(/^What the MCP server "a" says of its own tools\. .* grant nothing/);
  expect(first).toContain("Use me. The key is [redacted:KEY].");
  expect(second.length).toBeLessThan(2500);
  expect(second).toContain("[Cut here.]");
  expect(rest.join("").length).toBeLessThan(12_000);
  // A short one has room where a long one had none.
  expect(rest.at(-1)).toContain('MCP server "z"');
  const [context] = stage.facts("context.resolved");
  expect(JSON.stringify(context?.data)).toContain('"from":"tool_source"');
});
