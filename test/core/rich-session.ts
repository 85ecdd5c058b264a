// One session in which everything happens that the kernel has a fact for.

import { defineHook, toolResult, type ToolContext } from "@soong/core";
import { drive, heldTool, setStage, type Stage } from "./drive.ts";
import { reader, writer } from "./world.ts";

export async function richSession(): Promise<Stage> {
  const held = heldTool("a.held");
  const stage = await setStage({
    secrets: [{ name: "KEY", value: "s3cr3t-value-0001" }],
    tools: [
      writer("a.asks", 0, { handler: () => "the key is s3cr3t-value-0001" }),
      writer("a.fails", 0, { handler: () => Promise.reject(new Error("no")) }),
      reader("a.long", 0, {
        async handler(_input: unknown, context: ToolContext) {
          context.progress({ message: "half", progress: 1, total: 2 });
          await context.elicit({ mode: "url", message: "look", url: "https://example.org" });
          return "x".repeat(100_000);
        },
      }),
      reader("a.later", 0, { defer: true }),
      reader("a.guarded"),
      writer("a.unanswered"),
      held.tool,
    ],
    policy: { rules: [{ tool: "a.fails", decision: "allow" }] },
    hooks: [
      defineHook({
        id: "mutate",
        event: "PreToolUse",
        tool: "a.asks",
        run: () => ({ input: { text: "changed" } }),
      }),
      defineHook({
        id: "deny",
        event: "PreToolUse",
        tool: "a.guarded",
        run: () => ({ decision: "deny" as const }),
      }),
      defineHook({
        id: "broken",
        event: "PostToolUse",
        run: () => Promise.reject(new Error("no")),
      }),
      defineHook({ id: "prompt", event: "UserPromptSubmit", run: () => undefined }),
    ],
    ask: ({ tool_name }) => {
      if (tool_name === "a.unanswered") throw new Error("the window is closed");
      return { decision: "allow_for_session" };
    },
  });
  const all = (...calls: [id: string, name: string, input?: object][]) =>
    drive(
      stage.clock,
      stage.run.execute(
        calls.map(([id, name, input = {}]) => ({ id, name, arguments: JSON.stringify(input) })),
      ),
    );
  await all(["asked", "a.asks", { text: "hello s3cr3t-value-0001" }]);
  await all(["long", "a.long", { text: "x".repeat(50_000) }], ["guarded", "a.guarded"]);
  await all(["failed", "a.fails"], ["skipped", "a.long"]);
  await all(["unanswered", "a.unanswered"]);
  await all(["search", "internal.search_tools", { query: "select:a.later" }]);
  for (const end of ["interrupt", "discard"] as const) {
    const turn = stage.run.openTurn();
    turn.push({ name: "a.held", arguments: "{}" });
    turn.push({ name: "a.fails", arguments: "{}" });
    await stage.clock.settle();
    await turn[end]("enough");
    for (const call of held.calls) call.finish("x");
    turn.end();
    await drive(stage.clock, turn.settled());
  }
  const cancels = await stage.session.startRun();
  const [grant] = stage.session.grants();
  stage.session.revokeGrant(grant?.grant_id ?? "");
  await sibling(stage);
  cancels.end("failed");
  stage.run.end("completed");
  (await stage.session.startRun()).end("aborted");
  return stage;
}

/** A call cancelled by its sibling, and a context modifier that is refused. */
async function sibling(stage: Stage): Promise<void> {
  const held = heldTool("b.held");
  stage.kernel.registry.register([
    held.tool,
    reader("b.fails", 0, {
      on_sibling_failure: "cancel_siblings",
      handler: () => Promise.reject(new Error("no")),
    }),
    reader("b.modifies", 0, {
      handler: () => toolResult({ data: 1, modify_context: () => ({}) }),
    }),
  ]);
  const run = await stage.session.startRun();
  const names = ["b.modifies", "b.held", "b.fails"];
  await drive(stage.clock, run.execute(names.map((name) => ({ name, arguments: {} }))));
}
