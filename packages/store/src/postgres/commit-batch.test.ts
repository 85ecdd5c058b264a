import { expect, test } from "vitest";
import type { Batch } from "../session/write-rows.ts";
import { toCommitQuery } from "./commit-batch.ts";

const SESSION = {
  session_no: 7,
  session_id: "s1",
  updated_at: "2026-01-01T00:00:00.000Z",
  last_seq: 2,
  head_hash: "b",
  bytes: 10,
  open_state: "{}",
};

function batchOf(seqs: readonly number[]): Batch {
  return {
    session: SESSION,
    before: { last_seq: 1, head_hash: "a" },
    mustSync: true,
    facts: seqs.map((seq) => ({
      seq,
      type: "tool.progress",
      run_index: null,
      tool_call_id: null,
      line: `line ${seq}`,
    })),
    nodes: [],
    runs: [],
    agents: [],
    calls: [],
    artifacts: [],
  };
}

function commit(seqs: readonly number[]) {
  return toCommitQuery(batchOf(seqs), { epoch: 3, leaseMs: 60_000 });
}

test("one row goes as plain values, several as one list for each column, in a statement of its own", () => {
  const one = commit([2]);
  expect(one.text).not.toContain("unnest");
  expect(one.values?.slice(10)).toEqual([expect.anything(), "tool.progress", null, null, "line 2"]);
  const two = commit([1, 2]);
  expect(two.text).toContain("unnest($11::bigint[]");
  expect(two.values).toHaveLength(15);
  expect(new Set([one.name, two.name, commit([]).name]).size).toBe(3);
  expect(commit([2]).text).toBe(one.text);
});
