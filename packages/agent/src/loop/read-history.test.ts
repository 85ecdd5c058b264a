import type { Fact } from "@soong/core";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { readHistory } from "./read-history.ts";

/** A session whose runs ended so; a run has 1 200 facts, none of a model. */
function createReader(...statuses: readonly string[]) {
  const read = new Map<string, number>();
  const runs = statuses.map((status, index) => ({ run_id: `run_${index}`, agent_id: "a", status }));
  const reader = {
    activePath: async () => [],
    children: async () => [],
    runs: async () => runs,
    facts: async ({ run_id, before, limit }: { run_id: string; before: number; limit: number }) => {
      const seqs = Array.from({ length: 1200 }, (_, index) => index + 1);
      const page = seqs.filter((seq) => seq < before).slice(-limit);
      read.set(run_id, (read.get(run_id) ?? 0) + page.length);
      return page.map((seq) => ({ seq, type: "tool.progress" }) as Fact);
    },
  };
  return { reader, read };
}

test("a session is continued without reading runs that completed, however long they are", async () => {
  verifies("STORE-3");
  const { reader, read } = createReader("completed", "failed", "completed");
  expect(await readHistory(reader, "a")).toEqual({ history: [], unrecorded: [] });
  expect([...read]).toEqual([["run_1", 1200]]);
});
