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
