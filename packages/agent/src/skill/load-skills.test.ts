// Skills from their folder (SKILL-1): what is taken, what is said of what is not, and that nothing outside is read.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConversationNode } from "@soong/core";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeProblem } from "@soong/platform";
import { filesBeside } from "./skill-files.ts";
import { loadSkills, readSkill, type Skill } from "./skill.ts";
import { resolveRequestedTools, isOnItsWay, withLoad } from "./skill-tools.ts";

let home: string;
let folder: string;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "soong-skills-")));
  folder = join(home, "skills");
  await mkdir(folder);
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

async function write(name: string, text: string | Uint8Array, file = "SKILL.md"): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, file), text);
}

const skill = (name: string, more = "", body = "Do it well."): string =>
  `---\nname: ${name}\ndescription: How to ${name}.\n${more}---\n\n${body}\n`;

async function problems(): Promise<string[]> {
  const loaded = await loadSkills(folder);
  return loaded.problems.map((problem) => describeProblem(problem).replace(`${folder}/`, ""));
}

test("a skill has all that its form allows, and keys of other runtimes do no harm", async () => {
  verifies("SKILL-1");
  await write(
    "pdf-forms",
    `---
name: pdf-forms
description: >
  Fills forms
  in PDF files.
license: Apache-2.0
compatibility: needs pdftk
metadata: { author: me, version: 1.5 }
allowed-tools: code.read_file, Bash(git log:*)  mcp.pdf.*
model: large
---
# Forms

Fill them.
`,
  );
  await write("b", skill("b", "allowed-tools: [code.edit_file]\n"));
  await writeFile(join(folder, "README.md"), "not a skill");
  await mkdir(join(folder, ".git"));
  const { skills, problems: none } = await loadSkills(folder);
  expect(none).toEqual([]);
  expect(skills.map(({ name }) => name)).toEqual(["b", "pdf-forms"]);
  expect(skills[0]?.allowed_tools).toEqual(["code.edit_file"]);
  expect(skills[1]).toEqual({
    name: "pdf-forms",
    description: "Fills forms in PDF files.\n",
    license: "Apache-2.0",
    compatibility: "needs pdftk",
    metadata: { author: "me", version: "1.5" },
    allowed_tools: ["code.read_file", "Bash(git log:*)", "mcp.pdf.*"],
    ignored_keys: ["model"],
    body: "# Forms\n\nFill them.",
    folder: join(folder, "pdf-forms"),
    file: join(folder, "pdf-forms", "SKILL.md"),
  });
  expect(await loadSkills(join(home, "nowhere"))).toEqual({
    skills: [],
    problems: [],
    warnings: [],
    restricted: [],
  });
});

test("what has no meaning here of a skill for another program is named, and the skill is read", async () => {
  verifies("SKILL-1");
  await write(
    "deploy",
    `---
name: deploy
description: Deploys it. Usage: /deploy staging
allowed-tools: Read, TodoWrite, Bash(git push:*)
disable-model-invocation: true
argument-hint: "[where]"
licence: MIT
---
Deploy it.
`,
  );
  const { skills, problems: none, warnings } = await loadSkills(folder);
  expect(none).toEqual([]);
  expect(skills).toMatchObject([
    { description: "Deploys it. Usage: /deploy staging", disable_model_invocation: true },
  ]);
  expect(warnings.map((one) => describeProblem(one).slice(folder.length + 1))).toEqual([
    'deploy/SKILL.md:3:14: description: holds ": " or " #" without quotes; it was read as one text: put it in quotes',
    'deploy/SKILL.md:4:16: allowed-tools: "TodoWrite" has no counterpart here: an orchestrator keeps steps as a task',
    "deploy/SKILL.md:6:1: argument-hint: has no effect here",
    'deploy/SKILL.md:7:1: licence: has no effect here; did you mean "license"?',
  ]);
});

test("a bad skill affects only itself, and is reported with its position", async () => {
  verifies("SKILL-1");
  await write("good", skill("good"));
  await write("other", skill("else"));
  await write("Upper", skill("Upper"));
  await write("no-body", skill("no-body", "", ""));
  await write("no-front", "Do it.");
  await write("no-end", "---\nname: no-end\n");
  await write("no-name", "---\ndescription: x\n---\nx");
  await write("long", `---\nname: long\ndescription: ${"x".repeat(1025)}\n---\nx`);
  await write("list", "---\n- name\n---\nx");
  await write("types", "---\nname: types\ndescription: 3\nmetadata: [a]\nallowed-tools: 4\n---\nx");
  await write("nested", "---\nname: nested\ndescription: x\nmetadata: { a: { b: c } }\n---\nx");
  await write("twice", "---\nname: twice\nname: twice\ndescription: x\n---\nx");
  await mkdir(join(folder, "empty"));
  const loaded = await loadSkills(folder);
  expect(loaded.skills.map(({ name }) => name)).toEqual(["good"]);
  const reported = await problems();
  expect(reported).toEqual([
    "Upper:1:1: has a name no skill can have: lower-case letters, digits and single hyphens between them, 64 characters at most",
    "empty:1:1: has no SKILL.md; a skill is a folder with one",
    expect.stringMatching(/^list\/SKILL\.md:2:1: is a list; the front matter of a skill/),
    "long/SKILL.md:3:14: description: has 1025 characters; at most 1024 are allowed",
    expect.stringMatching(/^nested\/SKILL\.md:4:\d+: metadata\.a: is a mapping/),
    expect.stringMatching(/^no-body\/SKILL\.md:1:1: has no text below/),
    expect.stringMatching(/^no-end\/SKILL\.md:1:1: has front matter without an end/),
    expect.stringMatching(/^no-front\/SKILL\.md:1:1: does not begin with its front matter/),
    expect.stringMatching(/^no-name\/SKILL\.md:2:1: name: is missing/),
    'other/SKILL.md:2:7: name: is "else", and its folder is "other": they must be the same',
    expect.stringMatching(/^twice\/SKILL\.md:3:1: name: is given a second time/),
    expect.stringMatching(/^types\/SKILL\.md:3:14: description: is 3; text is expected/),
    expect.stringMatching(/^types\/SKILL\.md:4:11: metadata: is a list/),
    expect.stringMatching(/^types\/SKILL\.md:5:16: allowed-tools: is 4/),
  ]);
});

test("files made to hurt are refused whole", async () => {
  verifies("SKILL-1");
  await write("huge", skill("huge", "", "x".repeat(10 * 1024 * 1024)));
  await write("wide", skill("wide", "", "x".repeat(100_001)));
  await write("binary", new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x00]));
  await write("bell", skill("bell", "", "line\nring \u0007"));
  await write("escape", skill("escape", 'license: "\\u001b[2J"\n'));
  const bomb = Array.from({ length: 9 }, (_, i) => {
    const inside = i === 0 ? "lol" : Array.from({ length: 10 }, () => `*a${i - 1}`).join(", ");
    return `  k${i}: &a${i} [${inside}]`;
  });
  await write("bomb", skill("bomb", `metadata:\n${bomb.join("\n")}\n`));
  await write("deep", skill("deep", `metadata: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`));
  await mkdir(join(folder, "pipe"));
  execFileSync("mkfifo", [join(folder, "pipe", "SKILL.md")]);
  await mkdir(join(folder, "folder", "SKILL.md"), { recursive: true });
  const { skills } = await loadSkills(folder);
  expect(skills).toEqual([]);
  const reported = await problems();
  const saying = (name: string): string =>
    reported.filter((line) => line.startsWith(`${name}/`)).join("\n");
  expect(saying("huge")).toContain("is larger than 256 KiB");
  expect(saying("wide")).toContain("100000 are the most");
  expect(saying("binary")).toContain("is not UTF-8 text");
  expect(saying("bell")).toContain("SKILL.md:7:1: holds the control character U+0007");
  expect(saying("escape")).toContain("license: holds the control character U+001B");
  expect(saying("bomb")).not.toBe("");
  expect(saying("deep")).not.toBe("");
  expect(saying("pipe")).toContain("is not a regular file");
  expect(saying("folder")).toContain("is not a regular file");
  expect(reported.join("\n").length).toBeLessThan(20_000);
});

test("no name and no link leads out of the folder", async () => {
  verifies("SKILL-1");
  const outside = join(home, "outside");
  await mkdir(outside);
  await writeFile(join(outside, "SKILL.md"), skill("outside"));
  await symlink(outside, join(folder, "outside"));
  await mkdir(join(folder, "linked"));
  await writeFile(join(home, "secret.md"), skill("linked"));
  await symlink(join(home, "secret.md"), join(folder, "linked", "SKILL.md"));
  await symlink(join(home, "gone"), join(folder, "gone"));
  await write("real", skill("real"));
  expect((await loadSkills(folder)).skills.map(({ name }) => name)).toEqual(["real"]);
  const reported = await problems();
  expect(reported).toHaveLength(3);
  expect(reported[1]).toMatch(
    /^linked\/SKILL\.md:1:1: is a link that leads out of the skills folder/,
  );
  expect(reported[2]).toMatch(/^outside:1:1: is a link that leads out/);
  for (const name of ["../outside", "..", ".", "", "a/b", "/etc", "real/../real", "x".repeat(65)]) {
    expect(await readSkill(folder, name)).toMatchObject({ ok: false });
  }
  // The folder itself may be wherever its user has put it.
  await symlink(folder, join(home, "link"));
  expect(await readSkill(join(home, "link"), "real")).toMatchObject({
    ok: true,
    skill: { file: join(folder, "real", "SKILL.md") },
  });
});

test("files beside are named by their relative paths, links and hidden ones are not, and the count is bounded", async () => {
  verifies("SKILL-1");
  await write("s", skill("s"));
  await write("s", "x", "b.txt");
  await write("s", "x", ".hidden");
  await write("s", "x", "bad\nname");
  await mkdir(join(folder, "s", "scripts"));
  await write("s/scripts", "x", "run.sh");
  await write("s/scripts", "x", "SKILL.md");
  await symlink("/etc/passwd", join(folder, "s", "passwd"));
  const at = (name: string): string => join(folder, "s", name);
  expect(await filesBeside({ folder: at("") })).toEqual({
    paths: ["b.txt", "scripts/SKILL.md", "scripts/run.sh"],
    left_out: 2,
  });
  await mkdir(at("many"));
  for (let i = 0; i < 205; i += 1) await write("s/many", "", `f${i}`);
  const many = await filesBeside({ folder: at("") });
  expect(many.paths).toHaveLength(200);
  expect(many.left_out).toBe(2 + 8);
});

test("a load is on its way until its result is on the path", () => {
  verifies("SKILL-1");
  const loaded = { name: "s", body: "x" } as Skill;
  const before = withLoad({ other: 1 }, { name: "t", body: "y" } as Skill, "call-0");
  const context = withLoad(before, loaded, "call-1");
  expect(context["other"]).toBe(1);
  const node = (tool_call_id: string) => ({ tool_call_id }) as ConversationNode;
  expect(isOnItsWay(context, loaded, [node("call-0")])).toBe(true);
  expect(isOnItsWay(context, { ...loaded, body: "z" }, [])).toBe(false);
  // It was there and a compaction has taken it from view: then it may come again.
  expect(isOnItsWay(context, loaded, [node("call-1")])).toBe(false);
});

test("requests are held against the surface and change nothing", () => {
  verifies("SKILL-1");
  const surface = {
    standing: new Map<string, never>([
      ["code.read_file", { state: "loaded" } as never],
      ["mcp.x.y", { state: "deferred" } as never],
      ["code.run", { state: "excluded", reason: "disabled", detail: "by config" } as never],
    ]),
    aliases: new Map<string, string>(),
  };
  expect(
    resolveRequestedTools(["Read(src/**)", "mcp__x", "mcp.x.*", "code.run", "Nope", "*"], surface),
  ).toEqual([
    { requested: "Read(src/**)", tool_name: "code.read_file", state: "loaded" },
    { requested: "mcp__x", tool_name: "mcp.x.y", state: "deferred" },
    { requested: "mcp.x.*", tool_name: "mcp.x.y", state: "deferred" },
    { requested: "code.run", tool_name: "code.run", state: "excluded", why: "disabled: by config" },
    { requested: "Nope", state: "unknown" },
    { requested: "*", state: "unknown" },
  ]);
});
