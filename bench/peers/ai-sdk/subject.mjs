// The AI SDK's generateText over a scripted model: one step for a turn, many steps for a session.
// Tools carry Zod schemas because plain JSON Schema would go unchecked there.

import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";
import { zodInput } from "../../workload.mjs";
import { scriptedAnswer } from "../scripted-answer.mjs";

/** @import { ToolSpec } from "../../workload.mjs" */
/** @import { NextTurn, Subject } from "../../subjects/index.mjs" */

/** @type {Subject} */
export const aiSdk = {
  async create({ tools }) {
    const toolSet = Object.fromEntries(
      tools.map((spec, index) => [spec.wireName, toAiSdk(spec, index)]),
    );
    return {
      async list() {
        /** @type {unknown[]} */
        let listed = [];
        const model = scripted(
          () => undefined,
          (seen) => (listed = seen),
        );
        await generateText({ model, tools: toolSet, prompt: "go" });
        return listed;
      },
      session: async () => ({
        turn: async (calls) => {
          const { content } = await generateText({
            model: scripted(() => calls),
            tools: toolSet,
            prompt: "go",
          });
          return content.filter(
            (part) => part.type === "tool-result" || part.type === "tool-error",
          );
        },
      }),
      loop: async (next) =>
        void (await generateText({
          model: scripted(next),
          tools: toolSet,
          prompt: "go",
          stopWhen: stepCountIs(Number.MAX_SAFE_INTEGER),
        })),
    };
  },
};

/** @param {ToolSpec} spec @param {number} index */
function toAiSdk(spec, index) {
  return tool({
    description: spec.description,
    inputSchema: zodInput(z, index),
    execute: spec.handler,
  });
}

/**
 * @param {NextTurn} next
 * @param {(tools: unknown[]) => void} [seen]
 * @returns {any}
 */
function scripted(next, seen) {
  return {
    specificationVersion: "v3",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    /** @param {any} request */
    async doGenerate(request) {
      seen?.(request.tools);
      const { content, reason } = scriptedAnswer(next());
      return { content, finishReason: { unified: reason, raw: reason }, usage, warnings: [] };
    },
  };
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
