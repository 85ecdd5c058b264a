import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { expect, onTestFinished, test } from "vitest";
import { commandPage, commandsOf, describedProgram, examplesIn } from "../scripts/command-page.ts";

/** Tables and lines as the formatter may lay them out. */
function words(markdown: string): string {
  return markdown.replaceAll(/-{3,}/g, "---").replaceAll(/\s+/g, " ").trim();
}

test("the page of all commands is as the program says (scripts/write-command-page.ts makes it anew)", async () => {
  verifies("DOC-1", "CLI-6");
  expect(words(readFileSync("docs/commands.md", "utf8"))).toBe(words(commandPage()));
});

test("the help of the program lists every command under a heading of its own", () => {
  verifies("CLI-6");
  const [program] = commandsOf(describedProgram());
  const headings = program?.commands.map((command) => command.helpGroup()) ?? [];
  expect(headings.length).toBeGreaterThan(20);
  expect(headings).not.toContain("Commands:");
});

test("every example of the help is one the program takes, with every word in its place", async () => {
  verifies("DOC-2", "CLI-6");
  const told: string[] = [];
  const commands = commandsOf(describedProgram((text) => void told.push(text)));
  for (const command of commands) command.outputHelp();
  const examples = told.flatMap(examplesIn);
  expect(examples.length).toBeGreaterThan(commands.length);
  const typed = argumentsOf(examples);
  expect(typed).toHaveLength(examples.length);
  for (const [at, args] of typed.entries()) {
    // Only the commands among these words are loaded.
    const program = describedProgram(undefined, args);
    let taken = 0;
    for (const command of commandsOf(program)) command.action(() => void (taken += 1));
    await program.parseAsync(args, { from: "user" });
    expect({ example: examples[at], taken }).toEqual({ example: examples[at], taken: 1 });
  }
});

test("the page about the command line has every command and every kind of record", async () => {
  verifies("DOC-1", "CLI-6");
  const page = readFileSync("docs/cli.md", "utf8");
  const [, ...commands] = commandsOf(describedProgram());
  const names = commands.filter(({ parent }) => parent?.parent === null).map((one) => one.name());
  expect(names.filter((name) => !page.includes(`soong ${name}`))).toEqual([]);
  expect(recordsOf("packages/cli/src").filter((schema) => !page.includes(schema))).toEqual([]);
});

/** The schemas the program names, wherever it does. */
function recordsOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const named = sources.flatMap((name) =>
    [...readFileSync(join(folder, name), "utf8").matchAll(/"(soong\.[\w.]+\/\d+)"/g)].map(
      ([, schema = ""]) => schema,
    ),
  );
  return [...new Set(named)];
}

/** What the command gets when a shell reads these lines; whatever else is on them does nothing. */
function argumentsOf(lines: readonly string[]): string[][] {
  const folder = mkdtempSync(join(tmpdir(), "soong-examples-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const seen = join(folder, "seen");
  const stubs = [
    'soong() { { printf "%s\\0" "$@"; printf "\\n"; } >> "$SEEN"; }',
    ...["git", "npm", "cat", "jq"].map((name) => `${name}() { :; }`),
  ];
  execFileSync("bash", ["--norc", "-euc", [...stubs, ...lines].join("\n")], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, SEEN: seen },
  });
  return readFileSync(seen, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\0").slice(0, -1));
}
