// Searches of Claude Code's own tools, with and without the look-up of paths that another package has.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClaudeTools } from "@soong/bridge/claude-agent";
import { createKernel } from "@soong/core";
import { findPath } from "@soong/tools";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";

describe.each([
  ["with the look-up of @soong/tools", { findPath }],
  ["without it", {}],
])("a search, %s,", (_, session) => {
  test.each([
    ["Grep", { pattern: "KEY" }],
    ["Grep", { pattern: "KEY", path: "." }],
    ["Grep", { pattern: "KEY", glob: "*.txt" }],
    ["Grep", { pattern: "KEY", glob: "{*.ts,*.txt}" }],
    ["Grep", { pattern: "KEY", glob: "!*.ts" }],
    ["Glob", { pattern: "**/*" }],
    ["Glob", { pattern: "p*/*" }],
    ["Glob", { pattern: "{private,src}/*" }],
    ["Glob", { pattern: "/**/key.*" }],
    ["LS", { path: "." }],
  ])("requires approval where it may reach a denied path: %s %j", async (tool, input) => {
    verifies("MODEL-6");
    const { explain } = await openProject(session);
    expect(await explain(tool, input)).toBe("ask");
  });

  test.each([
    ["Grep", { pattern: "KEY", path: "private" }],
    ["Grep", { pattern: "KEY", path: "private " }],
    ["Grep", { pattern: "KEY", path: "link" }],
    ["Grep", { pattern: "KEY", glob: "key.txt" }],
    ["Grep", { pattern: "KEY", glob: "**/key.txt" }],
    ["Glob", { pattern: "private/*" }],
    ["Glob", { pattern: "./private/**" }],
    ["Glob", { pattern: "../private/*", path: "src" }],
    ["Glob", { pattern: "*", path: " private" }],
    ["Glob", { pattern: "PROJECT/private/*", path: "src" }],
    ["Glob", { pattern: "src/../private/key.txt" }],
    ["LS", { path: "private" }],
    ["Read", { file_path: "private/key.txt " }],
  ])("is denied where it names a denied path: %s %j", async (tool, input) => {
    verifies("MODEL-6");
    const { explain } = await openProject(session);
    expect(await explain(tool, input)).toBe("deny");
  });

  test.each([
    ["Grep", { pattern: "KEY", path: "src" }],
    ["Grep", { pattern: "KEY", glob: "*.ts" }],
    ["Glob", { pattern: "**/*.ts" }],
    ["Glob", { pattern: "src/*" }],
    ["LS", { path: "src" }],
  ])("runs where it cannot show a denied path: %s %j", async (tool, input) => {
    const { explain } = await openProject(session);
    expect(await explain(tool, input)).toBe("allow");
  });

  test("requires approval where it names a file that is sensitive without any rule", async () => {
    const { folder, explain } = await openProject({ ...session, policy: {} });
    writeFileSync(join(folder, "src", ".env"), "KEY");
    expect(await explain("Grep", { pattern: "KEY", glob: ".env" })).toBe("ask");
    expect(await explain("Glob", { pattern: "**/.env" })).toBe("ask");
  });
});

test("a command requires approval where a rule denies writing a path", async () => {
  verifies("MODEL-6");
  const { folder, explain } = await openProject({
    policy: {
      rules: [
        { tool: "claude.bash", decision: "allow" },
        { path: "/**/kept/**", tags: ["write"], decision: "deny" },
      ],
    },
  });
  expect(await explain("Bash", { command: "npm test" })).toBe("ask");
  expect(await explain("Write", { file_path: join(folder, "kept/a"), content: "" })).toBe("deny");
});

type SessionOptions = NonNullable<Parameters<ReturnType<typeof createKernel>["startRun"]>[0]>;

/** A project with a directory that a rule denies, and a link to it. */
async function openProject(session: SessionOptions) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "claude-search-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["private", "src"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "private", "key.txt"), "KEY");
  writeFileSync(join(folder, "src", "a.ts"), "KEY");
  symlinkSync(join(folder, "private"), join(folder, "link"));
  const builtIn = createClaudeTools();
  const run = await createKernel({ tools: builtIn.tools }).startRun({
    roots: { project: folder, write: [folder] },
    policy: { rules: [{ path: "/**/private/**", decision: "deny" }] },
    ...session,
  });
  let count = 0;
  async function explain(name: string, given: object): Promise<string> {
    const input = JSON.parse(JSON.stringify(given).replaceAll("PROJECT", folder)) as object;
    count += 1;
    const call = builtIn.toCall({ id: `toolu_${count}`, name, input, cwd: folder });
    return (await run.explain(call)).outcome;
  }
  return { folder, explain };
}
