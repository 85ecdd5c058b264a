// answers: [{"calls":[{"id":"call_1","name":"notes__read","arguments":"{\"id\":1}"},{"id":"call_2","name":"notes__write","arguments":"{\"id\":2,\"text\":\"hello\"}"}]},{"text":"It is copied."}]
// docs: begin
import { Command, MemorySaver, isInterrupted } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createHostApprovals } from "@soong/bridge";
import { bridgeLangChain, type ApprovalPause, type ApprovalResume } from "@soong/bridge/langchain";
import { createKernel, defineTool } from "@soong/core";
import { createAgent } from "langchain";

const notes = new Map([[1, "hello"]]);
const id = { type: "integer" } as const;
const readNote = defineTool({
  name: "notes.read",
  description: "Read a note",
  input_schema: { type: "object", properties: { id }, required: ["id"] },
  permission: "readonly",
  concurrency_safe: true,
  handler: (input) => notes.get(input.id) ?? "There is no such note.",
});
const writeNote = defineTool({
  name: "notes.write",
  description: "Write a note",
  input_schema: {
    type: "object",
    properties: { id, text: { type: "string" } },
    required: ["id", "text"],
  },
  handler: (input) => void notes.set(input.id, input.text),
});

const approvals = createHostApprovals();
const run = await createKernel({ tools: [readNote, writeNote] }).startRun({ ask: approvals.ask });
const soong = await bridgeLangChain(run, { approvals });

const agent = createAgent({
  model: new ChatOpenAI({ model: "gpt-5" }),
  tools: soong.tools,
  middleware: [soong.middleware],
  checkpointer: new MemorySaver(), // one that lasts, if the process may end in between
});
const thread = { configurable: { thread_id: "1" } };
let state = await agent.invoke({ messages: "Copy note 1 to note 2." }, thread);
while (isInterrupted(state)) {
  const answers = state.__interrupt__.map((pause) => {
    const [action] = (pause.value as ApprovalPause).actionRequests;
    console.log(action.name, action.args); // show it to the user and wait for the answer
    const answer: ApprovalResume = { decisions: [{ type: "approve" }] };
    return [pause.id, answer] as const;
  });
  state = await agent.invoke(new Command({ resume: Object.fromEntries(answers) }), thread);
}
run.end("completed");
// docs: end
if (notes.get(2) !== "hello") throw new Error("the note was not written");
