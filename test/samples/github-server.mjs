// In place of GitHub's MCP server, for the samples of its tutorial: some of its tools, and no GitHub.

import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const repository = { owner: z.string(), repo: z.string() };
const server = new McpServer({ name: "github-mcp-server", version: "1.0.0" });
const tools = /** @type {const} */ ([
  ["list_issues", "List the issues of a repository", true, {}],
  ["issue_read", "Read one issue", true, { issue_number: z.number().int() }],
  ["issue_write", "Create or change an issue", false, { title: z.string() }],
  ["delete_file", "Delete a file of a repository", false, { path: z.string() }],
]);
for (const [name, description, readOnlyHint, fields] of tools) {
  const inputSchema = z.object({ ...repository, ...fields });
  server.registerTool(name, { description, inputSchema, annotations: { readOnlyHint } }, () => ({
    content: [{ type: "text", text: name === "list_issues" ? "#7 The build fails" : "done" }],
  }));
}
await server.connect(new StdioServerTransport());
