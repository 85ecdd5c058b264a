// An MCP server is added and called, and one that another agent uses is put behind Soong: nothing is called unasked.

import { join } from "node:path";
import { verifies } from "#laws";
import { describe, expect, it } from "vitest";
import { canUseTmux } from "../tmux.ts";
import { tellStory } from "./story.ts";

/** The smallest server: one tool, over stdio. */
const SERVER = `
const tools = [{ name: "list", description: "Lists notes.", inputSchema: { type: "object" } }];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text: "buy milk" }] }),
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: "unknown" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
});
`;

describe.skipIf(!canUseTmux())("a story of a governed server (needs tmux)", () => {
  it("adds a server, calls it once approved, and wraps one of another agent", async () => {
    verifies("GATE-1", "CLI-9");
    const told = await tellStory(
      {
        inShell: true,
        async before(place) {
          const around = join(place.home, "..");
          const server = join(around, "notes.cjs");
          await place.write(server, SERVER);
          const env = { NOTES_TOKEN: "tok-4711-of-the-user" };
          const mine = { command: "node", args: [server], env };
          const settings = { theme: "dark", mcpServers: { notes2: mine } };
          await place.write(
            join(around, ".gemini", "settings.json"),
            `${JSON.stringify(settings, undefined, 2)}\n`,
          );
        },
      },
      async (screen) => {
        await screen.waitFor(/^\$$/m);
        await screen.type("soong mcp add notes -- node ~/notes.cjs\r");
        await screen.moment("added", /decision = "allow"\n\$$/);
        await screen.type("clear; soong call mcp.notes.list\r");
        await screen.moment("asked about a call", /\[n\]o:$/);
        await screen.type("y\r");
        await screen.moment("called", /buy milk[^]*\$$/);
        await screen.type("clear; soong mcp wrap notes2\r");
        await screen.moment("both changes", /Write this\? \[y\/N\]:$/);
        await screen.type("y\r");
        await screen.moment("wrapped", /puts its own entry back\.\n\$$/);
        await screen.type("clear; soong mcp wrap\r");
        await screen.moment("listed", /through Soong\n\$$/);
        await screen.type("exit\r");
        await screen.end();
      },
    );
    expect(told).not.toContain("tok-4711");
    await expect(told).toMatchFileSnapshot("govern-a-server.txt");
  });
});
