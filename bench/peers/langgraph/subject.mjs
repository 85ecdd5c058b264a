// LangGraph twice: its prebuilt ToolNode alone, and the whole graph of its agent. Both are given the messages of a
// model whose argument text was parsed, as LangChain's provider packages do.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createReactAgent, ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { oneTurn, zodInput } from "../../workload.mjs";

/** @import { Call, ToolSpec } from "../../workload.mjs" */
/** @import { NextTurn, Subject } from "../../subjects/index.mjs" */

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

/** @type {Subject} */
export const langgraphAgent = {
  async create({ tools }) {
    const langchainTools = tools.map(toLangchain);
    /** @param {NextTurn} next */
    const run = async (next) => {
      const agent = createReactAgent({ llm: new ScriptedModel(next), tools: langchainTools });
      const input = { messages: [new HumanMessage("go")] };
      const { messages } = await agent.invoke(input, { recursionLimit: Number.MAX_SAFE_INTEGER });
      return messages.filter((message) => message.type === "tool");
    };
    return {
      session: async () => ({ turn: (calls) => run(oneTurn(calls)) }),
      loop: async (next) => void (await run(next)),
    };
  },
};

class ScriptedModel extends BaseChatModel {
  /** @param {NextTurn} next */
  constructor(next) {
    super({});
    this.next = next;
  }

  bindTools() {
    return this;
  }

  async _generate() {
    const calls = this.next();
    const answer = calls ? message(calls) : new AIMessage("done");
    return { generations: [{ text: "", message: answer }] };
  }

  _llmType() {
    return "scripted";
  }
}

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
