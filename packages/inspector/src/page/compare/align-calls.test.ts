import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alignCalls, isSameCall } from "./align-calls.ts";

const call = fc.record({
  tool_name: fc.constantFrom("read", "edit", "run"),
  input: fc.constantFrom('{"a":1,"b":2}', '{"b":2,"a":1}', '{"a":2}', "not json"),
});
const calls = fc.array(call, { maxLength: 25 });
const read = { tool_name: "read", input: '{"path":"a"}' };
const edit = { tool_name: "edit", input: '{"path":"a"}' };

describe("the calls of two runs", () => {
  it("are each there once, in their order, and only beside calls of the same tool", () => {
    fc.assert(
      fc.property(calls, calls, (left, right) => {
        const rows = alignCalls(left, right);
        expect(rows.flatMap((row) => row.left ?? [])).toEqual(left);
        expect(rows.flatMap((row) => row.right ?? [])).toEqual(right);
        for (const row of rows) {
          expect(row.left ?? row.right).toBeDefined();
          if (row.left && row.right) expect(row.left.tool_name).toBe(row.right.tool_name);
        }
      }),
    );
  });

  it("are all the same beside themselves, and what was added or removed is alone", () => {
    fc.assert(
      fc.property(calls, calls, calls, (before, added, after) => {
        const whole = [...before, ...added, ...after];
        for (const row of alignCalls(whole, whole)) {
          expect(row.left && row.right && isSameCall(row.left, row.right)).toBe(true);
        }
        const rows = alignCalls([...before, ...after], whole);
        const same = rows.filter(({ left, right }) => left && right && isSameCall(left, right));
        expect(same).toHaveLength(before.length + after.length);
      }),
    );
  });

  it("give as many equal calls from either side", () => {
    const score = (rows: ReturnType<typeof alignCalls>) =>
      rows.reduce(
        (sum, { left, right }) => sum + (left && right ? (isSameCall(left, right) ? 3 : 1) : 0),
        0,
      );
    fc.assert(
      fc.property(calls, calls, (left, right) => {
        expect(score(alignCalls(left, right))).toBe(score(alignCalls(right, left)));
      }),
    );
  });

  it("are the same with names in another order, and another input is a difference beside it", () => {
    const other = { ...read, input: '{"path":"b"}' };
    expect(alignCalls([read, edit], [other, edit])).toEqual([
      { left: read, right: other },
      { left: edit, right: edit },
    ]);
    expect(alignCalls([read], [edit])).toEqual([
      { left: read, right: undefined },
      { left: undefined, right: edit },
    ]);
    const one = { tool_name: "x", input: '{"a":1,"b":{"c":1,"d":2}}' };
    expect(isSameCall(one, { tool_name: "x", input: '{"b":{"d":2,"c":1},"a":1}' })).toBe(true);
  });
});
