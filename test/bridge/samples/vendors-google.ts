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
import { GoogleGenAI, type Content } from "@google/genai";
import {
  executeCalls,
  readGoogleCalls,
  renderGoogleResults,
  renderGoogleTools,
} from "@soong/bridge/vendors";

const ai = new GoogleGenAI({});
const contents: Content[] = [{ role: "user", parts: [{ text: "What does note 1 say?" }] }];

for (;;) {
  const response = await ai.models.generateContent({
    model: "gemini-3-pro",
    contents,
    config: { tools: renderGoogleTools((await run.tools()).tools) },
  });
  const content = response.candidates?.[0]?.content;
  if (content === undefined) break;
  contents.push(content);
  const calls = readGoogleCalls(response);
  if (calls.length === 0) break;
  const parts = renderGoogleResults(calls, await executeCalls(gate, calls), { images: true });
  contents.push({ role: "user", parts });
}
// docs: end
