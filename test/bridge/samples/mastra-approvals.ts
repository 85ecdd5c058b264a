// answers: [{"calls":[{"id":"call_1","name":"notes__write","arguments":"{\"id\":1}"}]},{"text":"Written."}]
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directory = await mkdtemp(join(tmpdir(), "soong-mastra-"));

// docs: begin
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { LibSQLStore } from "@mastra/libsql";
import { createHostApprovals } from "@soong/bridge";
import { bridgeMastra } from "@soong/bridge/mastra";
import { createKernel, defineTool } from "@soong/core";

const writeNote = defineTool({
  name: "notes.write",
  description: "Write a note",
  input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  handler: ({ id }) => `wrote ${id}`,
});

/** In each process: everything but the database is made anew. */
async function openAgent() {
  const approvals = createHostApprovals();
  const run = await createKernel({ tools: [writeNote] }).startRun({ ask: approvals.ask });
  const soong = await bridgeMastra(run, { approvals });
  const baseURL = process.env["OPENAI_BASE_URL"] ?? "http://localhost:11434/v1";
  const agent = new Agent({
    id: "clerk",
    name: "Clerk",
    instructions: "You look after notes.",
    model: createOpenAICompatible({ name: "local", baseURL })("qwen3"),
    tools: soong.tools,
    defaultOptions: soong.options,
  });
  const storage = new LibSQLStore({ id: "notes", url: `file:${directory}/mastra.db` });
  return new Mastra({ agents: { clerk: agent }, storage }).getAgent("clerk");
}

const first = await openAgent();
const { runId, suspendPayload } = await first.generate("Write note 1.");
const { toolCallId, toolName, args } = suspendPayload as {
  toolCallId: string;
  toolName: string;
  args: unknown;
};
console.log(`${toolName} ${JSON.stringify(args)}?`); // the process may end here

const second = await openAgent();
const call = { runId: runId ?? "", toolCallId };
const { text } = await second.approveToolCallGenerate(call); // or declineToolCallGenerate
console.log(text);
// docs: end

await rm(directory, { recursive: true, force: true });
