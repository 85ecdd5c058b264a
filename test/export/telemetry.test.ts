// Live telemetry: what a real collector receives of sessions, and what becomes of it when there is none, or a bad one.

import { setImmediate } from "node:timers/promises";
import {
  createHeldClock,
  type Fact,
  type FactListener,
  type HeldClock,
  type Session,
} from "@soong/core";
import {
  createOtlpProjection,
  exportTelemetry,
  findOtlpProblems,
  type OtlpSpan,
  type TelemetryOptions,
} from "@soong/export";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { openAgentStage, start } from "../agent/child/agent-stage.ts";
import { calls, done, failed, openStage, says } from "../agent/loop-stage.ts";
import { readTool, slowTool, writeTool } from "../agent/loop-tools.ts";
import { writtenFact } from "../facts.ts";
import {
  findClosedAddress,
  listSpans,
  openCollector,
  readAttributes,
  type Collector,
} from "./collector.ts";

/** On clocks of its own: nothing is sent by time, and no wait ends, unless a test moves them. */
function follow(session: Pick<Session, "watch">, options: TelemetryOptions) {
  const clock = createHeldClock(Date.UTC(2026, 0, 1));
  const background = createHeldClock(Date.UTC(2026, 0, 1));
  const telemetry = exportTelemetry(session, options, { clock, background });
  if (telemetry === undefined) throw new Error("nothing would be sent");
  return { telemetry, clock, background };
}

/** A session that records what a test says. */
function followWritten(options: TelemetryOptions) {
  const listeners: FactListener[] = [];
  const record = (fact: Fact): void => listeners.forEach((listener) => listener(() => fact));
  const session = {
    watch(_: unknown, listener: FactListener) {
      listeners.push(listener);
      return () => {};
    },
  };
  return {
    ...follow(session, options),
    record,
    /** Runs that begin and end, each a span. */
    recordRuns: (count: number): void => {
      for (let i = 0; i < count; i += 1) {
        const about = { run_id: `r${i}`, agent_id: "a", seq: i + 1 };
        record(writtenFact({ ...about, type: "run.started", data: { role: "main" } }));
        record(writtenFact({ ...about, type: "run.completed" }));
      }
    },
  };
}

function checkRequests({ requests }: Collector): void {
  const bodies = requests.map(({ body }) => JSON.parse(body) as unknown);
  expect(findOtlpProblems(bodies)).toEqual([]);
}

test("a collector receives the spans and metrics of a session, with the ids of the stored journal", async () => {
  verifies("EXPORT-1");
  const collector = await openCollector();
  const stage = await openAgentStage(
    {
      turns: [
        start("agent.create_sub_agent", { task: "Count." }),
        {
          calls: [
            { tool: "a.read", input: {} },
            { tool: "a.write", input: {} },
          ],
        },
        { error: { kind: "overloaded" } },
        { text: "Three." },
      ],
      agents: { default_sub_agent: [[{ text: "There are three." }]] },
    },
    { tools: [readTool("a.read", () => "x"), writeTool("a.write", [])] },
  );
  const { telemetry } = follow(stage.session, { endpoint: `${collector.url}/base/` });
  await stage.ask("How many?");
  await stage.session.close();
  const report = await telemetry.close();
  expect(report).toEqual({ spans_sent: collector.spans().length, spans_lost: 0 });
  expect(collector.requests.map(({ path }) => path).toSorted()).toEqual([
    "/base/v1/metrics",
    "/base/v1/traces",
  ]);
  expect(collector.requests[0]?.headers["content-type"]).toBe("application/json");
  checkRequests(collector);
  const stored = createOtlpProjection();
  const requests = [...stage.journal.facts.flatMap((fact) => stored.push(fact)), ...stored.end()];
  expect(collector.spans()).toEqual(listSpans(requests));
  const names = collector.spans().map(({ name, status }) => `${name} ${status.code}`);
  expect(names).toEqual(
    expect.arrayContaining([
      "invoke_agent main 0",
      "invoke_agent default_sub_agent 0",
      "execute_tool a.read 0",
      // No one was there to approve it.
      "execute_tool a.write 2",
      "chat test 2",
    ]),
  );
  const [metrics] = collector.metrics();
  expect(JSON.stringify(metrics)).toContain("gen_ai.execute_tool.duration");
});

test("spans are sent as they end, after the delay, and metrics at their interval", async () => {
  verifies("EXPORT-1");
  const collector = await openCollector();
  const stage = await openStage([[calls("a.slow"), done("tool_use")], [done()]], {
    tools: [slowTool(() => stage.clock, "a.slow", 90_000)],
  });
  const env = { OTEL_BSP_SCHEDULE_DELAY: "1000", OTEL_METRIC_EXPORT_INTERVAL: "7000" };
  const { telemetry, background } = follow(stage.session, { endpoint: collector.url, env });
  const { end } = stage.conversation.send("Go.");
  await stage.clock.settle();
  await background.advance(1000);
  await collector.received(1);
  expect(collector.spans().map(({ name }) => name)).toEqual(["chat written"]);
  await background.advance(6000);
  await collector.received(2);
  expect(collector.metrics()).toHaveLength(1);
  await stage.clock.advance(90_000);
  await end;
  await telemetry.close();
  expect(collector.spans()).toHaveLength(4);
  checkRequests(collector);
});

test("no prompt, argument, result, answer or message leaves unless content is wanted, and secrets never do", async () => {
  verifies("EXPORT-1", "REDACT-1");
  for (const content of [false, true]) {
    const collector = await openCollector();
    const stage = await openStage(
      [
        [
          says("ANSWER-TEXT"),
          calls("a.read", { path: "ARGUMENT-TEXT s3cr3t-value-42" }),
          done("tool_use"),
        ],
        [calls("a.fail"), calls("INVENTED TEXT"), calls("INVENTED"), done("tool_use")],
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
    const { telemetry } = follow(stage.session, { endpoint: collector.url, content });
    await stage.ask("PROMPT-TEXT");
    await telemetry.close();
    checkRequests(collector);
    const sent = collector.requests.map(({ body }) => body).join("\n");
    expect(sent).toContain("execute_tool a.read");
    expect(sent).not.toContain("s3cr3t");
    if (content) expect(sent).toMatch(/ARGUMENT-TEXT[^]*RESULT-TEXT[^]*FAILURE-TEXT/);
    else expect(sent).not.toMatch(/-TEXT|INVENTED/);
  }
});

test("a collector that is away costs no wait at the end, and is reported once", async () => {
  verifies("EXPORT-1");
  const endpoint = await findClosedAddress();
  const stage = await openStage([[says("Hi."), done()]]);
  const { telemetry } = follow(stage.session, { endpoint });
  expect(await stage.ask("Go.")).toMatchObject({ reason: "completed" });
  // The clock is held: whatever waited would wait for ever.
  expect(await telemetry.close()).toEqual({
    spans_sent: 0,
    spans_lost: 2,
    problem: `Telemetry: 2 of 2 spans were not sent to ${endpoint}: ECONNREFUSED.`,
  });
});

test("a collector that never answers is given up after two seconds, and no run waits for it", async () => {
  verifies("EXPORT-1");
  const collector = await openCollector(() => {});
  const stage = await openStage([[says("Hi."), done()]]);
  const { telemetry, clock } = follow(stage.session, { endpoint: collector.url });
  expect(await stage.ask("Go.")).toMatchObject({ reason: "completed" });
  const closing = telemetry.close();
  await collector.received(2);
  await clock.advance(2000);
  expect(await closing).toMatchObject({
    spans_lost: 2,
    problem: expect.stringContaining("no answer in time") as string,
  });
});

test("a request that takes too long is tried again, and the answer of the next one counts", async () => {
  verifies("EXPORT-1");
  let count = 0;
  const collector = await openCollector((response) => {
    count += 1;
    if (count > 1) response.end("{}");
  });
  const { clock, background, telemetry, recordRuns } = openTraces(collector.url, {
    OTEL_EXPORTER_OTLP_TIMEOUT: "300",
    OTEL_BSP_SCHEDULE_DELAY: "1000",
  });
  recordRuns(1);
  await background.advance(1000);
  await collector.received(1);
  await clock.advance(300);
  await passTime(background, () => collector.requests.length >= 2);
  expect(await telemetry.close()).toEqual({ spans_sent: 1, spans_lost: 0 });
});

test("an answer that is final is not asked for again", async () => {
  verifies("EXPORT-1");
  for (const status of [400, 401, 404, 413, 500]) {
    const collector = await openCollector(
      (response) => void response.writeHead(status).end("<html>"),
    );
    const { telemetry, recordRuns } = openTraces(collector.url);
    recordRuns(3);
    expect(await telemetry.close()).toMatchObject({
      spans_lost: 3,
      problem: expect.stringContaining(`: HTTP ${status}.`) as string,
    });
    expect(collector.requests).toHaveLength(1);
  }
});

test("a collector that is busy is asked again when it says, and nothing is lost", async () => {
  verifies("EXPORT-1");
  for (const status of [429, 502, 503, 504]) {
    const statuses = [status, status, 200];
    const collector = await openCollector(
      (response) => void response.writeHead(statuses.shift() ?? 200, { "retry-after": "7" }).end(),
    );
    const { background, telemetry, recordRuns } = openTraces(collector.url);
    recordRuns(3);
    await passTime(background, () => collector.requests.length >= 3);
    expect(await telemetry.close()).toEqual({ spans_sent: 3, spans_lost: 0 });
    expect(collector.requests).toHaveLength(3);
  }
});

test("a batch is tried five times, then it is lost and the next one has its turn", async () => {
  verifies("EXPORT-1");
  const collector = await openCollector((response) => void response.writeHead(503).end());
  const { clock, background, telemetry, recordRuns } = openTraces(collector.url);
  recordRuns(1);
  await passTime(background, () => collector.requests.length >= 5);
  recordRuns(2);
  await passTime(background, () => collector.requests.length >= 6);
  const sizes = collector.requests.map(({ body }) => listSpans([JSON.parse(body) as never]).length);
  expect(sizes).toEqual([1, 1, 1, 1, 1, 2]);
  const closing = telemetry.close();
  await clock.advance(2000);
  expect(await closing).toMatchObject({ spans_sent: 0, spans_lost: 3 });
});

test("an answer that makes no sense is an answer", async () => {
  verifies("EXPORT-1");
  for (const text of [
    "",
    "<html>",
    "{",
    '"partialSuccess"',
    '{"partialSuccess":3}',
    "\0".repeat(1e6),
  ]) {
    const collector = await openCollector((response) => void response.end(text));
    const { telemetry, recordRuns } = openTraces(collector.url);
    recordRuns(3);
    expect(await telemetry.close()).toEqual({ spans_sent: 3, spans_lost: 0 });
  }
});

test("an answer without end is not read to it", async () => {
  verifies("EXPORT-1");
  const collector = await openCollector((response) => {
    const write = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", write).on("error", () => {});
    write();
  });
  const { telemetry, recordRuns } = openTraces(collector.url);
  recordRuns(3);
  expect(await telemetry.close()).toEqual({ spans_sent: 3, spans_lost: 0 });
});

test("a collector that closes connections is one that is away", async () => {
  verifies("EXPORT-1");
  const collector = await openCollector((response) => void response.socket?.destroy());
  const { telemetry, recordRuns } = openTraces(collector.url);
  recordRuns(3);
  expect(await telemetry.close()).toEqual({
    spans_sent: 0,
    spans_lost: 3,
    problem: `Telemetry: 3 of 3 spans were not sent to ${collector.url}: the connection was closed.`,
  });
});

test("spans that the collector rejects are counted as lost", async () => {
  verifies("EXPORT-1");
  const answer = { partialSuccess: { rejectedSpans: "2", errorMessage: "too old" } };
  const collector = await openCollector((response) => void response.end(JSON.stringify(answer)));
  const { telemetry, recordRuns } = openTraces(collector.url);
  recordRuns(3);
  expect(await telemetry.close()).toMatchObject({ spans_sent: 1, spans_lost: 2 });
});

test("headers that authorize are sent to the collector and nowhere else, and are in no report", async () => {
  verifies("EXPORT-1", "REDACT-3");
  const other = await openCollector();
  const collector = await openCollector(
    (response) => void response.writeHead(307, { location: `${other.url}/v1/traces` }).end(),
  );
  const url = new URL(collector.url);
  const endpoint = `http://user:p%40ss-word-1@${url.host}`;
  const env = { OTEL_EXPORTER_OTLP_HEADERS: "api-key=k3y-value-77,x-scope=a%20b" };
  const { telemetry, recordRuns } = openTraces(endpoint, env);
  recordRuns(1);
  const report = await telemetry.close();
  const basic = Buffer.from("user:p@ss-word-1").toString("base64");
  expect(collector.requests[0]?.headers).toMatchObject({
    "api-key": "k3y-value-77",
    "x-scope": "a b",
    authorization: `Basic ${basic}`,
  });
  expect(other.requests).toEqual([]);
  expect(report.spans_lost).toBe(1);
  const told = JSON.stringify([report, collector.requests.map(({ body }) => body)]);
  expect(told).not.toMatch(/k3y-value|ss-word/);
  expect(told).not.toContain(basic);
});

test("while a collector is slow, a bounded number of spans waits, and the others are counted", async () => {
  verifies("EXPORT-1");
  const answers: (() => void)[] = [];
  let isSlow = true;
  const collector = await openCollector((response) => {
    if (isSlow) answers.push(() => response.end("{}"));
    else response.end("{}");
  });
  const { telemetry, recordRuns } = openTraces(collector.url);
  recordRuns(20_000);
  await collector.received(1);
  isSlow = false;
  for (const answer of answers) answer();
  const report = await telemetry.close();
  // The queue, and the batch that was under way.
  expect(report).toEqual({
    spans_sent: 2048 + 512,
    spans_lost: 17_440,
    problem: expect.stringContaining("17440 of 20000 spans were not sent") as string,
  });
  const last = collector.spans().at(-1) as OtlpSpan;
  expect(readAttributes(last)).toMatchObject({ "soong.run.id": "r19999" });
});

test("a session that records nonsense costs nothing but its spans", async () => {
  verifies("EXPORT-1");
  const collector = await openCollector();
  const { telemetry, record } = followWritten({ endpoint: collector.url });
  record(undefined as never);
  record({ type: "tool.completed" } as never);
  record(writtenFact({ type: "run.started", run_id: "r1", data: null }));
  expect(await telemetry.close()).toEqual({ spans_sent: 1, spans_lost: 0 });
  expect(await telemetry.close()).toEqual({ spans_sent: 1, spans_lost: 0 });
  checkRequests(collector);
});

test("nothing is opened where no collector is named, or telemetry is switched off", async () => {
  verifies("EXPORT-1");
  const session = { watch: () => expect.unreachable() };
  const off = { OTEL_SDK_DISABLED: "TRUE", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" };
  expect(exportTelemetry(session, {})).toBeUndefined();
  expect(exportTelemetry(session, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: " " } })).toBeUndefined();
  expect(exportTelemetry(session, { env: off, endpoint: "http://127.0.0.1:1" })).toBeUndefined();
});

/** Spans only, so that requests can be counted. */
function openTraces(endpoint: string, env: Record<string, string> = {}) {
  return followWritten({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_METRICS_EXPORTER: "none", ...env },
  });
}

/** Moves time on, a second at a time, between turns of the event loop, until something real has happened. */
async function passTime(clock: HeldClock, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    await clock.advance(1000);
    await setImmediate();
  }
}
