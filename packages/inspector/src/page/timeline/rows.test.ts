import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Lane, RunRow } from "../../wire/session-records.ts";
import { callKey } from "../state/session-model.ts";
import { type Row, listRows, wayTo } from "./rows.ts";
import { createLaneFilter, type LaneFilter } from "./timeline-tools.tsx";

const nothingClosed: ReadonlySet<string> = new Set();

describe("the rows of a timeline", () => {
  it("put a run's calls below it in the order they were asked for, however they came", () => {
    const model = modelOf([run("r", 1)], [lane("r", "b", 5), lane("r", "a", 3)]);
    expect(drawn(listRows(model, { closed: nothingClosed }))).toEqual(["r", "  r a", "  r b"]);
  });

  it("put a child's run below the call that started it", () => {
    const model = modelOf(
      [run("r", 1), run("c", 4, { parent_run_id: "r", parent_call_id: "a" })],
      [lane("r", "a", 3), lane("c", "a", 6), lane("r", "b", 7)],
    );
    expect(drawn(listRows(model, { closed: nothingClosed }))).toEqual([
      "r",
      "  r a",
      "    c",
      "      c a",
      "  r b",
    ]);
  });

  it("put a call made within another one below it, and a child without a call below its parent", () => {
    const model = modelOf(
      [run("r", 1), run("w", 9, { parent_run_id: "r" })],
      [lane("r", "a", 3), lane("r", "in", 4, { parent_call_id: "a" })],
    );
    expect(drawn(listRows(model, { closed: nothingClosed }))).toEqual([
      "r",
      "  r a",
      "    r in",
      "  w",
    ]);
  });

  it("put what the user attached below the prompt that it was sent with, and what they typed below the one before", () => {
    const own = (own_call: "attached" | "typed", parent_run_id: string) =>
      ({ own_call, parent_run_id, status: "completed" }) as const;
    const model = modelOf(
      [
        run("file1", 1, own("attached", "p1")),
        run("p1", 5),
        run("typed", 10, own("typed", "p1")),
        run("file2", 15, own("attached", "p1")),
        run("gone", 18, { ...own("attached", "p1"), status: "failed" }),
        run("p2", 20),
        run("unsent", 30, own("attached", "p2")),
      ],
      [
        lane("file1", "a", 2),
        lane("p1", "call", 6),
        lane("typed", "b", 11),
        lane("file2", "c", 16),
        lane("gone", "d", 19),
        lane("unsent", "e", 31),
      ],
    );
    expect(drawn(listRows(model, { closed: nothingClosed }))).toEqual([
      "p1",
      "  file1 a",
      "  p1 call",
      "  typed b",
      "  gone d",
      "p2",
      "  file2 c",
      "  unsent e",
    ]);
    expect(wayTo(model, callKey("file2", "c"))).toEqual(["p2"]);
  });

  it("leave out what is inside of one that is shut, and say that there is something", () => {
    const model = modelOf([run("r", 1)], [lane("r", "a", 3)]);
    const rows = listRows(model, { closed: new Set(["r"]) });
    expect(rows).toEqual([{ kind: "run", key: "r", depth: 0, is_open: false }]);
    expect(listRows(model, { closed: nothingClosed })[1]?.is_open).toBeUndefined();
  });

  it("keep what leads to a call that is looked for, also when it is shut", () => {
    const model = modelOf(
      [run("r", 1), run("c", 4, { parent_run_id: "r", parent_call_id: "a" }), run("o", 20)],
      [lane("r", "a", 3), lane("c", "x", 6, { tool_name: "web.fetch" }), lane("r", "b", 7)],
    );
    const keep = createLaneFilter({ text: "FETCH web", status: "any" }, true);
    const rows = listRows(model, { closed: new Set(["r", callKey("r", "a")]), keep: keep! });
    expect(drawn(rows)).toEqual(["r", "  r a", "    c", "      c x"]);
  });

  it("show calls of a run that is not known yet", () => {
    expect(drawn(listRows(modelOf([], [lane("r", "a", 3)]), { closed: nothingClosed }))).toEqual([
      "r a",
    ]);
  });

  it("name the way to a row from the outside", () => {
    const model = modelOf(
      [run("r", 1), run("c", 4, { parent_run_id: "r", parent_call_id: "a" })],
      [lane("r", "a", 3), lane("c", "x", 6)],
    );
    expect(wayTo(model, callKey("c", "x"))).toEqual(["r", "r a", "c"]);
    expect(wayTo(model, "nothing")).toEqual([]);
  });

  it("have everything exactly once, for any journal", () => {
    const id = fc.constantFrom("a", "b", "c", "d");
    const started = fc.record({ parent_run_id: id, parent_call_id: id }, { requiredKeys: [] });
    const own_call = fc.constantFrom("attached" as const, "typed" as const, undefined);
    const status = fc.constantFrom("completed" as const, "failed" as const);
    const begun = fc
      .tuple(started, fc.record({ own_call, status }))
      .map(([a, b]) => ({ ...a, ...b }));
    const runs = fc.array(fc.tuple(id, fc.nat(20), begun));
    const lanes = fc.array(fc.tuple(id, id, fc.nat(20), started));
    fc.assert(
      fc.property(runs, lanes, (runs, lanes) => {
        const model = modelOf(
          runs.map(([id, seq, more]) => run(id, seq, more)),
          lanes.map(([run_id, id, seq, more]) => lane(run_id, id, seq, more)),
        );
        const keys = listRows(model, { closed: nothingClosed }).map(({ key }) => key);
        const isRow = ({ own_call, parent_run_id }: RunRow) => !(own_call && parent_run_id);
        const rowRuns = [...model.runs.values()].filter(isRow).map(({ run_id }) => run_id);
        expect(keys.toSorted()).toEqual([...rowRuns, ...model.lanes.keys()].toSorted());
      }),
    );
  });

  it("go as deep as the journal does", () => {
    const runs = Array.from({ length: 20_000 }, (_, at) =>
      run(`r${at}`, at, at === 0 ? {} : { parent_run_id: `r${at - 1}` }),
    );
    const rows = listRows(modelOf(runs, []), { closed: nothingClosed });
    expect(rows[19_999]?.depth).toBe(19_999);
  });
});

describe("a filter of calls", () => {
  it("keeps all of them when nothing is asked", () => {
    expect(createLaneFilter({ text: "  ", status: "any" }, true)).toBeUndefined();
  });

  it("filters by the state of a call", () => {
    const waiting = lane("r", "a", 1, { state: "waiting" });
    const failed = lane("r", "b", 2, { state: "ended", outcome: "failed" });
    const partial = lane("r", "c", 3, { state: "ended", outcome: "partial" });
    const kept = (status: LaneFilter["status"], isLive = true) =>
      [waiting, failed, partial]
        .filter(createLaneFilter({ text: "", status }, isLive)!)
        .map(({ tool_call_id }) => tool_call_id);
    expect(kept("waiting")).toEqual(["a"]);
    expect(kept("going_on")).toEqual(["a"]);
    expect(kept("not_succeeded")).toEqual(["b"]);
    expect(kept("succeeded")).toEqual(["c"]);
    expect(kept("left_open")).toEqual([]);
    // What a dead process left behind waits for no one.
    expect(kept("waiting", false)).toEqual([]);
    expect(kept("going_on", false)).toEqual([]);
    expect(kept("left_open", false)).toEqual(["a"]);
  });

  it("looks for every word, in the tool's name, in what it is for and in what came of it", () => {
    const one = lane("r", "a", 1, { tool_name: "code.read_file", about: "README.md" });
    expect(createLaneFilter({ text: "readme code", status: "any" }, true)!(one)).toBe(true);
    expect(createLaneFilter({ text: "readme write", status: "any" }, true)!(one)).toBe(false);
  });
});

function drawn(rows: readonly Row[]): string[] {
  return rows.map(({ key, depth }) => "  ".repeat(depth) + key);
}

function modelOf(runs: readonly RunRow[], lanes: readonly Lane[]) {
  return {
    runs: new Map(runs.map((run) => [run.run_id, run])),
    lanes: new Map(lanes.map((lane) => [callKey(lane.run_id, lane.tool_call_id), lane])),
  };
}

function run(run_id: string, seq: number, more: Partial<RunRow> = {}): RunRow {
  return {
    run_id,
    agent_id: "agent",
    status: "running",
    seq,
    last_seq: seq,
    started_at: seq,
    facts: 1,
    calls: 0,
    surfaces: 1,
    ...more,
  };
}

function lane(run_id: string, id: string, seq: number, more: Partial<Lane> = {}): Lane {
  return {
    tool_call_id: id,
    run_id,
    agent_id: "agent",
    tool_name: "code.read_file",
    seq,
    state: "executing",
    spans: [],
    ...more,
  };
}
