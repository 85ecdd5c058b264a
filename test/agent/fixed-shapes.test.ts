// What is made for each run, request, call and fact has one hidden class, however many of them there are: otherwise the engine
// compiles nothing of what reads them, and each leaves a class behind.

import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { openConversation, type ActiveRun, type ModelRequest } from "@soong/agent";
import { createKernel, createMemoryJournal, PORTABLE_PROFILE } from "@soong/core";
import { expect, test } from "vitest";
import { reader } from "../core/world.ts";

setFlagsFromString("--allow-natives-syntax");
const haveSameClass = runInThisContext("(a, b) => %HaveSameMap(a, b)") as (
  a: object,
  b: object,
) => boolean;

const usage = { input_tokens: 1, output_tokens: 1 };

async function runOnce(kernel: ReturnType<typeof createKernel>) {
  const requests: ModelRequest[] = [];
  const active: ActiveRun[] = [];
  const journal = createMemoryJournal();
  const session = await kernel.openSession({ journal });
  const conversation = await openConversation({
    session,
    runRegistry: { add: (run) => active.push(run), remove() {} },
    models: [
      {
        id: "test:two-turns",
        profile: PORTABLE_PROFILE,
        async *stream(request) {
          requests.push(request);
          const [key, name] = ["call", "notes__read"];
          if (requests.length === 1) {
            yield { type: "call_complete", key, id: key, name, arguments: "{}" };
          } else yield { type: "text_delta", text: "done" };
          yield { type: "completed", stop: requests.length === 1 ? "tool_use" : "end_turn", usage };
        },
      },
    ],
  });
  const end = await conversation.send("go").end;
  expect(end).toMatchObject({ reason: "completed", turns: 2 });
  await session.close();
  return { end, requests, active, facts: journal.facts, nodes: journal.nodes };
}

test("a run makes objects of the same classes as the run before it", async () => {
  const kernel = createKernel({ tools: [reader("notes.read")] });
  // Until the engine has seen every kind of value that a field may hold.
  for (let i = 0; i < 5; i += 1) await runOnce(kernel);
  const [before, after] = [await runOnce(kernel), await runOnce(kernel)];
  expect(listDifferent(before, after, "run")).toEqual([]);
});

/** The places where the two have objects of different classes. */
function listDifferent(
  before: unknown,
  after: unknown,
  place: string,
  seen = new Set<unknown>(),
): string[] {
  if (!isObject(before) || !isObject(after) || before === after || seen.has(before)) return [];
  seen.add(before);
  const isList = Array.isArray(before) || before instanceof Map || before instanceof Set;
  const below = Object.keys(before).flatMap((key) => {
    const [held, other] = [Reflect.get(before, key), Reflect.get(after, key)] as unknown[];
    return listDifferent(held, other, `${place}.${key}`, seen);
  });
  return isList || haveSameClass(before, after) ? below : [place, ...below];
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
