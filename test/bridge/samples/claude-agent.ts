// answers: [{"calls":[{"id":"toolu_1","name":"mcp__soong__notes__read","arguments":"{\"id\":1}"},{"id":"toolu_2","name":"Read","arguments":"{\"file_path\":\"/project/.env\"}"},{"id":"toolu_3","name":"Bash","arguments":"{\"command\":\"cd / && rm -rf project\"}"}]},{"calls":[{"id":"toolu_4","name":"Read","arguments":"{\"file_path\":\"package.json\"}"}]},{"text":"It says hello."}]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const home = mkdtempSync(join(tmpdir(), "claude-sample-"));
Object.assign(process.env, {
  HOME: home,
  CLAUDE_CONFIG_DIR: join(home, ".claude"),
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
});
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

// docs: begin
import { query } from "@anthropic-ai/claude-agent-sdk";
import { bridgeClaudeAgent, createClaudeTools } from "@soong/bridge/claude-agent";
import { createKernel, defineTool } from "@soong/core";

const readNote = defineTool({
  name: "notes.read",
  description: "Read a note",
  input_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  permission: "readonly",
  handler: ({ id }) => `note ${id}: hello`,
});
const builtIn = createClaudeTools(); // Read, Edit, Bash, …: judged by the same rules
const kernel = createKernel({ tools: [readNote, ...builtIn.tools] });
const run = await kernel.startRun({
  roots: { project: process.cwd(), write: [process.cwd()] },
  policy: {
    rules: [
      { path: "/**/.env", decision: "deny" },
      { argv: ["rm", "**"], decision: "deny" },
    ],
  },
  ask: ({ tool_name, reason }) => {
    console.log(`${tool_name}? ${reason}`); // show it to the user and wait for the answer
    return { decision: "deny", reason: "not now" };
  },
});
const soong = bridgeClaudeAgent(run, { builtIn });

const messages = query({
  prompt: "What does note 1 say?",
  options: {
    hooks: soong.hooks,
    canUseTool: soong.canUseTool,
    mcpServers: { soong: soong.server },
  },
});
for await (const message of messages) {
  if (message.type === "result" && message.subtype === "success") console.log(message.result);
}
run.end("completed");
// docs: end

const facts = await run.session.journal.read(0, 1000);
const ends = new Map(
  facts.flatMap(({ type, tool_call_id }) =>
    ["tool.completed", "tool.denied"].includes(type) ? [[tool_call_id, type] as const] : [],
  ),
);
const wanted = ["tool.completed", "tool.denied", "tool.denied", "tool.completed"];
for (const [at, type] of wanted.entries()) {
  const seen = ends.get(`toolu_${at + 1}`);
  if (seen !== type) throw new Error(`toolu_${at + 1}: ${seen ?? "no end"}, not ${type}`);
}
