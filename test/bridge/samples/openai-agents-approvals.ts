// answers: [{"calls":[{"id":"call_1","name":"notes__write","arguments":"{\"id\":1}"}]},{"text":"Written."}]
// Its traces go to the vendor.
const { setTracingDisabled } = await import("@openai/agents");
setTracingDisabled(true);

// docs: begin
import { Agent, OpenAIResponsesModel, run, RunState } from "@openai/agents";
import { createHostApprovals } from "@soong/bridge";
import { bridgeOpenAiAgents } from "@soong/bridge/openai-agents";
import { createKernel, defineTool } from "@soong/core";
import { OpenAI } from "openai";

const writeNote = defineTool({
  name: "notes.write",
  description: "Write a note",
  input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  handler: ({ id }) => `wrote ${id}`,
});

/** In each process: everything is made anew. */
async function openAgent() {
  const approvals = createHostApprovals();
  const kernelRun = await createKernel({ tools: [writeNote] }).startRun({ ask: approvals.ask });
  const soong = await bridgeOpenAiAgents(kernelRun, { approvals });
  const model = soong.model(new OpenAIResponsesModel(new OpenAI(), "gpt-5"));
  return { agent: new Agent({ name: "Clerk", model, tools: soong.tools }), soong };
}

const first = await openAgent();
const paused = await run(first.agent, "Write note 1.", first.soong.runOptions);
const saved = paused.state.toString(); // keep it; the process may end here

const second = await openAgent();
const state = await RunState.fromString(second.agent, saved);
for (const item of state.getInterruptions()) {
  console.log(`${item.name} ${item.arguments}?`);
  state.approve(item); // or state.reject(item)
}
console.log((await run(second.agent, state, second.soong.runOptions)).finalOutput);
// docs: end
