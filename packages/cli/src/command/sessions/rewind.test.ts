import type { ConversationNode } from "@soong/core";
import { expect, test } from "vitest";
import { listRewindPoints } from "./rewind.ts";

function path(...roles: readonly string[]): ConversationNode[] {
  return roles.map((role, at) => ({
    node_id: `n${at}`,
    ...(at === 0 ? {} : { parent_id: `n${at - 1}` }),
    session_id: "s",
    run_id: "r",
    agent_id: "a",
    kind: role === "context" ? ("instruction_context" as const) : ("message" as const),
    content: [{ type: "text" as const, text: `${role} ${at}` }],
    data: { role },
  }));
}

test("points to go back to are before each prompt but the first, newest first", () => {
  const said = path("context", "user", "assistant", "user", "assistant", "context", "user");
  expect(listRewindPoints(said)).toEqual([
    { node_id: "n5", prompt: "user 6" },
    { node_id: "n2", prompt: "user 3" },
  ]);
  expect(listRewindPoints(path("user", "assistant"))).toEqual([]);
  expect(listRewindPoints([])).toEqual([]);
});
