// The question before a call, as the user at a terminal meets it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, environment, type CliBundle, type Place } from "./cli-bundle.ts";
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

const SAVE = JSON.stringify({ path: "a.txt", content: "new\n", overwrite: true });

function type(
  { home, project }: Place,
  args: readonly string[],
  exchanges: readonly Exchange[],
  env: Readonly<Record<string, string>> = {},
): Promise<TerminalEnd> {
  return atTerminal([process.execPath, bundle.program, ...args], exchanges, {
    cwd: project,
    env: environment(home, { TERM: "xterm", ...env }),
  });
}

describe.skipIf(!canMakeTerminals())("a question at a terminal (needs python3)", () => {
  it("shows the change in colours and what a yes would cover, and takes the yes", async () => {
    verifies("CLI-3", "CLI-6", "PERM-7");
    const place = await bundle.place();
    await place.write("a.txt", "old\n");
    const { code, screen } = await type(
      place,
      ["call", "code.write_file", SAVE],
      [
        // What is no answer is asked again.
        { after: "[n]o: ", type: "maybe\n" },
        { after: "[n]o: ", type: "y\n" },
      ],
    );
    expect(code).toBe(0);
    expect(screen).toContain("\u001b[31m-old\u001b[39m");
    expect(screen).toContain("\u001b[32m+new\u001b[39m");
    expect(screen).toContain('"For this session"');
    expect(await place.read("a.txt")).toBe("new\n");
  });

  it("takes a no with its reason, and a command is shown as it would be typed", async () => {
    verifies("CLI-3", "CLI-6");
    const place = await bundle.place();
    const input = JSON.stringify({ argv: ["touch", "two words"] });
    const { code, screen } = await type(
      place,
      ["call", "code.run_command", input],
      [
        { after: "[n]o", type: "n\n" },
        { after: "Why not?", type: "not on a Monday\n" },
      ],
      { NO_COLOR: "1" },
    );
    expect(code).toBe(3);
    expect(screen).toContain("Run `touch 'two words'` in .\r\n");
    expect(screen).not.toContain("(dangerous");
    expect(screen).toMatch(/said no to code\.run_command: not on a Monday/);
    expect(screen).not.toContain("\u001b");
    expect(existsSync(join(place.project, "two words"))).toBe(false);
  });

  it("ends with 130 at Ctrl-C, and with a no when the terminal has no more to say", async () => {
    verifies("CLI-3");
    const place = await bundle.place();
    const [interrupted, ended] = await Promise.all([
      type(place, ["call", "code.write_file", SAVE], [{ after: "[n]o: ", type: "\u0003" }]),
      type(place, ["call", "code.write_file", SAVE], [{ after: "[n]o: ", type: "\u0004" }]),
    ]);
    expect(interrupted.code).toBe(130);
    expect(ended.code).toBe(3);
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);
    const verified = await place.run(["verify", "--all"]);
    expect(verified.code).toBe(0);
  });

  it("comes after the one before it, and what was typed for that one does not answer it", async () => {
    verifies("CLI-2", "PERM-7");
    const place = await bundle.place();
    const rule = '[[permissions.rules]]\ntool = "code.read_file"\ndecision = "ask"\n';
    await place.write(join(place.home, "config.toml"), rule);
    const read = (path: string): string => `{ tool: code.read_file, input: { path: ${path} } }`;
    for (const path of ["a.txt", "b.txt"]) await place.write(path, "text\n");
    await place.write("s.yaml", `turns:\n  - calls: [${read("a.txt")}, ${read("b.txt")}]\n`);
    const { code, screen } = await type(
      place,
      ["run", "--model", "script:s.yaml", "go"],
      [
        { after: "[n]o: ", type: "n\n\ny\n" },
        { after: "[n]o: ", type: "n\n" },
        { after: "Why not?", type: "\u0003" },
      ],
    );
    expect(code).toBe(130);
    expect(screen.match(/← code\.read_file \w+/g)).toEqual([
      "← code.read_file rejected",
      "← code.read_file aborted",
    ]);
  });

  it("is put before a change is taken back", async () => {
    verifies("CODE-6", "CLI-7");
    const place = await bundle.place();
    await place.run(["call", "code.write_file", SAVE, "--yes"]);
    const no = await type(place, ["undo"], [{ after: "[y/N]: ", type: "\n" }]);
    expect(no.code).toBe(3);
    expect(await place.read("a.txt")).toBe("new\n");
    const yes = await type(place, ["undo"], [{ after: "[y/N]: ", type: "y\n" }]);
    expect(yes.code).toBe(0);
    expect(yes.screen).toContain("Remove ");
    expect(existsSync(join(place.project, "a.txt"))).toBe(false);
  });
});
