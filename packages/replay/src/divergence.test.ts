// Calls of another scheduler: the one of now begins them earlier than it could have been by the record.

import type { Fact, FactType } from "@soong/core";
import { verifies } from "#laws";
import { expect, it } from "vitest";
import { LiveCall, type Piece } from "./live-call.ts";
import { beginsTooEarly } from "./divergence.ts";
import { RecordedCall } from "./recorded-call.ts";

function fact<T extends FactType>(type: T, seq: number, id: string, data = {}): Fact<T> {
  return { type, seq, tool_call_id: id, tool_name: "a.tool", data } as unknown as Fact<T>;
}

/** One that is begun now, and that was on record from `begun` to `ended`. */
function call(id: string, kind: string, begun: number, ended: number, turn = 1): LiveCall {
  const of = Object.assign(new RecordedCall(id, fact("tool.requested", 1, id)), {
    queued: fact("tool.queued", 2, id, { class: kind }),
    begun: fact("hook.started", begun, id),
    ended: fact("tool.completed", ended, id),
  });
  return Object.assign(new LiveCall(of, turn), { begun: true });
}

function piece(calls: readonly LiveCall[], streaming: readonly [number, number][] = []): Piece {
  const byId = new Map(calls.map((one) => [one.recorded.id, one]));
  return { hasOrder: true, calls: byId, turns: new Map(), streaming: new Map(streaming) };
}

it("a barrier begins too early beside what it waited for, and nothing else does", () => {
  verifies("REPLAY-1");
  const first = call("1", "together", 3, 5);
  const alone = call("2", "alone", 6, 8);
  expect(beginsTooEarly(piece([first, alone]), alone, "readonly")?.divergence).toMatchObject({
    stage: "schedule",
    seq: 6,
    recorded: "it waited for a.tool (1)",
    now: "it begins beside a.tool (1)",
  });
  const together = call("2", "together", 6, 8);
  expect(beginsTooEarly(piece([first, together]), together, "readonly")).toBeUndefined();
  // It ran beside it then as well, or is in another turn.
  const beside = call("2", "alone", 4, 8);
  expect(beginsTooEarly(piece([first, beside]), beside, "readonly")).toBeUndefined();
  const elsewhere = call("1", "together", 3, 5, 2);
  expect(beginsTooEarly(piece([elsewhere, alone]), alone, "readonly")).toBeUndefined();
});

it("a write begins too early before the end of its answer, but where it may", () => {
  verifies("REPLAY-1");
  const write = call("1", "write", 9, 11);
  const during = piece([write], [[1, 7]]);
  expect(beginsTooEarly(during, write, "readonly")?.divergence).toMatchObject({
    recorded: "it waited for the end of the answer",
    now: "it begins before",
  });
  expect(beginsTooEarly(during, write, "all")).toBeUndefined();
  expect(beginsTooEarly(piece([write], [[1, 10]]), write, "readonly")).toBeUndefined();
  expect(beginsTooEarly(piece([write]), write, "readonly")).toBeUndefined();
});
