// Runs that are not the usual case, replayed: a child under its parent, calls that began at another time than they could
// have, definitions that were changed; and as scripts: a compaction, an abort, a crash in the middle of an answer.

import { verifies } from "#laws";
import {
  createKernel,
  createMemoryArtifacts,
  createMemoryJournal,
  defineHook,
  sha256Hex,
  systemClock,
  type Clock,
  type Fact,
  type ToolResult,
} from "@soong/core";
import { parseScript, printScript, scriptedModel, type Script } from "@soong/agent";
import {
  replayRun,
  createReplaySource,
  exportRunScript,
  whatIf,
  type RunScript,
} from "@soong/replay";
import { describe, expect, it } from "vitest";
import { factsOfTypes } from "../facts.ts";
import { calls, done, failed, openStage, says, type StageOptions } from "../agent/loop-stage.ts";
import { ALLOW_ALL, readTool, slowTool, writeTool } from "../agent/loop-tools.ts";
import { recorded } from "./recorded.ts";

describe("an earlier record", () => {
  it("in which every readonly call could start early is decided the same", async () => {
    verifies("REPLAY-1", "SCHED-5");
    const held = { ...readTool("a.held", () => "x"), concurrency_safe: false, repeatable: true };
    const kept = await recorded(
      [
        [calls("a__held", {}, "1"), { wait: 10 }, says("…"), done("tool_use")],
        [says("ok"), done()],
      ],
      { tools: [held] },
    );
    const { data } = kept.facts.find((fact) => fact.type === "run.started") as Fact;
    const { definitions } = data as { definitions: { artifact_id: string } };
    const bytes = await kept.source.readArtifact(definitions.artifact_id);
    const { version, ...record } = JSON.parse(new TextDecoder().decode(bytes)) as {
      version?: number;
    };
    expect(version).toBe(2);
    const older = JSON.stringify(record).replaceAll(',"repeatable":true', "");
    expect(older).not.toContain("repeatable");
    Object.assign(definitions, { sha256: sha256Hex(older) });
    const source = { ...kept.source, readArtifact: () => new TextEncoder().encode(older) };
    expect(await replayRun({ source, run_id: kept.run_id })).toMatchObject({
      outcome: "same",
      left_out: [],
    });
  });
});

describe("a command in its sandbox", () => {
  const sandbox = { backend: "bubblewrap" };
  const command = {
    ...writeTool("code.run", []),
    targets: () => ({
      resources: [
        {
          kind: "command" as const,
          executable: "/usr/bin/python3",
          argv: ["python3"],
          cwd: "/p",
          may_reach: ["/p/secret"],
          sandbox,
        },
      ],
    }),
  };
  const guard = defineHook({
    id: "guard",
    event: "PreToolUse",
    path: "/p/secret",
    run: () => ({}),
  });
  const turns = () => [
    [calls("code__run", {}, "1"), done("tool_use")],
    [says("ok"), done()],
  ];
  const policy = { sandbox: { auto_allow: true } };

  it("is decided the same, where it answers what a guard and a rule are in doubt about", async () => {
    verifies("REPLAY-1", "CMD-6");
    const rules = [{ path: "/p/secret", decision: "deny" as const }];
    const kept = await recorded(turns(), {
      tools: [command],
      sessionOptions: { hooks: [guard], policy: { ...policy, rules } },
    });
    const [judged] = factsOfTypes(kept.facts, "permission.evaluated");
    expect(judged?.data.decision).toBe("allow");
    expect(judged?.data.chain.map(({ rule, verdict }) => [rule, verdict])).toEqual([
      ["runtime", "no_opinion"],
      ["rules[0]", "no_opinion"],
      ["mode", "no_opinion"],
      ["defaults.sandboxed_allowed", "allow"],
      ["hook:guard", "no_opinion"],
    ]);
    expect(await replayRun(kept)).toMatchObject({ outcome: "same", left_out: [] });
  });

  it("would have required approval, or been refused, under another config", async () => {
    verifies("REPLAY-2", "CMD-6");
    const kept = await recorded(turns(), { tools: [command], sessionOptions: { policy } });
    const under = async (mode: "off" | "required") =>
      (
        await whatIf({
          ...kept,
          policy: (input) => ({ ...input, sandbox: { ...input.sandbox, mode } }),
        })
      ).calls;
    expect(await under("off")).toMatchObject([{ now: { decision: "ask" } }]);
    expect(await under("required")).toEqual([]);
  });
});

describe("what came of a call from beside it", () => {
  /** The clock of the stage, which is made after the model. */
  let held: Clock = systemClock();
  const ofStage: Clock = {
    now: () => held.now(),
    monotonic: () => held.monotonic(),
    after: (ms, go) => held.after(ms, go),
  };

  /** The script of a run, played on its own on the same or other tools and no other hooks. */
  async function playedAgain(
    kept: Parameters<typeof exportRunScript>[0],
    options: StageOptions,
    noted: readonly unknown[] = [],
  ) {
    const { script, notes } = await exportRunScript(kept);
    expect(notes).toEqual(noted);
    const parsed = parseScript(printScript(script), "run.yaml");
    if (!parsed.ok) throw new Error(parsed.problems[0]?.message);
    const model = scriptedModel(parsed.script, { clock: ofStage });
    return recorded([], {
      ...options,
      models(clock) {
        held = clock;
        return [model];
      },
      sessionOptions: { ...options.sessionOptions, hooks: model.hooks ?? [] },
    });
  }

  const endsOf = (facts: readonly Fact[]) =>
    facts.flatMap(({ data, tool_name }) => {
      const { result } = data as { result?: ToolResult };
      if (result === undefined) return [];
      const { status, error, metadata } = result;
      return [[tool_name, metadata.discarded_status ?? status, error?.code]];
    });
  const endOf = (facts: readonly Fact[]) => {
    const { type, data } = facts.at(-1) as Fact<"run.aborted">;
    return [type, data.error?.code];
  };

  it("is carried by its script: a hook that stops the run, and one that refuses", async () => {
    verifies("REPLAY-3");
    const tools = [readTool("a.read", () => "x"), readTool("b.read", () => "y")];
    for (const answer of [{ stop: "enough" }, { decision: "deny", reason: "not now" } as const]) {
      const guard = defineHook({
        id: "guard",
        event: "PreToolUse",
        tool: "a.read",
        run: () => answer,
      });
      const kept = await recorded(
        [
          [calls("a__read", {}, "1"), calls("b__read", {}, "2"), done("tool_use")],
          [says("ok"), done()],
        ],
        { tools, sessionOptions: { hooks: [guard] } },
      );
      const again = await playedAgain(kept, { tools });
      expect(endsOf(again.facts)).toEqual(endsOf(kept.facts));
      expect(endOf(again.facts)).toEqual(endOf(kept.facts));
      expect(endOf(kept.facts)[0]).toBe("stop" in answer ? "run.aborted" : "run.completed");
    }
  });

  it("is carried by its script: a sibling that failed, also where the other would have been faster", async () => {
    verifies("REPLAY-3");
    const fails = {
      ...readTool("a.check", () => {
        throw new Error("no");
      }),
      on_sibling_failure: "cancel_siblings" as const,
    };
    const hangs = readTool("a.watch", () => new Promise<string>(() => {}));
    const kept = await recorded(
      [
        [calls("a__watch"), calls("a__check"), done("tool_use")],
        [says("ok"), done()],
      ],
      { tools: [hangs, fails] },
    );
    expect(endsOf(kept.facts)).toContainEqual(["a.watch", "cancelled", "sibling_failed"]);
    const again = await playedAgain(kept, { tools: [readTool("a.watch", () => "at once"), fails] });
    // One that is held ends after the one that it is held for.
    expect(new Set(endsOf(again.facts))).toEqual(new Set(endsOf(kept.facts)));
    expect(endOf(again.facts)).toEqual(["run.completed", undefined]);
  });

  it("is carried by its script: which calls had ended when their answer broke off", async () => {
    verifies("REPLAY-3");
    const config = { tools: { early_start: "all" as const } };
    const sessionOptions = { policy: ALLOW_ALL };
    const kept = await recorded(
      [[calls("a__write"), calls("a__read"), { wait: 10 }, failed("disconnect")]],
      { tools: [writeTool("a.write", []), readTool("a.read", () => "x")], config, sessionOptions },
    );
    expect(endOf(kept.facts)).toEqual(["run.failed", "disconnect"]);
    const slowly = (): Promise<string> =>
      new Promise((resolve) => {
        ofStage.after(5000, () => resolve("x"));
      });
    const tools = [writeTool("a.write", []), readTool("a.read", slowly)];
    const noted = expect.stringContaining("still running when its answer ended") as unknown;
    const again = await playedAgain(kept, { tools, config, sessionOptions }, [noted]);
    expect(endsOf(again.facts)).toEqual(endsOf(kept.facts));
    expect(endOf(again.facts)).toEqual(endOf(kept.facts));
  });
});

describe("a child", () => {
  it("is judged under its parent's policy, also by another config", async () => {
    verifies("REPLAY-1", "REPLAY-2", "PERM-12");
    const journal = createMemoryJournal();
    const artifacts = createMemoryArtifacts();
    const tools = [
      readTool("a.read", () => "x"),
      writeTool("a.write", []),
      writeTool("b.write", []),
    ];
    const session = await createKernel({ tools }).openSession({ journal, artifacts });
    const parent = await session.startRun({
      policy: {
        rules: [
          { tool: "a.write", decision: "deny" },
          { tool: "b.write", decision: "allow" },
        ],
      },
    });
    const { run_id, agent_id } = parent.identity;
    const child = await session.startRun({
      role: "sub",
      parent: { run_id, agent_id, policy: parent.policy },
      policy: ALLOW_ALL,
    });
    for (const name of ["a.read", "a.write", "b.write"]) await child.call(name, {});
    child.end("completed");
    const of = { source: createReplaySource(journal, artifacts), run_id: child.identity.run_id };
    expect(await replayRun(of)).toMatchObject({ outcome: "same", calls: 3, left_out: [] });
    expect((await whatIf(of)).calls).toEqual([]);
    // The rule that goes is the parent's: without it the child's own allows.
    const { calls: changed } = await whatIf({
      ...of,
      policy: (was) => ({
        ...was,
        rules: was.rules?.filter(({ tool }) => tool !== "a.write") ?? [],
      }),
    });
    expect(
      changed.map(({ tool_name, was, now }) => [tool_name, was.decision, now.decision]),
    ).toEqual([["a.write", "deny", "ask"]]);
    // And its policy counts in the replay: a ceiling that asks is another decision.
    const facts = structuredClone(journal.facts) as Fact[];
    const started = factsOfTypes(facts, "run.started").find(({ run_id: id }) => id === of.run_id);
    if (started === undefined) throw new Error("it never began");
    const { ceiling } = started.data.policy as unknown as { ceiling: { rules: object[] } };
    ceiling.rules = [];
    const source = createReplaySource({ facts, nodes: journal.nodes }, artifacts);
    expect((await replayRun({ ...of, source })).divergence).toMatchObject({ stage: "surface" });
  });
});

describe("a call that began", () => {
  it("beside one it would wait for is found, with everything else the same", async () => {
    verifies("REPLAY-1");
    const kept = await recorded(
      [
        [calls("a__write", {}, "1"), calls("a__write", {}, "2"), done("tool_use")],
        [says("Done."), done()],
      ],
      { tools: [writeTool("a.write", [])], sessionOptions: { policy: ALLOW_ALL } },
    );
    expect((await replayRun(kept)).outcome).toBe("same");
    const place = (of: string, id: string): number =>
      kept.facts.findIndex(({ type, tool_call_id }) => type === of && tool_call_id === id);
    const [judged] = kept.facts.splice(place("permission.evaluated", "2"), 1) as [Fact];
    kept.facts.splice(place("tool.completed", "1"), 0, judged);
    renumber(kept.facts);
    expect((await replayRun(kept)).divergence).toMatchObject({
      stage: "schedule",
      tool_call_id: "2",
      seq: judged.seq,
      recorded: "it began beside a.write (1)",
      now: "it waits for a.write (1)",
    });
  });
});

describe("a call that came", () => {
  it("after one had failed that takes its siblings along is not taken along", async () => {
    verifies("REPLAY-1");
    const breaks = readTool("a.breaks", () => {
      throw new Error("broken");
    });
    // The answer is over, and the failure on record, before it is let through.
    const slowGuard = defineHook({
      id: "slow",
      event: "PreToolUse",
      tool: "a.slow",
      run: () =>
        new Promise<object>((resolve) => {
          stage.clock.after(200, () => resolve({}));
        }),
    });
    const stage = await openStage(
      () => [
        [
          calls("a__breaks", {}, "1"),
          { wait: 50 },
          calls("a__slow", {}, "2"),
          { wait: 50 },
          done("tool_use"),
        ],
        [says("Done."), done()],
      ],
      {
        tools: [
          { ...breaks, on_sibling_failure: "cancel_siblings" },
          readTool("a.slow", () => "in the end"),
        ],
        sessionOptions: { hooks: [slowGuard] },
      },
    );
    const run = stage.conversation.send("go");
    await stage.finish(run);
    expect(
      stage.facts("tool.completed", "tool.failed").map(({ tool_call_id }) => tool_call_id),
    ).toEqual(["1", "2"]);
    const source = createReplaySource(stage.journal, stage.session.artifacts);
    const report = await replayRun({ source, run_id: await run.run_id });
    expect(report).toMatchObject({ outcome: "same", calls: 2, left_out: [] });
  });
});

/** As a runtime would have written them in this order. */
function renumber(facts: Fact[]): void {
  let seq = 0;
  let run_seq = 0;
  for (const fact of facts) {
    Object.assign(fact, { seq: (seq += 1) });
    if (fact.run_seq !== undefined) Object.assign(fact, { run_seq: (run_seq += 1) });
  }
}

describe("definitions that were changed", () => {
  it("are not believed, though they could be read", async () => {
    verifies("REPLAY-1");
    const { source, run_id } = await recorded([[says("Hi."), done()]], {
      tools: [readTool("a.read", () => "x")],
    });
    const changed = {
      ...source,
      async readArtifact(id: string) {
        const text = new TextDecoder().decode(await source.readArtifact(id));
        return new TextEncoder().encode(text.replace("Read with", "Read by"));
      },
    };
    await expect(replayRun({ source: changed, run_id })).rejects.toMatchObject({ code: "damaged" });
  });
});

describe("as a script", () => {
  it("a compaction is a turn that sums up, and the run goes the same way again", async () => {
    verifies("REPLAY-3", "CTX-2");
    const options: StageOptions = {
      tools: [readTool("a.read", () => "word ".repeat(1500))],
      limits: { context_tokens: 3000 },
    };
    const kept = await recorded(
      [
        [calls("a__read", {}, "1"), done("tool_use")],
        [calls("a__read", {}, "2"), done("tool_use")],
        [says("We read it."), done()],
        [says("Done."), done()],
      ],
      options,
    );
    const { script } = await exported(kept);
    expect(script.turns.map(({ text }) => text)).toEqual([
      undefined,
      undefined,
      "We read it.",
      "Done.",
    ]);
    const again = await played(script, options);
    expect(storyOf(again)).toEqual(storyOf(kept.facts));
    expect(storyOf(again)).toContain("context.compaction.completed");
  });

  it("a run that was stopped ends on its own, and what was stopped is not expected again", async () => {
    verifies("REPLAY-3");
    const stage = await openStage(
      () => [
        [calls("s__fast", {}, "1"), done("tool_use")],
        [calls("s__fast", {}, "2"), calls("s__slow", {}, "3"), { wait: 9000 }],
      ],
      { tools: [slowTool(() => stage.clock, "s.slow", 9000), readTool("s.fast", () => "f")] },
    );
    const run = stage.conversation.send("go");
    await stage.clock.advance(100);
    void run.abort("enough");
    await stage.finish(run);
    const source = createReplaySource(stage.journal, stage.session.artifacts);
    const { script, notes } = await exported({ source, run_id: await run.run_id });
    expect(script.turns).toHaveLength(3);
    expect(script.turns[2]).toEqual({
      expect: [{ result: 0, status: "ok", contains: "f" }],
      text: "Done.",
    });
    expect(notes.join(" ")).toContain("before the model was sent its last results");
    const tools = [readTool("s.slow", () => "in time"), readTool("s.fast", () => "f")];
    expect((await played(script, { tools })).at(-1)?.type).toBe("run.completed");
    // The process was killed in the middle of the answer: there is only what had come.
    const facts = stage.journal.facts.filter(({ seq, type }) => {
      return seq <= (stage.facts("tool.requested").at(-1)?.seq ?? 0) && type !== "run.aborted";
    });
    const cut = createReplaySource({ facts, nodes: stage.journal.nodes }, stage.session.artifacts);
    const half = await exported({ source: cut, run_id: await run.run_id });
    expect(half.script.turns.map(({ calls: made = [] }) => made.length)).toEqual([1, 2, 0]);
  });

  it("a script that ran out does so again", async () => {
    verifies("REPLAY-3");
    const facts = await played(
      { turns: [{ calls: [{ tool: "a.read", input: {} }] }] },
      { tools: [readTool("a.read", () => "x")] },
    );
    const run_id = facts.find((fact) => fact.type === "run.started")?.run_id ?? "";
    const source = createReplaySource({ facts, nodes: [] }, { read: async () => undefined });
    const { script, notes } = await exported({ source, run_id });
    expect(script.turns).toEqual([{ calls: [{ tool: "a.read", input: {} }] }]);
    expect(notes.join(" ")).toContain("had no answer here");
  });
});

async function played(script: Script, options: StageOptions): Promise<readonly Fact[]> {
  const stage = await openStage([], {
    ...options,
    models: (clock) => [scriptedModel(script, { clock })],
  });
  await stage.ask("go");
  return stage.journal.facts;
}

/** Which facts there were of requests and calls, without what a stream is cut into. */
function storyOf(facts: readonly Fact[]): string[] {
  return facts.map(({ type }) => type).filter((type) => type !== "model.delta");
}

/** Printed and read again, as a file is. */
async function exported(kept: Parameters<typeof exportRunScript>[0]): Promise<RunScript> {
  const made = await exportRunScript(kept);
  const parsed = parseScript(printScript(made.script), "again.yaml");
  if (!parsed.ok) throw new Error(parsed.problems[0]?.message);
  return { ...made, script: parsed.script };
}
