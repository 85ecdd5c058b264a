import type { Fact } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { createTimeline } from "./timeline.ts";

const AT = Date.UTC(2026, 0, 1);
let seq = 0;

function fact(type: Fact["type"], ms: number, data: object): Fact {
  seq += 1;
  const time = new Date(AT + ms).toISOString();
  return { id: `f${seq}`, seq, type, time, level: "info", run_id: "r1", data } as Fact;
}

test("a request is one row over its attempts and models, with tokens, cost and the time to its first token", () => {
  verifies("MODEL-7");
  const timeline = createTimeline();
  const of = { request: 1, attempt: 1, model: "a:one" };
  const error = { kind: "overloaded", message: "it is overloaded" };
  const facts = [
    fact("run.started", 0, {}),
    fact("model.started", 10, of),
    fact("model.failed", 20, { ...of, error, first_token_ms: 4 }),
    fact("routing.fallback", 20, { request: 1, from: "a:one", to: "b:two", reason: "overloaded" }),
    fact("model.started", 30, { ...of, attempt: 2, model: "b:two" }),
  ];
  timeline.take(facts);
  expect(timeline.request("r1", 1)).toMatchObject({
    status: "running",
    model: "b:two",
    attempts: 2,
  });
  const usage = { input_tokens: 100, output_tokens: 5, cache_read_tokens: 80 };
  const cost = { currency: "USD", micros: 1500 };
  timeline.take([
    fact("model.completed", 90, {
      request: 1,
      attempt: 2,
      model: "b:two",
      stop: "tool_use",
      calls: 2,
      usage,
      cost,
      first_token_ms: 25,
    }),
    fact("model.started", 95, { request: 2, attempt: 1, model: "b:two", purpose: "compaction" }),
    fact("run.aborted", 99, {}),
  ]);
  const { requests } = timeline.changedSince(0, 100);
  expect(requests).toEqual([
    {
      run_id: "r1",
      request: 1,
      seq: 2,
      model: "b:two",
      status: "completed",
      started_at: AT + 10,
      attempted_at: AT + 30,
      first_token_at: AT + 55,
      ended_at: AT + 90,
      attempts: 2,
      fallbacks: [{ from: "a:one", to: "b:two", reason: "overloaded" }],
      stop: "tool_use",
      calls: 2,
      usage,
      cost: 0.0015,
      currency: "USD",
    },
    expect.objectContaining({ request: 2, purpose: "compaction", status: "aborted" }) as object,
  ]);
});
