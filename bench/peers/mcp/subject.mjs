// An MCP client and server of the official SDK, joined in memory: the protocol's own cost, without
// a process or a socket between them.

import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { zodInput } from "../../workload.mjs";

/** @import { Call } from "../../workload.mjs" */
/** @import { Subject } from "../../subjects/index.mjs" */

/** @type {Subject} */
export const mcp = {
  async create({ tools, parallel }) {
    const server = new McpServer({ name: "bench", version: "1.0.0" });
    for (const [index, spec] of tools.entries()) {
      server.registerTool(
        spec.wireName,
        { description: spec.description, inputSchema: zodInput(z, index) },
        async (/** @type {any} */ input) => ({
          content: [{ type: "text", text: JSON.stringify(await spec.handler(input)) }],
        }),
      );
    }
    const client = new Client({ name: "bench", version: "1.0.0" });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(theirs), client.connect(ours)]);
    /** @param {Call} call */
    const one = (call) =>
      client.callTool({ name: call.wireName, arguments: JSON.parse(call.args) });
    return {
      list: async () => (await client.listTools()).tools,
      session: async () => ({
        turn: async (calls) => {
          if (parallel) return Promise.all(calls.map(one));
          const results = [];
          for (const call of calls) results.push(await one(call));
          return results;
        },
      }),
      close: () => client.close(),
    };
  },
};
