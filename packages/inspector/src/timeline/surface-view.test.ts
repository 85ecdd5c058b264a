import type { Fact } from "@soong/core";
import { estimateTokens } from "@soong/core/internal";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { drive, setStage, type Stage } from "../../../../test/core/drive.ts";
import { found, github } from "../../../../test/core/searching.ts";
import { reader, writer } from "../../../../test/core/world.ts";
import { findDefinitions } from "./definitions.ts";
import { searchSurface } from "./search-surface.ts";
import { surfaceView } from "./surface-view.ts";

const later = { defer: true };

/** Some loaded, some deferred, one excluded by a rule. */
const setTools = () =>
  setStage({
    tools: [
      reader("a.read", 0, { description: "Reads a file of the project." }),
      writer("a.gone"),
      reader("a.later", 0, {
        ...later,
        description: "Paints a picture.",
        search_hint: "draw image",
        aliases: ["paint"],
        input_schema: {
          type: "object",
          properties: { colour: { type: "string", description: "of the sky" } },
        },
      }),
      reader("a.much_later", 0, { ...later, description: "Frames a picture.", title: "Framing" }),
    ],
    sources: [github],
    policy: { rules: [{ tool: "a.gone", decision: "deny", reason: "not here" }] },
    config: { tools: { defer_budget_tokens: 200 } },
  });

const catalogOf = (stage: Stage): Fact[] => stage.facts("run.started", "tool.catalog.resolved");

async function definitionsOf(stage: Stage, revision?: number): Promise<unknown> {
  const bytes = await stage.artifacts.read(findDefinitions(catalogOf(stage), revision) ?? "");
  return JSON.parse(new TextDecoder().decode(bytes));
}

const options = async (stage: Stage, revision?: number) => ({
  run_id: stage.run.identity.run_id,
  definitions: await definitionsOf(stage, revision),
  revision,
});

describe("the surface of a run", () => {
  it("has every tool with where it is, why, and what the kernel estimates it costs", async () => {
    verifies("UI-1");
    const stage = await setTools();
    const view = surfaceView(catalogOf(stage), await options(stage));
    const { surface } = stage.run;
    const expected = new Map([...surface.standing].map(([name, { state }]) => [name, state]));
    expect(new Map(view?.tools.map(({ tool_name, state }) => [tool_name, state]))).toEqual(
      expected,
    );
    expect(view?.tools.find(({ tool_name }) => tool_name === "a.gone")).toMatchObject({
      policy: "denied",
      reason: "policy_blocked",
      detail: expect.stringContaining("not here") as string,
    });
    for (const { tool_name, tokens } of view?.tools ?? []) {
      const { tool } = surface.standing.get(tool_name) ?? {};
      if (tool !== undefined) expect(tokens, tool_name).toBe(estimateTokens(tool));
    }
    const total = (tools: typeof surface.loaded) =>
      tools.reduce((sum, tool) => sum + estimateTokens(tool), 0);
    expect(surface.deferred.length).toBeGreaterThan(2);
    expect(view?.tokens.loaded).toBe(total(surface.loaded));
    expect(view?.tokens.deferred_in_full).toBe(total(surface.deferred));
    const names = surface.deferred.map(
      ({ name, definition }) => name + (definition.search_hint ?? definition.title ?? ""),
    );
    expect(view?.tokens.deferred_names).toBe(Math.ceil(names.join("").length / 4));
    expect(view).toMatchObject({
      run_id: stage.run.identity.run_id,
      revision: surface.revision,
      role: "main",
      mode: "normal",
      profile: "portable",
    });
    const states = view?.tools.map(({ state }) => state) ?? [];
    expect(states).toEqual(states.toSorted((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)));
  });

  const ORDER = ["loaded", "deferred", "excluded"];

  it("is reported as it was at each revision: loaded by a search, changed, taken away", async () => {
    verifies("UI-1");
    const stage = await setTools();
    const views = [surfaceView(catalogOf(stage), await options(stage))];
    await found(stage, "select:a.later");
    await stage.run.tools();
    views.push(surfaceView(catalogOf(stage), await options(stage)));
    const handle = stage.kernel.registry.open({
      id: "more",
      kind: "code",
      trusted: true,
      tools: [reader("b.new"), reader("b.other")],
    });
    await stage.run.tools();
    views.push(surfaceView(catalogOf(stage), await options(stage)));
    handle.set([reader("b.new", 0, { description: "Another description." })], []);
    await stage.run.tools();
    const last = surfaceView(catalogOf(stage), await options(stage));
    views.push(last);
    expect(last?.revisions.map(({ revision }) => revision)).toEqual([1, 2, 3, 4]);
    expect(last?.revisions.slice(1).map(({ changed }) => changed)).toEqual([1, 2, 2]);
    expect(last?.revisions.map(({ seq }) => seq)).toEqual(
      stage.facts("tool.catalog.resolved").map(({ seq }) => seq),
    );
    const stateAt = (at: number, name: string) =>
      views[at]?.tools.find(({ tool_name }) => tool_name === name)?.state;
    expect([0, 1].map((at) => stateAt(at, "a.later"))).toEqual(["deferred", "loaded"]);
    expect([1, 2, 3].map((at) => stateAt(at, "b.other"))).toEqual([
      undefined,
      expect.any(String),
      undefined,
    ]);
    expect(new Set(last?.tools.map(({ tool_name }) => tool_name))).toEqual(
      new Set(stage.run.surface.standing.keys()),
    );
    for (const [i, view] of views.entries()) {
      const again = surfaceView(catalogOf(stage), await options(stage, i + 1));
      expect({ ...again, revisions: [] }, `revision ${i + 1}`).toEqual({ ...view, revisions: [] });
    }
    expect(surfaceView(catalogOf(stage), await options(stage, 9))).toBeUndefined();
    expect(surfaceView([], { run_id: "r" })).toBeUndefined();
  });

  it("is there without the definitions, as far as the catalog has it", async () => {
    const stage = await setTools();
    const exact = surfaceView(catalogOf(stage), await options(stage));
    for (const definitions of [
      undefined,
      null,
      7,
      { tools: [{ name: "a.read", source: 9, input_schema: 1 }] },
    ]) {
      const view = surfaceView(catalogOf(stage), { run_id: "r", definitions });
      expect(view?.tokens.loaded).toBeGreaterThan(0);
      expect(view?.tools.map(({ tool_name }) => tool_name)).toEqual(
        exact?.tools.map(({ tool_name }) => tool_name),
      );
    }
    const view = surfaceView(catalogOf(stage), { run_id: "r" });
    expect(view?.tokens.loaded, "loaded ones have their schema in the catalog").toBe(
      exact?.tokens.loaded,
    );
  });
});

describe("a search of the surface", () => {
  it.each([
    "picture",
    "draw image",
    "sky colour",
    "issue bug",
    "select:a.later,paint,a.none",
    "pulls",
    "readonly",
    "zzz",
  ])("finds what the model's own search finds, in its order: %s", async (query) => {
    verifies("UI-1");
    const stage = await setTools();
    const facts = catalogOf(stage);
    const definitions = await definitionsOf(stage);
    const { matches } = searchSurface(facts, query, { definitions });
    const answer = await drive(stage.clock, found(stage, query, { limit: 20 }));
    const ofModel = matches.filter(({ is_found_by_model }) => is_found_by_model);
    expect(ofModel.map(({ tool_name, score, reasons }) => ({ tool_name, score, reasons }))).toEqual(
      answer.matches.map(({ tool_name, score, reasons }) => ({ tool_name, score, reasons })),
    );
  });

  it("finds loaded tools beside them, best first, and no excluded one", async () => {
    const stage = await setTools();
    const definitions = await definitionsOf(stage);
    const { query, matches } = searchSurface(catalogOf(stage), "read a file", { definitions });
    expect(query).toBe("read a file");
    expect(matches[0]).toMatchObject({ tool_name: "a.read", is_found_by_model: false });
    const scores = matches.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(
      searchSurface(catalogOf(stage), "a.gone").matches.map(({ tool_name }) => tool_name),
    ).not.toContain("a.gone");
    expect(searchSurface([], "anything").matches).toEqual([]);
    const painter = () =>
      searchSurface(catalogOf(stage), "paint", { definitions }).matches[0]?.is_found_by_model;
    expect(painter()).toBe(true);
    await found(stage, "select:a.later");
    await stage.run.tools();
    expect(painter(), "once it is loaded").toBe(false);
  });
});
