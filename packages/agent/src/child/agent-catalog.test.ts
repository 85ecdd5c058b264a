// Definitions from files, from code and built in (AGENT-1): what is taken, and what is said of what is not.

import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeProblem } from "@soong/platform";
import { loadAgentCatalog, parseAgentDefinition } from "./agent-catalog.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "soong-definitions-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const WHOLE = `---
id: reviewer
name: The reviewer
description: Reads changes and says what is wrong with them.
roles: [sub, fork]
model: fast
mode: plan
suggested_tools: [code.read_file]
allowed_tools: ["code.*"]
max_turns: 20
timeout_ms: 60000
rules:
  - { tool: code.run_command, decision: deny, reason: reviewers only read }
  - tool: "mcp.*"
    decision: ask
expected_output_schema: { type: object, required: [verdict] }
---
You review changes.

Be kind.
`;

test("a file with everything in it is read as it says, its rules with their lines", () => {
  verifies("AGENT-1");
  const parsed = parseAgentDefinition(WHOLE.replaceAll("\n", "\r\n"), "/home/agents/reviewer.md");
  expect(parsed).toEqual({
    ok: true,
    definition: {
      id: "reviewer",
      name: "The reviewer",
      description: "Reads changes and says what is wrong with them.",
      roles: ["sub", "fork"],
      model: "fast",
      mode: "plan",
      suggested_tools: ["code.read_file"],
      allowed_tools: ["code.*"],
      max_turns: 20,
      timeout_ms: 60_000,
      rules: [
        {
          tool: "code.run_command",
          decision: "deny",
          reason: "reviewers only read",
          origin: { file: "/home/agents/reviewer.md", line: 13 },
        },
        { tool: "mcp.*", decision: "ask", origin: { file: "/home/agents/reviewer.md", line: 14 } },
      ],
      expected_output_schema: { type: "object", required: ["verdict"] },
      system: "You review changes.\n\nBe kind.",
    },
    warnings: [],
  });
});

const MINIMAL = (front: string, body = "Do it."): string =>
  `---\ndescription: Does it.\n${front}---\n${body}\n`;

test("a description and a text are enough: the name of the file is the id", () => {
  verifies("AGENT-1");
  expect(parseAgentDefinition(MINIMAL(""), "a/helper.md")).toEqual({
    ok: true,
    definition: { id: "helper", description: "Does it.", system: "Do it." },
    warnings: [],
  });
});

describe("what is wrong is reported with its place", () => {
  test.each<[string, string, string[]]>([
    ["no front matter", "Do it.", ["x.md:1:1: does not begin with its front matter"]],
    ["no end of it", "---\nid: x\n", ["x.md:1:1: has front matter without an end"]],
    ["nothing in it", "---\n---\nDo it.", ["x.md:1:1: is empty"]],
    ["no text", MINIMAL("", ""), ["x.md:1:1: has no text below its front matter"]],
    [
      "unknown keys",
      MINIMAL("allowed_tool: [a.b]\nzoo: x\n"),
      [
        'x.md:3:1: allowed_tool: is not a field of an agent definition; did you mean "allowed_tools"?',
        "x.md:4:1: zoo: is not a field of an agent definition; it has id, name,",
      ],
    ],
    [
      "values that are none",
      MINIMAL('roles: [sup]\nmode: fast\nmax_turns: 0\ntimeout_ms: 1.5\noverride: "yes"\n'),
      [
        'x.md:3:9: roles[0]: is "sup"; did you mean "sub"?',
        'x.md:4:7: mode: is "fast"; "normal" or "plan" or "accept_edits" or "orchestrator" is expected',
        "x.md:5:12: max_turns: is 0; a whole number from 1 to 10000 is expected",
        "x.md:6:13: timeout_ms: is 1.5; a whole number",
        "x.md:7:11: override: is text; true or false is expected",
      ],
    ],
    [
      "an id that is none",
      MINIMAL("id: My Agent\n"),
      ['x.md:3:5: id: is "My Agent"; an id is a lower-case letter'],
    ],
    [
      "tools that are none",
      MINIMAL('allowed_tools: [read, "a b", 3, ""]\n'),
      [
        "x.md:3:17: allowed_tools[0]: has no dot",
        "x.md:3:23: allowed_tools[1]: holds white space",
        "x.md:3:30: allowed_tools[2]: is 3; text is expected",
        "x.md:3:33: allowed_tools[3]: is empty",
      ],
    ],
    [
      "suggestions it may not have",
      MINIMAL("allowed_tools: [a.b]\nsuggested_tools: [a.b, a.c]\n"),
      ["x.md:4:24: suggested_tools[1]: is not among its allowed_tools"],
    ],
    [
      "rules that would widen, or match nothing",
      MINIMAL(
        "rules:\n  - { tool: a.b, decision: allow }\n  - { decision: deny }\n  - { tool: a.b, decison: deny }\n",
      ),
      [
        'x.md:4:28: rules[0].decision: is "allow"; a definition can only narrow',
        "x.md:5:5: rules[1]: has no condition",
        "x.md:6:5: rules[2].decision:",
        "x.md:6:27: rules[2].decison: ",
      ],
    ],
    [
      "a schema that is none",
      MINIMAL("expected_output_schema: { type: objekt }\n"),
      ["x.md:3:25: expected_output_schema: at "],
    ],
    [
      "a duplicate key",
      MINIMAL("description: Again.\n"),
      ["x.md:3:1: description: is given a second time"],
    ],
    ["YAML that is none", MINIMAL("roles: [sub\n"), ["x.md:"]],
  ])("%s", (_name, text, expected) => {
    verifies("AGENT-1", "CONF-2");
    const parsed = parseAgentDefinition(text, "x.md");
    const problems = parsed.ok ? [] : parsed.problems.map(describeProblem);
    expect(problems).toHaveLength(expected.length);
    for (const [i, said] of expected.entries()) expect(problems[i]).toContain(said);
  });

  test("a file whose name is no id needs one, and a text may be too long", () => {
    verifies("AGENT-1");
    const named = parseAgentDefinition(MINIMAL(""), "a/My Helper.md");
    expect(named).toMatchObject({
      problems: [{ message: expect.stringContaining("lower-case letters") as string }],
    });
    const long = parseAgentDefinition(MINIMAL("", "x".repeat(100_001)), "x.md");
    expect(long).toMatchObject({
      problems: [{ message: expect.stringContaining("100000") as string }],
    });
  });
});

describe("a catalog", () => {
  test("has the built-in ones, and a folder that is not there holds nothing", async () => {
    verifies("AGENT-1");
    const catalog = await loadAgentCatalog({ folder: join(folder, "none") });
    expect(catalog.problems).toEqual([]);
    expect([...catalog.definitions.keys()]).toEqual([
      "default_sub_agent",
      "default_fork_agent",
      "default_worker_agent",
    ]);
    expect(catalog.startableAs("worker").map(({ id }) => id)).toEqual(["default_worker_agent"]);
  });

  test("takes what is well, and each bad file costs itself alone", async () => {
    verifies("AGENT-1");
    await writeFile(join(folder, "a.md"), MINIMAL(""));
    await writeFile(join(folder, "b.md"), MINIMAL("mode: none\n"));
    await writeFile(join(folder, "c.md"), Buffer.from([0xff, 0xfe, 0x00]));
    await writeFile(join(folder, "d.md"), "x".repeat(300_000));
    await mkdir(join(folder, "e.md"));
    await symlink(join(folder, "nowhere"), join(folder, "f.md"));
    await writeFile(join(folder, "notes.txt"), "not one");
    await writeFile(join(folder, ".hidden.md"), "not one");
    const { definitions, problems } = await loadAgentCatalog({ folder });
    expect(definitions.get("a")).toMatchObject({
      roles: ["sub", "fork"],
      origin: { kind: "file", file: join(folder, "a.md") },
    });
    expect(
      problems.map(({ file, message }) => `${file.slice(folder.length + 1)} ${message}`),
    ).toEqual([
      'b.md is "none"; "normal" or "plan" or "accept_edits" or "orchestrator" is expected',
      "c.md is not UTF-8 text",
      "d.md is larger than 256 KiB, the most it may have",
      "e.md is not a regular file",
      "f.md cannot be read: there is no such file",
    ]);
  });

  test("a built-in is replaced only by a file that says so, and ids are given once", async () => {
    verifies("AGENT-1", "PERM-9");
    const code = [{ id: "coder", description: "Codes.", system: "Code." }];
    await writeFile(join(folder, "1.md"), MINIMAL("id: default_sub_agent\n"));
    await writeFile(join(folder, "2.md"), MINIMAL("id: default_fork_agent\noverride: true\n"));
    await writeFile(
      join(folder, "3.md"),
      MINIMAL("id: default_worker_agent\noverride: true\nroles: [sub]\n"),
    );
    await writeFile(join(folder, "4.md"), MINIMAL("id: coder\n"));
    await writeFile(join(folder, "5.md"), MINIMAL("id: own\n"));
    await writeFile(join(folder, "6.md"), MINIMAL("id: own\n"));
    await writeFile(join(folder, "7.md"), MINIMAL("id: other\noverride: true\n"));
    const { definitions, problems } = await loadAgentCatalog({ folder, code });
    const said = problems.map(({ file, message }) => `${file.slice(folder.length + 1)} ${message}`);
    expect(said).toHaveLength(5);
    expect(said[0]).toContain(
      '1.md is "default_sub_agent", a built-in definition: write override: true',
    );
    expect(said[1]).toContain(
      '3.md is "default_worker_agent", which has to be startable as worker',
    );
    expect(said[2]).toContain('4.md is "coder", which a definition from code has already');
    expect(said[3]).toContain(`6.md is "own", which ${join(folder, "5.md")} has already`);
    expect(said[4]).toContain("no built-in definition of that id to override");
    expect(definitions.get("default_sub_agent")?.origin.kind).toBe("built_in");
    expect(definitions.get("default_fork_agent")).toMatchObject({
      roles: ["fork"],
      system: "Do it.",
      origin: { kind: "file" },
    });
    expect(definitions.get("default_worker_agent")?.origin.kind).toBe("built_in");
    expect(definitions.get("coder")?.origin.kind).toBe("code");
    expect(definitions.has("other")).toBe(false);
  });

  test("a mistake in code throws, and says which", async () => {
    verifies("AGENT-1");
    const bad = { id: "x", description: "y", system: "z", tols: [] };
    await expect(loadAgentCatalog({ code: [bad] })).rejects.toThrow(
      'agent definition "x": tols is not a field of an agent definition; did you mean',
    );
    const taken = { id: "default_sub_agent", description: "y", system: "z" };
    await expect(loadAgentCatalog({ code: [taken] })).rejects.toThrow("write override: true");
  });
});

describe("a file written for Claude Code", () => {
  const CLAUDE = `---
name: code-reviewer
description: Use this agent after a change. Examples: <example>user: "done"</example>
tools: Read, Grep, Glob, Bash(git diff:*), TodoWrite, mcp__github__get_pr, mcp__linear
disallowedTools: Write
model: sonnet
permissionMode: acceptEdits
maxTurns: 5
color: purple
---
You review changes.
`;

  test("is read: its tools are ours, and what has no meaning here is named", async () => {
    verifies("AGENT-1");
    await writeFile(join(folder, "review.md"), CLAUDE);
    const { definitions, problems, warnings } = await loadAgentCatalog({ folder });
    expect(problems).toEqual([]);
    const file = join(folder, "review.md");
    expect(definitions.get("code-reviewer")).toEqual({
      id: "code-reviewer",
      name: "code-reviewer",
      description: 'Use this agent after a change. Examples: <example>user: "done"</example>',
      roles: ["main", "sub", "fork"],
      max_turns: 5,
      allowed_tools: [
        "code.read_file",
        "code.search",
        "code.list_dir",
        "code.run_command",
        "mcp.github.get_pr",
        "mcp.linear.*",
      ],
      skip_missing_tools: true,
      rules: [{ tool: "code.write_file", decision: "deny", origin: { file, line: 5 } }],
      system: "You review changes.",
      origin: { kind: "file", file },
    });
    expect(warnings.map((one) => describeProblem(one).slice(file.length + 1))).toEqual([
      '3:14: description: holds ": " or " #" without quotes; it was read as one text: put it in quotes',
      '4:8: tools: "Bash(git diff:*)" is read as Bash as a whole: each call is decided by the policy',
      '4:8: tools: "TodoWrite" has no counterpart here: an orchestrator keeps steps as a task; it was skipped',
      '6:8: model: "sonnet" is no profile of the config, so it uses the model of its caller: add [models.profiles.sonnet], or write provider:model',
      "7:17: permissionMode: has no effect here: no file of an agent grants anything",
      "9:1: color: has no effect here",
    ]);
  });

  test("names a profile of the config as its model where there is one", async () => {
    await writeFile(join(folder, "review.md"), CLAUDE);
    const { definitions } = await loadAgentCatalog({ folder, profiles: ["sonnet"] });
    expect(definitions.get("code-reviewer")?.model).toBe("sonnet");
  });

  test("does not make our own form less strict", () => {
    verifies("AGENT-1");
    const parsed = parseAgentDefinition(MINIMAL("tool: [code.read_file]\nmax_turn: 3\n"), "a/b.md");
    expect(parsed.ok ? [] : parsed.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining("is not a field of an agent definition"),
      'is not a field of an agent definition; did you mean "max_turns"?',
    ]);
    const wrong = parseAgentDefinition(MINIMAL("tools: 3\n"), "a/b.md");
    expect(wrong.ok ? [] : wrong.problems.map(({ message }) => message)).toEqual([
      "is 3; names of tools with commas between them are expected",
    ]);
  });
});
