// LangGraph's prebuilt ToolNode, given the message of a model whose argument text was parsed, as
// LangChain's provider packages do.

import { AIMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { zodInput } from "../../workload.mjs";

/** @import { Call, ToolSpec } from "../../workload.mjs" */
/** @import { Subject } from "../../subjects/index.mjs" */

/** @type {Subject} */
export const langgraph = {
  async create({ tools }) {
    const langchainTools = tools.map(toLangchain);
    const node = new ToolNode(langchainTools);
    return {
      list: () => langchainTools.map((one) => convertToOpenAITool(one)),
      session: async () => ({
        turn: async (calls) => (await node.invoke({ messages: [message(calls)] })).messages,
      }),
    };
  },
};

/** @param {ToolSpec} spec @param {number} index */
function toLangchain(spec, index) {
  return tool(async (/** @type {any} */ input) => JSON.stringify(await spec.handler(input)), {
    name: spec.wireName,
    description: spec.description,
    schema: zodInput(z, index),
  });
}

/** @param {Call[]} calls */
function message(calls) {
  const tool_calls = calls.map((call) => ({
    type: /** @type {const} */ ("tool_call"),
    id: call.id,
    name: call.wireName,
    args: JSON.parse(call.args),
  }));
  return new AIMessage({ content: "", tool_calls });
}
