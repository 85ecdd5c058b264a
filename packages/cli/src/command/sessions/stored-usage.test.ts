import type { Fact, FactType } from "@soong/core";
import type { RunRecord } from "@soong/store";
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
  const store = {
    lastFacts: async () => records.flatMap(({ last_seq }) => facts[last_seq - 1] ?? []),
    factsOfTypes: async (session_ids: readonly string[], types: readonly FactType[]) => {
      asked.push(...session_ids);
      return facts.filter(({ type }) => types.includes(type));
    },
  };
  return { store, reader: { session_id: "s", runs: async () => records }, asked };

  function add(run_id: string, type: FactType, data: object): void {
    facts.push(writtenFact({ seq: facts.length + 1, type, run_id, data }));
  }
}

test("the use of a session is that of all its runs, and that of a run is with all it started", async () => {
  verifies("EVENT-7");
  const { store, reader } = session(
    ["root", undefined, true],
    ["other", undefined, true],
    ["child", "root", true],
    ["grandchild", "child", false],
  );
  expect((await sumSessionUsage(store, await store.lastFacts())).get("s")).toEqual({
    requests: 4,
    untold: 0,
    unpriced: 0,
    input_tokens: 40,
    output_tokens: 4,
    cost: [{ currency: "USD", micros: 20 }],
  });
  expect(await sumRunUsage(store, reader, "root")).toMatchObject({ requests: 3, input_tokens: 30 });
  expect(await sumRunUsage(store, reader, "child")).toMatchObject({
    requests: 2,
    input_tokens: 20,
  });
  expect(await sumRunUsage(store, reader, "other")).toMatchObject({
    requests: 1,
    input_tokens: 10,
  });
});

test("a run that has ended is not read through for it", async () => {
  verifies("EVENT-7");
  const { store, asked } = session(["root", undefined, true]);
  await sumSessionUsage(store, await store.lastFacts());
  expect(asked).toEqual([]);
});
