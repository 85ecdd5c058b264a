// A server for the benchmarks of MCP, over stdio and by hand, so that what is measured is not its own work: as many
// tools as its argument says, each about as long as real ones are, and every call answered at once.

import { createInterface } from "node:readline";

/** @typedef {{ id?: number | string, method: string, params?: { name?: string, arguments?: { path?: string } } }} Message */

const VERBS = [
  "list",
  "read",
  "create",
  "update",
  "close",
  "search",
  "compare",
  "export",
  "move",
  "tag",
];
const NOUNS = [
  "issue",
  "branch",
  "page",
  "invoice",
  "message",
  "ticket",
  "build",
  "table",
  "event",
  "user",
];
const MORE =
  "Times are in UTC, names are matched without regard to case, and what was deleted is left out. " +
  "The answer is in the order of the last change, the newest first, and says when there is more of it. " +
  "Whoever may not see the project is told that it is not there; ask for access before asking again.";

const count = Number(process.argv[2] ?? 1);
const tools = Array.from({ length: count }, (_, index) => toolNumber(index));

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = /** @type {Message} */ (JSON.parse(line));
  if (id === undefined) continue;
  const answer = answerTo(method, params);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}

/** @param {string} method @param {Message["params"]} params */
function answerTo(method, params) {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "bench", version: "1.0.0" },
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools } };
    case "tools/call": {
      const text = `${params?.name} looked into ${params?.arguments?.path} once`;
      return { result: { content: [{ type: "text", text }] } };
    }
    default:
      return { error: { code: -32601, message: `${method} is not known here` } };
  }
}

/** About 390 tokens, as the tools of real servers have on average. @param {number} index */
function toolNumber(index) {
  const noun = NOUNS[index % NOUNS.length];
  const verb = VERBS[Math.floor(index / NOUNS.length) % VERBS.length];
  const text = {
    type: "string",
    description: `Which ${noun} is meant, by its full path or its name.`,
  };
  return {
    name: `${verb}_${noun}_${index}`,
    description: `Will ${verb} a ${noun} of the project and answer with what became of it. ${MORE}`,
    inputSchema: {
      type: "object",
      properties: {
        path: text,
        project: { ...text, description: `The project the ${noun} belongs to. ${MORE}` },
        limit: { type: "integer", minimum: 1, maximum: 500, description: "How many at most." },
        state: { type: "string", enum: ["open", "closed", "all"], description: "Only such ones." },
        labels: { type: "array", items: { type: "string" }, description: "With all of these." },
        since: { type: "string", format: "date-time", description: "Changed after this time." },
      },
      required: ["path"],
      additionalProperties: false,
    },
  };
}
