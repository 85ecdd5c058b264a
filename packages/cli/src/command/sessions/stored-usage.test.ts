import type { Fact, FactType } from "@soong/core";
import type { RunRecord, SessionReader } from "@soong/store";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { writtenFact } from "../../../../../test/facts.ts";
import { sumRunUsage, sumSessionUsage } from "./stored-usage.ts";

const COST = { currency: "USD", micros: 5 };

/** Each run has one request; those that ended say so with their last fact. */
function session(...runs: readonly [id: string, parent: string | undefined, ended: boolean][]) {
  const facts: Fact[] = [];
  const records = runs.map(([run_id, parent_run_id, ended]): RunRecord => {
    const first_seq = facts.length + 1;
    const usage = { input_tokens: 10, output_tokens: 1 };
    add(run_id, "model.completed", { usage, cost: COST });
    const total = { requests: 1, untold: 0, unpriced: 0, ...usage, cost: [COST] };
    if (ended) add(run_id, "run.completed", { usage: total });
    return {
      run_id,
      session_id: "s",
      agent_id: "a",
      ...(parent_run_id === undefined ? {} : { parent_run_id }),
      status: ended ? "completed" : "running",
      started_at: "",
      first_seq,
      last_seq: facts.length,
    };
  });
  const asked: unknown[] = [];
  const reader = {
    runs: async () => records,
    facts: async (page: { run_id?: string; after?: number; limit?: number } = {}) => {
      asked.push(page);
      const { run_id, after = 0, limit = 1000 } = page;
      return facts
        .filter((fact) => fact.seq > after && (run_id === undefined || fact.run_id === run_id))
        .slice(0, limit);
    },
  } as unknown as SessionReader;
  return { reader, asked };

  function add(run_id: string, type: FactType, data: object): void {
    facts.push(writtenFact({ seq: facts.length + 1, type, run_id, data }));
  }
}

test("the use of a session is that of all its runs, and that of a run is with all it started", async () => {
  verifies("EVENT-7");
  const { reader } = session(
    ["root", undefined, true],
    ["other", undefined, true],
    ["child", "root", true],
    ["grandchild", "child", false],
  );
  expect(await sumSessionUsage(reader)).toEqual({
    requests: 4,
    untold: 0,
    unpriced: 0,
    input_tokens: 40,
    output_tokens: 4,
    cost: [{ currency: "USD", micros: 20 }],
  });
  expect(await sumRunUsage(reader, "root")).toMatchObject({ requests: 3, input_tokens: 30 });
  expect(await sumRunUsage(reader, "child")).toMatchObject({ requests: 2, input_tokens: 20 });
  expect(await sumRunUsage(reader, "other")).toMatchObject({ requests: 1, input_tokens: 10 });
});

test("a run that has ended is not read through for it", async () => {
  verifies("EVENT-7");
  const { reader, asked } = session(["root", undefined, true]);
  await sumSessionUsage(reader);
  expect(asked).toEqual([{ after: 1, limit: 1 }]);
});
