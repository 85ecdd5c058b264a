// answers: [{"calls":[{"id":"call_1","name":"notes__read","arguments":"{\"id\":1}"}]},{"text":"It says hello."}]
// Its traces go to the vendor.
const { setTracingDisabled } = await import("@openai/agents");
setTracingDisabled(true);

// docs: begin
import { Agent, OpenAIResponsesModel, run } from "@openai/agents";
import { bridgeOpenAiAgents } from "@soong/bridge/openai-agents";
import { createKernel, defineTool } from "@soong/core";
import { OpenAI } from "openai";

const readNote = defineTool({
  name: "notes.read",
  description: "Read a note",
  input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  permission: "readonly",
  handler: ({ id }) => `note ${id}: hello`,
});
const kernelRun = await createKernel({ tools: [readNote] }).startRun();
const soong = await bridgeOpenAiAgents(kernelRun);

const agent = new Agent({
  name: "Librarian",
  model: soong.model(new OpenAIResponsesModel(new OpenAI(), "gpt-5")),
  tools: soong.tools,
});
const { finalOutput } = await run(agent, "What does note 1 say?", soong.runOptions);
console.log(finalOutput);
kernelRun.end("completed");
// docs: end
