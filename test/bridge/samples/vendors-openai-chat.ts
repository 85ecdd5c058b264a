// answers: [{"calls":[{"id":"call_1","name":"notes__read","arguments":"{\"id\":1}"}]},{"text":"It says hello."}]
import { createGate } from "@soong/bridge";
import { createKernel, defineTool } from "@soong/core";

const readNote = defineTool({
  name: "notes.read",
  description: "Read a note",
  input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  permission: "readonly",
  handler: ({ id }) => `note ${id}: hello`,
});
const run = await createKernel({ tools: [readNote] }).startRun();
const gate = createGate(run);

// docs: begin
import {
  executeCalls,
  readOpenAiChatCalls,
  renderOpenAiChatResults,
  renderOpenAiChatTools,
} from "@soong/bridge/vendors";
import OpenAI from "openai";

const client = new OpenAI();
const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: "user", content: "What does note 1 say?" },
];

for (;;) {
  const { choices } = await client.chat.completions.create({
    model: "gpt-5",
    messages,
    tools: renderOpenAiChatTools((await run.tools()).tools),
  });
  const message = choices[0]?.message;
  if (message === undefined) break;
  messages.push(message);
  const calls = readOpenAiChatCalls(message);
  if (calls.length === 0) break;
  messages.push(...renderOpenAiChatResults(calls, await executeCalls(gate, calls)));
}
// docs: end
