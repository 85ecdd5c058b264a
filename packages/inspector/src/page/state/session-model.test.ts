import { describe, expect, it } from "vitest";
import type { Lane, RunRow } from "../../wire/session-records.ts";
import type { SessionChanges } from "../../wire/home-records.ts";
import { callKey, emptySession, withChanges } from "./session-model.ts";
import { createStore } from "./store.ts";

describe("the session that is shown", () => {
  it("takes in what is new, and says when there are other rows", () => {
    const first = withChanges(emptySession("s"), changes([run({})], [lane({})]));
    expect(first.lanes.get(callKey("r", "c"))?.state).toBe("executing");
    expect(first).toMatchObject({ content: 1, shape: 1, read_seq: 5, is_loading: false });

    const same = withChanges(first, changes([run({ last_seq: 9 })], [lane({ state: "ended" })]));
    expect(same.lanes.get(callKey("r", "c"))?.state).toBe("ended");
    expect(same).toMatchObject({ content: 2, shape: 1 });

    const more = withChanges(same, changes([], [lane({ tool_call_id: "d", seq: 4 })]));
    expect(more).toMatchObject({ content: 3, shape: 2 });
    expect(more.lanes.size).toBe(2);

    const moved = withChanges(more, changes([run({ parent_run_id: "p" })], []));
    expect(moved.shape).toBe(3);
  });

  it("keeps calls of the same id in different runs apart", () => {
    const model = withChanges(emptySession("s"), changes([], [lane({}), lane({ run_id: "r2" })]));
    expect(model.lanes.size).toBe(2);
  });
});

describe("a store", () => {
  it("notifies its listeners of another value, and no one else", () => {
    const store = createStore(1);
    const received: number[] = [];
    const end = store.subscribe(() => received.push(store.get()));
    store.set(1);
    store.set(2);
    end();
    store.set(3);
    expect(received).toEqual([2]);
  });
});

function changes(runs: RunRow[], lanes: Lane[]): SessionChanges {
  const at = "2026-01-01T00:00:00.000Z";
  return {
    session: { session_id: "s", created_at: at, updated_at: at, last_seq: 5 },
    read_seq: 5,
    runs,
    lanes,
    requests: [],
    more: false,
  };
}

function run(more: Partial<RunRow>): RunRow {
  return {
    run_id: "r",
    agent_id: "a",
    status: "running",
    seq: 1,
    last_seq: 2,
    started_at: 0,
    facts: 2,
    calls: 1,
    surfaces: 1,
    ...more,
  };
}

function lane(more: Partial<Lane>): Lane {
  return {
    tool_call_id: "c",
    run_id: "r",
    agent_id: "a",
    tool_name: "t",
    seq: 2,
    state: "executing",
    spans: [],
    ...more,
  };
}
