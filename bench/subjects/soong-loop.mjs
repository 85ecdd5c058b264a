// Our own loop, whole: context, model request, stream, the kernel's pipeline, every fact recorded.

import { openConversation } from "@soong/agent";
import { createKernel, PORTABLE_PROFILE } from "@soong/core";
import { oneTurn } from "../workload.mjs";
import { toSoong } from "./soong.mjs";

/** @import { Model, ModelEvent, ModelRequest } from "@soong/agent" */
/** @import { Store } from "@soong/store" */
/** @import { ToolSpec } from "../workload.mjs" */
/** @import { Installed, NextTurn, Subject } from "./index.mjs" */

const profile = { ...PORTABLE_PROFILE, max_tools: Number.MAX_SAFE_INTEGER };
const config = { tools: { defer_budget_tokens: Number.MAX_SAFE_INTEGER } };

/** @type {Subject} */
export const soongLoop = { create: ({ tools }) => createLoop(tools) };

/** @param {ToolSpec[]} tools @param {Store} [store]  default: every fact in memory @returns {Promise<Installed>} */
export async function createLoop(tools, store) {
  const kernel = createKernel({ tools: tools.map(toSoong), config });
  /** @param {NextTurn} next @param {(request: ModelRequest) => void} [seen] */
  const run = async (next, seen) => {
    const kept = await store?.createSession();
    const session = await kernel.openSession({ ...kept });
    const conversation = await openConversation({
      session,
      models: [scripted(next, seen)],
      limits: { max_turns: Number.MAX_SAFE_INTEGER },
    });
    const { reason, error } = await conversation.send("go").end;
    await session.close();
    await kept?.close();
    if (reason !== "completed") throw new Error(`the run ended ${reason}: ${error?.message}`);
  };
  return {
    session: async () => ({
      turn: async (calls) => {
        /** @type {unknown[]} */
        let results = [];
        await run(oneTurn(calls), ({ messages }) => {
          const last = messages.at(-1);
          if (last?.role === "tool") results = [...last.results];
        });
        return results;
      },
    }),
    loop: (next) => run(next),
  };
}

const usage = { input_tokens: 1, output_tokens: 1 };

/** @param {NextTurn} next @param {(request: ModelRequest) => void} [seen] @returns {Model} */
function scripted(next, seen) {
  return {
    id: "bench:scripted",
    profile,
    /** @returns {AsyncGenerator<ModelEvent, void>} */
    async *stream(request) {
      seen?.(request);
      const calls = next();
      if (!calls) {
        yield { type: "text_delta", text: "done" };
        yield { type: "completed", stop: "end_turn", usage };
        return;
      }
      for (const { id, wireName: name, args } of calls) {
        yield { type: "call_complete", key: id, id, name, arguments: args };
      }
      yield { type: "completed", stop: "tool_use", usage };
    },
  };
}
