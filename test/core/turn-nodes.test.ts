// What a turn adds to the conversation, as whoever drives the run needs it for the next request.

import { expect, it } from "vitest";
import { toolResult } from "@soong/core";
import { createWorld, reader, takeTimeBy } from "./world.ts";

it("a turn reports its nodes in the order of the path, no matter which ended first", async () => {
  const world = await createWorld({
    tools: [
      reader("a.slow", 20),
      reader("b.context", 0, {
        handler: () =>
          toolResult({ summary: "b", context_nodes: [{ kind: "skill_context", text: "more" }] }),
      }),
    ],
  });
  takeTimeBy(world.clock);
  const turn = world.run.openTurn({ parentNodeId: "before" });
  turn.push({ id: "1", name: "a.slow", arguments: {} });
  turn.push({ id: "2", name: "b.context", arguments: {} });
  await world.clock.settle();
  expect(turn.nodes).toEqual([]);
  turn.end();
  expect(turn.nodes.map(({ tool_call_id }) => tool_call_id)).toEqual(["2", "2"]);
  const settled = turn.settled();
  await world.clock.advance(100);
  await settled;
  expect(turn.nodes.map(({ kind, tool_call_id }) => [kind, tool_call_id])).toEqual([
    ["tool_result", "1"],
    ["tool_result", "2"],
    ["skill_context", "2"],
  ]);
  const [first, second, third] = turn.nodes;
  expect([first?.parent_id, second?.parent_id, third?.parent_id]).toEqual([
    "before",
    first?.node_id,
    second?.node_id,
  ]);
  expect(turn.lastNodeId).toBe(third?.node_id);
});
