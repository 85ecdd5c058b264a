// MCP-10: what a catalog of 10 000 tools costs a request and the disk.

import { readdirSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createHeldClock,
  createKernel,
  kernelConfig,
  type AnyTool,
  type ToolSource,
} from "@soong/core";
import { openStore } from "@soong/store";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { openConversation } from "../../packages/agent/src/loop/index.ts";
import { calls, done, says, writtenModel } from "./loop-stage.ts";
import { ALLOW_ALL } from "./loop-tools.ts";

const TOOLS = 10_000;

function catalog(): ToolSource {
  const tools = Array.from({ length: TOOLS }, (_, at): AnyTool => ({
    name: `mcp.big.do_something_number_${at}`,
    description: `Does something with the thing of number ${at}. `.repeat(4),
    title: `Something ${at}`,
    permission: "readonly",
    input_schema: {
      type: "object",
      properties: {
        path: { type: "string", description: "Where it is" },
        count: { type: "integer" },
      },
      required: ["path"],
    },
    handler: () => "done",
  }));
  return { id: "big", kind: "mcp", tools };
}

/** The defer budget, at four characters a token. */
const BUDGET_CHARS = 4 * kernelConfig().tools.defer_budget_tokens;
/** Of one of the tools above, as it is kept. */
const DEFINITION_BYTES = 470;

test("a run on 10 000 tools: bytes of its requests and on disk stay in proportion", async () => {
  verifies("MCP-10");
  const directory = await mkdtemp(join(tmpdir(), "soong-huge-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const store = await openStore({ directory });
  const kept = await store.createSession({ session_id: "s1" });
  const kernel = createKernel({ sources: [catalog()] });
  const session = await kernel.openSession({ ...kept, policy: ALLOW_ALL });
  const model = writtenModel(createHeldClock(), [
    [calls("internal__search_tools", { query: "number 77" }, "1"), done("tool_use")],
    [calls("mcp__big__do_something_number_77", { path: "x" }, "2"), done("tool_use")],
    [says("Done."), done()],
  ]);
  const conversation = await openConversation({ session, models: [model] });
  const end = await conversation.send("Go").end;
  expect(end.reason).toBe("completed");
  const [first, second] = model.requests;
  const said = first?.system.join("\n") ?? "";
  const shown = (first?.tools ?? []).map(
    ({ name, description, input_schema }) => name + description + JSON.stringify(input_schema),
  );
  expect([said, ...shown].join("").length).toBeLessThan(BUDGET_CHARS);
  expect(JSON.stringify(first).length).toBeLessThan(1.2 * BUDGET_CHARS);
  expect(said).toMatch(/… and \d+ more that are not listed, of big \(\d+\)\. Search for them/);
  expect(second?.tools.map(({ name }) => name)).toContain("mcp__big__do_something_number_77");
  await session.close();
  await kept.close();
  await store.close();
  expect(bytesBelow(join(directory, "runs"))).toBeLessThan(60 * TOOLS);
  // What else is kept: the definitions, once, and the facts.
  expect(bytesBelow(directory)).toBeLessThan(2 * DEFINITION_BYTES * TOOLS);
});

function bytesBelow(path: string): number {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(path, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
