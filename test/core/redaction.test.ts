// Secrets stay out (REDACT-1): whichever way one comes in, it is in no fact, no node, no question to a
// person, no hook's payload and no text for the model.

import {
  defineHook,
  toolResult,
  type AnyHook,
  type Plan,
  type PolicyInput,
  type Resource,
  type ToolResult,
} from "@soong/core";
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
  returns,
  type Act,
} from "./notes-x.ts";
import { pre } from "./pre-hook.ts";
import { BOTH, createWatchedWorld, KNOWN, leaksIn, TOKEN } from "./secrets.ts";
import type { WorldOptions } from "./world.ts";

type Channel = [name: string, options: WorldOptions, act?: Act];

const spoken = (decision: "allow" | "ask" | "deny"): PolicyInput => ({
  rules: [{ tool: "notes.x", decision, reason: BOTH }],
});
const plans = (...resources: Resource[]): WorldOptions => asks({ prepare: () => ({ resources }) });
const fails = (): never => failWith(BOTH);
const observer = (event: AnyHook["event"], answer: unknown): AnyHook =>
  defineHook({ id: "meddler", event, run: () => answer as never });
const escaped = `{"a":"${KNOWN.replaceAll("/", String.raw`\/`).replace("c", String.raw`\u0063`)}"}`;
const path = `/project/${KNOWN}/.env`;

const channels: Channel[] = [
  ["an argument", reads(), call({ a: { b: [BOTH] } })],
  ["an argument of a write", asks(), call({ a: BOTH })],
  ["arguments as text", reads(), call(JSON.stringify({ a: BOTH }))],
  ["arguments with escapes", reads(), call(escaped)],
  ["the name of an argument", reads(), call({ [BOTH]: 1 })],
  ["arguments that do not parse", reads(), call(`{"a": "${BOTH}`)],
  [
    "arguments that are refused",
    reads({ input_schema: { type: "object", properties: { a: { type: "integer" } } } }),
    call({ a: BOTH }),
  ],
  ["an argument nobody knows", closed(), call({ [BOTH]: 1 })],
  ["arguments of an unknown tool", reads(), call({ a: BOTH }, "notes.y")],
  ["the tool's own check", reads({ validate: () => BOTH })],
  ["a check that throws", reads({ validate: fails })],
  ["normalise", reads({ normalise: () => ({ a: BOTH }) })],
  ["normalise that throws", reads({ normalise: fails })],
  ["classify that throws", reads({ classify: fails })],

  ["a returned text", returns(BOTH)],
  ["a returned value", returns({ a: [{ [BOTH]: BOTH }] })],
  [
    "a content block",
    result({
      content: [
        { type: "json", json: { a: BOTH } },
        { type: "resource_link", uri: `https://x/${TOKEN}`, name: KNOWN },
      ],
    }),
  ],
  ["a summary", result({ ok: true, summary: BOTH })],
  ["metadata of a result", result({ ok: true, metadata: { a: BOTH } })],
  [
    "a failed result",
    result({ ok: false, error: { code: "no", message: BOTH, details: { a: BOTH } } }),
  ],
  [
    "a context node",
    result({ ok: true, context_nodes: [{ kind: "skill_context", text: BOTH, data: { a: BOTH } }] }),
  ],
  [
    "a context modifier that throws",
    reads({
      concurrency_safe: false,
      handler: () => toolResult({ ok: true, modify_context: fails }),
    }),
  ],
  ["an error", reads({ handler: fails })],
  ["a failure with content", reads({ handler: () => failWithContent(BOTH) })],
  ["what a tool renders for people", reads({ render: () => BOTH })],
  ["a render that throws", reads({ render: fails })],
  [
    "an output that does not fit its schema",
    reads({
      handler: () => ({ a: BOTH }),
      output_schema: { type: "object", properties: { a: { type: "integer" } } },
    }),
  ],
  [
    "progress",
    reads({ handler: (_, context) => context.progress({ message: BOTH, data: { a: BOTH } }) }),
  ],
  ["a generator's progress", reads({ handler: generator })],
  [
    "the output of a call that times out",
    reads({ timeout_ms: 10, handler: async (_, context) => hang(context.output(BOTH)) }),
  ],
  [
    "the name of an artifact",
    reads({
      handler: async (_, context) =>
        context.artifacts.write("x", { media_type: "text/plain", name: BOTH }),
    }),
  ],

  ["a plan that fails", asks({ prepare: fails })],
  [
    "a preview",
    asks({
      prepare: (): Plan => ({ resources: [], preview: { kind: "diff", path: KNOWN, diff: BOTH } }),
    }),
  ],
  [
    "a previewed command",
    asks({
      prepare: (): Plan => ({
        resources: [],
        preview: { kind: "command", argv: ["x", BOTH], cwd: "/" },
      }),
    }),
  ],
  ["a path", plans({ kind: "path", access: "write", path: `/project/${KNOWN}/a` })],
  ["a path the policy speaks of", plans({ kind: "path", access: "write", path })],
  ["a path outside the project", plans({ kind: "path", access: "write", path: `/etc/${KNOWN}` })],
  [
    "a host",
    {
      ...plans({ kind: "host", host: `${TOKEN.toLowerCase().replace("_", "-")}.example` }),
      secrets: [
        { name: "H", value: `${TOKEN.toLowerCase().replace("_", "-")}.example` },
        { name: "K", value: KNOWN },
      ],
    },
    call({ a: KNOWN }),
  ],
  [
    "a command",
    plans({
      kind: "command",
      executable: "/bin/bash",
      argv: ["bash", "-c", BOTH],
      cwd: `/project/${KNOWN}`,
    }),
  ],
  [
    "a grant for a command",
    {
      ...plans({ kind: "command", executable: "/bin/bash", argv: ["bash", "-c", BOTH], cwd: "/" }),
      ask: () => ({ decision: "allow_for_session" }),
    },
  ],
  [
    "a grant for a path",
    {
      ...plans({ kind: "path", access: "write", path }),
      ask: () => ({ decision: "allow_for_session" }),
    },
  ],
  [
    "an answer",
    {
      ...asks(),
      ask: () => ({ decision: "deny", reason: BOTH, answered_by: BOTH, metadata: { a: BOTH } }),
    },
  ],
  ["who granted", { ...asks(), ask: () => ({ decision: "allow_for_session", answered_by: BOTH }) }],
  ["a callback that throws", { ...asks(), ask: fails }],
  ["a callback that answers nonsense", { ...asks(), ask: () => BOTH as never }],
  ["a callback that answers another word", { ...asks(), ask: () => ({ decision: BOTH }) as never }],

  ["a rule's reason to allow", { ...reads(), policy: spoken("allow") }, call()],
  ["a rule's reason to ask", { ...reads(), policy: spoken("ask") }, call()],
  ["a rule's reason to deny", { ...reads(), policy: spoken("deny") }, call()],
  ["a hook's reason to deny", hooked({ decision: "deny", reason: BOTH })],
  ["a hook's reason to ask", hooked({ decision: "ask", reason: BOTH })],
  ["a hook's reason to stop", hooked({ stop: BOTH })],
  ["a hook's context", hooked({ context: BOTH })],
  ["a hook's input", hooked({ input: { a: BOTH } })],
  ["a hook that throws", { ...reads(), hooks: [pre("meddler", fails)] }],
  ["a hook that answers nonsense", hooked({ decision: BOTH } as never)],
  ["a hook that answers a strange field", hooked({ [BOTH]: 1 })],
  [
    "a PermissionRequest hook",
    { ...asks(), hooks: [observer("PermissionRequest", { decision: "deny", reason: BOTH })] },
  ],
  [
    "a PostToolUse hook",
    { ...reads(), hooks: [observer("PostToolUse", { replace: BOTH, context: BOTH })] },
  ],
  [
    "a PostToolUse hook's blocks",
    {
      ...reads(),
      hooks: [observer("PostToolUse", { replace: [{ type: "json", json: { a: BOTH } }] })],
    },
  ],
  ["a SessionStart hook", { hooks: [observer("SessionStart", { context: BOTH })] }, async () => {}],
  [
    "a UserPromptSubmit hook",
    { hooks: [observer("UserPromptSubmit", { block: true, reason: BOTH, context: BOTH })] },
    async ({ run }) => run.submitPrompt("x"),
  ],
  [
    "a Stop hook",
    { hooks: [observer("Stop", { continue: true, context: BOTH })] },
    async ({ run }) => run.stopping(),
  ],

  ["a prompt", {}, async ({ run }) => run.submitPrompt(BOTH)],
  [
    "a question of a tool",
    {
      ...reads({
        handler: async (_, context) =>
          context.elicit({ mode: "form", message: BOTH, requested_schema: { title: BOTH } }),
      }),
      elicit: () => ({ action: "decline" }),
    },
  ],
  [
    "the address of a question",
    reads({
      handler: async (_, context) =>
        context.elicit({
          mode: "url",
          message: "go",
          url: `https://x.example/?t=${TOKEN}&k=${KNOWN}`,
        }),
    }),
  ],
  [
    "the answer to a question",
    {
      ...reads({
        handler: async (_, context) =>
          void (await context.elicit({ mode: "form", message: "?", requested_schema: {} })),
      }),
      elicit: () => ({ action: "accept", content: { a: BOTH } }),
    },
  ],
  [
    "a reason to abort",
    reads({ handler: async () => hang() }),
    ended(async ({ run }) => run.abort(BOTH)),
  ],
  ["a reason to discard", reads({ handler: async () => hang() }), halted("discard")],
  [
    "a reason to interrupt",
    reads({ handler: async () => hang(), interrupt_behavior: "cancel" }),
    halted("interrupt"),
  ],
  ["the end of a run", {}, async ({ run }) => run.end("failed", { message: BOTH })],
  ["isEnabled that throws", reads({ isEnabled: fails }), async () => {}],
  ["prompt that throws", reads({ prompt: fails }), async () => {}],
  [
    "the instructions of a tool",
    reads({ prompt: () => BOTH }),
    async ({ run }) => run.tools().then(({ tools }) => tools),
  ],
  [
    "the description of a tool",
    reads({ description: BOTH }),
    async ({ run }) => run.tools().then(({ tools }) => tools),
  ],
  ["the name of a tool that does not exist", reads(), call({}, KNOWN)],
];

test.each(channels)("through %s", async (_, options, act = call()) => {
  verifies("REDACT-1");
  const world = await createWatchedWorld(options);
  const returned = await act(world);
  await world.clock.advance(1000);
  const text = world.allText(returned);
  expect(leaksIn(text)).toEqual([]);
  // It did come through here, and left its mark.
  expect(text).toContain("[redacted:");
});

test("the result that is returned, the fact and the node are the same redacted text", async () => {
  verifies("REDACT-1");
  const world = await createWatchedWorld(returns({ a: BOTH }));
  const [returned] = (await call()(world)) as ToolResult[];
  const [completed] = world.facts("tool.completed");
  expect(completed?.data.result).toEqual(returned);
  expect(world.journal.nodes[0]?.content).toEqual(returned?.content);
  expect(JSON.stringify(returned)).toContain("[redacted:DB_PASSWORD]");
  expect(returned?.metadata.redactions).toBeGreaterThan(0);
  expect(world.facts("output.redacted")).toHaveLength(1);
});

test("source code that merely mentions tokens is not touched", async () => {
  verifies("REDACT-1");
  const code = "interface A { token: string; password?: string }\nconst key = process.env.API_KEY;";
  const world = await createWatchedWorld(returns(code));
  const [returned] = (await call()(world)) as ToolResult[];
  expect(returned?.content).toEqual([{ type: "text", text: code }]);
  expect(world.facts("output.redacted")).toEqual([]);
});

async function* generator() {
  yield { message: BOTH };
  return "done";
}

/** Starts a call that hangs, does this, and gives back the result. */
function ended(act: Act): Act {
  return async (world) => {
    const executing = world.run.execute([{ id: "c1", name: "notes.x", arguments: {} }]);
    await world.clock.settle();
    await act(world);
    return executing;
  };
}

function halted(how: "discard" | "interrupt"): Act {
  return async (world) => {
    const turn = world.run.openTurn();
    turn.push({ id: "c1", name: "notes.x", arguments: {} });
    await world.clock.settle();
    if (how === "discard") return turn.discard(BOTH);
    turn.interrupt(BOTH);
    turn.end();
    return turn.settled();
  };
}
