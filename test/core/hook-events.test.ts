// HOOK-7: events that only watch, when each of them fires; and answers no event knows.

import { createKernel, defineHook, type AnyHook, type HookEvent } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { callOnce } from "./call-once.ts";
import { personWho } from "./people.ts";
import { watchedReader, watchedWriter } from "./watched.ts";
import { allowAll, createWorld, reader, textOf } from "./world.ts";

/** A hook of the event that notes what it is told. */
function noting(event: HookEvent, seen: unknown[]): AnyHook {
  return defineHook({ id: event, event, run: (payload) => void seen.push([event, payload]) });
}

describe("the events that only watch", () => {
  test("SessionEnd fires when the session is closed, once, and is on record", async () => {
    verifies("HOOK-7");
    const seen: unknown[] = [];
    const session = await createKernel({ tools: [reader("a.read")] }).openSession({
      session_id: "s",
      hooks: [noting("SessionEnd", seen)],
    });
    await session.startRun();
    expect(seen).toEqual([]);
    await session.close();
    await session.close();
    expect(seen).toEqual([["SessionEnd", { session_id: "s" }]]);
  });

  test("Notification fires when the user is asked, while they are, and not for an allowed call", async () => {
    verifies("HOOK-7");
    const seen: unknown[] = [];
    const hooks = [noting("Notification", seen)];
    const person = personWho("allow_once");
    await callOnce(watchedWriter("notes.edit"), {}, { hooks, ask: person.ask });
    expect(seen).toEqual([
      [
        "Notification",
        expect.objectContaining({
          kind: "permission",
          tool_name: "notes.edit",
          tool_call_id: "c1",
          message: expect.stringContaining("notes.edit needs permission") as string,
        }),
      ],
    ]);
    await callOnce(watchedReader("notes.read"), {}, { hooks, ask: person.ask });
    expect(seen).toHaveLength(1);
  });

  test("Notification fires for a question of a tool, too", async () => {
    verifies("HOOK-7");
    const seen: unknown[] = [];
    const asks = reader("notes.ask", 0, {
      handler: (_, { elicit }) => elicit({ message: "Which one?", mode: "form" } as never),
    });
    const world = await createWorld({
      tools: [asks],
      hooks: [noting("Notification", seen)],
      elicit: () => ({ action: "decline" }),
    });
    await world.execute({ id: "c1", name: "notes.ask", arguments: {} });
    expect(seen).toEqual([
      ["Notification", expect.objectContaining({ kind: "elicitation", message: "Which one?" })],
    ]);
  });

  test("one that fails or takes part in no way changes nothing, and is a warning", async () => {
    verifies("HOOK-7", "HOOK-4");
    const hooks = [
      defineHook({
        id: "bad",
        event: "Notification",
        run() {
          throw new Error("no bell");
        },
      }),
    ];
    const { status, world } = await callOnce(watchedWriter("notes.edit"), {}, { hooks });
    expect(status).toBe("succeeded");
    expect(world.facts("hook.failed")).toMatchObject([
      { level: "warn", data: { hook: "bad", event: "Notification", message: "threw: no bell" } },
    ]);
  });
});

describe("an answer that the event does not know", () => {
  const BLOCK = { decision: "block", reason: "no" };
  const answering = (event: HookEvent): AnyHook =>
    defineHook({ id: "block", event, run: () => BLOCK as never });

  test.each([
    ["PreToolUse", 'decision with "block"; it takes deny, ask, pass'],
    ["PermissionRequest", 'decision with "block"; it takes deny, pass'],
  ] as const)("is a failed guard: %s denies a write", async (event, why) => {
    verifies("HOOK-4", "HOOK-7");
    const tool = watchedWriter("notes.edit");
    const { code, world } = await callOnce(tool, {}, { hooks: [answering(event)] });
    expect(code).toBe("hook_denied");
    expect(tool.inputs).toEqual([]);
    expect(world.facts("hook.failed")[0]?.data.message).toContain(why);
  });

  test.each(["PostToolUse", "Notification"] as const)(
    "is a failed observer with a message: %s",
    async (event) => {
      verifies("HOOK-4", "HOOK-7");
      const tool = watchedWriter("notes.edit");
      const { status, world } = await callOnce(tool, {}, { hooks: [answering(event)] });
      expect(status).toBe("succeeded");
      expect(world.facts("hook.failed")[0]?.data.message).toMatch(/answered "decision"/);
    },
  );
});

test("a PostToolUse hook can speak to the model", async () => {
  verifies("HOOK-7", "HOOK-6");
  const hook = defineHook({
    id: "lint",
    event: "PostToolUse",
    run: () => ({ context: "Two lines are longer than 100 characters." }),
  });
  const world = await createWorld({ tools: [reader("a.read")], policy: allowAll, hooks: [hook] });
  const [result] = await world.execute({ id: "c1", name: "a.read", arguments: {} });
  expect(textOf(result)).not.toContain("longer");
  const told = world.journal.nodes.find(({ kind }) => kind === "hook_context");
  expect(JSON.stringify(told)).toContain("longer than 100 characters");
});
