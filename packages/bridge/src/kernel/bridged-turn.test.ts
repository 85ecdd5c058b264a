import { createKernel, defineTool } from "@soong/core";
import { expect, test } from "vitest";
import { BridgedTurn } from "./bridged-turn.ts";

const read = defineTool({
  name: "notes.read",
  description: "Read a note",
  input_schema: { type: "object" },
  permission: "readonly",
  handler: () => "a note",
});

test("a call that is pushed after the turn was aborted has a result, however late", async () => {
  const run = await createKernel({ tools: [read] }).startRun();
  const turn = new BridgedTurn(run);
  await turn.abort("a hook ended the run");
  for (const id of ["c1", "c2"]) {
    const { outcome } = turn.push({ id, name: "notes__read", arguments: "{}" });
    expect((await outcome).result.status).toBe("aborted");
  }
});

test("a signal that is known only later aborts the turn as well", async () => {
  const waiting = defineTool({
    name: "notes.wait",
    description: "Wait for ever",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      }),
  });
  const run = await createKernel({ tools: [waiting] }).startRun();
  const turn = new BridgedTurn(run);
  const { outcome } = turn.push({ id: "c1", name: "notes__wait", arguments: "{}" });
  turn.end();
  const loop = new AbortController();
  turn.abortOn(loop.signal);
  loop.abort(new Error("the user pressed stop"));
  expect((await outcome).result).toMatchObject({ status: "aborted" });
});
