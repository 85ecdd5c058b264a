// Mastra's Agent over a scripted model of the AI SDK's interface. Telemetry and memory are off.

import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { oneTurn, zodInput } from "../../workload.mjs";
import { scriptedAnswer } from "../scripted-answer.mjs";

/** @import { ToolSpec } from "../../workload.mjs" */
/** @import { NextTurn, Subject } from "../../subjects/index.mjs" */

/** @type {Subject} */
export const mastra = {
  async create({ tools }) {
    const toolSet = Object.fromEntries(
      tools.map((spec, index) => [spec.wireName, toMastra(spec, index)]),
    );
    /** @param {NextTurn} next */
    const run = async (next) => {
      const agent = new Agent({
        name: "bench",
        instructions: "go",
        model: scripted(next),
        tools: toolSet,
      });
      const { toolResults } = await agent.generate("go", { maxSteps: Number.MAX_SAFE_INTEGER });
      return toolResults;
    };
    return {
      session: async () => ({ turn: (calls) => run(oneTurn(calls)) }),
      loop: async (next) => void (await run(next)),
    };
  },
};

/** @param {ToolSpec} spec @param {number} index */
function toMastra(spec, index) {
  return createTool({
    id: spec.wireName,
    description: spec.description,
    inputSchema: zodInput(z, index),
    execute: async ({ context }) => spec.handler(context),
  });
}

/** @param {NextTurn} next @returns {any} */
function scripted(next) {
  return {
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate() {
      const { content, reason } = scriptedAnswer(next());
      return { content, finishReason: reason, usage, warnings: [] };
    },
  };
}

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
