// pi's agent loop over a scripted model. The stream function parses the argument text, as pi's
// provider adapters do; events go to a listener that does nothing, which is the cheapest pi can be.

import { runAgentLoop } from "@mariozechner/pi-agent-core";
import { createAssistantMessageEventStream } from "@mariozechner/pi-ai";
import { Type } from "typebox";

/** @import { Call, ToolSpec } from "../../workload.mjs" */
/** @import { NextTurn, Subject } from "../../subjects/index.mjs" */

/** @type {Subject} */
export const pi = {
  async create({ tools }) {
    const piTools = tools.map(toPi);
    /** @param {NextTurn} next @param {boolean} onlyOne */
    const run = async (next, onlyOne) => {
      const streamFn = () => scripted(next());
      const config = { model, convertToLlm: identity, shouldStopAfterTurn: () => onlyOne };
      const context = { systemPrompt: "", messages: [], tools: piTools };
      const messages = await runAgentLoop([prompt], context, config, ignore, undefined, streamFn);
      return messages.filter((message) => message.role === "toolResult");
    };
    return {
      session: async () => ({ turn: (calls) => run(() => calls, true) }),
      loop: async (next) => void (await run(next, false)),
    };
  },
};

/** @param {ToolSpec} tool @param {number} index */
function toPi(tool, index) {
  return {
    name: tool.wireName,
    label: tool.name,
    description: tool.description,
    parameters: Type.Object(
      {
        path: Type.String({ description: `Where to look in collection ${index}.` }),
        limit: Type.Integer({ description: "How many to return at most." }),
        recursive: Type.Boolean({ description: "Whether to look in folders below." }),
      },
      { additionalProperties: false },
    ),
    /** @param {string} _id @param {any} input */
    execute: async (_id, input) => {
      const output = await tool.handler(input);
      return { content: [{ type: "text", text: JSON.stringify(output) }], details: output };
    },
  };
}

/** @param {Call[] | undefined} calls */
function scripted(calls) {
  const stream = createAssistantMessageEventStream();
  const content = calls
    ? calls.map((call) => ({
        type: "toolCall",
        id: call.id,
        name: call.wireName,
        arguments: JSON.parse(call.args),
      }))
    : [{ type: "text", text: "done" }];
  const reason = calls ? "toolUse" : "stop";
  const message = { role: "assistant", content, stopReason: reason, timestamp: 0, ...origin };
  stream.push({ type: "done", reason, message });
  return stream;
}

const origin = { api: "scripted", provider: "scripted", model: "scripted", usage: {} };
const model = { id: "scripted", api: "scripted", provider: "scripted" };
const prompt = { role: "user", content: "go", timestamp: 0 };
const ignore = async () => {};
/** @template T @param {T} value */
const identity = (value) => value;
