// What a server wants to know from inside a call, asked of real users in real processes (MCP-5): at the terminal of the
// call, from a second terminal, through a program that is attached, and where no one is.

import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { createHost, textOf } from "../mcp/sdk-host.ts";
import { bundleCli, environment, type CliBundle, type Place } from "./cli-bundle.ts";
import { factsOf, secondTerminal, stdioOf } from "./mcp-serve-stage.ts";
import { atTerminal, canMakeTerminals, type Exchange } from "./pseudo-terminal.ts";

const SERVER = fileURLToPath(new URL("../mcp/servers/asking-server.mjs", import.meta.url));
const ASK = ["call", "mcp.asking.test_elicitation", '{"message": "Who is it?"}', "--yes"];

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

async function withServer(era: "2025" | "2026"): Promise<Place> {
  const place = await bundle.place();
  const entry = { command: process.execPath, args: [SERVER, era] };
  await place.write(
    join(place.home, "mcp.json"),
    JSON.stringify({ mcpServers: { asking: entry } }),
  );
  return place;
}

describe.skipIf(!canMakeTerminals())("at the terminal of the call (needs python3)", () => {
  it("a form is filled in, and on record without its answers", async () => {
    verifies("MCP-5");
    const place = await withServer("2025");
    const filled = await sitting(place, ASK, [
      { after: "[c]ancel: ", type: "what?\n" },
      { after: "[c]ancel: ", type: "a\n" },
      { after: "│ username: ", type: "ada\n" },
      { after: "│ email: ", type: "ada@example.com\n" },
      { after: "[s]end it", type: "s\n" },
    ]);
    expect(filled.code).toBe(0);
    expect(filled.screen).toContain("The MCP server asking asks, for mcp.asking.test_elicitation:");
    expect(filled.screen).toContain("│ Who is it?");
    expect(filled.screen).toMatch(/action=accept, content=\{"username":"ada","email":"ada@/);
    const asked = (await factsOf(place)).filter(({ type }) => type === "mcp.server.elicitation");
    expect(asked.map(({ data }) => data)).toEqual([
      { message: "Who is it?", mode: "form", action: "accept" },
    ]);
  });

  it("an address is shown, and declined, in the newer protocol", async () => {
    verifies("MCP-5");
    const place = await withServer("2026");
    const declined = await sitting(
      place,
      ["call", "mcp.asking.login", "{}", "--yes"],
      [{ after: "[c]ancel: ", type: "d\n" }],
    );
    expect(declined.screen).toMatch(/at example\.com:\s+https:\/\/example\.com\/login/);
    expect(declined.screen).toContain('page: {"action":"decline"}');
  });
});

describe("where a host is served that cannot be asked", () => {
  it("a question is a no for as long as no one is attached, and is answered by who is", async () => {
    verifies("MCP-5", "CLI-8", "GATE-2");
    const place = await withServer("2025");
    const { transport } = stdioOf(bundle, place, ["--server", "asking", "--allow", "mcp.asking.*"]);
    const { client } = createHost("legacy");
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("test_elicitation");
    const ask = { name: "test_elicitation", arguments: { message: "Who?" } };
    expect(textOf(await client.callTool(ask))).toContain("action=decline");

    const terminal = await secondTerminal(bundle, place);
    const calling = client.callTool(ask);
    const { question_id, kind, request } = await terminal.next("question");
    expect({ kind, request }).toMatchObject({
      kind: "elicitation",
      request: { mode: "form", message: "Who?", tool_name: "mcp.asking.test_elicitation" },
    });
    const content = { username: "ada", email: "ada@example.com" };
    terminal.answer({ question_id, action: "accept", content });
    expect(textOf(await calling)).toContain('action=accept, content={"username":"ada"');
    expect(await terminal.next("settled")).toMatchObject({ outcome: "answered", action: "accept" });
    await client.close();
  });
});

it("without anyone attached, a server is not offered questions", async () => {
  verifies("MCP-5");
  const place = await withServer("2025");
  const alone = await place.run(ASK);
  expect(alone.code).toBe(1);
  expect(alone.stderr).toContain("did not declare");
});

function sitting(place: Place, args: readonly string[], exchanges: readonly Exchange[]) {
  return atTerminal([process.execPath, bundle.program, ...args], exchanges, {
    cwd: place.project,
    env: environment(place.home, { TERM: "xterm", NO_COLOR: "1" }),
  });
}
