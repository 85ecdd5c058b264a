// SCHED-10: what the user calls readonly runs beside its siblings, unless the user says otherwise.

import { createKernel, createHeldClock, createMemoryJournal, type JsonObject } from "@soong/core";
import { createPins, openMcpServers, type McpServerEntry } from "@soong/mcp";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { entryOf, scriptedConnection, scriptedServer, textAnswer } from "../../mcp/source-stage.ts";
import {
  createPlaces,
  problemsIn,
  scripted,
  startDeclaredRun,
} from "../../tools/declarative-world.ts";

const NAMES = ["a", "b", "c"];

describe("three readonly declarative tools", () => {
  test("run beside each other: each waits until all have begun", async () => {
    verifies("SCHED-10");
    const places = createPlaces();
    onTestFinished(() => places.remove());
    for (const name of NAMES) {
      const meet = `touch ${name}; until [ -e a ] && [ -e b ] && [ -e c ]; do sleep 0.01; done`;
      const about = { name: `test.${name}`, permission: "readonly", timeout_ms: 20_000 };
      places.write(
        `home/tools/${name}.json`,
        scripted(`${meet}; printf '{"ok":true,"summary":"met"}'`, about),
      );
    }
    const { run } = await startDeclaredRun(places);
    const results = await run.execute(
      NAMES.map((name) => ({ name: `test.${name}`, arguments: {} })),
    );
    expect(results.map(({ summary }) => summary)).toEqual(["met", "met", "met"]);
  });

  test("run one after the other where the file says so", async () => {
    verifies("SCHED-10");
    const places = createPlaces();
    onTestFinished(() => places.remove());
    for (const name of NAMES) {
      const about = { name: `test.${name}`, permission: "readonly", concurrency_safe: false };
      places.write(
        `home/tools/${name}.json`,
        scripted("mkdir busy && sleep 0.05 && rmdir busy && printf '{\"ok\":true}'", about),
      );
    }
    const { run } = await startDeclaredRun(places);
    const results = await run.execute(
      NAMES.map((name) => ({ name: `test.${name}`, arguments: {} })),
    );
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  test("a tool that writes cannot be declared safe", async () => {
    verifies("SCHED-10");
    const places = createPlaces();
    onTestFinished(() => places.remove());
    places.write("home/tools/x.json", scripted("true", { concurrency_safe: true }));
    expect(await problemsIn(places.tools)).toEqual([
      expect.stringMatching(/x\.json:\d+:\d+: concurrency_safe: is true where permission/),
    ]);
  });
});

describe("tools of an MCP server", () => {
  const inputSchema = { type: "object" };
  const annotated = (name: string, annotations?: JsonObject): JsonObject => ({
    name,
    description: name,
    inputSchema,
    ...(annotations === undefined ? {} : { annotations }),
  });

  /** How many calls the server had at once when three tools were called in one turn. */
  async function mostAtOnce(
    entry: Partial<McpServerEntry>,
    options: { annotations?: JsonObject; marks?: string[] } = {},
  ): Promise<number> {
    const journal = createMemoryJournal();
    let now = 0;
    let most = 0;
    const server = scriptedServer({
      tools: NAMES.map((name) => annotated(name, options.annotations)),
      callTool: async () => {
        most = Math.max(most, (now += 1));
        // Siblings that may start have been started by then.
        for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
        now -= 1;
        return textAnswer("done");
      },
    });
    const clock = createHeldClock();
    const kernel = createKernel({ clock });
    const pins = await createPins({ load: async () => undefined, save: async () => {} });
    const servers = openMcpServers({
      entries: [entryOf("s", entry)],
      registry: kernel.registry,
      clock,
      pins,
      connect: ({ server_id }) => scriptedConnection(server_id, server),
      record: () => {},
    });
    await servers.ready(new AbortController().signal, 1000);
    const run = await kernel.startRun({
      journal,
      ask: () => ({ decision: "allow_once" }),
      policy: { readonly_mcp: options.marks ?? [] },
    });
    const results = await run.execute(
      NAMES.map((name) => ({ name: `mcp.s.${name}`, arguments: {} })),
    );
    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    return most;
  }

  test.each<[string, Parameters<typeof mostAtOnce>, number]>([
    ["all marked readonly in mcp.json", [{ readonly_tools: "all" }], 3],
    ["named readonly in mcp.json", [{ readonly_tools: NAMES }], 3],
    ["marked readonly by the policy", [{}, { marks: ["mcp.s.*"] }], 3],
    ["not marked", [{}], 1],
    [
      "not marked, readonly by the server's word only",
      [{}, { annotations: { readOnlyHint: true } }],
      1,
    ],
    ["concurrency_safe: false", [{ readonly_tools: "all", concurrency_safe: [] }], 1],
    ["the same with the policy's mark", [{ concurrency_safe: [] }, { marks: ["mcp.s.*"] }], 1],
    ["two of them said to be safe", [{ readonly_tools: "all", concurrency_safe: ["a", "b"] }], 2],
    [
      "vouched for by name against the server's word",
      [{ readonly_tools: NAMES }, { annotations: { readOnlyHint: false } }],
      1,
    ],
  ])("%s", async (_, given, most) => {
    verifies("SCHED-10");
    expect(await mostAtOnce(...given)).toBe(most);
  });
});
