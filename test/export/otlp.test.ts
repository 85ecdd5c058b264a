// Facts as spans and metrics of OpenTelemetry (EXPORT-1).

import { readFileSync } from "node:fs";
import { defineHook, type Fact, type FactType } from "@soong/core";
import {
  createOtlpMetrics,
  createOtlpProjection,
  createSpanProjection,
  FACTS_WITHOUT_SPAN,
  findOtlpProblems,
  type OtlpOptions,
  type OtlpSpan,
  type OtlpTraceRequest,
} from "@soong/export";
import fc from "fast-check";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { openAgentStage, start } from "../agent/child/agent-stage.ts";
import { calls, done, failed, openStage, says } from "../agent/loop-stage.ts";
import { readTool, slowTool, writeTool } from "../agent/loop-tools.ts";
import { writtenFact } from "../facts.ts";
import { listSpans, readAttributes } from "./collector.ts";

type OtlpEvent = NonNullable<OtlpSpan["events"]>[number];

function project(facts: readonly Fact[], options: OtlpOptions = {}): OtlpSpan[] {
  const projection = createOtlpProjection(options);
  const requests = [...facts.flatMap((fact) => projection.push(fact)), ...projection.end()];
  expect(findOtlpProblems(JSON.parse(JSON.stringify(requests)))).toEqual([]);
  return listSpans(requests);
}

/** Of the one span with this name. */
function find(
  spans: readonly OtlpSpan[],
  name: string,
): OtlpSpan & { all: Record<string, unknown> } {
  const found = spans.filter((span) => span.name === name);
  expect(found.map((span) => span.name)).toEqual([name]);
  const [span] = found as [OtlpSpan];
  return { ...span, all: readAttributes(span) };
}

function measure({ startTimeUnixNano: from, endTimeUnixNano: to }: OtlpSpan): number {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}

test("a run, its requests and its calls are spans of one trace", async () => {
  verifies("EXPORT-1");
  const stage = await openStage(
    [
      [says("Let me look."), calls("a.slow"), { wait: 250 }, done("tool_use")],
      [says("Done."), done()],
    ],
    { tools: [slowTool(() => stage.clock, "a.slow", 2000)] },
  );
  await stage.ask("Go.");
  const spans = project(stage.journal.facts);
  expect(spans.map(({ name }) => name).toSorted()).toEqual([
    "chat written",
    "chat written",
    "execute_tool a.slow",
    "invoke_agent main",
  ]);
  const run = find(spans, "invoke_agent main");
  const call = find(spans, "execute_tool a.slow");
  const [request] = spans.filter(({ name }) => name === "chat written") as [OtlpSpan];
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect([call.parentSpanId, request.parentSpanId, run.parentSpanId]).toEqual([
    run.spanId,
    run.spanId,
    undefined,
  ]);
  expect([run.kind, call.kind, request.kind]).toEqual([1, 1, 3]);
  expect(measure(call)).toBe(2000);
  expect(call.all).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "a.slow",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.description": "Takes 2000 ms",
    "gen_ai.tool.call.id": stage.facts("tool.started")[0]?.tool_call_id,
    "soong.permission.decision": "allow",
    "soong.tool.status": "succeeded",
  });
  expect(readAttributes(request)).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "test",
    "gen_ai.request.model": "written",
    "gen_ai.response.finish_reasons": ["tool_call"],
    "gen_ai.usage.input_tokens": 10,
    "gen_ai.usage.output_tokens": 5,
  });
  expect(run.all).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.conversation.id": "s1",
    "gen_ai.usage.input_tokens": 20,
    "soong.run.end_reason": "completed",
    "soong.run.turns": 2,
  });
  expect(spans.every(({ status }) => status.code === 0)).toBe(true);
});

test("a child is a span below the call that started it", async () => {
  verifies("EXPORT-1");
  const stage = await openAgentStage({
    turns: [start("agent.create_sub_agent", { task: "Count." }), { text: "Three." }],
    agents: { default_sub_agent: [[{ text: "There are three." }]] },
  });
  await stage.ask("How many?");
  const spans = project(stage.journal.facts, { content: true });
  const call = find(spans, "execute_tool agent.create_sub_agent");
  const child = find(spans, "invoke_agent default_sub_agent");
  expect(child.parentSpanId).toBe(call.spanId);
  expect(child.traceId).toBe(call.traceId);
  expect(call.events?.map(({ name }) => name)).toContain("soong.agent.child.created");
  // Without its parent it is the same, whenever the fact that created it is read.
  const [created] = stage.facts("agent.child.created") as [Fact];
  for (const facts of [
    [created, ...stage.ofChild(0)],
    stage.ofChild(0).toSpliced(-1, 0, created),
  ]) {
    const alone = project(facts, { content: true });
    expect(alone.map(({ name }) => name)).not.toContain("invoke_agent main");
    expect(find(alone, "invoke_agent default_sub_agent")).toEqual(child);
  }
  const [unadopted] = project(stage.ofChild(0)).slice(-1) as [OtlpSpan];
  expect(unadopted).toMatchObject({
    name: "invoke_agent sub",
    spanId: child.spanId,
    parentSpanId: find(spans, "invoke_agent main").spanId,
    flags: child.flags,
  });
});

test("a denied call has a span without length, with the class of its error", async () => {
  verifies("EXPORT-1");
  const written: string[] = [];
  const guard = defineHook({
    id: "guard",
    event: "PreToolUse",
    run: () => ({ decision: "deny", reason: "not today" }),
  });
  const stage = await openStage([[calls("a.write"), done("tool_use")], [done()]], {
    tools: [writeTool("a.write", written)],
    sessionOptions: { hooks: [guard] },
  });
  await stage.ask("Go.");
  const spans = project(stage.journal.facts);
  const call = find(spans, "execute_tool a.write");
  expect(measure(call)).toBe(0);
  expect(call.status).toEqual({ code: 2 });
  expect(call.all).toMatchObject({
    "error.type": "hook_blocked",
    "soong.tool.status": "denied",
    "soong.tool.started": false,
  });
  expect(call.events).toBeUndefined();
  const denied = find(spans, "invoke_agent main").events?.find(
    ({ name }) => name === "soong.hook.denied",
  ) as OtlpEvent;
  expect(readAttributes(denied)).toEqual({
    "soong.hook.name": "guard",
    "gen_ai.tool.call.id": call.all["gen_ai.tool.call.id"],
  });
  expect(JSON.stringify(spans)).not.toContain("not today");
});

test("a call that waits for the user has the time as an attribute, and its run the events", async () => {
  verifies("EXPORT-1");
  const stage = await openStage([[calls("a.write"), done("tool_use")], [done()]], {
    tools: [writeTool("a.write", [])],
    sessionOptions: {
      ask: () =>
        new Promise((resolve) => {
          stage.clock.after(5000, () => resolve({ decision: "allow_once" }));
        }),
    },
  });
  await stage.ask("Go.");
  const spans = project(stage.journal.facts);
  const call = find(spans, "execute_tool a.write");
  expect(call.all["soong.permission.waiting_time"]).toBe(5);
  expect(call.all["soong.permission.decision"]).toBe("allow_once");
  expect(measure(call)).toBe(0);
  const { events = [] } = find(spans, "invoke_agent main");
  const asked = events.filter(({ name }) => name.startsWith("soong.permission."));
  expect(asked.map(({ name }) => name)).toEqual([
    "soong.permission.requested",
    "soong.permission.resolved",
  ]);
  const [requested, resolved] = asked.map(({ timeUnixNano }) => BigInt(timeUnixNano));
  expect(Number((resolved ?? 0n) - (requested ?? 0n)) / 1e9).toBe(5);
});

test("what happens while a tool runs is an event of its call", () => {
  verifies("EXPORT-1");
  const about = { run_id: "r1", tool_call_id: "c1", tool_name: "a.b" };
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
  const data = { result: { status: "succeeded", metadata: { duration_ms: 1000 } }, ended: {} };
  const spans = project([
    writtenFact({ seq: 1, type: "run.queued", run_id: "r1", time: at(0) }),
    writtenFact({ seq: 2, type: "turn.halted", run_id: "r1", time: at(1) }),
    writtenFact({ seq: 3, type: "run.started", run_id: "r1", time: at(2) }),
    writtenFact({ ...about, seq: 4, type: "tool.requested", time: at(2) }),
    writtenFact({ ...about, seq: 5, type: "sandbox.missing", time: at(3) }),
    writtenFact({ ...about, seq: 6, type: "tool.started", time: at(4) }),
    writtenFact({ ...about, seq: 7, type: "sandbox.violation", time: at(5) }),
    writtenFact({ ...about, seq: 8, type: "hook.completed", time: at(7) }),
    writtenFact({ ...about, seq: 9, type: "tool.completed", time: at(8), data }),
    writtenFact({ seq: 10, type: "run.completed", run_id: "r1", time: at(9) }),
  ]);
  const list = (name: string) =>
    spans
      .filter((span) => span.name.startsWith(name))
      .flatMap(({ events = [] }) =>
        events.map((event) => [event.name, Number(event.timeUnixNano.slice(-10)) / 1e9]),
      );
  // The call took a second: its last event is moved to its end, as one from before the run to its start.
  expect(list("execute_tool")).toEqual([
    ["soong.sandbox.violation", 5],
    ["soong.hook.completed", 5],
  ]);
  expect(list("invoke_agent")).toEqual([
    ["soong.turn.halted", 2],
    ["soong.sandbox.missing", 3],
  ]);
});

test("a name that the model made up is not sent", async () => {
  verifies("EXPORT-1");
  const stage = await openStage(
    [[calls("a.invented"), calls("a.read"), done("tool_use")], [done()]],
    {
      tools: [readTool("a.read", () => "x")],
    },
  );
  await stage.ask("Go.");
  const spans = project(stage.journal.facts);
  expect(find(spans, "execute_tool _OTHER").all).toMatchObject({
    "gen_ai.tool.name": "_OTHER",
    "error.type": "unknown_tool",
  });
  expect(JSON.stringify(spans)).not.toContain("invented");
  expect(spans.map(({ name }) => name)).toContain("execute_tool a.read");
  // Nor where the call ended, or the program, before it was looked up.
  const about = { run_id: "r1", tool_call_id: "c1", tool_name: "a.invented" };
  const requested = writtenFact({ ...about, seq: 1, type: "tool.requested" });
  const result = { status: "cancelled", error: { error_class: "canceled" } };
  const ended = writtenFact({ ...about, seq: 2, type: "tool.cancelled", data: { result } });
  const decided = writtenFact({
    ...about,
    seq: 2,
    type: "permission.evaluated",
    data: { decision: "ask" },
  });
  const nameOf = (...facts: Fact[]) => project(facts)[0]?.name;
  expect(nameOf(requested)).toBe("execute_tool _OTHER");
  expect(nameOf(requested, ended)).toBe("execute_tool _OTHER");
  expect(nameOf(requested, decided, ended)).toBe("execute_tool a.invented");
});

test("the id of a call is sent where it has the form of one", () => {
  verifies("EXPORT-1");
  const idOf = (tool_call_id: string) => {
    const facts = ["tool.requested", "tool.started", "permission.requested"] as const;
    return project(
      facts.map((type, i) =>
        writtenFact({ run_id: "r1", tool_name: "a.b", tool_call_id, type, seq: i + 1 }),
      ),
    );
  };
  expect(find(idOf("call_1.a:b-c"), "execute_tool a.b").all["gen_ai.tool.call.id"]).toBe(
    "call_1.a:b-c",
  );
  for (const id of ["my key = abc", "[redacted: KEY]", "x".repeat(129)]) {
    expect(JSON.stringify(idOf(id))).not.toContain(id);
  }
});

test("a request that fails has the kind of its error, and each attempt a span", async () => {
  verifies("EXPORT-1");
  const stage = await openStage([
    [says("I"), failed("overloaded", { status: 529 })],
    [says("Again."), done()],
  ]);
  await stage.ask("Go.");
  const requests = project(stage.journal.facts).filter(({ name }) => name === "chat written");
  expect(requests.map(({ status }) => status)).toEqual([{ code: 2 }, { code: 0 }]);
  const [first] = requests as [OtlpSpan];
  expect(readAttributes(first)).toMatchObject({
    "error.type": "overloaded",
    "http.response.status_code": 529,
    "soong.request.attempt": 1,
  });
});

test("texts of users, models and tools are in no span unless content is wanted, and then redacted", async () => {
  verifies("EXPORT-1", "REDACT-1");
  const stage = await openStage(
    [
      [
        says("ANSWER-TEXT"),
        calls("a.read", { path: "ARGUMENT-TEXT", key: "s3cr3t-value-42" }),
        done("tool_use"),
      ],
      [calls("a.fail", { path: "OTHER-ARGUMENT" }), done("tool_use")],
      [failed("authentication", { message: "MESSAGE-TEXT" })],
    ],
    {
      tools: [
        readTool("a.read", () => "RESULT-TEXT with s3cr3t-value-42"),
        readTool("a.fail", () => {
          throw new Error("FAILURE-TEXT");
        }),
      ],
      sessionOptions: { secrets: [{ name: "KEY", value: "s3cr3t-value-42" }] },
    },
  );
  await stage.ask("PROMPT-TEXT");
  const without = JSON.stringify(project(stage.journal.facts));
  expect(without).not.toMatch(/-TEXT|ARGUMENT|s3cr3t/);
  const spans = project(stage.journal.facts, { content: true });
  const withContent = JSON.stringify(spans);
  expect(withContent).not.toContain("s3cr3t");
  const read = find(spans, "execute_tool a.read").all;
  expect(read["gen_ai.tool.call.arguments"]).toContain("ARGUMENT-TEXT");
  expect(read["gen_ai.tool.call.result"]).toContain("RESULT-TEXT");
  const [answer] = spans.filter(({ name }) => name === "chat written") as [OtlpSpan];
  expect(JSON.parse(String(readAttributes(answer)["gen_ai.output.messages"]))).toMatchObject([
    {
      role: "assistant",
      parts: [
        { type: "text", content: "ANSWER-TEXT" },
        { type: "tool_call", name: "a.read", arguments: { path: "ARGUMENT-TEXT" } },
      ],
      finish_reason: "tool_call",
    },
  ]);
  expect(find(spans, "execute_tool a.fail").status).toMatchObject({
    message: expect.stringContaining("FAILURE-TEXT") as string,
  });
  const definitions = find(spans, "invoke_agent main").all["gen_ai.tool.definitions"];
  expect(JSON.parse(String(definitions))).toMatchObject([{ name: "a.fail" }, { name: "a.read" }]);
});

test("an answer is a message by the schema of the conventions, however long it is", () => {
  verifies("EXPORT-1");
  const about = { run_id: "r1", agent_id: "a1", data: { request: 1, attempt: 1 } };
  const text = `"\u{1F600}`.repeat(20_000);
  const call = (seq: number, model_input: unknown) =>
    writtenFact({
      ...about,
      seq,
      type: "tool.requested",
      tool_call_id: `c${seq}`,
      tool_name: "a.b",
      data: { model_input },
    });
  const answer = (...facts: Fact[]): unknown => {
    const spans = project([writtenFact({ ...about, seq: 1, type: "model.started" }), ...facts], {
      content: true,
    });
    const value = String(find(spans, "chat _OTHER").all["gen_ai.output.messages"]);
    expect(value.length).toBeLessThan(100_000);
    const [message] = JSON.parse(value) as [object];
    return message;
  };
  const delta = writtenFact({
    ...about,
    seq: 2,
    type: "model.delta",
    data: { ...about.data, text },
  });
  const end = (type: FactType) => writtenFact({ ...about, seq: 9, type });
  expect(
    answer(call(3, '{"a":1}'), call(4, { b: 2 }), call(5, "{ no"), end("model.completed")),
  ).toEqual({
    role: "assistant",
    parts: [
      { type: "tool_call", id: "c3", name: "a.b", arguments: { a: 1 } },
      { type: "tool_call", id: "c4", name: "a.b", arguments: { b: 2 } },
      { type: "tool_call", id: "c5", name: "a.b", arguments: "{ no" },
    ],
    finish_reason: "stop",
  });
  expect(
    answer(call(3, { a: text }), delta, delta, call(4, { b: 2 }), end("model.failed")),
  ).toEqual({
    role: "assistant",
    parts: [
      { type: "tool_call", id: "c3", name: "a.b" },
      {
        type: "text",
        content: expect.stringMatching(/^"\u{1F600}".*[^\p{Surrogate}]…$/su) as string,
      },
      { type: "tool_call", id: "c4", name: "a.b" },
    ],
    finish_reason: "error",
  });
  expect(answer(call(3, {}))).toMatchObject({ finish_reason: "error" });
});

test("what has not ended is given out at the end, and says so", () => {
  verifies("EXPORT-1");
  const about = { run_id: "r1", agent_id: "a1" };
  const spans = project([
    writtenFact({ ...about, seq: 1, type: "run.started", data: { role: "main" } }),
    writtenFact({
      ...about,
      seq: 2,
      type: "model.started",
      data: { request: 1, attempt: 1, model: "x:y" },
    }),
    writtenFact({ ...about, seq: 3, type: "tool.requested", tool_call_id: "c1", tool_name: "a.b" }),
    writtenFact({ ...about, seq: 4, type: "tool.started", tool_call_id: "c1", tool_name: "a.b" }),
    writtenFact({ ...about, seq: 5, type: "turn.halted", time: "2026-01-01T00:00:09.000Z" }),
  ]);
  expect(spans.map(({ name }) => name)).toEqual([
    "chat y",
    "execute_tool a.b",
    "invoke_agent main",
  ]);
  for (const span of spans) {
    expect(readAttributes(span)).toMatchObject({ "soong.unended": true });
    expect(measure(span)).toBe(9000);
    expect(span.status).toEqual({ code: 0 });
  }
});

test("a run of another program's trace is below its span, and keeps its own ids", () => {
  verifies("EXPORT-1");
  const facts = [
    writtenFact({ seq: 1, type: "run.started", run_id: "r1", data: { role: "main" } }),
    writtenFact({ seq: 2, type: "run.completed", run_id: "r1" }),
  ];
  const parent = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
  const [own] = project(facts) as [OtlpSpan];
  const [below] = project(facts, { parent }) as [OtlpSpan];
  expect(below).toMatchObject({
    traceId: parent.traceId,
    parentSpanId: parent.spanId,
    spanId: own.spanId,
  });
  expect(below.flags & 0x300).toBe(0x300);
  expect(own.traceId).toMatch(/^[0-9a-f]{32}$/);
});

test("calls of one id in two runs are two spans, and a call that a tool makes is below its own", () => {
  verifies("EXPORT-1");
  const call = { tool_call_id: "c1", tool_name: "a.b" };
  const end = { data: { result: { status: "succeeded" } } };
  const spans = project([
    writtenFact({ seq: 1, type: "tool.requested", run_id: "r1", ...call }),
    writtenFact({ seq: 2, type: "tool.requested", run_id: "r2", ...call }),
    writtenFact({
      seq: 3,
      type: "tool.requested",
      run_id: "r1",
      tool_call_id: "c2",
      tool_name: "a.c",
      data: { within_tool_call_id: "c1" },
    }),
    writtenFact({
      seq: 4,
      type: "tool.completed",
      run_id: "r1",
      tool_call_id: "c2",
      tool_name: "a.c",
      ...end,
    }),
    writtenFact({ seq: 5, type: "tool.completed", run_id: "r1", ...call, ...end }),
    writtenFact({ seq: 6, type: "tool.completed", run_id: "r2", ...call, ...end }),
  ]);
  const [first, second] = spans.filter(({ name }) => name === "execute_tool a.b") as [
    OtlpSpan,
    OtlpSpan,
  ];
  expect(first.spanId).not.toBe(second.spanId);
  expect(find(spans, "execute_tool a.c").parentSpanId).toBe(first.spanId);
});

test("a call that was recorded after it had ended is as long as it took", () => {
  verifies("EXPORT-1");
  const about = { run_id: "r1", tool_call_id: "c1", tool_name: "a.b" };
  const result = { status: "succeeded", metadata: { duration_ms: 300 } };
  const late = "2026-01-01T00:00:10.000Z";
  const spans = project([
    writtenFact({ ...about, seq: 1, type: "tool.started" }),
    writtenFact({
      ...about,
      seq: 2,
      type: "tool.completed",
      time: late,
      data: { result, ended: { after: 1, nth: 1 } },
    }),
  ]);
  expect(measure(find(spans, "execute_tool a.b"))).toBe(300);
});

test("a span holds a bounded number of events, and counts the others", () => {
  verifies("EXPORT-1");
  const about = { run_id: "r1" };
  const hooks = Array.from({ length: 1000 }, (_, i) =>
    writtenFact({ ...about, seq: i + 2, type: "hook.failed", data: { hook: "h", event: "Stop" } }),
  );
  const [run] = project([
    writtenFact({ ...about, seq: 1, type: "run.started" }),
    ...hooks,
    writtenFact({ ...about, seq: 1002, type: "run.completed" }),
  ]) as [OtlpSpan];
  expect(run.events).toHaveLength(128);
  expect(run.droppedEventsCount).toBe(872);
});

test("a projection keeps only what is open", () => {
  verifies("EXPORT-1");
  const projection = createSpanProjection();
  const about = { run_id: "r1" };
  projection.push(writtenFact({ ...about, seq: 1, type: "run.started" }));
  const ended = Array.from({ length: 1000 }, (_, i) => {
    const call = { ...about, tool_call_id: `c${i}`, tool_name: "a.b", seq: i + 2 };
    const data = { result: { status: "succeeded" } };
    return [
      ...projection.push(writtenFact({ ...call, type: "tool.requested" })),
      ...projection.push(writtenFact({ ...call, type: "tool.started" })),
      ...projection.push(writtenFact({ ...call, type: "tool.completed", data })),
      // After the end of its call: it opens nothing again.
      ...projection.push(writtenFact({ ...call, type: "tool.yielded" })),
      ...projection.push(writtenFact({ ...call, type: "permission.resolved" })),
    ].length;
  });
  expect(new Set(ended)).toEqual(new Set([1]));
  expect(projection.end()).toHaveLength(1);
  expect(projection.end()).toEqual([]);
});

const SPAN_TYPES: readonly FactType[] = [
  "run.queued",
  "run.started",
  "run.completed",
  "run.failed",
  "model.started",
  "model.delta",
  "model.completed",
  "model.failed",
  "tool.catalog.resolved",
  "tool.requested",
  "tool.started",
  "tool.waiting",
  "permission.evaluated",
  "permission.requested",
  "permission.resolved",
  "tool.completed",
  "tool.denied",
  "hook.completed",
  "agent.child.created",
  "agent.child.completed",
  "routing.fallback",
];

test("facts that any program wrote never throw, and give spans that are sound", () => {
  verifies("EXPORT-1");
  const id = fc.oneof(fc.constantFrom("x", "y", "z", ""), fc.anything());
  const fact = fc.record(
    {
      type: fc.oneof(fc.constantFrom(...SPAN_TYPES), fc.string()),
      time: fc.oneof(
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
        fc.anything(),
      ),
      session_id: fc.constant("s"),
      run_id: id,
      agent_id: id,
      parent_run_id: id,
      tool_call_id: id,
      tool_name: id,
      data: fc.oneof(
        fc.anything(),
        fc.record(
          {
            request: fc.anything(),
            model: fc.anything(),
            role: fc.anything(),
            text: fc.string({ unit: "binary" }),
            model_input: fc.anything(),
            child_run_id: id,
            within_tool_call_id: id,
            tools: fc.anything(),
            usage: fc.anything(),
            error: fc.anything(),
            result: fc.oneof(
              fc.anything(),
              fc.record({ status: fc.anything(), content: fc.anything(), metadata: fc.anything() }),
            ),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: ["type", "session_id"] },
  );
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 30 }), fc.boolean(), (facts, content) => {
      const projection = createOtlpProjection({ content, spansPerRequest: 3 });
      const requests = [
        ...facts.flatMap((one) => projection.push(one as Fact)),
        ...projection.end(),
      ];
      const metrics = createOtlpMetrics({ startTimeUnixNano: "0" });
      for (const span of listSpans(requests)) metrics.add(span);
      const sent: unknown = JSON.parse(
        JSON.stringify([...requests, ...[metrics.collect("1")].filter(Boolean)]),
      );
      // A journal that ends a call twice has two spans of it.
      const problems = findOtlpProblems(sent).filter((one) => !one.endsWith("was there before"));
      expect(problems).toEqual([]);
    }),
  );
  for (const nothing of [undefined, null, 1, "x", []]) {
    expect(createOtlpProjection().push(nothing as never)).toEqual([]);
  }
});

test("requests say which version of what made them, and by which conventions", () => {
  verifies("EXPORT-1");
  const projection = createOtlpProjection();
  projection.push(writtenFact({ seq: 1, type: "model.started", run_id: "r1" }));
  const [request] = projection
    .push(writtenFact({ seq: 2, type: "model.completed", run_id: "r1" }))
    .concat(projection.end()) as [OtlpTraceRequest];
  const { version } = JSON.parse(readFileSync("packages/export/package.json", "utf8")) as {
    version: string;
  };
  const [scopeSpans] = request.resourceSpans[0]?.scopeSpans ?? [];
  const schemaUrl = expect.stringMatching(/^https:\/\/opentelemetry\.io\/schemas\//) as string;
  expect(scopeSpans).toMatchObject({ scope: { name: "soong", version }, schemaUrl });
  const metrics = createOtlpMetrics({ startTimeUnixNano: "0" });
  for (const span of listSpans([request])) metrics.add(span);
  const [scopeMetrics] = metrics.collect("1")?.resourceMetrics[0]?.scopeMetrics ?? [];
  expect(scopeMetrics).toMatchObject({ scope: { version }, schemaUrl });
});

test("facts without a span are listed with the reason, and give none", () => {
  verifies("EXPORT-1");
  const types = Object.keys(FACTS_WITHOUT_SPAN) as FactType[];
  const projection = createSpanProjection({ content: true });
  for (const type of types) {
    expect(FACTS_WITHOUT_SPAN[type as keyof typeof FACTS_WITHOUT_SPAN]).not.toBe("");
    expect(projection.push(writtenFact({ type, run_id: "r1", tool_call_id: "c1" }))).toEqual([]);
  }
  expect(projection.end()).toEqual([]);
});

test("durations and tokens are histograms since the start, by tool and model", async () => {
  verifies("EXPORT-1");
  const stage = await openStage(
    [[calls("a.slow"), calls("a.gone"), done("tool_use")], [failed("authentication")]],
    { tools: [slowTool(() => stage.clock, "a.slow", 2000)] },
  );
  await stage.ask("Go.");
  const metrics = createOtlpMetrics({ startTimeUnixNano: "5" });
  expect(metrics.collect("6")).toBeUndefined();
  for (const span of project(stage.journal.facts)) metrics.add(span);
  const request = metrics.collect("7");
  expect(findOtlpProblems(request)).toEqual([]);
  const list = (request?.resourceMetrics ?? []).flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics: ofScope }) => ofScope),
  );
  const points = list.flatMap(({ name, unit, histogram }) =>
    histogram.dataPoints.map((point) => ({ name, unit, ...point, all: readAttributes(point) })),
  );
  expect(
    points.map(({ name, unit, count, sum, all }) => [
      name,
      unit,
      count,
      sum,
      all["error.type"] ?? all["gen_ai.token.type"],
    ]),
  ).toEqual([
    ["gen_ai.execute_tool.duration", "s", "1", 2, undefined],
    ["gen_ai.client.operation.duration", "s", "1", expect.any(Number), undefined],
    ["gen_ai.client.operation.duration", "s", "1", expect.any(Number), "authentication"],
    ["gen_ai.client.token.usage", "{token}", "1", 10, "input"],
    ["gen_ai.client.token.usage", "{token}", "1", 5, "output"],
  ]);
  const [slow] = points;
  // 2 s is above 1.28 and below 2.56.
  expect(slow?.bucketCounts.indexOf("1")).toBe(8);
  expect(slow).toMatchObject({ startTimeUnixNano: "5", timeUnixNano: "7", min: 2, max: 2 });
});
