import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readCommandLine } from "./command-line.ts";
import { fillCommand, loadOwnCommands } from "./own-commands.ts";

test("commands are read from a folder, with what is wrong with the others", async () => {
  const home = await mkdtemp(join(tmpdir(), "soong-commands-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const folder = join(home, "commands");
  expect(await loadOwnCommands(folder)).toEqual({ commands: [], problems: [] });
  await mkdir(folder);
  const files: Record<string, string> = {
    "review.md":
      "---\ndescription: Review a branch\nargument-hint: BRANCH\nallowed-tools: Bash(git:*)\n---\nReview $1.\n",
    "plain.md": "Look at it.\nTwice.\n",
    "empty.md": "---\ndescription: nothing\n---\n",
    "bad.md": "---\ndescription: [\n---\nText.\n",
    "a b.md": "Text.",
    "notes.txt": "no",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { commands, problems } = await loadOwnCommands(folder);
  expect(commands).toEqual([
    { name: "plain", description: "Look at it.", hint: "", text: "Look at it.\nTwice." },
    { name: "review", description: "Review a branch", hint: "BRANCH", text: "Review $1." },
  ]);
  expect(problems).toHaveLength(3);
  expect(problems.join("\n")).toMatch(
    /a b\.md is no name[^]*bad\.md has front matter[^]*empty\.md has no text/,
  );
});

test("placeholders are what was typed behind the name", () => {
  expect(fillCommand("Fix $1 in $2: $ARGUMENTS", `"the bug" don't $& x`)).toBe(
    `Fix the bug in don't: "the bug" don't $& x`,
  );
  expect(fillCommand("Costs $10 and $3.", "a")).toBe("Costs $10 and .");
  expect(fillCommand("Look.", "")).toBe("Look.");
  expect(fillCommand("Look.", "at a.txt")).toBe("Look.\n\nat a.txt");
});

test.each<[string, readonly string[] | undefined]>([
  ["  ", undefined],
  ["git status --short", ["git", "status", "--short"]],
  [`grep -n "a b" 'c d' e\\ f ""`, ["grep", "-n", "a b", "c d", "e f", ""]],
  [`echo "a\\"b\\n" '\\n'`, ["echo", 'a"b\\n', "\\n"]],
  ["ls *.ts", ["sh", "-c", "ls *.ts"]],
  ["a | b && c > d", ["sh", "-c", "a | b && c > d"]],
  [`echo "$HOME"`, ["sh", "-c", `echo "$HOME"`]],
  ["A=1 make", ["sh", "-c", "A=1 make"]],
  ["ls ~/x", ["sh", "-c", "ls ~/x"]],
  ["echo a#b", ["echo", "a#b"]],
  ["echo a # b", ["sh", "-c", "echo a # b"]],
  ["git commit -m 'x = y'", ["git", "commit", "-m", "x = y"]],
])("the line %j is run as it is meant", (line, argv) => {
  expect(readCommandLine(line)).toEqual(argv);
});

test("a quote without an end is not run", () => {
  expect(() => readCommandLine(`echo "a`)).toThrow(`A " in this line has no end.`);
});
