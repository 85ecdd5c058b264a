// A server whose words change: its tool is described by what is in a file, and it grows another one when asked to.
// JSON lines over stdio, era 2025. Its one argument is that file.

/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- it reads whatever it is sent */

import { readFileSync } from "node:fs";

const words = process.argv[2] ?? "";
let grown = false;

process.stderr.write("the server has begun\n");

let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  text += chunk;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    if (line.trim() !== "") take(JSON.parse(line));
  }
});
process.stdin.on("end", () => process.exit(0));

/** @param {object} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/** @param {any} message */
function take({ id, method, params }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    const serverInfo = { name: "shifting", version: "1" };
    const capabilities = { tools: { listChanged: true } };
    const instructions = "Be kind.";
    send({ id, result: { protocolVersion, serverInfo, capabilities, instructions } });
  } else if (method === "tools/list") {
    const inputSchema = { type: "object" };
    const description = readFileSync(words, "utf8");
    const tools = [{ name: "add", description, inputSchema }];
    send({ id, result: { tools: grown ? [...tools, { name: "grown", inputSchema }] : tools } });
  } else if (method === "tools/call") {
    const { grow, say = `${params.name} was called` } = params.arguments ?? {};
    if (grow === true) {
      grown = true;
      send({ method: "notifications/tools/list_changed" });
    }
    send({ id, result: { content: [{ type: "text", text: say }] } });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
}
