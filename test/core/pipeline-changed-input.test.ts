// PIPE-2: whatever changes the input of a call sends it back, and nothing judged before counts for it.

import { defineHook, type AnyHook } from "@soong/core";
import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { recordingTool } from "./recording-tool.ts";
import { allowAll, createWorld } from "./world.ts";

describe("an input that a hook changed", () => {
  const change = (from: string, to: string, id = `${from}→${to}`): AnyHook =>
    defineHook({
      id,
      event: "PreToolUse",
      run: ({ input }) =>
        (input as { text: string }).text === from ? { input: { text: to } } : undefined,
    });

  it("is validated, planned and judged again before it runs", async () => {
    verifies("PIPE-2");
    const log: string[] = [];
    const note = (stage: string) => (input: unknown) =>
      void log.push(`${stage} ${(input as { text: string }).text}`);
    const requests: unknown[] = [];
    const world = await createWorld({
      tools: [
        recordingTool([], {
          normalise(input: unknown) {
            const { text } = input as { text: string };
            return { text: text.toLowerCase() };
          },
          validate: note("validate"),
          targets(input: unknown) {
            note("targets")(input);
            return { resources: [] };
          },
          prepare(input: unknown) {
            note("prepare")(input);
            return { resources: [], facts: { text: (input as { text: string }).text } };
          },
          handler: note("handler"),
        }),
      ],
      hooks: [change("old", "NEW")],
      ask: (request) => {
        requests.push(request.arguments);
        return { decision: "allow_once" };
      },
    });
    const [result] = await world.execute({
      id: "c",
      name: "notes.write",
      arguments: { text: "old" },
    });
    expect(result?.status).toBe("succeeded");
    expect(log).toEqual([
      "validate old",
      "targets old",
      "validate new",
      "targets new",
      "prepare new",
      "targets new",
      "prepare new",
      "handler new",
    ]);
    expect(requests).toEqual([{ text: "new" }]);
    const story = world.storyOf("c");
    expect(story.indexOf("permission.evaluated")).toBeGreaterThan(
      story.lastIndexOf("input.mutated"),
    );
  });

  it("ends the call when it does not fit the schema", async () => {
    verifies("PIPE-2");
    const log: string[] = [];
    const hook = defineHook({
      id: "bad",
      event: "PreToolUse",
      run: () => ({ input: { text: 5 } }),
    });
    const world = await createWorld({
      tools: [recordingTool(log)],
      policy: allowAll,
      hooks: [hook],
    });
    const [result] = await world.execute({
      id: "c",
      name: "notes.write",
      arguments: { text: "x" },
    });
    expect(result?.error?.code).toBe("invalid_arguments");
    expect(log).not.toContain("handler");
    expect(world.storyOf("c")).not.toContain("permission.evaluated");
  });

  it("is denied where the changed call would be, though the first was allowed", async () => {
    verifies("PIPE-2");
    const log: string[] = [];
    const world = await createWorld({
      tools: [
        recordingTool(log, {
          prepare: (input: unknown) => ({
            resources: [
              { kind: "path", access: "write", path: `/p/${(input as { text: string }).text}` },
            ],
          }),
        }),
      ],
      roots: { project: "/p", write: ["/p"] },
      policy: {
        rules: [
          { tool: "notes.write", decision: "allow" },
          { path: "/p/secret", decision: "deny" },
        ],
      },
      hooks: [change("open", "secret")],
    });
    const call = { name: "notes.write", arguments: { text: "open" } };
    const [result] = await world.execute(call);
    expect(result?.error?.code).toBe("policy_denied");
    expect(log).not.toContain("handler");
  });

  it("is shown to every guard again, also to those that passed the first one", async () => {
    verifies("PIPE-2");
    const log: string[] = [];
    const guard = defineHook({
      id: "guard",
      event: "PreToolUse",
      run: ({ input }) =>
        (input as { text: string }).text === "bad" ? { decision: "deny" as const } : undefined,
    });
    const world = await createWorld({
      tools: [recordingTool(log)],
      policy: allowAll,
      hooks: [guard, change("good", "bad")],
    });
    const [result] = await world.execute({ name: "notes.write", arguments: { text: "good" } });
    expect(result?.error?.code).toBe("hook_denied");
    expect(log).not.toContain("handler");
  });

  it("does not go round for ever between hooks that disagree", async () => {
    verifies("PIPE-2", "PIPE-1");
    const log: string[] = [];
    const world = await createWorld({
      tools: [recordingTool(log)],
      policy: allowAll,
      hooks: [change("a", "b"), change("b", "a")],
    });
    const [result] = await world.execute({ name: "notes.write", arguments: { text: "a" } });
    expect(result?.status).toBe("denied");
    expect(log).not.toContain("handler");
    expect(world.clock.pending).toBe(0);
  });
});
