// answers: [{"calls":[{"id":"call_1","name":"notes__read","arguments":"{\"id\":1}"}]},{"text":"It says hello."}]
// docs: begin
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { bridgeMastra } from "@soong/bridge/mastra";
import { createKernel, defineTool } from "@soong/core";

const readNote = defineTool({
  name: "notes.read",
  description: "Read a note",
  input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  permission: "readonly",
  handler: ({ id }) => `note ${id}: hello`,
});
const run = await createKernel({ tools: [readNote] }).startRun();
const soong = await bridgeMastra(run);

const baseURL = process.env["OPENAI_BASE_URL"] ?? "http://localhost:11434/v1";
const agent = new Agent({
  id: "librarian",
  name: "Librarian",
  instructions: "You look after notes.",
  model: createOpenAICompatible({ name: "local", baseURL })("qwen3"),
  tools: soong.tools,
  defaultOptions: soong.options,
});
const { text } = await agent.generate("What does note 1 say?");
console.log(text);
run.end("completed");
// docs: end
