// What a user does first with the installed package: put the kernel under a loop on a vendor's client, with no peer installed.

import { createGate, renderText } from "@soong/bridge";
import {
  executeCalls,
  readAnthropicCalls,
  renderAnthropicResults,
  renderAnthropicTools,
} from "@soong/bridge/vendors";
import { createKernel, defineTool } from "@soong/core";

const add = defineTool({
  name: "math.add",
  description: "Add two numbers",
  input_schema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  permission: "readonly",
  handler: ({ a, b }) => a + b,
});
const run = await createKernel({ tools: [add] }).startRun();
const gate = createGate(run);
const [offered] = renderAnthropicTools((await run.tools()).tools);
if (offered?.name !== "math__add") throw new Error(`unexpected tool: ${offered?.name}`);

const message = {
  content: [{ type: "tool_use", id: "toolu_1", name: "math__add", input: { a: 1, b: 2 } }],
};
const calls = readAnthropicCalls(message);
const [result] = renderAnthropicResults(calls, await executeCalls(gate, calls));
const [block] = result?.content ?? [];
if (block?.type !== "text" || block.text !== "3") throw new Error("unexpected result");

const unknown = await gate.execute({ id: "toolu_2", name: "math__sub", arguments: "{}" });
if (!renderText(unknown).includes("math__sub")) throw new Error("the unknown tool is not named");
