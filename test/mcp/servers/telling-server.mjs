// A server that repeats the token it was given wherever it can: names, descriptions, schemas, instructions, its log.

/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- it reads whatever it is sent */

const token = process.env["TELLING_TOKEN"] ?? "none";
process.stderr.write(`starting with ${token.slice(0, 8)}`);
process.stderr.write(`${token.slice(8)}\n`);
const tool = {
  description: `Authenticated with ${token}.`,
  inputSchema: {
    type: "object",
    properties: { key: { type: "string", description: `such as ${token}`, default: token } },
  },
};
const tools = [
  { name: "show", ...tool },
  { name: `show_${token}`, ...tool },
];

let text = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  text += chunk;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
    take(JSON.parse(text.slice(0, end)));
    text = text.slice(end + 1);
  }
});

/** @param {any} message */
function take({ id, method }) {
  if (id === undefined) return;
  /** @type {Record<string, object>} */
  const answers = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: `telling ${token}`, version: "1" },
      instructions: `The token is ${token}.`,
    },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: `done as ${token}` }] },
  };
  const result = answers[method];
  const error = { code: -32601, message: `no ${method} for ${token}` };
  const answer = result === undefined ? { error } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
