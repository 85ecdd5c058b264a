// answers: [{"calls":[{"id":"c1","name":"notes__delete","arguments":"{\"id\":1}"}]},{"text":"Deleted."}]
import { anthropic } from "@ai-sdk/anthropic";
import { createHostApprovals } from "@soong/bridge";
import { bridgeAiSdk } from "@soong/bridge/ai-sdk";
import { createKernel, defineTool } from "@soong/core";
import { generateText, isLoopFinished, type ModelMessage } from "ai";

const deleted: number[] = [];
const deleteNote = defineTool({
  name: "notes.delete",
  description: "Delete a note",
  input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  handler: ({ id }) => void deleted.push(id),
});
const approvals = createHostApprovals();
const run = await createKernel({ tools: [deleteNote] }).startRun({ ask: approvals.ask });
const soong = await bridgeAiSdk(run, { approvals });

// docs: begin
const messages: ModelMessage[] = [{ role: "user", content: "Delete note 1." }];
for (;;) {
  const { content, response } = await generateText({
    model: soong.model(anthropic("claude-sonnet-5")),
    tools: soong.tools,
    messages,
    stopWhen: isLoopFinished(),
  });
  messages.push(...response.messages);
  const requests = content.filter((part) => part.type === "tool-approval-request");
  if (requests.length === 0) break;
  const answers = requests.map(({ approvalId }) => {
    return { type: "tool-approval-response" as const, approvalId, approved: true };
  });
  messages.push({ role: "tool", content: answers });
}
// docs: end
run.end("completed");
if (deleted.length !== 1) throw new Error("the note was not deleted once");
