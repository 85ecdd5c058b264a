import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import {
  factPlace,
  formatOpenState,
  NOTHING_OPEN,
  parseOpenState,
  readHolder,
  PLACES,
  type CallRow,
} from "./rows.ts";

const call: fc.Arbitrary<CallRow> = fc.record({
  requested_seq: fc.nat(),
  run_id: fc.constantFrom("run_1", "run_2", "__proto__", ""),
  tool_call_id: fc.string(),
  tool_name: fc.string(),
  started_seq: fc.option(fc.nat()),
  ended_seq: fc.constant(null),
  status: fc.constant(null),
});

test("what a session has open is read as it was written, also from a store that wrote its calls as rows", () => {
  verifies("STORE-3", "STORE-4");
  const calls = fc.uniqueArray(call, { selector: ({ requested_seq }) => requested_seq });
  fc.assert(
    fc.property(calls, (open) => {
      const state = { calls: open, runs: [["run_1", 2, 1]], active: [["a", "n"]] } as const;
      for (const open_state of [formatOpenState(state), JSON.stringify(state)]) {
        const read = parseOpenState({ session_id: "s", open_state });
        const inOrder = (rows: readonly CallRow[]): CallRow[] =>
          rows.toSorted((a, b) => a.requested_seq - b.requested_seq);
        expect({ ...read, calls: inOrder(read.calls) }).toEqual({ ...state, calls: inOrder(open) });
      }
    }),
  );
});

test("a session at rest is written as an earlier version reads it", () => {
  verifies("STORE-3");
  expect(JSON.parse(formatOpenState(NOTHING_OPEN))).toEqual({ calls: [], runs: [], active: [] });
});

test("every fact of two billion sessions has a place of its own, in order, within 64 bits", () => {
  verifies("STORE-1");
  const session = fc.oneof(
    fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    fc.integer({ min: 2 ** 21 - 2, max: 2 ** 21 + 2 }),
  );
  const seq = fc.oneof(fc.integer({ min: 0, max: PLACES - 1 }), fc.constantFrom(0, PLACES - 1));
  fc.assert(
    fc.property(session, seq, (session_no, at) => {
      const place = BigInt(factPlace(session_no, at));
      expect(place / BigInt(PLACES)).toBe(BigInt(session_no));
      expect(place % BigInt(PLACES)).toBe(BigInt(at));
      expect(place < 2n ** 63n).toBe(true);
      expect(factPlace(session_no, PLACES)).toBe(factPlace(session_no + 1, 0));
    }),
  );
});

test("of a holder that was changed by hand only the sound fields are read", () => {
  const read = (holder: object) => readHolder({ holder: JSON.stringify(holder) });
  const named = { pid: 7, since: "now", seq: 3 };
  expect(read({ ...named, process: null, host: 7, epoch: "x" })).toEqual(named);
  expect(read({ ...named, process: { pid: 7 } })).toEqual(named);
  expect(read({ pid: "7" })).toMatchObject({ pid: 0 });
});
