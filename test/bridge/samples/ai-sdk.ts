// answers: [{"calls":[{"id":"c1","name":"notes__read","arguments":"{\"id\":1}"},{"id":"c2","name":"notes__delete","arguments":"{\"id\":1}"}]},{"text":"Deleted."}]
// docs: begin
import { anthropic } from "@ai-sdk/anthropic";
import { bridgeAiSdk } from "@soong/bridge/ai-sdk";
import { createKernel, defineTool } from "@soong/core";
import { isLoopFinished, streamText } from "ai";

const note = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } as const;
const readNote = defineTool({
  name: "notes.read",
  description: "Read a note",
  input_schema: note,
  permission: "readonly",
  handler: ({ id }) => `note ${id}: hello`,
});
const deleteNote = defineTool({
  name: "notes.delete",
  description: "Delete a note",
  input_schema: note,
  handler: ({ id }) => `deleted note ${id}`,
});

const run = await createKernel({ tools: [readNote, deleteNote] }).startRun({
  ask: ({ tool_name }) => {
    console.log(`May it use ${tool_name}?`); // show it to the user and wait for the answer
    return { decision: "allow_once" };
  },
});
const soong = await bridgeAiSdk(run);

const result = streamText({
  model: soong.model(anthropic("claude-sonnet-5")),
  tools: soong.tools,
  prompt: "Read note 1, then delete it.",
  stopWhen: isLoopFinished(),
});
for await (const text of result.textStream) process.stdout.write(text);
run.end("completed");
// docs: end
