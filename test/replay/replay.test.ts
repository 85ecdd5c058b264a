// A run from its journal alone, decided again (REPLAY-1): the same decisions, or the first that would be another one.

import { verifies } from "#laws";
import {
  createKernel,
  createMemoryArtifacts,
  createMemoryJournal,
  defineHook,
  defineTool,
  type JsonObject,
} from "@soong/core";
import {
  replayRun,
  createReplaySource,
  exportRunScript,
  whatIf,
  type ReplaySource,
} from "@soong/replay";
import { describe, expect, it } from "vitest";
import { factsOfTypes } from "../facts.ts";
import {
  calls,
  done,
  failed,
  openStage,
  says,
  type Answer,
  type StageOptions,
} from "../agent/loop-stage.ts";
import { ALLOW_ALL, readTool, slowTool, writeTool } from "../agent/loop-tools.ts";
import { edit, recorded } from "./recorded.ts";

describe("a replay decides the same", () => {
  it("of reads beside each other, writes, refusals, a retry, an abandoned answer and a secret", async () => {
    verifies("REPLAY-1", "REDACT-1");
    const written: string[] = [];
    let reads = 0;
    const secret = "5up3r-s3cr3t-value";
    const kept = await recorded(
      [
        [says("Hm."), calls("a__read", { key: secret }, "1"), failed("overloaded")],
        [
          calls("a__read", { key: secret }, "2"),
          calls("a__read", {}, "3"),
          calls("a__write", { n: 1 }, "4"),
          calls("a__typed", { n: "no" }, "5"),
          calls("a__write", { n: 2 }, "6"),
          calls("no__such", "{", "7"),
          calls("a__read", "{", "8"),
          done("tool_use"),
        ],
        [calls("a__typed", { n: 7 }, "9"), calls("a__write", {}, "10"), done("tool_use")],
        [says("Done."), done()],
      ],
      {
        tools: [
          readTool("a.read", () => `found ${secret} ${(reads += 1)}`),
          writeTool("a.write", written),
          defineTool({
            name: "a.typed",
            description: "Typed",
            input_schema: { type: "object", properties: { n: { type: "integer" } } },
            permission: "readonly",
            handler: () => ({ data: [1, 2] }),
          }),
        ],
        sessionOptions: { policy: ALLOW_ALL, secrets: [{ name: "TOKEN", value: secret }] },
      },
    );
    const before = { written: written.length, reads };
    const report = await replayRun(kept);
    expect(report).toMatchObject({ outcome: "same", end: "completed", calls: 10, left_out: [] });
    expect({ written: written.length, reads }).toEqual(before);
    // What it compared was the text the model read: another one is found.
    expect(JSON.stringify(kept.facts)).not.toContain(secret);
    edit(kept, "tool.completed", "9", (data) => {
      const { result } = data as { result: { content: JsonObject[] } };
      result.content = [{ type: "text", text: "AKIAABCDEFGHIJKLMNOP is a key" }];
    });
    expect((await replayRun(kept)).divergence).toMatchObject({
      stage: "result",
      tool_call_id: "9",
    });
  });

  it("of hooks that change, ask, deny and stop, of users, and of grants and their end", async () => {
    verifies("REPLAY-1");
    const journal = createMemoryJournal();
    const artifacts = createMemoryArtifacts();
    const plans: string[] = [];
    const edits = defineTool({
      name: "a.edit",
      description: "Edit",
      input_schema: { type: "object", properties: { path: { type: "string" } } },
      classify: ({ path }) => ({ read_only: false, destructive: path === "/p/gone" }),
      prepare({ path }) {
        plans.push(String(path));
        return { resources: [{ kind: "path", access: "write", path: String(path) }] };
      },
      handler: () => "edited",
    });
    const run = await createKernel({ tools: [edits, readTool("a.read", () => "text")] }).startRun({
      journal,
      artifacts,
      roots: { project: "/p", write: [] },
      hooks: [
        defineHook({
          id: "trim",
          event: "PreToolUse",
          run: ({ input }) => {
            const { path = "" } = input as { path?: string };
            if (path === "/p/no") return { decision: "deny", reason: "not that" };
            if (path === "/p/ask") return { decision: "ask", reason: "look" };
            if (path === "/p/stop") return { stop: "enough" };
            return path.endsWith(" ") ? { input: { path: path.trim() } } : {};
          },
        }),
      ],
      ask: ({ resources }) => {
        const isFor = (path: string): boolean => JSON.stringify(resources).includes(path);
        if (isFor("/p/never")) return { decision: "deny", reason: "no" };
        return { decision: isFor("/p/s/") ? "allow_for_session" : "allow_once", answered_by: "me" };
      },
    });
    for (const path of ["/p/a ", "/p/never", "/p/no", "/p/ask", "/p/s/1", "/p/s/2", "/p/gone"]) {
      await run.call("a.edit", { path });
    }
    const [grant] = run.session.grants();
    run.session.revokeGrant(grant?.grant_id ?? "");
    await run.call("a.edit", { path: "/p/s/3" });
    await run.execute(
      ["/p/x", "/p/stop", "/p/y"].map((path) => ({ name: "a.edit", arguments: { path } })),
    );
    run.end("completed");
    const planned = plans.length;
    const kept = { source: createReplaySource(journal, artifacts), run_id: run.identity.run_id };
    const report = await replayRun(kept);
    expect(report).toMatchObject({ outcome: "same", calls: 11, left_out: [] });
    expect(plans).toHaveLength(planned);
    // Without its grant a call is asked about; with the grant never taken back, one is not.
    const decisions = factsOfTypes(journal.facts, "permission.evaluated")
      .filter(({ data }) => data.stage === "plan")
      .map(({ data }) => data.decision);
    expect(decisions).toEqual(["ask", "ask", "ask", "ask", "allow", "ask", "ask", "ask"]);
    const facts = journal.facts.filter(({ type }) => type !== "grant.revoked");
    const kept2 = {
      ...kept,
      source: createReplaySource({ facts, nodes: journal.nodes }, artifacts),
    };
    expect((await replayRun(kept2)).divergence).toMatchObject({
      stage: "permission",
      recorded: "ask by defaults: defaults.write_asks",
    });
  });

  it("of a run that was aborted, of one whose answer was cut off, and of tools found by a search", async () => {
    verifies("REPLAY-1");
    const many = Array.from({ length: 30 }, (_, i) => readTool(`m.tool${i}`, () => `m${i}`));
    const config = { tools: { defer_budget_tokens: 100 } };
    const found = await recorded(
      [
        [calls("internal__search_tools", { query: "select:m.tool7" }, "1"), done("tool_use")],
        [calls("m__tool7", {}, "2"), calls("m__tool9", {}, "3"), done("tool_use")],
        [calls("m__tool7", {}, "4"), says("cut"), done("max_tokens")],
      ],
      { tools: many, config },
    );
    expect(await replayRun(found)).toMatchObject({ outcome: "same", surfaces: 2, calls: 4 });

    const stage = await openStage(
      () => [[calls("s__slow", {}, "1"), calls("s__fast", {}, "2"), { wait: 50 }, { wait: 5000 }]],
      { tools: [slowTool(() => stage.clock, "s.slow", 9000), readTool("s.fast", () => "f")] },
    );
    const run = stage.conversation.send("go");
    await stage.clock.advance(100);
    const ended = run.abort("enough");
    await stage.finish(run);
    await ended;
    const source = createReplaySource(stage.journal, stage.session.artifacts);
    const report = await replayRun({ source, run_id: await run.run_id });
    expect(report).toMatchObject({ outcome: "same", end: "aborted", calls: 2 });
  });

  it("of thousands of calls, read a page at a time", async () => {
    verifies("REPLAY-1");
    const journal = createMemoryJournal();
    const artifacts = createMemoryArtifacts();
    const tool = readTool("a.read", () => "text");
    const run = await createKernel({ tools: [tool] }).startRun({ journal, artifacts });
    for (let i = 0; i < 600; i += 1) await run.call("a.read", { i });
    const all = createReplaySource(journal, artifacts);
    let most = 0;
    const source: ReplaySource = {
      ...all,
      async facts(page) {
        const facts = await all.facts(page);
        most = Math.max(most, facts.length);
        return facts;
      },
    };
    const report = await replayRun({ source, run_id: run.identity.run_id });
    expect(report).toMatchObject({ outcome: "same", end: "none", calls: 600 });
    expect(most).toBe(500);
  });
});

describe("a replay finds the first decision that is another one", () => {
  const answers: readonly Answer[] = [
    [
      calls("a__read", {}, "1"),
      calls("a__read", {}, "2"),
      calls("a__write", {}, "3"),
      done("tool_use"),
    ],
    [says("Done."), done()],
  ];
  const options = (): StageOptions => ({
    tools: [readTool("a.read", () => "text"), writeTool("a.write", [])],
    sessionOptions: { policy: ALLOW_ALL },
  });

  type Change = (data: JsonObject) => void;
  const edits: readonly (readonly [string, string, string | undefined, Change])[] = [
    [
      "surface",
      "tool.catalog.resolved",
      undefined,
      (data) => {
        for (const entry of data.tools as JsonObject[]) entry["state"] = "deferred";
      },
    ],
    [
      "classification",
      "tool.queued",
      "2",
      (data) => {
        data.class = "alone";
      },
    ],
    [
      "permission",
      "permission.evaluated",
      "3",
      (data) => {
        data.decision = "deny";
      },
    ],
    [
      "surface",
      "run.started",
      undefined,
      (data) => {
        (data.policy as JsonObject)["rules"] = [];
      },
    ],
    [
      "validation",
      "run.started",
      undefined,
      (data) => {
        ((data.config as JsonObject)["tools"] as JsonObject)["max_arguments_bytes"] = 1;
      },
    ],
    [
      "schedule",
      "run.started",
      undefined,
      (data) => {
        ((data.config as JsonObject)["tools"] as JsonObject)["early_start"] = "none";
      },
    ],
    [
      "result",
      "tool.completed",
      "3",
      (data) => {
        (data.result as JsonObject)["status"] = "rejected";
      },
    ],
    [
      "name",
      "tool.requested",
      "1",
      (data) => {
        data.native_name = "a__write";
      },
    ],
  ];

  it.each(edits)("in the %s", async (stage, type, id, change) => {
    verifies("REPLAY-1");
    const kept = await recorded(answers, options());
    edit(kept, type, id, change);
    const { outcome, divergence } = await replayRun(kept);
    expect(outcome).toBe("diverged");
    expect(divergence).toMatchObject({ stage });
    expect(kept.facts.find(({ seq }) => seq === divergence?.seq)).toBeDefined();
    expect(divergence?.recorded).not.toBe(divergence?.now);
  });
});

describe("a run that cannot be replayed", () => {
  it("says why: unknown, of an older version, damaged", async () => {
    verifies("REPLAY-1");
    const kept = await recorded([[says("Hi."), done()]], {
      tools: [readTool("a.read", () => "x")],
    });
    const { source, run_id, facts } = kept;
    await expect(replayRun({ source, run_id: "none" })).rejects.toMatchObject({
      code: "run_unknown",
    });
    const gone = { ...source, readArtifact: () => undefined };
    await expect(replayRun({ source: gone, run_id })).rejects.toThrow("is missing. `soong verify`");
    const changed = { ...source, readArtifact: () => new Uint8Array([123, 125]) };
    await expect(replayRun({ source: changed, run_id })).rejects.toThrow(
      "was changed. `soong verify`",
    );
    const holed = facts.filter(({ type }) => type !== "context.resolved");
    const removed = {
      ...source,
      ...createReplaySource({ facts: holed, nodes: [] }, { read: async () => undefined }),
    };
    const reading = { ...removed, readArtifact: (id: string) => source.readArtifact(id) };
    await expect(replayRun({ source: reading, run_id })).rejects.toThrow("are missing before it");
    edit(kept, "run.started", undefined, (data) => {
      delete data.definitions;
    });
    await expect(replayRun(kept)).rejects.toMatchObject({ code: "definitions_not_kept" });
    expect((await exportRunScript(kept)).script.turns).toEqual([{ text: "Hi." }]);
  });
});

describe("definitions", () => {
  it("are kept once a session, named by every run, and anew when the registry changed", async () => {
    verifies("REPLAY-1");
    const journal = createMemoryJournal();
    const artifacts = createMemoryArtifacts();
    const first = readTool("a.read", () => "x");
    const kernel = createKernel();
    const handle = kernel.registry.open({ id: "c", kind: "code", tools: [first] });
    const session = await kernel.openSession({ journal, artifacts });
    const runs = await Promise.all([session.startRun(), session.startRun()]);
    expect(artifacts.list()).toHaveLength(1);
    const [run] = runs;
    handle.set([{ ...first, description: "Reads otherwise" }]);
    await run?.call("a.read", {});
    await run?.tools();
    await run?.call("a.read", {});
    expect(artifacts.list()).toHaveLength(2);
    const source = createReplaySource(journal, artifacts);
    for (const { identity } of runs) {
      expect(await replayRun({ source, run_id: identity.run_id })).toMatchObject({
        outcome: "same",
      });
    }
  });

  it("that cannot be kept cost the replay, and nothing else", async () => {
    verifies("REPLAY-1");
    const journal = createMemoryJournal();
    const artifacts = createMemoryArtifacts({ maxBytes: 10 });
    const tools = [readTool("a.read", () => "x")];
    const run = await createKernel({ tools }).startRun({ journal, artifacts });
    expect((await run.call("a.read", {})).status).toBe("succeeded");
    const told = journal.facts.filter((fact) => fact.type === "error").map(({ data }) => data.code);
    expect(told).toEqual(["definitions_not_kept"]);
  });
});

describe("what another policy would decide", () => {
  it("names each call, and tools that would not be there", async () => {
    verifies("REPLAY-2");
    const kept = await recorded(
      [
        [
          calls("a__read", {}, "1"),
          calls("a__write", {}, "2"),
          calls("b__gone", {}, "3"),
          done("tool_use"),
        ],
        [says("Done."), done()],
      ],
      {
        tools: [readTool("a.read", () => "x"), writeTool("a.write", []), writeTool("b.gone", [])],
        sessionOptions: {
          policy: { rules: [...ALLOW_ALL.rules, { tool: "b.*", decision: "deny" }] },
        },
      },
    );
    expect(await whatIf(kept)).toMatchObject({ calls: [], surface: [], unchanged: 3 });
    const origin = { file: "other.toml", line: 3 };
    const report = await whatIf({
      ...kept,
      policy: (was) => ({ ...was, rules: [{ tool: "a.read", decision: "deny", origin }] }),
    });
    expect(report.surface).toMatchObject([
      { tool_name: "a.read", was: "loaded", now: "excluded" },
      { tool_name: "b.gone", was: "excluded", now: "loaded" },
    ]);
    expect(report.calls).toMatchObject([
      {
        tool_call_id: "1",
        was: { decision: "allow" },
        now: { decision: "deny", layer: "surface", origin },
      },
      { tool_call_id: "3", was: { decision: "deny" }, now: { decision: "ask" } },
      { tool_call_id: "2", was: { decision: "allow" }, now: { decision: "ask" } },
    ]);
    const off = await whatIf({ ...kept, config: { tools: { disabled: ["a.*"] } } });
    expect(off.calls.map(({ now }) => now.rule)).toEqual(["disabled", "disabled"]);
  });
});
