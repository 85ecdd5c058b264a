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
  readOpenAiResponsesCalls,
  renderOpenAiResponsesResults,
  renderOpenAiResponsesTools,
} from "@soong/bridge/vendors";
import OpenAI from "openai";

const client = new OpenAI();
const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "What does note 1 say?" }];

for (;;) {
  const response = await client.responses.create({
    model: "gpt-5",
    input,
    tools: renderOpenAiResponsesTools((await run.tools()).tools),
  });
  input.push(...(response.output as OpenAI.Responses.ResponseInput));
  const calls = readOpenAiResponsesCalls(response);
  if (calls.length === 0) break;
  input.push(...renderOpenAiResponsesResults(calls, await executeCalls(gate, calls)));
}
// docs: end
