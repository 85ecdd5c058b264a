// Redaction over a whole run, and at the places where a text is cut (REDACT-1).

import { defineHook, type FactType, type Plan } from "@soong/core";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import {
  asks,
  call,
  closed,
  failWith,
  failWithContent,
  hang,
  hooked,
  reads,
  result,
  type Act,
} from "./notes-x.ts";
import { pre } from "./pre-hook.ts";
import { BOTH, createWatchedWorld, KNOWN, leaksIn, TOKEN } from "./secrets.ts";
import { reader, writer, type WorldOptions } from "./world.ts";

/** More than twice the bound, and nothing but secrets: wherever it is cut, one of them is cut in two. */
const dense = (bound: number, shift: number): string =>
  "x".repeat(shift) + ` ${KNOWN} ${TOKEN}`.repeat(Math.ceil((2 * bound) / 65));
const cuts: [string, number, (text: string) => WorldOptions, ((text: string) => Act)?][] = [
  [
    "a progress message",
    2000,
    (text) => reads({ handler: (_, context) => context.progress({ message: text }) }),
  ],
  ["an error", 2000, (text) => reads({ handler: () => failWith(text) })],
  ["a long error", 8000, (text) => reads({ handler: () => failWithContent(text) })],
  ["a summary", 200, (text) => result({ ok: true, summary: text })],
  ["a returned text", 300, (text) => reads({ handler: () => text, max_result_chars: 300 })],
  ["a returned value", 300, (text) => reads({ handler: () => ({ text }), max_result_chars: 300 })],
  [
    "partial output",
    65_536,
    (text) => reads({ timeout_ms: 10, handler: async (_, context) => hang(context.output(text)) }),
  ],
  [
    "a preview",
    256 * 1024,
    (text) => asks({ prepare: (): Plan => ({ resources: [], preview: { kind: "text", text } }) }),
  ],
  ["arguments", 32_768, () => reads(), (text) => call({ text })],
  ["arguments that do not parse", 200, () => reads(), (text) => call(`{"a": "${text}`)],
  ["the name of an argument", 200, () => closed(), (text) => call({ [text]: 1 })],
  ["the name of a tool", 200, () => reads(), (text) => call({}, text)],
  ["the reason of a hook", 2000, (text) => hooked({ decision: "deny", reason: text })],
  [
    "the error of a hook",
    2000,
    (text) => ({ ...reads(), hooks: [pre("h", () => failWith(text))] }),
  ],
];
test.each(cuts)("cutting %s cuts no secret in two", async (_, bound, options, act) => {
  verifies("REDACT-1");
  for (const shift of [0, 13, 27, 41, 55]) {
    const text = dense(bound, shift);
    const world = await createWatchedWorld(options(text));
    const returned = await (act?.(text) ?? call())(world);
    await world.clock.advance(1000);
    expect(leaksIn(world.allText(returned)), `shifted by ${shift}`).toEqual([]);
  }
});

test("a run full of secrets leaves a record without any", async () => {
  verifies("REDACT-1");
  const echo = reader("notes.echo", 0, { handler: (input) => input });
  const edit = writer("notes.edit", 0, {
    prepare: (input): Plan => ({
      resources: [{ kind: "path", access: "write", path: "/project/a" }],
      preview: { kind: "text", text: JSON.stringify(input) },
    }),
    handler: async (_, context) => {
      context.progress({ message: BOTH });
      await context.artifacts.write(BOTH, { media_type: "text/plain", name: "kept.txt" });
      await context.elicit({ mode: "form", message: BOTH, requested_schema: {} });
      return { ok: true, content: [{ type: "text", text: BOTH }], metadata: { at: BOTH } };
    },
  });
  const fail = reader("notes.fail", 0, { handler: () => failWithContent(BOTH) });
  const long = reader("notes.long", 0, {
    max_result_chars: 300,
    handler: () => `${BOTH}\n`.repeat(99),
  });
  const change = pre("change", (input) => ("n" in input ? {} : { input: { ...input, n: BOTH } }), {
    tool: "notes.echo",
  });
  const note = defineHook({
    id: "note",
    event: "PostToolUse",
    run: ({ result }) => ({ context: JSON.stringify(result.content) }),
  });
  const world = await createWatchedWorld({
    tools: [echo, edit, fail, long],
    hooks: [change, note],
    roots: { project: "/project", write: [] },
    ask: () => ({ decision: "allow_for_session", reason: BOTH }),
    elicit: () => ({ action: "accept", content: { a: BOTH } }),
  });
  const prompted = await world.run.submitPrompt(BOTH);
  const results = await world.execute(
    { id: "echo", name: "notes.echo", arguments: { text: BOTH } },
    { id: "text", name: "notes.echo", arguments: JSON.stringify({ text: BOTH }) },
    { id: "fail", name: "notes.fail", arguments: {} },
    { id: "long", name: "notes.long", arguments: {} },
    { id: "edit", name: "notes.edit", arguments: { text: BOTH } },
    { id: "bad", name: "notes.none", arguments: { text: BOTH } },
  );
  const stopped = await world.run.stopping();
  world.run.end("completed");

  expect(leaksIn(world.allText(prompted, results, stopped))).toEqual([]);
  const types: FactType[] = [
    "input.mutated",
    "permission.requested",
    "permission.resolved",
    "grant.created",
    "tool.progress",
    "artifact.created",
    "output.truncated",
    "output.redacted",
    "mcp.server.elicitation",
    "hook.completed",
    "tool.completed",
    "tool.failed",
    "tool.denied",
    "run.completed",
  ];
  const seen = world.facts().map(({ type }) => type);
  expect(seen).toEqual(expect.arrayContaining(types));
});
