// A call of the newer protocol whose question was answered by someone else while its client was away: its result
// waits for the client, so that no one calls again and does it twice (GATE-2).

import { createKernel, createMemoryJournal, defineTool, isTerminalFact } from "@soong/core";
import { createGatewayBroker, serveGatewayHttp } from "@soong/mcp";
import { afterEach, expect, it, vi } from "vitest";
import { verifies } from "#laws";
import { askingWorld, TOKEN } from "./asking-stage.ts";

const world = askingWorld();
const cleanUp: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const clean of cleanUp.splice(0)) await clean();
});

async function serve(returnWithinMs?: number) {
  let answer = (): void => {};
  const elsewhere = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let times = 0;
  const kernel = createKernel({
    tools: [
      defineTool({
        name: "note.ask",
        description: "Asks, then does it",
        input_schema: { type: "object" },
        permission: "readonly",
        async handler(_input, { elicit }) {
          const form = { mode: "form", message: "?", requested_schema: {} } as const;
          const { action } = await elicit(form);
          times += 1;
          return `${action} ${times}`;
        },
      }),
    ],
  });
  const broker = createGatewayBroker();
  const journal = createMemoryJournal();
  const session = await kernel.openSession({
    journal,
    elicit: (request, context) =>
      Promise.race([
        broker.elicit(request, context),
        elsewhere.then(() => ({ action: "accept" as const })),
      ]),
  });
  const options = { session, broker, server: { name: "soong", version: "1" }, token: TOKEN };
  const served = await serveGatewayHttp({
    ...options,
    returnWithinMs,
  });
  cleanUp.push(() => served.close());
  const ended = () => vi.waitFor(() => expect(journal.facts.some(isTerminalFact)).toBe(true));
  const post = (more: object = {}) =>
    world.post(served.url, "tools/call", { name: "note__ask", ...more }, { elicitation: {} });
  return { post, answer, ended };
}

it("is given to the client when it comes back, once", async () => {
  verifies("GATE-2");
  const { post, answer, ended } = await serve();
  const asked = await post();
  const requestState = asked.result?.requestState ?? "";
  expect(asked.result?.resultType).toBe("input_required");
  answer();
  await ended();
  expect((await post({ requestState })).result?.content).toEqual([
    { type: "text", text: "accept 1" },
  ]);
  expect((await post({ requestState })).error?.code).toBe(-32602);
});

it("is not kept longer than the client was given", async () => {
  verifies("GATE-2");
  const { post, ended } = await serve(1);
  const requestState = (await post()).result?.requestState ?? "";
  await ended();
  expect((await post({ requestState })).error?.code).toBe(-32602);
});
