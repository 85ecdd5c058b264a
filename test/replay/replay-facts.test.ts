// What a replay reads of a journal that is not as it was recorded, and that it reads data there, not sentences.

import { verifies } from "#laws";
import { defineHook, type Fact } from "@soong/core";
import {
  ReplayError,
  replayRun,
  createReplaySource,
  exportRunScript,
  whatIf,
  type ReplaySource,
} from "@soong/replay";
import { expect, it } from "vitest";
import { calls, done, says } from "../agent/loop-stage.ts";
import { ALLOW_ALL, readTool, writeTool } from "../agent/loop-tools.ts";
import { recorded } from "./recorded.ts";

async function keepRun() {
  return recorded(
    [
      [calls("a__read", {}, "1"), calls("a__write", { n: 1 }, "2"), done("tool_use")],
      [calls("a__read", { stop: true }, "3"), done("tool_use")],
      [says("Done."), done()],
    ],
    {
      tools: [
        readTool("a.read", () => "text"),
        writeTool("a.write", []),
        { ...readTool("a.off", () => "x"), isEnabled: () => false },
      ],
      sessionOptions: {
        policy: ALLOW_ALL,
        hooks: [
          defineHook({
            id: "guard",
            event: "PreToolUse",
            run: ({ input }) => (JSON.stringify(input).includes("stop") ? { stop: "enough" } : {}),
          }),
        ],
      },
    },
  );
}

it("says of every fact whose data has another form that the journal is damaged, and hangs on none", async () => {
  verifies("REPLAY-1");
  const kept = await keepRun();
  const others: unknown[] = [5, "text", [], [5], null, { code: 5 }, undefined];
  let damaged = 0;
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (const [at, fact] of kept.facts.entries()) {
    if (seen.has(fact.type)) continue;
    seen.add(fact.type);
    for (const [field, value] of Object.entries(fact.data)) {
      if (typeof value !== "object" && typeof value !== "string") continue;
      for (const other of others) {
        const data = { ...fact.data, [field]: other };
        const changed = { ...fact, data } as Fact;
        const facts = kept.facts.map((one, i) => (i === at ? changed : one));
        const changedSource = createReplaySource(
          { facts, nodes: [] },
          { read: async () => undefined },
        );
        const source: ReplaySource = {
          ...kept.source,
          facts: (page) => changedSource.facts(page),
        };
        const about = { source, run_id: kept.run_id };
        for (const read of [replayRun, exportRunScript, whatIf]) {
          const error = await read(about).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          if (error === undefined) continue;
          if (error instanceof ReplayError) damaged += 1;
          else
            wrong.push(
              `${read.name}: ${fact.type} ${field} ${JSON.stringify(other)}: ${(error as Error).message}`,
            );
        }
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(damaged).toBeGreaterThan(100);
});
