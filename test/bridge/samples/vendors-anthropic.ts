// answers: [{"calls":[{"id":"toolu_1","name":"notes__read","arguments":"{\"id\":1}"}]},{"text":"It says hello."}]
// docs: begin
import Anthropic from "@anthropic-ai/sdk";
import { createGate } from "@soong/bridge";
import {
  executeCalls,
  readAnthropicCalls,
  renderAnthropicResults,
  renderAnthropicTools,
} from "@soong/bridge/vendors";
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
const client = new Anthropic();
const messages: Anthropic.MessageParam[] = [{ role: "user", content: "What does note 1 say?" }];

for (;;) {
  const { tools } = await run.tools();
  const message = await client.messages.create({
    model: "claude-sonnet-5",
    max_tokens: 4096,
    messages,
    tools: renderAnthropicTools(tools),
  });
  messages.push({ role: "assistant", content: message.content });
  const calls = readAnthropicCalls(message);
  if (calls.length === 0) break;
  const outcomes = await executeCalls(gate, calls);
  messages.push({ role: "user", content: renderAnthropicResults(calls, outcomes) });
}
run.end("completed");
// docs: end
