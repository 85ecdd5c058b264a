// What a compaction may never lose (CTX-2), in one conversation that has all of it, live and resumed.

import { defineTool, toolResult } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { noRoom, server } from "../core/sources.ts";
import { calls, done, failed, openStage, says, texts } from "./loop-stage.ts";
import { readTool } from "./loop-tools.ts";

const find = defineTool({
  name: "a.find",
  description: "Find",
  input_schema: { type: "object" },
  permission: "readonly",
  concurrency_safe: true,
  always_load: true,
  handler: () =>
    toolResult({
      content: [
        { type: "text", text: "found ".repeat(50) },
        { type: "resource_link", uri: "https://example.org/a" },
        { type: "artifact_ref", artifact_id: "art_1", media_type: "text/plain", size: 9 },
      ],
      context_nodes: [{ kind: "instruction_context", text: "Use tabs.", data: { path: "/a" } }],
    }),
});

const broken = readTool("a.broken", () => {
  throw new Error("the disk is gone");
});

const OPTIONS = {
  tools: [find, { ...broken, always_load: true }],
  sources: [server("s", ["deep"])],
  config: noRoom,
};

test("a compaction keeps what is asked, broken, loaded, put aside, cited and instructed", async () => {
  verifies("CTX-2", "INSTR-1");
  let stop = (): void => {};
  const stage = await openStage(
    [
      [says("Half an ans"), () => stop()],
      [says("Cut o"), done("max_tokens")],
      [calls("internal__search_tools", { query: "select:mcp.s.deep" }, "1"), done("tool_use")],
      [calls("a__find", {}, "2"), calls("a__broken", {}, "3"), done("tool_use")],
      [calls("mcp__s__deep", {}, "4"), calls("a__find", {}, "5"), done("tool_use")],
      [failed("prompt_too_long")],
      [says("We looked."), done()],
      [says("ok"), done()],
    ],
    OPTIONS,
  );
  const aborted = stage.conversation.send("Fix the build");
  stop = () => void aborted.abort("not now");
  await stage.finish(aborted);
  await stage.ask("Go on");
  await stage.ask("And the tests");
  const last = stage.model.requests.at(-1);
  const [before] = stage.facts("context.compaction.completed").map(({ data }) => data);
  expect(before?.["continuation"]).toMatchObject({
    requests: ["Fix the build", "Go on", "And the tests"],
    incidents: [
      { tool: "a__broken", message: expect.stringContaining("the disk is gone") as string },
    ],
    loaded_tools: ["mcp.s.deep"],
    artifacts: ["art_1"],
    evidence: ["https://example.org/a"],
    agents: [],
  });
  const [summary = ""] = texts(last?.messages ?? []);
  for (const kept of ["And the tests", "disk is gone", "mcp.s.deep", "art_1", "example.org/a"]) {
    expect(summary).toContain(kept);
  }
  expect(last?.system.at(-1)).toContain("Use tabs.");
  expect(last?.tools.map(({ name }) => name)).toContain("mcp__s__deep");
  expect(last?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  const called = last?.messages[1]?.role === "assistant" ? last.messages[1].calls : [];
  const answered = last?.messages[2]?.role === "tool" ? last.messages[2].results : [];
  expect(called.map(({ tool_call_id }) => tool_call_id)).toEqual(["4", "5"]);
  expect(answered.map(({ tool_call_id }) => tool_call_id)).toEqual(["4", "5"]);

  // Whoever continues from the record has all of it too.
  const history = stage.journal.nodes;
  const resumed = await openStage([[says("ok"), done()]], { ...OPTIONS, history });
  await resumed.ask("Go on");
  const [request] = resumed.model.requests;
  expect(request?.tools.map(({ name }) => name)).toContain("mcp__s__deep");
  expect(request?.system).toEqual(last?.system);
  expect(texts(request?.messages ?? [])[0]).toBe(summary);
});

test("a conversation is summed up on request, by a run that does nothing else", async () => {
  verifies("CTX-2");
  const stage = await openStage([
    [says("one ".repeat(200)), done()],
    [says("two ".repeat(200)), done()],
    [says("We counted."), done()],
    [says("three"), done()],
  ]);
  const nothing = await stage.finish(stage.conversation.compact());
  expect(nothing).toMatchObject({ reason: "failed", error: { code: "invalid_prompt" } });
  await stage.ask("Count");
  await stage.ask("Go on");
  const run = stage.conversation.compact();
  expect(await stage.finish(run)).toMatchObject({ reason: "completed", turns: 1 });
  const [started] = stage.facts("context.compaction.started");
  expect(started?.data).toMatchObject({ trigger: "requested" });
  await stage.ask("And now?");
  const [summary] = texts(stage.model.requests.at(-1)?.messages ?? []);
  expect(summary).toContain("We counted.");
});
