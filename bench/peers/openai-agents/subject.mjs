// OpenAI Agents twice: `tool.invoke` alone (parse, check, handler), and the whole runner with a
// scripted model and tracing off.

import { Agent, RunContext, Runner, setTracingDisabled, tool } from "@openai/agents-core";
import { z } from "zod";
import { oneTurn, zodInput } from "../../workload.mjs";

/** @import { Call, ToolSpec } from "../../workload.mjs" */
/** @import { NextTurn, Subject } from "../../subjects/index.mjs" */

setTracingDisabled(true);

/** @type {Subject} */
export const openaiInvoke = {
  async create({ tools, parallel }) {
    const table = new Map(tools.map((spec, index) => [spec.name, toOpenai(spec, index)]));
    /** @param {RunContext} context @param {Call} call */
    const invoke = (context, call) => table.get(call.name)?.invoke(context, call.args);
    return {
      session: async () => ({
        turn: async (calls) => {
          const context = new RunContext();
          if (parallel) return Promise.all(calls.map((call) => invoke(context, call)));
          const results = [];
          for (const call of calls) results.push(await invoke(context, call));
          return results;
        },
      }),
    };
  },
};

/** @type {Subject} */
export const openaiRunner = {
  async create({ tools }) {
    const openaiTools = tools.map(toOpenai);
    /** @param {NextTurn} next @param {(tools: unknown[]) => void} [seen] */
    const run = async (next, seen) => {
      const agent = new Agent({ name: "bench", model: scripted(next, seen), tools: openaiTools });
      const runner = new Runner({ tracingDisabled: true });
      const { newItems } = await runner.run(agent, "go", { maxTurns: Number.MAX_SAFE_INTEGER });
      return newItems
        .filter((item) => item.type === "tool_call_output_item")
        .map(({ rawItem }) => rawItem);
    };
    return {
      async list() {
        /** @type {unknown[]} */
        let listed = [];
        await run(
          () => undefined,
          (seen) => (listed = seen),
        );
        return listed;
      },
      session: async () => ({ turn: (calls) => run(oneTurn(calls)) }),
      loop: async (next) => void (await run(next)),
    };
  },
};

/** @param {ToolSpec} spec @param {number} index */
function toOpenai(spec, index) {
  return tool({
    name: spec.wireName,
    description: spec.description,
    parameters: zodInput(z, index),
    execute: spec.handler,
  });
}

/** @param {NextTurn} next @param {(tools: unknown[]) => void} [seen] @returns {any} */
function scripted(next, seen) {
  return {
    /** @param {any} request */
    async getResponse(request) {
      seen?.(request.tools);
      const calls = next();
      const output = calls
        ? calls.map((call) => ({
            type: "function_call",
            callId: call.id,
            name: call.wireName,
            status: "completed",
            arguments: call.args,
          }))
        : [{ type: "message", role: "assistant", status: "completed", content }];
      return { usage, output };
    },
  };
}

const content = [{ type: "output_text", text: "done" }];
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, add() {} };
