// What a turn makes for its request, counted: none of it may grow with the conversation behind it. What it records, reads and
// redacts is counted in long-conversation.test.ts.

import { verifies } from "#laws";
import { deriveContext } from "@soong/agent";
import { toolResult } from "@soong/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { contextsIn, factsOfTypes } from "../facts.ts";
import { calls, done, openStage, says, type Answer } from "./loop-stage.ts";
import { readTool } from "./loop-tools.ts";

const TURNS = 200;

test("a request after 190 turns makes and counts no more than one after 10", async () => {
  verifies("LOOP-5");
  const stringify = vi.spyOn(JSON, "stringify");
  onTestFinished(() => stringify.mockRestore());
  const works: { readonly stringified: number; readonly newMessages: number }[] = [];
  const known = new Set<object>();
  const stage = await openStage(
    turns((messages) => {
      const added = messages.filter((message) => !known.has(message));
      for (const message of added) known.add(message);
      // How tokens of tools and of what is no text are counted.
      const lengths = stringify.mock.results.map(({ value }) => String(value).length);
      const stringified = lengths.reduce((sum, length) => sum + length, 0);
      stringify.mockClear();
      works.push({ stringified, newMessages: added.length });
    }),
    {
      tools: [readTool("a.read", () => "what it read")],
      system: ["Rules of this program."],
      limits: { max_turns: TURNS + 1 },
    },
  );
  expect(await stage.ask("go")).toMatchObject({ reason: "completed" });
  expect(works).toHaveLength(TURNS + 1);
  const [early, late] = [works.slice(10, 50), works.slice(150, 190)];
  expect(late).toEqual(early);
  for (const { newMessages } of late) expect(newMessages).toBe(2);
});

test("what a request holds is on record as what was added, in all no more than twice what there is, and can be read whole", async () => {
  verifies("LOOP-5", "CTX-1");
  let found = 0;
  const stage = await openStage(turns(), {
    tools: [
      readTool("a.read", () => {
        found += 1;
        const uri = `https://example.org/${found}`;
        return toolResult({ content: [{ type: "resource_link", uri }] });
      }),
    ],
    limits: { max_turns: TURNS + 1 },
  });
  await stage.ask("go");
  const recorded = factsOfTypes(stage.journal.facts, "context.resolved").map(({ data }) => data);
  const count = recorded.reduce((sum, { source_refs }) => sum + source_refs.length, 0);
  expect(count).toBeLessThanOrEqual(2 * TURNS);
  const { node_id } = stage.journal.nodes.find(({ kind }) => kind === "tool_result")!;
  for (const [i, whole] of contextsIn(stage.journal.facts).entries()) {
    expect(whole.source_refs).toHaveLength(i);
    expect(whole).not.toHaveProperty("since");
    expect(whole.request).toBe(i + 1);
    expect(whole.session_refs).toHaveLength(1);
    expect(whole.missing).toEqual(recorded[0]?.missing);
    if (i > 0) expect(whole.source_refs[0]).toEqual({ uri: "https://example.org/1", node_id });
  }
  // A reader walks over as many facts as there are references, or 64.
  const whole = recorded.flatMap(({ since, request }) => (since === undefined ? [request] : []));
  expect(whole).toEqual([1, 66, 132]);
  expect(deriveContext(recorded.slice(70, 80))).toBeUndefined();
});

function turns(look?: (messages: readonly object[]) => void): Answer[] {
  const looking = Array.from({ length: TURNS }, (_, i): Answer => {
    const id = `call_${1000 + i}`;
    return ({ messages }) => {
      look?.(messages);
      return [says("Next."), calls("a__read", { at: 1000 + i }, id), done("tool_use")];
    };
  });
  const last: Answer = ({ messages }) => {
    look?.(messages);
    return [says("ok"), done()];
  };
  return [...looking, last];
}
