// Runs of the kernel alone: each a few calls by hand, on a held clock.

import {
  defineHook,
  toolResult,
  type AnyTool,
  type Fact,
  type PermissionAnswer,
  type ToolContext,
} from "@soong/core";
import {
  drive,
  heldTool,
  pushAll,
  setStage,
  type Stage,
  type StageOptions,
} from "../../core/drive.ts";
import { recovered } from "../../core/recovered.ts";
import { richSession } from "../../core/rich-session.ts";
import { noRoom, server } from "../../core/sources.ts";
import { allowAll, reader, writer } from "../../core/world.ts";
import type { Recordings } from "../recorded-runs.ts";

type Call = string | [name: string, input: object | string];

export const KERNEL_RUNS: Recordings = {
  "everything the kernel does": async () => (await richSession()).journal.facts,
  "a run without calls": () => record({}),
  "one call": () => record({ tools: [reader("a.read")] }, ["a.read"]),
  "calls in parallel, with progress": () =>
    record({ tools: [reader("a.one", 0, { handler: reportProgress }), reader("a.two")] }, [
      "a.one",
      "a.two",
      "a.one",
    ]),
  "a tool that fails": () =>
    record({ tools: [reader("a.fails", 0, { handler: failWith("the disk is gone") })] }, [
      "a.fails",
    ]),
  "a partial result": () =>
    record(
      {
        tools: [
          reader("a.some", 0, { handler: () => toolResult({ status: "partial", data: [1] }) }),
        ],
      },
      ["a.some"],
    ),
  "arguments that do not fit": () => record({ tools: [strict] }, [["a.strict", { count: "many" }]]),
  "arguments that are no JSON": () => record({ tools: [strict] }, [["a.strict", '{"count": ']]),
  "a tool that is not there": () => record({ tools: [reader("a.read")] }, ["a.raed", "made_up"]),
  "a call denied by a rule": () =>
    record(
      { tools: [writer("a.write")], policy: { rules: [{ tool: "a.write", decision: "deny" }] } },
      ["a.write"],
    ),
  "an approval": () =>
    record({ tools: [writer("a.write")], ask: answer("allow_once") }, ["a.write"]),
  "a refusal with a reason": () =>
    record(
      { tools: [writer("a.write")], ask: () => ({ decision: "deny", reason: "not on main" }) },
      ["a.write", "a.write"],
    ),
  "an approval that no one gives": () => record({ tools: [writer("a.write")] }, ["a.write"]),
  "an approval that comes too late": () =>
    record(
      {
        tools: [writer("a.write")],
        ask: () => new Promise(() => {}),
        config: { permissions: { ask_timeout_ms: 5000 } },
      },
      ["a.write"],
    ),
  "a grant, used and revoked": recordGrant,
  "a plan run that may not write": () =>
    record({ tools: [reader("a.read"), writer("a.write")], mode: "plan" }, ["a.read", "a.write"]),
  "a hook that changes the input": () =>
    record(
      {
        tools: [reader("a.read")],
        hooks: [
          defineHook({ id: "fix", event: "PreToolUse", run: () => ({ input: { path: "b.txt" } }) }),
          defineHook({ id: "after", event: "PostToolUse", run: () => undefined }),
        ],
      },
      [["a.read", { path: "a.txt" }]],
    ),
  "a hook that denies": () =>
    record(
      {
        tools: [reader("a.read")],
        hooks: [
          defineHook({
            id: "guard",
            event: "PreToolUse",
            run: () => ({ decision: "deny" as const, reason: "not today" }),
          }),
        ],
      },
      ["a.read"],
    ),
  "a hook that breaks": () =>
    record(
      {
        tools: [reader("a.read")],
        hooks: [defineHook({ id: "broken", event: "PreToolUse", run: failWith("no") })],
      },
      ["a.read"],
    ),
  "a call that takes too long": () =>
    record({ tools: [held("a.slow", { timeout_ms: 1000 })] }, ["a.slow"]),
  "a handler that ends after its call": recordLate,
  "an aborted turn": () => recordHalted("abort"),
  "an interrupted turn": () => recordHalted("interrupt"),
  "a discarded turn": () => recordHalted("discard"),
  "a call cancelled by its sibling": () =>
    record(
      {
        tools: [
          held("a.slow"),
          reader("a.fails", 0, { on_sibling_failure: "cancel_siblings", handler: failWith("no") }),
        ],
      },
      ["a.slow", "a.fails"],
    ),
  "a write that fails and the calls behind it": () =>
    record(
      {
        tools: [writer("a.write", 0, { handler: failWith("no") }), reader("a.read")],
        policy: allowAll,
      },
      ["a.write", "a.read", "a.write"],
    ),
  "a long result and long arguments": () =>
    record({ tools: [reader("a.long", 0, { handler: () => "x".repeat(200_000) })] }, [
      ["a.long", { text: "y".repeat(50_000) }],
    ]),
  "content of every kind": () =>
    record({ tools: [reader("a.show", 0, { handler: showContent })] }, ["a.show"]),
  "secrets in arguments and results": () =>
    record(
      {
        secrets: [{ name: "KEY", value: "s3cr3t-value-0001" }],
        tools: [reader("a.tells", 0, { handler: () => "it is s3cr3t-value-0001" }), sensitive],
      },
      [
        ["a.tells", { say: "s3cr3t-value-0001" }],
        ["a.login", { user: "ada", password: "hunter2-hunter2" }],
      ],
    ),
  "deferred tools, found and used": recordDeferred,
  "an elicitation, accepted and declined": () =>
    record(
      {
        tools: [
          reader("a.form", 0, {
            handler: (_: unknown, { elicit }: ToolContext) =>
              elicit({ mode: "form", message: "Which?", requested_schema: { type: "object" } }),
          }),
          reader("a.link", 0, {
            handler: (_: unknown, { elicit }: ToolContext) =>
              elicit({ mode: "url", message: "Look.", url: "https://example.org/" }),
          }),
        ],
        elicit: ({ mode }) =>
          mode === "form" ? { action: "accept", content: { which: "b" } } : { action: "decline" },
      },
      ["a.form", "a.link"],
    ),
  "commands with and without a sandbox": () =>
    record({ tools: [reader("a.run", 0, { handler: runSandboxed })] }, [
      ["a.run", { how: "applied" }],
      ["a.run", { how: "missing" }],
      ["a.run", { how: "violated" }],
    ]),
  "an artifact of the tool": () =>
    record(
      {
        tools: [
          reader("a.draws", 0, {
            handler: async (_: unknown, { artifacts }: ToolContext) => {
              const ref = await artifacts.write("<svg/>", {
                media_type: "image/svg+xml",
                name: "a.svg",
              });
              return toolResult({ summary: "drawn", content: [{ type: "artifact_ref", ...ref }] });
            },
          }),
        ],
      },
      ["a.draws"],
    ),
  "several runs of one session": recordRuns,
  "an undone change": async () => {
    const stage = await stageWith({ tools: [writer("a.write")], policy: allowAll }, ["a.write"]);
    stage.run.end("completed");
    const about = { path: "/site/a.txt", of_run: stage.run.identity.run_id };
    stage.session.recorder.record("change.undone", about, {
      tool_call_id: "1",
      tool_name: "a.write",
    });
    return stage.journal.facts;
  },
  "a crash before the call started": () => recordCrash("tool.queued"),
  "a crash while the call ran": () => recordCrash("tool.started"),
  "a crash while the user was asked": () => recordCrash("permission.requested", "a.write"),
  "a run that is still live": async () => {
    const stage = await setStage({ tools: [held("a.slow")] });
    pushAll(stage, "a.slow");
    await stage.clock.settle();
    return [...stage.journal.facts];
  },
};

const strict: AnyTool = reader("a.strict", 0, {
  input_schema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
});

const sensitive: AnyTool = reader("a.login", 0, {
  input_schema: {
    type: "object",
    properties: { user: { type: "string" }, password: { type: "string", "x-sensitive": true } },
  },
});

async function record(
  options: StageOptions,
  calls: readonly Call[] = [],
): Promise<readonly Fact[]> {
  const stage = await stageWith(options, calls);
  stage.run.end("completed");
  return stage.journal.facts;
}

async function stageWith(options: StageOptions, calls: readonly Call[]): Promise<Stage> {
  const stage = await setStage(options);
  await drive(stage.clock, pushAll(stage, ...calls).settled());
  return stage;
}

function answer(decision: PermissionAnswer["decision"]) {
  return (): PermissionAnswer => ({ decision });
}

function failWith(message: string) {
  return (): Promise<never> => Promise.reject(new Error(message));
}

function held(name: string, about: Partial<AnyTool> = {}): AnyTool {
  return heldTool(name, about).tool;
}

function reportProgress(_: unknown, { progress }: ToolContext): string {
  for (const done of [1, 2, 3]) progress({ message: `step ${done}`, progress: done, total: 3 });
  return "done";
}

function runSandboxed(input: unknown, context: ToolContext): string {
  const { how } = input as { how: string };
  if (how === "missing") context.sandboxApplied({ missing: "there is no bubblewrap" });
  else {
    context.sandboxApplied({
      backend: "bubblewrap",
      roots: ["/site"],
      masked: ["/site/.env"],
      network: { open: false, hosts: ["example.org"] },
    } as never);
  }
  if (how === "violated")
    context.sandboxViolated({ detail: "wrote /etc/passwd", certain: true } as never);
  return "ran";
}

function showContent() {
  return toolResult({
    summary: "All of it",
    data: { deep: [{ list: [1, null, true] }] },
    content: [
      { type: "text", text: "\u0000 hidden \u202e and 😀 \u{1F468}\u200d\u{1F469}" },
      { type: "resource_link", uri: "https://example.org/a", name: "A" },
      { type: "image", data: "aGVsbG8=", media_type: "image/png" },
    ] as never,
  });
}

async function recordGrant(): Promise<readonly Fact[]> {
  const stage = await stageWith({ tools: [writer("a.write")], ask: answer("allow_for_session") }, [
    "a.write",
  ]);
  const again = async (): Promise<unknown> =>
    drive(stage.clock, stage.run.execute([{ name: "a.write", arguments: {} }]));
  await again();
  stage.session.revokeGrant(stage.session.grants()[0]?.grant_id ?? "");
  await again();
  stage.run.end("completed");
  return stage.journal.facts;
}

async function recordLate(): Promise<readonly Fact[]> {
  const { tool, calls } = heldTool("a.slow", { timeout_ms: 1000 });
  const stage = await stageWith({ tools: [tool] }, ["a.slow"]);
  for (const call of calls) call.finish("too late");
  await stage.clock.settle();
  stage.run.end("completed");
  return stage.journal.facts;
}

async function recordHalted(how: "abort" | "interrupt" | "discard"): Promise<readonly Fact[]> {
  const { tool, calls } = heldTool("a.held");
  const stage = await setStage({ tools: [tool, writer("a.write")], policy: allowAll });
  const turn = stage.run.openTurn();
  turn.push({ id: "1", name: "a.held", arguments: "{}" });
  turn.push({ id: "2", name: "a.write", arguments: "{}" });
  await stage.clock.settle();
  void turn[how]("enough");
  await stage.clock.settle();
  for (const call of calls) call.finish("x");
  turn.end();
  await drive(stage.clock, turn.settled());
  stage.run.end(how === "abort" ? "aborted" : "completed");
  return stage.journal.facts;
}

async function recordDeferred(): Promise<readonly Fact[]> {
  const stage = await stageWith({ sources: [server("git", ["log", "blame"])], config: noRoom }, [
    ["internal.search_tools", { query: "log" }],
    ["internal.search_tools", { query: "select:mcp.git.blame" }],
  ]);
  await drive(stage.clock, pushAll(stage, "mcp.git.blame").settled());
  stage.run.end("completed");
  return stage.journal.facts;
}

async function recordRuns(): Promise<readonly Fact[]> {
  const stage = await stageWith({ tools: [reader("a.read")] }, ["a.read"]);
  stage.run.end("completed");
  for (const reason of ["failed", "aborted", "completed"] as const) {
    const run = await stage.session.startRun();
    await drive(stage.clock, run.execute([{ id: "1", name: "a.read", arguments: {} }]));
    run.end(reason);
  }
  return stage.journal.facts;
}

/** The journal breaks off after the first fact of this type, and is recovered. */
async function recordCrash(type: Fact["type"], name = "a.held"): Promise<readonly Fact[]> {
  const stage = await setStage({
    tools: [held("a.held"), writer("a.write")],
    ask: () => new Promise(() => {}),
  });
  pushAll(stage, name, "a.write");
  await stage.clock.settle();
  const { entries } = stage.journal;
  const last = entries.findIndex(({ facts }) => facts.some((fact) => fact.type === type));
  return recovered(entries.slice(0, last + 1)).flatMap(({ facts }) => facts);
}
