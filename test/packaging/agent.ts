// What a user does first with the installed package: play a script through the loop.

import { createKernel, defineTool } from "@soong/core";
import { openConversation, parseScript, scriptedModel } from "@soong/agent";

const add = defineTool({
  name: "math.add",
  description: "Add two numbers",
  input_schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  permission: "readonly",
  handler: ({ a, b }) => Number(a) + Number(b),
});
const parsed = parseScript(
  `turns:
  - calls: [{ tool: math.add, input: { a: 1, b: 2 } }]
  - expect: [{ result: 0, contains: "3" }]
    text: It is 3.
`,
  "sum.yaml",
);
if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join("\n"));
const session = await createKernel({ tools: [add] }).openSession();
const conversation = await openConversation({ session, models: [scriptedModel(parsed.script)] });
const { reason, answer } = await conversation.send("How much is 1 + 2?").end;
if (reason !== "completed" || !answer.includes("It is 3.")) throw new Error(`${reason}: ${answer}`);
await conversation.close();
await session.close();
