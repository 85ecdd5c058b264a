// MCP servers as the user at a terminal meets them: whom they wait for, and what they are asked.

import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, environment, type CliBundle, type Place } from "./cli-bundle.ts";
import { node, placeWithServers, PLAIN, SHIFTING } from "./mcp-stage.ts";
import {
  atTerminal,
  canMakeTerminals,
  type Exchange,
  type TerminalEnd,
} from "./pseudo-terminal.ts";
import { canUseTmux, openTmux } from "./tmux.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

function type(
  { home, project }: Place,
  args: readonly string[],
  exchanges: readonly Exchange[],
): Promise<TerminalEnd> {
  return atTerminal([process.execPath, bundle.program, ...args], exchanges, {
    cwd: project,
    env: environment(home, { TERM: "xterm", NO_COLOR: "1" }),
  });
}

describe.skipIf(!canMakeTerminals())("at a terminal (needs python3)", () => {
  it("those waited for are named, and Ctrl-C ends the waiting", async () => {
    verifies("MCP-2", "CLI-6");
    const place = await placeWithServers(bundle, () => ({
      slowpoke: node([PLAIN, '{"never": true}']),
      other: { command: "no-such-program" },
    }));
    const { code, screen } = await type(
      place,
      ["tools"],
      [{ after: "waiting for the MCP server slowpoke", type: "\u0003" }],
    );
    expect(code).toBe(130);
    expect(screen).not.toContain("code.read_file");
  });

  it("a call requires approval with its arguments, and the yes is on record with the definition", async () => {
    verifies("MCP-7", "PERM-7");
    const place = await placeWithServers(bundle, () => ({
      shifting: node([SHIFTING, SHIFTING], { network: false }),
    }));
    const { code, screen } = await type(
      place,
      ["call", "mcp.shifting.add", '{"say": "two and two"}'],
      [{ after: "[n]o: ", type: "y\n" }],
    );
    expect(code).toBe(0);
    expect(screen).toMatch(/mcp\.shifting\.add[^]*"say":\s?"two and two"[^]*\[n\]o: /);
    expect(screen.trimEnd().endsWith("two and two")).toBe(true);
    expect(await place.read(`${place.home}/mcp-pins.json`)).toContain('"add"');
  });
});

it.skipIf(!canUseTmux())(
  "a conversation names a server that failed once, however many turns it has (needs tmux)",
  async () => {
    verifies("MCP-2", "CLI-9");
    const place = await placeWithServers(bundle, () => ({ gone: { command: "no-such-program" } }));
    await place.write("s.yaml", "turns: [ { text: One. }, { text: Two. } ]");
    const screen = await openTmux({
      columns: 80,
      rows: 24,
      argv: [process.execPath, bundle.program, "--model", "script:s.yaml"],
      cwd: place.project,
      env: environment(place.home),
    });
    await screen.waitFor(/›$/);
    await screen.type("a\r");
    await screen.waitFor(/One\.[^]*1 request[^]*›$/);
    await screen.type("b\r");
    await screen.waitFor(/Two\.[^]*1 request[^]*›$/);
    const shown = (await screen.scrollback()).replaceAll(/\s+/g, " ");
    expect(shown.match(/The tools of the MCP server gone are missing/g)).toHaveLength(1);
    expect(shown).toContain("`soong mcp list gone` says more.");
  },
);
