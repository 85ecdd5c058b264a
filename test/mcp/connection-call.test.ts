// One call to a server: time, abort, progress and questions (MCP-4, MCP-5), in both eras.

import {
  createHeldClock,
  type ElicitationRequest,
  type JsonObject,
  type JsonValue,
} from "@soong/core";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import type { ConnectedServer } from "../../packages/mcp/src/connection/connected-server.ts";
import { callOptions, connectionWorld } from "./connection-world.ts";

const world = connectionWorld();
const ERAS = ["2025", "2026"] as const;

interface Failure {
  reason: string;
  message: string;
  code?: number;
  data?: unknown;
}

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  return promise.then(
    () => ({ reason: "none", message: "" }),
    (error: Failure) => error,
  );
}

/** All messages the server got, and a chance for those under way to get there. */
async function seenBy(server: ConnectedServer): Promise<JsonObject[]> {
  const answer = await server.callTool({ name: "seen", arguments: {} }, callOptions());
  return (answer["structuredContent"] as { seen: JsonObject[] }).seen;
}

describe.each(ERAS)("a call to a server of the era %s", (era) => {
  test("brings back what the server sent, known to us or not", async () => {
    verifies("MCP-4");
    const server = await world.plain({ era }).connected();
    const request = { name: "echo", arguments: { text: "hé" }, _meta: { trace: "t1" } };
    expect(await server.callTool(request, callOptions())).toMatchObject({
      content: [{ type: "text", text: "hé" }],
      _meta: { heard: true },
    });
    expect(await server.callTool({ name: "odd", arguments: {} }, callOptions())).toMatchObject({
      content: [{ type: "hologram", depth: 3 }, 7],
      structuredContent: [1],
      extra: true,
    });
    const [echo] = (await seenBy(server)).filter(({ method }) => method === "tools/call");
    expect(echo?.["params"]).toMatchObject({ ...request, _meta: { trace: "t1" } });
  });

  test("fails with the server's own error, or with an answer that is none", async () => {
    verifies("MCP-4");
    const server = await world.plain({ era }).connected();
    const failed = await failureOf(server.callTool({ name: "fail", arguments: {} }, callOptions()));
    expect(failed).toMatchObject({ reason: "rpc_error", code: -32042, data: { elicitations: [] } });
    expect(failed.message).toContain("see [31m there");
    const noAnswers: JsonObject[] = [{ result: "text" }, { result: null }, { result: [] }, {}];
    for (const answer of noAnswers) {
      const odd = server.callTool({ name: "raw", arguments: { answer } }, callOptions());
      expect(await failureOf(odd)).toMatchObject({ reason: "invalid_answer" });
    }
    const errors: JsonValue[] = ["text", null, {}, { code: "x", message: 3 }];
    for (const error of errors) {
      const odd = server.callTool({ name: "raw", arguments: { answer: { error } } }, callOptions());
      expect(await failureOf(odd)).toMatchObject({ reason: "rpc_error", code: -32603 });
    }
  });

  test("takes an answer whose number came back as a text", async () => {
    const server = await world.plain({ era }).connected();
    const answer = { result: { resultType: "complete", content: [1] } };
    const request = { name: "raw", arguments: { answer, textId: true } };
    expect(await server.callTool(request, callOptions())).toMatchObject({ content: [1] });
  });

  test("that is aborted reaches the server, and a timeout is distinguished from it", async () => {
    verifies("MCP-4");
    const clock = createHeldClock();
    const server = await world.plain({ era }, { clock }).connected();
    const abort = new AbortController();
    const waiting = server.callTool(
      { name: "never", arguments: {} },
      callOptions({ signal: abort.signal }),
    );
    abort.abort(new Error("secret reasons"));
    expect(await failureOf(waiting)).toMatchObject({ reason: "aborted" });

    const slow = server.callTool({ name: "never", arguments: {} }, callOptions({ timeoutMs: 100 }));
    await clock.advance(100);
    expect(await failureOf(slow)).toMatchObject({
      reason: "timeout",
      message: "the server did not answer within 100 ms",
    });
    const before = server.callTool(
      { name: "never", arguments: {} },
      callOptions({ signal: abort.signal }),
    );
    expect(await failureOf(before)).toMatchObject({ reason: "aborted" });

    const seen = await seenBy(server);
    const calls = seen.filter(({ method }) => method === "tools/call").map(({ id }) => id);
    const cancelled = seen.filter(({ method }) => method === "notifications/cancelled");
    expect(cancelled.map(({ params }) => params)).toMatchObject([
      { requestId: calls[0], reason: "the call was aborted" },
      { requestId: calls[1], reason: "no answer within 100 ms" },
    ]);
    expect(calls).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });

  test("starts its time anew with every progress", async () => {
    verifies("MCP-4");
    const clock = createHeldClock();
    const server = await world.plain({ era }, { clock }).connected();
    const progress: unknown[] = [];
    const waiting = server.callTool(
      { name: "never", arguments: {} },
      { ...callOptions({ timeoutMs: 100 }), onProgress: (update) => progress.push(update) },
    );
    const failure = failureOf(waiting);
    for (let round = 0; round < 3; round += 1) {
      await clock.advance(90);
      await server.callTool({ name: "poke", arguments: {} }, callOptions());
    }
    const update = { progress: 1, total: 3, message: "on the way" };
    expect(progress).toEqual([update, update, update]);
    await clock.advance(99);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await failure).toMatchObject({ reason: "timeout" });
  });

  test("may have a question, for which its time is paused", async () => {
    verifies("MCP-5");
    const clock = createHeldClock();
    const server = await world.plain({ era }, { clock, canElicit: true }).connected();
    const asked: ElicitationRequest[] = [];
    const { structuredContent } = await server.callTool(
      { name: "ask", arguments: {} },
      {
        ...callOptions({ timeoutMs: 100 }),
        async onElicitation(request) {
          asked.push(request);
          await clock.advance(1_000_000);
          return { action: "accept", content: { colour: "blue" } };
        },
      },
    );
    expect(asked).toEqual([
      {
        mode: "form",
        message: "Which colour?",
        requested_schema: { type: "object", properties: { colour: { type: "string" } } },
      },
    ]);
    expect(structuredContent).toEqual({
      reply: { action: "accept", content: { colour: "blue" } },
      ...(era === "2026" ? { requestState: "s1" } : {}),
    });
    expect(clock.pending).toBe(0);
  });

  test("may send the user to an address", async () => {
    verifies("MCP-5");
    const server = await world.plain({ era }, { canElicit: true }).connected();
    const question = { mode: "url", message: "Pay", url: "https://e.com/pay", elicitationId: "e1" };
    const asked: ElicitationRequest[] = [];
    const { structuredContent } = await server.callTool(
      { name: "ask", arguments: { question } },
      {
        ...callOptions(),
        onElicitation(request) {
          asked.push(request);
          return Promise.resolve({ action: "accept", content: { not: "for an address" } });
        },
      },
    );
    expect(asked).toEqual([{ mode: "url", message: "Pay", url: "https://e.com/pay" }]);
    expect(structuredContent).toMatchObject({ reply: { action: "accept" } });
    expect(JSON.stringify(structuredContent)).not.toContain("not");
  });

  test("whose question no one answers gets a no", async () => {
    verifies("MCP-5");
    const server = await world.plain({ era }, { canElicit: true }).connected();
    const answers = [
      undefined,
      () => Promise.reject(new Error("nobody")),
      () => Promise.resolve({ action: "decline" as const, content: { colour: "blue" } }),
    ];
    for (const onElicitation of answers) {
      const { structuredContent } = await server.callTool(
        { name: "ask", arguments: {} },
        { ...callOptions(), onElicitation },
      );
      expect(structuredContent).toMatchObject({ reply: { action: "decline" } });
      expect(JSON.stringify(structuredContent)).not.toContain("blue");
    }
  });

  test("is offered questions only where someone can answer them", async () => {
    verifies("MCP-5");
    const silent = await world.plain({ era }).connected();
    expect(JSON.stringify((await seenBy(silent))[0])).not.toContain("elicitation");
    const open = await world.plain({ era }, { canElicit: true }).connected();
    expect(JSON.stringify((await seenBy(open))[0])).toContain('"elicitation":{"form":{},"url":{}}');
  });
});

test("progress sent together with the answer is not lost", async () => {
  verifies("MCP-4");
  const server = await world.plain().connected();
  const progress: unknown[] = [];
  await server.callTool(
    { name: "hurry", arguments: {} },
    { ...callOptions(), onProgress: (update) => progress.push(update) },
  );
  expect(progress).toEqual([{ progress: 1 }]);
});

test("an answer sent right before the end counts", async () => {
  const server = await world.plain().connected();
  const answer = await server.callTool({ name: "last_words", arguments: {} }, callOptions());
  expect(answer).toEqual({ content: [] });
});

test("a question of the older era goes to the call begun last, and holds the time of all", async () => {
  verifies("MCP-5");
  const clock = createHeldClock();
  const server = await world.plain({}, { clock, canElicit: true }).connected();
  const asked: string[] = [];
  const answerAs = (name: string) => async () => {
    asked.push(name);
    await clock.advance(500);
    return { action: "cancel" as const };
  };
  const first = server.callTool(
    { name: "never", arguments: {} },
    { ...callOptions({ timeoutMs: 100 }), onElicitation: answerAs("first") },
  );
  const firstFailure = failureOf(first);
  const second = await server.callTool(
    { name: "ask", arguments: {} },
    { ...callOptions({ timeoutMs: 200 }), onElicitation: answerAs("second") },
  );
  expect(second["structuredContent"]).toEqual({ reply: { action: "cancel" } });
  expect(asked).toEqual(["second"]);
  await clock.advance(99);
  expect(clock.pending).toBe(1);
  await clock.advance(1);
  expect(await firstFailure).toMatchObject({ reason: "timeout" });
});

test("what a server of the older era logs is for the caller of all calls that are open, and else for no one", async () => {
  verifies("MCP-5");
  const server = await world.plain().connected();
  const heard: string[] = [];
  const log = async (asker: unknown, text: string) => {
    const onLog = ({ data }: { data?: unknown }) =>
      void heard.push(`${String(asker)}: ${String(data)}`);
    await server.callTool({ name: "log", arguments: { text } }, { ...callOptions(), asker, onLog });
  };
  await log("a", "alone");
  const stop = new AbortController();
  const { signal } = stop;
  // One that listens to no logs may still be the one that is spoken of.
  const silent = { ...callOptions({ signal }), asker: "b" };
  const open = failureOf(server.callTool({ name: "never", arguments: {} }, silent));
  await log("a", "whose?");
  await log("b", "of b");
  stop.abort();
  await open;
  await log("a", "alone again");
  expect(heard).toEqual(["a: alone", "b: of b", "a: alone again"]);
});

test("a server that only asks and never answers is given up", async () => {
  const server = await world.plain({ era: "2026" }, { canElicit: true }).connected();
  const endless = server.callTool({ name: "ask", arguments: { endless: true } }, callOptions());
  expect(await failureOf(endless)).toMatchObject({ reason: "invalid_answer" });
});

test("a line without end costs the server its connection, not us our memory", async () => {
  const connection = world.plain();
  const server = await connection.connected();
  const failure = await failureOf(server.callTool({ name: "flood", arguments: {} }, callOptions()));
  expect(failure).toMatchObject({ reason: "lost" });
  expect(failure.message).toContain("it sent a line of more than 33554432 bytes");
  expect(connection.state.kind).toBe("failed");
});
