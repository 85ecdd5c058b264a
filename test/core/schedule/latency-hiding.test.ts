import { expect, test } from "vitest";
import { verifies } from "#laws";
import { playWithScheduler } from "./play.ts";
import { playByDefinition } from "./reference-model.ts";
import type { Scenario } from "./scenario.ts";

const tenReadonlyCalls = Array.from({ length: 10 }, (_, i) => ({
  arrives: 100 * (i + 1),
  judgedAfter: 0,
  verdict: "parallel" as const,
  repeatable: true,
  script: [{ type: "work" as const, ticks: i === 0 ? 1000 : 300 }],
  outcome: "ok" as const,
  onInterrupt: "block" as const,
  diesAfter: 0,
}));

const turn: Scenario = {
  maxParallel: 10,
  early: "readonly",
  calls: tenReadonlyCalls,
  streamEnds: 1000,
  halt: undefined,
};

test("ten calls that arrive every 100 ms have ended at 1300 ms", () => {
  verifies("SCHED-8", "SCHED-5");
  const happenings = playWithScheduler(turn);
  const starts = happenings.filter(({ what }) => what === "start").map(({ at }) => at);
  expect(starts).toEqual(tenReadonlyCalls.map(({ arrives }) => arrives));
  expect(whenAllIsDelivered(turn)).toBe(1300);
});

test("with one more second of text everything is delivered when the stream ends, at 2000 ms", () => {
  verifies("SCHED-8", "SCHED-5");
  expect(whenAllIsDelivered({ ...turn, streamEnds: 2000 })).toBe(2000);
});

test("an executor that waits for the end of the stream needs 2000 and 3000 ms", () => {
  verifies("SCHED-8", "SCHED-5");
  expect(whenAllIsDelivered({ ...turn, early: "none" })).toBe(2000);
  expect(whenAllIsDelivered({ ...turn, early: "none", streamEnds: 2000 })).toBe(3000);
});

/** The end of the last call or of the stream, whichever is later; the model has to agree. */
function whenAllIsDelivered(scenario: Scenario): number {
  const [played, defined] = [playWithScheduler, playByDefinition].map((play) => {
    const ends = play(scenario).filter(({ what }) => what === "end");
    return Math.max(Number(scenario.streamEnds), ...ends.map(({ at }) => at));
  });
  expect(played).toBe(defined);
  return played ?? Number.NaN;
}
