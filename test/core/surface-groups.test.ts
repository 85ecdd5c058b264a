// MCP-10: of many tools the same is said once on record, and everything can still be read from it.

import type { CatalogRecord } from "@soong/core";
import { catalogEntries, entriesIn } from "@soong/core/internal";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { noRoom, server } from "./sources.ts";
import { createWorld, reader } from "./world.ts";

describe("a catalog of many deferred tools", () => {
  it("is recorded in groups that give the same entries, descriptions by reference", async () => {
    verifies("MCP-10", "SURF-8");
    const names = Array.from({ length: 300 }, (_, at) => `mcp.s.tool_${at}`);
    const tools = names.map((name, at) =>
      reader(name, 0, at % 2 === 0 ? { destructive: true } : {}),
    );
    const world = await createWorld({ sources: [server("s", tools)], config: noRoom });
    const [fact] = world.facts("tool.catalog.resolved");
    if (fact?.type !== "tool.catalog.resolved") throw new Error("it is not on record");
    const record = fact.data;
    expect(record.groups?.map((group) => group.names.length)).toEqual([150, 150]);
    expect(record.tools.map(({ state }) => state)).toEqual(["loaded"]);
    const definitions = /^artifact:(.+)#/.exec(entriesIn(record).at(-1)?.metadata_ref ?? "");
    const whole = catalogEntries(world.run.surface, world.run.policy, definitions?.[1]);
    const byName = (entries: typeof whole) => new Map(entries.map((one) => [one.tool_name, one]));
    const recorded = byName(entriesIn(record));
    expect(recorded.size).toBe(whole.length);
    for (const { description: _text, ...entry } of whole) {
      expect(recorded.get(entry.tool_name)).toMatchObject(entry);
    }
    const kept = await world.artifacts.read(definitions?.[1] ?? "");
    expect(new TextDecoder().decode(kept)).toContain("The tool mcp.s.tool_7, for tests");
  });

  it("says what changed when one of them is loaded, and no more", async () => {
    verifies("MCP-10", "SURF-7");
    const names = Array.from({ length: 300 }, (_, at) => reader(`mcp.s.tool_${at}`));
    const world = await createWorld({ sources: [server("s", names)], config: noRoom });
    const query = "select:mcp.s.tool_7";
    await world.execute({ name: "internal.search_tools", arguments: { query } });
    await world.run.tools();
    const record = world.facts("tool.catalog.resolved").at(-1)?.data as unknown as CatalogRecord;
    expect(record.groups).toBeUndefined();
    expect(record.tools.map(({ tool_name }) => tool_name)).toEqual(["mcp.s.tool_7"]);
  });
});
