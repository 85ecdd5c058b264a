// What the benchmarks of the loop share: a conversation with a scripted model on the real kernel, its facts in
// memory or on disk.

/**
 * @import { Script } from "@soong/agent"
 * @import { OpenSession, Store } from "@soong/store"
 */

export const TOOL = "bench.work";

/**
 * Plays a script through one run, to its end.
 *
 * @param {Script} script
 * @param {Store | Pick<OpenSession, "journal" | "close">} [where]  in a session of its own, or in this one; default: in memory
 * @returns {Promise<void>}
 */
export async function playRun(script, where) {
  const { openConversation, scriptedModel } = await import("@soong/agent");
  const kept = where && "createSession" in where ? await where.createSession() : where;
  const session = await (
    await kernel()
  ).openSession({
    ...kept,
    policy: { rules: [{ tool: TOOL, decision: "allow" }] },
  });
  const conversation = await openConversation({
    session,
    models: [scriptedModel(script)],
    limits: { max_turns: script.turns.length },
  });
  const { reason, error } = await conversation.send("Begin.").end;
  await session.close();
  await kept?.close();
  if (reason !== "completed") throw new Error(`the run ended ${reason}: ${error?.message}`);
}

/** @type {Promise<import("@soong/core").Kernel> | undefined} */
let made;

function kernel() {
  made ??= makeKernel();
  return made;
}

/** One tool, readonly, that takes as long as it is told. */
async function makeKernel() {
  // Only now: the run that measures builds our packages first.
  const { createKernel, defineTool } = await import("@soong/core");
  return createKernel({
    tools: [
      defineTool({
        name: TOOL,
        description: "Answers with a small result, after a while.",
        input_schema: {
          type: "object",
          properties: { path: { type: "string" }, ms: { type: "integer" } },
          required: ["path", "ms"],
          additionalProperties: false,
        },
        permission: "readonly",
        concurrency_safe: true,
        handler: async (/** @type {{ path: string, ms: number }} */ { path, ms }) => {
          if (ms > 0) {
            await new Promise((resolve) => {
              setTimeout(resolve, ms);
            });
          }
          return { note: `looked into ${path} once`, more: false };
        },
      }),
    ],
  });
}
