import { isTerminalFact, type Fact, type FactType } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { writtenFact } from "../../../../test/facts.ts";
import { drive, heldTool, pushAll, setStage, type Stage } from "../../../../test/core/drive.ts";
import { personWho, slowPerson } from "../../../../test/core/people.ts";
import { factsOf, recovered } from "../../../../test/core/recovered.ts";
import { richSession } from "../../../../test/core/rich-session.ts";
import { allowAll, reader, START, writer } from "../../../../test/core/world.ts";
import type { Lane } from "../wire/session-records.ts";
import { createTimeline, type Timeline } from "./timeline.ts";

function timelineOf(facts: readonly Fact[]): Timeline {
  const timeline = createTimeline();
  timeline.take(facts);
  return timeline;
}

const readLane = ({ journal }: Stage, id: string) => timelineOf(journal.facts).lane(id) as Lane;

/** Spans as `kind from–to`, counted from the start of the stage; an open one has no end. */
const spansOf = (lane: Lane) =>
  lane.spans.map(([kind, from, to]) => `${kind} ${from - START}–${to === null ? "" : to - START}`);

describe("a lane", () => {
  it("is queued behind a write, executes, and holds its result until those before it are delivered", async () => {
    verifies("UI-1");
    const first = heldTool("a.write", { permission: "write", concurrency_safe: false });
    const second = heldTool("a.read");
    const stage = await setStage({ tools: [first.tool, second.tool], policy: allowAll });
    const { clock } = stage;
    const turn = stage.run.openTurn();
    turn.push({ id: "r", name: "a.read", arguments: { path: "notes.md" } });
    turn.push({ id: "w", name: "a.write", arguments: {} });
    turn.push({ id: "after", name: "a.read", arguments: {} });
    turn.end();
    const settled = turn.settled();
    await clock.advance(100);
    expect(readLane(stage, "r")).toMatchObject({ state: "executing", about: "notes.md" });
    expect(spansOf(readLane(stage, "w"))).toEqual(["arriving 0–0", "queued 0–"]);
    second.calls[0]?.finish("read it");
    await clock.advance(50);
    expect(spansOf(readLane(stage, "r")), "results come all at once here").toEqual([
      "arriving 0–0",
      "queued 0–0",
      "executing 0–100",
      "holding 100–",
    ]);
    first.calls[0]?.finish("written");
    await clock.advance(50);
    second.calls[1]?.finish("read again");
    await drive(clock, settled);
    expect(spansOf(readLane(stage, "w"))).toEqual([
      "arriving 0–0",
      "queued 0–100",
      "executing 100–150",
      "holding 150–200",
    ]);
    expect(readLane(stage, "after")).toMatchObject({
      state: "ended",
      outcome: "succeeded",
      yielded_at: START + 200,
      summary: "read again",
      tool_name: "a.read",
      run_id: stage.run.identity.run_id,
      agent_id: stage.run.identity.agent_id,
    });
    const [requested, ended] = ["tool.requested", "tool.completed"].map(
      (type) => stage.facts(type as FactType).find(({ tool_call_id }) => tool_call_id === "w")?.seq,
    );
    expect(readLane(stage, "w")).toMatchObject({ seq: requested, ended_seq: ended });
  });

  it("waits for the user, and is queued again until it starts", async () => {
    verifies("UI-1");
    const person = slowPerson();
    const held = heldTool("a.write", { permission: "write", concurrency_safe: false });
    const stage = await setStage({ tools: [held.tool], ask: person.ask });
    const settled = pushAll(stage, "a.write", "a.write").settled();
    await stage.clock.advance(1000);
    expect(readLane(stage, "1").state).toBe("waiting");
    person.answer("1", { decision: "allow_once" });
    await stage.clock.advance(1000);
    expect(readLane(stage, "1").state).toBe("executing");
    held.calls[0]?.finish("done");
    await stage.clock.advance(1000);
    person.answer("2", { decision: "deny" });
    await drive(stage.clock, settled);
    expect(spansOf(readLane(stage, "1"))).toEqual([
      "arriving 0–0",
      "queued 0–0",
      "waiting 0–1000",
      "queued 1000–1000",
      "executing 1000–2000",
      "holding 2000–3000",
    ]);
    const refused = readLane(stage, "2");
    expect(spansOf(refused).at(-2)).toBe("queued 3000–3000");
    expect(refused).toMatchObject({ state: "ended", outcome: "rejected" });
    expect(refused.spans.map(([kind]) => kind)).not.toContain("executing");
  });

  it("waits no longer when the answer cannot be had", async () => {
    const stage = await setStage({
      tools: [writer("a.write")],
      ask: () => Promise.reject(new Error("the window is closed")),
    });
    await drive(stage.clock, pushAll(stage, "a.write").settled());
    const lane = readLane(stage, "1");
    expect(lane.outcome).toBe("denied");
    expect(lane.spans.map(([kind]) => kind)).toEqual([
      "arriving",
      "queued",
      "waiting",
      "queued",
      "holding",
    ]);
  });

  it("that never gets to run ends all the same", async () => {
    const stage = await setStage({
      tools: [reader("a.read", 0, { input_schema: { type: "object", required: ["x"] } })],
    });
    await drive(stage.clock, pushAll(stage, "a.none", ["a.read", "{"]).settled());
    for (const [id, outcome] of [
      ["1", "denied"],
      ["2", "failed"],
    ] as const) {
      expect(readLane(stage, id)).toMatchObject({ state: "ended", outcome });
      expect(readLane(stage, id).spans.map(([kind]) => kind)).toEqual(["arriving", "holding"]);
    }
  });

  it("of an attempt that was thrown away, or aborted, says so", async () => {
    const held = heldTool("a.read");
    const stage = await setStage({ tools: [held.tool] });
    const turn = stage.run.openTurn();
    turn.push({ id: "gone", name: "a.read", arguments: {} });
    await stage.clock.advance(10);
    await drive(stage.clock, turn.discard("the stream broke"));
    const settled = pushAll(stage, "a.read").settled();
    await stage.clock.advance(10);
    await stage.run.abort("enough");
    await drive(stage.clock, settled);
    expect(readLane(stage, "gone")).toMatchObject({ state: "ended", outcome: "discarded" });
    expect(readLane(stage, "1")).toMatchObject({ state: "ended", outcome: "aborted" });
  });

  it("that a crash cut off stays open until the session is opened again, and then ends with its run", async () => {
    const held = heldTool("a.write", { permission: "write", concurrency_safe: false });
    const stage = await setStage({ tools: [held.tool], policy: allowAll });
    pushAll(stage, "a.write", "a.write");
    await stage.clock.advance(10);
    expect(readLane(stage, "1").state).toBe("executing");
    const timeline = timelineOf(factsOf(recovered(stage.journal.entries)));
    expect(timeline.lane("1")).toMatchObject({ state: "ended", outcome: "unknown" });
    expect(timeline.lane("2")).toMatchObject({ state: "ended", outcome: "skipped" });
    expect(timeline.lane("1")?.yielded_at).toBeUndefined();
    expect(timeline.runs()).toMatchObject([{ status: "failed" }]);
    expect(timeline.runs()[0]?.reason).toContain("stopped before this run had ended");
  });

  it("whose run ended before it continues, and holds nothing back when it ends", async () => {
    const held = heldTool("a.read");
    const stage = await setStage({ tools: [held.tool, reader("a.quick")] });
    pushAll(stage, "a.quick", "a.read");
    await stage.clock.advance(10);
    expect(readLane(stage, "1").state).toBe("holding");
    stage.run.end("completed");
    expect(readLane(stage, "1")).toMatchObject({ state: "ended" });
    expect(readLane(stage, "2")).toMatchObject({ state: "executing" });
    held.calls[0]?.finish("late");
    await stage.clock.advance(10);
    expect(readLane(stage, "2")).toMatchObject({ state: "ended", outcome: "succeeded" });
    expect(spansOf(readLane(stage, "2")).at(-1)).toBe("executing 0–10");
    const later = stage.run.openTurn();
    later.push({ id: "later", name: "a.quick", arguments: {} });
    await stage.clock.advance(10);
    later.end();
    await stage.clock.advance(10);
    expect(readLane(stage, "later")).toMatchObject({ state: "ended" });
  });

  it("of a call made within another one names it", async () => {
    const stage = await setStage({ tools: [reader("a.read")] });
    await drive(
      stage.clock,
      stage.run.execute([
        { id: "outer", name: "a.read", arguments: {} },
        { id: "inner", name: "a.read", arguments: {}, within: "outer" },
      ]),
    );
    const timeline = timelineOf(stage.journal.facts);
    expect(timeline.lane("inner")).toMatchObject({ parent_call_id: "outer" });
    expect(timeline.childrenOf(timeline.lane("outer") as Lane)).toEqual({
      child_runs: [],
      child_calls: ["inner"],
    });
  });

  it("is distinguished from one of the same id in another run", async () => {
    const stage = await setStage({ tools: [reader("a.read"), reader("b.read")] });
    await drive(stage.clock, pushAll(stage, "a.read").settled());
    const other = await stage.session.startRun();
    await drive(stage.clock, other.execute([{ id: "1", name: "b.read", arguments: {} }]));
    const timeline = timelineOf(stage.journal.facts);
    const { run_id } = stage.run.identity;
    expect(timeline.lane("1", run_id)).toMatchObject({ tool_name: "a.read", run_id });
    expect(timeline.lane("1")).toMatchObject({
      tool_name: "b.read",
      run_id: other.identity.run_id,
    });
    expect(timeline.changedSince(0, 100).lanes).toHaveLength(2);
    expect(timeline.lane("2")).toBeUndefined();
    expect(timeline.lane("1", "nobody's")).toBeUndefined();
  });

  it("is never shorter than nothing when the clock is set back", async () => {
    const stage = await setStage({ tools: [writer("a.write")], ask: personWho("allow_once").ask });
    await drive(stage.clock, pushAll(stage, "a.write").settled());
    stage.run.end("completed");
    const facts = stage.journal.facts.map((fact) => ({
      ...fact,
      time: new Date(START - fact.seq * 1000).toISOString(),
    }));
    const [run] = timelineOf(facts).runs();
    const lane = timelineOf(facts).lane("1") as Lane;
    for (const [, from, to] of lane.spans) expect(to).toBe(from);
    expect(lane.state).toBe("ended");
    expect(run?.ended_at).toBe(run?.started_at);
    const unreadable = timelineOf(facts.map((fact) => ({ ...fact, time: "yesterday" })));
    expect(unreadable.lane("1")).toMatchObject({ state: "ended" });
  });
});

describe("a run", () => {
  const fact = (
    seq: number,
    type: FactType,
    about: Partial<Parameters<typeof writtenFact>[0]> = {},
  ) =>
    writtenFact({
      seq,
      time: new Date(START + seq).toISOString(),
      run_id: "main",
      agent_id: "a",
      ...about,
      type,
    });

  it("is queued, runs and ends, with why", () => {
    const timeline = createTimeline();
    const { run_id: _run, ...sessionFact } = fact(1, "session.created");
    timeline.take([sessionFact]);
    expect(timeline.runs()).toEqual([]);
    timeline.take([fact(2, "run.queued")]);
    expect(timeline.run("main")).toMatchObject({ status: "queued", seq: 2, started_at: START + 2 });
    timeline.take([fact(3, "run.started", { data: { role: "main", mode: "plan" } })]);
    expect(timeline.run("main")).toMatchObject({
      status: "running",
      mode: "plan",
      started_at: START + 3,
    });
    expect(timeline.run("main")).not.toHaveProperty("role");
    const error = { code: "budget", message: "The budget\nis spent." };
    timeline.take([fact(4, "run.failed", { data: { reason: "failed", error } })]);
    timeline.take([fact(5, "run.completed")]);
    expect(timeline.run("main")).toMatchObject({
      status: "failed",
      reason: "The budget is spent.",
      ended_at: START + 4,
      last_seq: 5,
      facts: 4,
      calls: 0,
    });
  });

  it("counts how often its tools were sent, so that a view knows when to ask again", () => {
    verifies("UI-1");
    const timeline = timelineOf([fact(1, "run.started"), fact(2, "tool.catalog.resolved")]);
    const { version } = timeline.changedSince(0, 10);
    timeline.take([fact(3, "tool.catalog.resolved")]);
    const { runs } = timeline.changedSince(version, 10);
    expect(runs).toMatchObject([{ run_id: "main", surfaces: 2 }]);
  });

  it("adds up what its own requests used, and says nothing of a price it does not know", () => {
    const used = (seq: number, cost: unknown, input_tokens = 10) =>
      fact(seq, "model.completed", {
        data: { usage: { input_tokens, output_tokens: 2 }, cost },
      });
    const euros = (micros: number) => ({ currency: "EUR", micros });
    const timeline = timelineOf([used(1, euros(1_500_000)), used(2, euros(500_000))]);
    const own = { requests: 2, input_tokens: 20, output_tokens: 4, cost: 2, currency: "EUR" };
    expect(timeline.run("main")?.usage).toEqual(own);
    // What is on record one by one counts.
    const usage = { requests: 9, untold: 0, unpriced: 0, cost: [euros(9)], input_tokens: 99 };
    timeline.take([fact(3, "run.completed", { data: { usage } })]);
    expect(timeline.run("main")?.usage).toEqual(own);
    for (const unknown of [null, "1", { currency: "USD", micros: 1 }, { currency: "EUR" }]) {
      const both = timelineOf([used(1, euros(1)), used(2, unknown)]);
      expect(both.run("main")?.usage).toMatchObject({ requests: 2, cost: null });
      expect(both.run("main")?.usage).not.toHaveProperty("currency");
    }
    const priced = timelineOf([fact(1, "run.completed", { data: { usage } })]);
    expect(priced.run("main")?.usage).toMatchObject({
      requests: 9,
      input_tokens: 99,
      cost: 0.000009,
    });
    expect(timelineOf([fact(1, "run.completed")]).run("main")).not.toHaveProperty("usage");
  });

  it.each(["before", "after"])(
    "is linked with the call that started it, linked %s it began",
    (when) => {
      const request = { tool_call_id: "c", tool_name: "agent.create_sub_agent" };
      const data = {
        child_run_id: "child",
        role: "sub_agent",
        task: "\nLook around.\nThen come back.",
      };
      const begun = (seq: number) =>
        fact(seq, "run.started", {
          run_id: "child",
          parent_run_id: "main",
          data: { role: "sub_agent" },
        });
      const created = (seq: number) => fact(seq, "agent.child.created", { ...request, data });
      const timeline = timelineOf([
        fact(1, "run.started"),
        fact(2, "tool.requested", request),
        ...(when === "before" ? [created(3), begun(4)] : [begun(3), created(4)]),
      ]);
      expect(timeline.run("child")).toMatchObject({
        parent_run_id: "main",
        parent_call_id: "c",
        role: "sub_agent",
        title: "Look around.",
      });
      expect(timeline.childrenOf({ run_id: "main", tool_call_id: "c" }).child_runs).toEqual([
        "child",
      ]);
      expect(timeline.run("main")).not.toHaveProperty("parent_call_id");
      const { version } = timeline;
      timeline.take([writtenFact({ ...created(5), data: { ...data, child_run_id: "unheard" } })]);
      timeline.take([{ ...begun(6), run_id: "unheard" }]);
      timeline.take([created(7)]);
      expect(timeline.run("unheard")).toMatchObject({ parent_call_id: "c" });
      const changed = timeline.changedSince(version, 10).runs.map(({ run_id }) => run_id);
      expect(changed.toSorted()).toEqual(["child", "main", "unheard"]);
    },
  );

  it("has calls that name what they are for, as a hook changed it", () => {
    const request = { tool_call_id: "c", tool_name: "code.write_file" };
    const timeline = timelineOf([
      fact(1, "tool.requested", { ...request, data: { model_input: '{"path":"a.txt"}' } }),
      fact(2, "input.mutated", { ...request, data: { observable_input: { path: "b.txt" } } }),
    ]);
    expect(timeline.lane("c")).toMatchObject({ about: "b.txt" });
  });

  it("of a child is known by its definition and its task", () => {
    const request = { tool_call_id: "c", tool_name: "agent.create_sub_agent" };
    const created = { child_run_id: "child", role: "sub", task: "Test the cart" };
    const timeline = timelineOf([
      fact(1, "tool.requested", request),
      fact(2, "agent.child.created", {
        ...request,
        data: { ...created, agent_definition_id: "tester" },
      }),
      fact(3, "run.started", { run_id: "child", data: { role: "sub" } }),
    ]);
    expect(timeline.run("child")).toMatchObject({
      title: "Test the cart",
      agent_definition_id: "tester",
    });
  });

  it("of the user's own call is known by what was attached or typed", () => {
    const own = (seq: number, run_id: string, tool_name: string, model_input: string) => [
      fact(seq, "run.started", { run_id, parent_run_id: "main", data: { role: "main" } }),
      fact(seq + 1, "tool.requested", {
        run_id,
        parent_run_id: "main",
        tool_call_id: "c",
        tool_name,
        data: { model_input },
      }),
    ];
    const timeline = timelineOf([
      ...own(1, "file", "code.read_file", '{"path":"src/a.ts","max_lines":1000}'),
      ...own(3, "typed", "code.run_command", '{"argv":["npm","test"]}'),
      fact(5, "run.started", { data: { role: "main" } }),
      fact(6, "tool.requested", { tool_call_id: "m", tool_name: "code.read_file" }),
    ]);
    expect(timeline.run("file")).toMatchObject({ title: "@src/a.ts", own_call: "attached" });
    expect(timeline.run("typed")).toMatchObject({ title: "! npm test", own_call: "typed" });
    expect(timeline.run("main")).not.toHaveProperty("own_call");
  });

  it.each([
    ["its id", []],
    ["its title", [{ task_id: "t", step_id: "bread", title: "Bake the bread" }]],
  ])("of a worker is known by its worker and its step: by %s", (_, claims) => {
    const request = { tool_call_id: "c", tool_name: "agent.dispatch_worker" };
    const about = { worker: "pool/1", task_id: "t", step_id: "bread" };
    const step = claims[0]?.title ?? "bread";
    const timeline = timelineOf([
      ...claims.map((data) => fact(0.5, "task.step.claimed", { data })),
      fact(1, "task.step.dispatched", { data: about }),
      fact(2, "tool.requested", request),
      fact(3, "agent.child.created", {
        ...request,
        data: { ...about, child_run_id: "w", role: "worker", task: "You are a worker." },
      }),
      fact(4, "worker.dispatched", { ...request, data: { ...about, run_id: "w" } }),
      fact(5, "run.started", { run_id: "w", data: {} }),
    ]);
    expect(timeline.run("w")).toMatchObject({ title: `pool/1: ${step}`, role: "worker" });
    expect(timeline.run("main")?.title).toBe(`dispatch to pool/1: ${step}`);
    expect(timeline.childrenOf({ run_id: "main", tool_call_id: "c" }).child_runs).toEqual(["w"]);
  });

  it("knows where its prompt is, and takes a title that no fact has, once", () => {
    const timeline = timelineOf([
      fact(1, "model.started", { data: { parent_node_id: "n1" } }),
      fact(2, "model.started", { data: { parent_node_id: "n2" } }),
    ]);
    expect(timeline.promptNodeOf("main")).toBe("n1");
    const { version } = timeline;
    timeline.entitle("main", "  Mend the tests.\nAll of them.");
    timeline.entitle("main", "Another");
    timeline.entitle("nobody", "Nothing");
    expect(timeline.run("main")?.title).toBe("Mend the tests.");
    expect(timeline.changedSince(version, 10).runs).toMatchObject([{ title: "Mend the tests." }]);
  });

  it("has the seqs of its facts, those of others between them omitted", async () => {
    const { journal } = await richSession();
    const timeline = timelineOf(journal.facts);
    expect(timeline.runs().length).toBeGreaterThan(2);
    for (const { run_id, facts, seq, last_seq } of timeline.runs()) {
      const own = journal.facts.filter((one) => one.run_id === run_id).map((one) => one.seq);
      expect(timeline.countFacts(run_id)).toBe(own.length);
      expect(facts).toBe(own.length);
      expect(timeline.seqsOf(run_id, 0, own.length + 9)).toEqual(own);
      expect(timeline.seqsOf(run_id, 2, 3)).toEqual(own.slice(2, 5));
      expect([seq, last_seq]).toEqual([own[0], own.at(-1)]);
    }
    expect(timeline.seqsOf("nobody", 0, 10)).toEqual([]);
  });
});

describe("what changed", () => {
  it("is handed over once, a bounded part at a time, no matter what came meanwhile", async () => {
    verifies("UI-1");
    const { journal } = await richSession();
    const timeline = createTimeline();
    const lanes = new Map<number, Lane>();
    let version = 0;
    let handed = 0;
    for (let i = 0; i < journal.facts.length; i += 7) {
      timeline.take(journal.facts.slice(i, i + 7));
      const changes = timeline.changedSince(version, 2);
      expect(changes.runs.length + changes.lanes.length).toBeLessThanOrEqual(2);
      ({ version } = changes);
      for (const lane of changes.lanes) lanes.set(lane.seq, lane);
    }
    for (let more = true; more;) {
      const changes = timeline.changedSince(version, 2);
      handed += 1;
      ({ version, more } = changes);
      for (const lane of changes.lanes) lanes.set(lane.seq, lane);
    }
    const all = timeline.changedSince(0, 1000);
    expect(all.more).toBe(false);
    expect([...lanes.values()].toSorted((a, b) => a.seq - b.seq)).toEqual(all.lanes);
    expect(all.lanes.map(({ seq }) => seq)).toEqual(
      journal.facts.filter((fact) => fact.type === "tool.requested").map(({ seq }) => seq),
    );
    expect(handed).toBeGreaterThan(1);
    expect(timeline.changedSince(version, 2)).toEqual({
      runs: [],
      lanes: [],
      requests: [],
      version,
      more: false,
    });
    timeline.take(journal.facts);
    expect(timeline.version, "facts that were taken before").toBe(version);
    for (const nonsense of [-1, version + 1, 0.5, Number.NaN]) {
      expect(timeline.changedSince(nonsense, 1000), String(nonsense)).toEqual(all);
    }
  });

  it("is only what changed", async () => {
    const held = heldTool("a.read");
    const stage = await setStage({ tools: [held.tool] });
    const settled = pushAll(stage, "a.read", "a.read", "a.read").settled();
    await stage.clock.advance(10);
    const timeline = timelineOf(stage.journal.facts);
    const { version } = timeline;
    held.calls[1]?.finish("x");
    await stage.clock.advance(10);
    timeline.take(stage.journal.facts);
    const { lanes, runs } = timeline.changedSince(version, 100);
    expect(lanes.map(({ tool_call_id }) => tool_call_id)).toEqual(["2"]);
    expect(runs).toHaveLength(1);
    for (const call of held.calls) call.finish("x");
    await drive(stage.clock, settled);
  });

  it("shows every call of a session in which everything happens as over, with the status of its result", async () => {
    verifies("UI-1");
    const { journal } = await richSession();
    const timeline = timelineOf(journal.facts);
    const ends = journal.facts.filter(isTerminalFact);
    expect(ends.length).toBeGreaterThan(10);
    for (const { run_id, tool_call_id = "", data, seq } of ends) {
      const { status } = data.result;
      const lane = timeline.lane(tool_call_id, run_id);
      expect(lane, tool_call_id).toMatchObject({ state: "ended", outcome: status, ended_seq: seq });
    }
  });
});

describe("facts that do not fit together", () => {
  it("end a call once, by its first end, and report nothing that has no end", async () => {
    const stage = await setStage({ tools: [reader("a.read")] });
    await drive(stage.clock, pushAll(stage, "a.read").settled());
    const [yielded] = stage.facts("tool.yielded");
    const [completed] = stage.facts("tool.completed");
    const early = stage.journal.facts.filter(({ seq }) => seq < (completed?.seq ?? 0));
    const late = { ...(yielded as Fact), seq: 100 };
    expect(timelineOf([...early, late]).lane("1")).toMatchObject({ state: "executing" });
    expect(timelineOf([...early, late]).lane("1")).not.toHaveProperty("yielded_at");
    const again: Fact[] = [
      writtenFact({
        ...(completed as Fact),
        seq: 101,
        type: "tool.failed",
        data: { result: { status: "failed" } },
      }),
      writtenFact({ ...(completed as Fact), seq: 102, type: "tool.started" }),
      writtenFact({ ...(completed as Fact), seq: 103, type: "tool.requested" }),
      { ...late, seq: 104, time: new Date(START + 9000).toISOString() },
    ];
    const before = readLane(stage, "1");
    expect(timelineOf([...stage.journal.facts, ...again]).lane("1")).toEqual(before);
    const held = stage.journal.facts.filter(({ type }) => type !== "tool.yielded");
    const [failed, started] = again as [Fact, Fact];
    expect(timelineOf([...held, started, failed]).lane("1")).toMatchObject({
      state: "holding",
      outcome: "succeeded",
    });
  });
});
