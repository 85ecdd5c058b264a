// What a request holds and how it comes to fit (CTX-1, CTX-2, CTX-3), secrets (REDACT-1, 2), token use (EVENT-7).

import { defineHook, defineTool, toolResult, type AnyTool } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { contextsIn, writtenFact } from "../facts.ts";
import { reportUsage } from "../../packages/agent/src/loop/index.ts";
import { calls, done, failed, openStage, says, texts, USED } from "./loop-stage.ts";
import { readTool } from "./loop-tools.ts";

const BIG = "x".repeat(8000);

test("over its budget the conversation is compacted by the model itself, on record", async () => {
  verifies("CTX-2", "CTX-3");
  const stage = await openStage(
    [
      [calls("a__read", {}, "1"), done("tool_use")],
      [calls("a__read", {}, "2"), done("tool_use")],
      [says("Read twice."), done()],
      [says("All done."), done()],
    ],
    { tools: [readTool("a.read", () => BIG)], limits: { context_tokens: 3000 } },
  );
  expect(await stage.ask("Read both files")).toMatchObject({
    reason: "completed",
    answer: "All done.",
    turns: 4,
  });
  const [, , summary, last] = stage.model.requests;
  expect(summary?.tools).toEqual([]);
  expect(summary?.messages).toHaveLength(1);
  expect(texts(last?.messages ?? [])[0]).toContain("Read twice.");
  expect(texts(last?.messages ?? [])[0]).toContain("- Read both files");
  expect(last?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(stage.story("context")).toEqual([
    "context.resolved",
    "context.resolved",
    "context.compaction.started",
    "context.compaction.completed",
    "context.resolved",
  ]);
  const { data } = stage.facts("context.compaction.completed")[0]!;
  expect(data).toMatchObject({
    trigger: "budget",
    summary_preview: "Read twice.",
    affected_turns: 2,
    continuation: { requests: ["Read both files"] },
  });
  expect(data.tokens_after).toBeLessThan(data.tokens_before);
  const since = stage.facts("context.resolved").map((fact) => fact.data.since);
  expect(since).toEqual([undefined, 1, undefined]);
  const [node] = stage.journal.nodes.filter(({ kind }) => kind === "compaction");
  expect(node?.node_id).toBe(data.node_id);
});

test("PreCompact hooks run before the conversation is compacted", async () => {
  verifies("HOOK-7");
  const seen: unknown[] = [];
  const stage = await openStage(
    [
      [calls("a__read", {}, "1"), done("tool_use")],
      [calls("a__read", {}, "2"), done("tool_use")],
      [says("Read twice."), done()],
      [says("All done."), done()],
    ],
    {
      tools: [readTool("a.read", () => BIG)],
      limits: { context_tokens: 3000 },
      sessionOptions: {
        hooks: [
          defineHook({
            id: "before",
            event: "PreCompact",
            run: (payload) => void seen.push(payload),
          }),
        ],
      },
    },
  );
  await stage.ask("Read both files");
  expect(seen).toEqual([
    expect.objectContaining({ trigger: "budget", tokens_before: expect.any(Number) as number }),
  ]);
  const story = stage.journal.facts.map(({ type }) => type);
  expect(story.indexOf("hook.completed")).toBeLessThan(story.indexOf("context.compaction.started"));
});

test("a summary that fails is on record, and the request is trimmed instead", async () => {
  verifies("CTX-2", "CTX-3", "CTX-1");
  const stage = await openStage(
    [
      [calls("a__read", {}, "1"), done("tool_use")],
      [calls("a__read", {}, "2"), done("tool_use")],
      [failed("server_error")],
      [says("ok"), done()],
    ],
    { tools: [readTool("a.read", () => BIG)], limits: { context_tokens: 3000 } },
  );
  expect(await stage.ask("Read both")).toMatchObject({ reason: "completed", answer: "ok" });
  expect(stage.facts("context.compaction.failed")[0]?.data).toMatchObject({
    trigger: "budget",
    message: "it is server_error",
  });
  expect(texts(stage.model.requests[3]?.messages ?? [])[0]).toContain("as first asked: Read both");
  expect(stage.facts("context.resolved").at(-1)?.data.omissions).toMatchObject([
    { reason: "does not fit", units: 2, nodes: 3 },
  ]);
});

test("a prompt the provider finds too long is compacted once; the second time the run ends", async () => {
  verifies("CTX-2", "LOOP-1");
  const stage = await openStage([
    [says("one"), done()],
    [failed("prompt_too_long")],
    [says("Summary."), done()],
    [says("fits"), done()],
    [failed("prompt_too_long")],
    [says("Summary again."), done()],
    [failed("prompt_too_long", { message: "Too long." })],
  ]);
  await stage.ask("first");
  expect(await stage.ask("second")).toMatchObject({ reason: "completed", answer: "fits" });
  expect(texts(stage.model.requests[3]?.messages ?? [])).toEqual([
    "user: Summary of the conversation up to here:\n\nSummary. / second",
  ]);
  expect(await stage.ask("third")).toMatchObject({
    reason: "prompt_too_long",
    error: { code: "prompt_too_long", message: "Too long." },
  });
  expect(stage.facts("context.compaction.started").map(({ data }) => data.trigger)).toEqual([
    "prompt_too_long",
    "prompt_too_long",
  ]);
});

test("a prompt that is still too long after a summary is not summarised again, though it could be", async () => {
  verifies("CTX-2", "LOOP-1");
  const stage = await openStage([
    ...Array.from({ length: 8 }, () => [says("answer ".repeat(10)), done()]),
    [failed("prompt_too_long")],
    [says("Summary."), done()],
    [failed("prompt_too_long")],
  ]);
  for (let i = 0; i < 8; i += 1) await stage.ask(`question ${i}`);
  expect(await stage.ask("last")).toMatchObject({ reason: "prompt_too_long", turns: 3 });
  expect(stage.model.requests.at(-1)?.messages.length).toBeGreaterThan(2);
});

test("one prompt that is too long on its own ends the run without a summary", async () => {
  verifies("LOOP-1");
  const stage = await openStage([[failed("prompt_too_long")]]);
  expect(await stage.ask("x".repeat(1000))).toMatchObject({ reason: "prompt_too_long", turns: 1 });
  expect(stage.facts("context.compaction.started")).toEqual([]);
});

test("an empty summary, or one that is cut off, is none", async () => {
  verifies("CTX-2");
  for (const bad of [[done()], [says("half of"), done("max_tokens")]]) {
    const stage = await openStage([[says("one"), done()], [failed("prompt_too_long")], bad]);
    await stage.ask("first");
    expect((await stage.ask("second")).reason).toBe("prompt_too_long");
    expect(stage.facts("context.compaction.failed")).toHaveLength(1);
    expect(stage.journal.nodes.some(({ kind }) => kind === "compaction")).toBe(false);
  }
});

test("each request is preceded by what it holds and what it omits", async () => {
  verifies("CTX-1");
  const stage = await openStage(
    [
      [calls("a__read"), done("tool_use")],
      [says("ok"), done()],
    ],
    {
      tools: [readTool("a.read", () => "x")],
      system: ["Be careful."],
      sessionOptions: { roots: { project: "/work/here", write: ["/work/there"] } },
    },
  );
  await stage.ask("go");
  const [first, second] = stage.facts("context.resolved");
  expect(first?.data).toMatchObject({
    request: 1,
    system: [{ ref: "system:0", from: "static", chars: 11 }],
    instruction_refs: [],
    memory_refs: [],
    skill_refs: [],
    knowledge_refs: [],
    source_refs: [],
    file_refs: [],
    workspace_refs: [
      { kind: "project", path: "/work/here" },
      { kind: "write_root", path: "/work/there" },
    ],
    browser_refs: [],
    session_refs: [
      {
        session_id: "s1",
        run_id: stage.facts("run.started")[0]?.run_id,
        agent_id: stage.conversation.agent_id,
      },
    ],
    history: { units: 1, nodes: 1 },
    policy: {
      role: "main",
      mode: "normal",
      rules: 0,
      destructive: "ask",
      network: "default",
      under_a_ceiling: false,
    },
    tools: { loaded: 1, deferred: 0 },
    omissions: [],
    missing: [
      { what: "context_tokens" },
      { what: "instructions" },
      { what: "memory" },
      { what: "knowledge" },
      { what: "browser" },
      { what: "skill" },
    ],
    tokens: { method: "characters / 4" },
  });
  expect(second?.data).toMatchObject({ request: 2, history: { units: 2, nodes: 3 } });
  const order = stage.story("context.resolved", "model.started");
  expect(order).toEqual(["context.resolved", "model.started", "context.resolved", "model.started"]);
});

/** Reads the file it is given, unless that is gone. */
const opening: AnyTool = {
  ...readTool("a.open", (input) => {
    if ((input as { path: string }).path === "/here/gone.ts") throw new Error("gone");
    return "text";
  }),
  prepare: (input) => ({
    resources: [{ kind: "path", access: "read", path: (input as { path: string }).path }],
  }),
};

test("files and sources of a request are named once, with the node that brought them", async () => {
  verifies("CTX-1");
  const found = () =>
    toolResult({
      content: [
        { type: "resource_link", uri: "https://example.org/a" },
        { type: "resource_link", uri: "file:///work/here/only-named.ts" },
        { type: "artifact_ref", artifact_id: "art_1", media_type: "text/plain", size: 9 },
      ],
    });
  const stage = await openStage(
    [
      [
        calls("a__find", {}, "1"),
        calls("a__find", {}, "2"),
        calls("a__open", { path: "/here/read.ts" }, "3"),
        calls("a__open", { path: "/here/gone.ts" }, "4"),
        done("tool_use"),
      ],
      [says("ok"), done()],
    ],
    { tools: [readTool("a.find", found), opening] },
  );
  const prompt = [
    { type: "text" as const, text: "Look at this" },
    { type: "resource_link" as const, uri: "file:///work/here/a.ts" },
  ];
  await stage.finish(stage.conversation.send(prompt));
  const data = contextsIn(stage.journal.facts)[1]!;
  const nodes = stage.journal.nodes.map(({ node_id, kind }) => [kind, node_id]);
  const [asked, , result, , read] = nodes.map(([, id]) => id);
  const kinds = nodes.map(([kind]) => kind);
  expect(kinds.slice(0, 4)).toEqual(["message", "message", "tool_result", "tool_result"]);
  expect(data.source_refs).toEqual([{ uri: "https://example.org/a", node_id: result }]);
  expect(data.file_refs).toEqual([
    { kind: "file", uri: "file:///work/here/a.ts", node_id: asked },
    { kind: "artifact", artifact_id: "art_1", node_id: result },
    { kind: "file", path: "/here/read.ts", node_id: read },
  ]);
});

test("secrets in a prompt, an answer, its calls and errors are nowhere on record, and the model reads the same", async () => {
  verifies("REDACT-1");
  const secret = "5up3r-s3cr3t-value";
  const half = secret.slice(0, 9);
  const stage = await openStage(
    [
      [
        says(`It is ${half}`),
        says(`${secret.slice(9)}.`),
        calls("a__read", { key: secret }, "1"),
        done("tool_use"),
      ],
      [failed("server_error", { message: `bad key ${secret}` })],
      [says("ok"), done()],
    ],
    {
      tools: [readTool("a.read", () => "x")],
      system: [`Never say ${secret}.`],
      sessionOptions: { secrets: [{ name: "KEY", value: secret }] },
    },
  );
  await stage.ask(`My key is ${secret}`);
  const recorded = JSON.stringify([stage.journal.facts, stage.journal.nodes]);
  expect(recorded).not.toContain(secret);
  expect(recorded).not.toContain(half);
  expect(JSON.stringify(stage.model.requests)).not.toContain(secret);
  expect(texts(stage.model.requests[1]?.messages ?? []).slice(0, 2)).toEqual([
    "user: My key is [redacted:KEY]",
    "assistant: It is [redacted:KEY].<a__read>",
  ]);
});

test("what a schema calls sensitive is not in the record of the answer, though the tool gets it", async () => {
  verifies("REDACT-2");
  const got: unknown[] = [];
  const login = defineTool({
    name: "a.login",
    description: "Log in",
    input_schema: {
      type: "object",
      properties: { pin: { type: "string", "x-sensitive": true }, name: { type: "string" } },
    },
    permission: "readonly",
    handler: (input) => {
      got.push(input);
      return "in";
    },
  });
  const stage = await openStage(
    [
      [calls("a__login", { pin: "blue-whale", name: "ann" }, "1"), done("tool_use")],
      [calls("a__login", '{"pin": "blue-whale', "2"), done("tool_use")],
      [says("ok"), done()],
    ],
    { tools: [login] },
  );
  await stage.ask("go");
  expect(got).toEqual([{ pin: "blue-whale", name: "ann" }]);
  expect(JSON.stringify([stage.journal.facts, stage.journal.nodes])).not.toContain("blue-whale");
  expect(JSON.stringify(stage.model.requests[2])).toContain("ann");
});

test("provider data that holds a secret is omitted rather than changed", async () => {
  verifies("REDACT-1");
  const secret = "5up3r-s3cr3t-value";
  const stage = await openStage(
    [
      [
        calls("a__read", {}, "1"),
        { type: "completed", stop: "tool_use", usage: {}, provider_data: { thought: secret } },
      ],
      [says("ok"), done()],
    ],
    {
      tools: [readTool("a.read", () => "x")],
      sessionOptions: { secrets: [{ name: "KEY", value: secret }] },
    },
  );
  await stage.ask("go");
  expect(stage.model.requests[1]?.messages[1]).not.toHaveProperty("provider_data");
});

test("token use is reported per request, run and session, failed attempts and summaries too", async () => {
  verifies("EVENT-7");
  const stage = await openStage([
    [says("one"), done()],
    [{ type: "failed", error: { kind: "network", message: "x" }, usage: { input_tokens: 7 } }],
    [failed("prompt_too_long")],
    [says("Summary."), done()],
    [says("two"), done()],
  ]);
  const first = await stage.ask("first");
  const second = await stage.ask("second");
  expect(stage.facts("model.completed").map(({ data }) => data)).toMatchObject([
    { usage: USED, cost: null },
    { usage: USED, cost: null, purpose: "compaction" },
    { usage: USED, cost: null },
  ]);
  expect(second.usage).toEqual({
    requests: 4,
    untold: 2,
    unpriced: 4,
    cost: null,
    input_tokens: 27,
    output_tokens: 10,
  });
  const { session, runs } = reportUsage(stage.journal.facts);
  expect([...runs.values()]).toEqual([first.usage, second.usage]);
  expect(session).toEqual({
    requests: 5,
    untold: 2,
    unpriced: 5,
    cost: null,
    input_tokens: 37,
    output_tokens: 15,
  });
  expect(stage.facts("run.completed").map(({ data }) => data.usage)).toEqual([
    first.usage,
    second.usage,
  ]);
});

test("the use of a child is part of its parent's", () => {
  verifies("EVENT-7");
  const fact = (run_id: string, parent_run_id?: string) =>
    writtenFact({
      type: "model.completed",
      run_id,
      ...(parent_run_id === undefined ? {} : { parent_run_id }),
      data: { usage: { input_tokens: 2, output_tokens: 1 } },
    });
  const { runs, session } = reportUsage([
    fact("parent"),
    fact("child", "parent"),
    fact("loop", "loop"),
  ]);
  expect(runs.get("parent")).toMatchObject({ requests: 2, input_tokens: 4 });
  expect(runs.get("child")).toMatchObject({ requests: 1, input_tokens: 2 });
  expect(session).toMatchObject({ requests: 3, input_tokens: 6 });
});

test("a summary that failed is not tried again before each request", async () => {
  verifies("CTX-2");
  const read = [calls("a__read"), done("tool_use")];
  const stage = await openStage(
    [read, read, [failed("server_error")], read, read, [says("ok"), done()]],
    { tools: [readTool("a.read", () => BIG)], limits: { context_tokens: 3000 } },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", answer: "ok" });
  expect(stage.facts("context.compaction.failed")).toHaveLength(1);
});

test("an abort during a summary ends the run and the compaction", async () => {
  verifies("CTX-2", "LOOP-2");
  const stage = await openStage([
    [says("one"), done()],
    [failed("prompt_too_long")],
    [says("Sum"), { wait: 1e6 }],
  ]);
  await stage.ask("first");
  const run = stage.conversation.send("second");
  await stage.clock.advance(100);
  await Promise.all([run.abort("enough"), stage.clock.settle()]);
  expect(await run.end).toMatchObject({ reason: "aborted_streaming" });
  expect(stage.story("context.compaction")).toEqual([
    "context.compaction.started",
    "context.compaction.failed",
  ]);
  expect(stage.clock.pending).toBe(0);
});

test("a summary counts as a request, and none is made that would leave no space for its own", async () => {
  verifies("LOOP-2", "CTX-2");
  const read = [calls("a__read"), done("tool_use")];
  const stage = await openStage([read, read, [says("ok"), done()]], {
    tools: [readTool("a.read", () => BIG)],
    limits: { context_tokens: 3000, max_turns: 3 },
  });
  expect(await stage.ask("go")).toMatchObject({ reason: "completed", turns: 3 });
  expect(stage.facts("context.compaction.started")).toEqual([]);
});

test("an image is sent as it came, and the text beside it without secrets", async () => {
  verifies("REDACT-1");
  const key = ["AKIA", "ABCDEFGHIJKLMNOP"].join("");
  const stage = await openStage([[says("ok"), done()]]);
  const image = { type: "image", media_type: "image/png", data: key } as const;
  const run = stage.conversation.send([image, { type: "text", text: `see ${key}` }]);
  await stage.finish(run);
  const [message] = stage.model.requests[0]?.messages ?? [];
  const content = message?.role === "user" ? message.content : [];
  expect(content[0]).toEqual(image);
  expect(JSON.stringify(content[1])).not.toContain(key);
});

test("what was found and loaded is known to the next run", async () => {
  verifies("CTX-2");
  const many = Array.from({ length: 30 }, (_, i) =>
    defineTool({
      name: `many.tool_${i}`,
      description: `Number ${i}. ${"Words about it. ".repeat(40)}`,
      input_schema: { type: "object" },
      search_hint: `counts to ${i}`,
      permission: "readonly",
      handler: () => "x",
    }),
  );
  const stage = await openStage(
    [
      [calls("internal__search_tools", { query: "many.tool_7" }, "1"), done("tool_use")],
      [says("found"), done()],
      [failed("prompt_too_long")],
      [says("Summary."), done()],
      [says("ok"), done()],
    ],
    { tools: many, config: { tools: { defer_budget_tokens: 500 } } },
  );
  await stage.ask("find it");
  const before = stage.model.requests[0];
  expect(before?.system.join()).toContain("counts to 7");
  expect(before?.tools.map(({ name }) => name)).not.toContain("many__tool_7");
  expect(await stage.ask("use it")).toMatchObject({ reason: "completed" });
  expect(stage.model.requests[2]?.tools.map(({ name }) => name)).toContain("many__tool_7");
  const [fact] = stage.facts("context.compaction.completed");
  expect(fact?.data.continuation).toMatchObject({
    loaded_tools: expect.arrayContaining(["many.tool_7"]) as unknown,
  });
});
