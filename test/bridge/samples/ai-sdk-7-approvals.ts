// answers: [{"calls":[{"id":"c1","name":"notes__delete","arguments":"{\"id\":1}"}]},{"text":"Deleted."}]
// docs: begin
import { anthropic } from "@ai-sdk/anthropic";
import { createHostApprovals } from "@soong/bridge";
import { bridgeAiSdk } from "@soong/bridge/ai-sdk";
import { createKernel, defineTool } from "@soong/core";
import { generateText, isLoopFinished, type ModelMessage } from "ai";

const deleteNote = defineTool({
  name: "notes.delete",
  description: "Delete a note",
  input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  handler: ({ id }) => `deleted note ${id}`,
});
const approvals = createHostApprovals();
const run = await createKernel({ tools: [deleteNote] }).startRun({ ask: approvals.ask });
const soong = await bridgeAiSdk(run, { approvals });

const messages: ModelMessage[] = [{ role: "user", content: "Delete note 1." }];
for (;;) {
  const { content, responseMessages } = await generateText({
    model: soong.model(anthropic("claude-sonnet-5")),
    tools: soong.tools,
    toolApproval: soong.toolApproval,
    messages,
    stopWhen: isLoopFinished(),
  });
  messages.push(...responseMessages);
  const requests = content.filter((part) => part.type === "tool-approval-request");
  if (requests.length === 0) break;
  // The messages may be stored here, and the answers come days later, in another process.
  const answers = requests.map(({ approvalId }) => {
    return { type: "tool-approval-response" as const, approvalId, approved: true };
  });
  messages.push({ role: "tool", content: answers });
}
run.end("completed");
// docs: end
