// SEARCH-3 and SEARCH-4: what was found stays, and nothing runs on a schema no one was shown.

import type { Session, ToolResult } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { setStage, type StageOptions } from "./drive.ts";
import { found, github, search, shown, sized } from "./searching.ts";
import { noRoom, server } from "./sources.ts";
import { allowAll, createWorld, reader, textOf, writer } from "./world.ts";

describe("what was found", () => {
  it("is loaded for the rest of the run, from the next request on, and is on record", async () => {
    verifies("SEARCH-3", "SURF-7");
    const stage = await setStage({ sources: [github], config: noRoom, policy: allowAll });
    await found(stage, "select:mcp.github.merge");
    expect(stage.facts("tool.deferred.loaded").map(({ data }) => data.tools)).toEqual([
      ["mcp.github.merge"],
    ]);
    await shown(stage);
    for (let turn = 0; turn < 3; turn += 1) {
      const [result] = await stage.run.execute([{ name: "mcp__github__merge", arguments: {} }]);
      expect(result?.status).toBe("succeeded");
      stage.kernel.registry.register(reader(`later.tool${turn}`));
      expect(await shown(stage)).toContain("mcp__github__merge");
    }
    await found(stage, "select:mcp.github.merge");
    expect(stage.facts("tool.deferred.loaded"), "no second time").toHaveLength(1);
    const other = await stage.session.startRun({});
    expect(other.surface.standing.get("mcp.github.merge")?.state, "in this run only").toBe(
      "deferred",
    );
  });

  it("survives a resume: the run shows what it showed, in the same order", async () => {
    verifies("SEARCH-3", "SURF-7");
    const options: StageOptions = {
      sources: [
        server("s", [
          sized("mcp.s.big", 8000),
          sized("mcp.s.bigger", 9000),
          sized("mcp.s.mid", 5000),
          sized("mcp.s.tiny", 100),
        ]),
      ],
      config: { tools: { defer_budget_tokens: 2000 } },
    };
    const stage = await setStage(options);
    expect(await shown(stage)).toContain("mcp__s__mid");
    await found(stage, "select:mcp.s.bigger");
    await shown(stage);
    await found(stage, "select:mcp.s.big");
    const before = await shown(stage);
    const loadedTools = stage
      .facts("tool.deferred.loaded")
      .flatMap(({ data }) => data.tools as string[]);
    const resumed = await setStage({ ...options, loadedTools });
    expect(await shown(resumed)).toEqual(before);
  });

  it("is not had by a resume where it is no longer there, or no longer allowed", async () => {
    verifies("SEARCH-3", "SURF-2");
    const stage = await setStage({
      sources: [github],
      config: noRoom,
      policy: { rules: [{ tool: "mcp.github.merge", decision: "deny" }] },
      loadedTools: ["mcp.github.merge", "mcp.github.gone", "mcp.github.list_pulls"],
    });
    expect(await shown(stage)).toEqual(["internal__search_tools", "mcp__github__list_pulls"]);
    expect(stage.run.surface.standing.get("mcp.github.merge")).toMatchObject({
      reason: "policy_blocked",
    });
  });
});

describe("a deferred tool that is not loaded", () => {
  const called = async (session: Pick<Session, "startRun">, ...names: string[]) => {
    const run = await session.startRun({});
    return run.execute(names.map((name) => ({ name, arguments: {} })));
  };
  const codes = (results: readonly ToolResult[]) => results.map(({ error }) => error?.code);

  it("is not run, by any of its names, and the answer says what to call", async () => {
    verifies("SEARCH-4");
    let ran = 0;
    const late = writer("mcp.s.late", 0, { aliases: ["late"], handler: () => (ran += 1) });
    const world = await createWorld({
      sources: [server("s", [late])],
      config: noRoom,
      policy: allowAll,
    });
    for (const name of ["mcp.s.late", "mcp__s__late", "late"]) {
      const [result] = await called(world.session, name);
      expect(result).toMatchObject({
        status: "failed",
        is_error: true,
        tool_name: "mcp.s.late",
        error: { code: "schema_not_loaded", recovery: "discover_first" },
      });
      expect(textOf(result)).toContain("internal__search_tools");
      expect(textOf(result)).toContain("select:");
    }
    expect(ran).toBe(0);
  });

  it("stops no other call, and what the answer says to call works", async () => {
    verifies("SEARCH-4", "SCHED-1");
    const stage = await setStage({
      tools: [reader("code.read_file")],
      sources: [server("s", [writer("mcp.s.late")])],
      config: noRoom,
      policy: allowAll,
    });
    const [refused, after] = await stage.run.execute([
      { name: "mcp.s.late", arguments: {} },
      { name: "code.read_file", arguments: {} },
    ]);
    expect(after?.status).toBe("succeeded");
    const advice = /\{"query": "[^"]+"\}/.exec(textOf(refused))?.[0] ?? "";
    await stage.run.execute([{ name: "internal__search_tools", arguments: advice }]);
    await shown(stage);
    const [fine] = await stage.run.execute([{ name: "mcp.s.late", arguments: {} }]);
    expect(fine?.status).toBe("succeeded");
  });

  it("is not run in the turn that finds it: its schema comes with the next request", async () => {
    verifies("SEARCH-4", "SEARCH-3");
    const stage = await setStage({
      sources: [server("s", ["late"])],
      config: noRoom,
      policy: allowAll,
    });
    const late = { name: "mcp.s.late", arguments: {} };
    const same = await stage.run.execute([search("select:mcp.s.late"), late]);
    expect(codes(same)).toEqual([undefined, "schema_not_loaded"]);
    expect(codes(await stage.run.execute([late])), "nor before it was shown").toEqual([
      "schema_not_loaded",
    ]);
    await shown(stage);
    expect(codes(await stage.run.execute([late]))).toEqual([undefined]);
  });

  it("is not run while the new list is still being made", async () => {
    verifies("SEARCH-4", "SURF-7");
    const slow = reader("mcp.s.late", 0, { prompt: () => new Promise<string>(() => {}) });
    const stage = await setStage({
      sources: [server("s", [slow])],
      config: noRoom,
      policy: allowAll,
    });
    await found(stage, "select:mcp.s.late");
    const making = stage.run.tools();
    await stage.clock.settle();
    const early = await stage.run.execute([{ name: "mcp.s.late", arguments: {} }]);
    expect(codes(early)).toEqual(["schema_not_loaded"]);
    await stage.clock.advance(10_000);
    await making;
    expect(codes(await stage.run.execute([{ name: "mcp.s.late", arguments: {} }]))).toEqual([
      undefined,
    ]);
  });
});
