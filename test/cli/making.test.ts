// Things a user makes at the command line: tools, agents, skills and hooks that work at once, and what is taken over from
// another agent.

import { chmod, mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli, type CliBundle } from "./cli-bundle.ts";

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

describe("soong tools new", () => {
  it("makes a program a tool that can be called, with the fields of its placeholders", async () => {
    verifies("DECL-6");
    const place = await bundle.place();
    const command = ["printf", "%s and %s", "{{args.a}}", "{{args.b}}"];
    const made = await place.run([
      "tools",
      "new",
      "join",
      "--readonly",
      "--json",
      "--",
      ...command,
    ]);
    const file = join(place.home, "tools", "join.json");
    expect(JSON.parse(made.stdout)).toEqual({
      schema: "soong.tools_new/1",
      file,
      tool_name: "user.join",
      next: `soong call user.join '{"a":"…","b":"…"}'`,
    });
    const called = await place.run(["call", "join", '{"a": "x", "b": "y z"}']);
    expect(called).toMatchObject({ code: 0, stdout: "x and y z\n" });
    const again = await place.run(["tools", "new", "join"]);
    expect(again).toMatchObject({ code: 2, stdout: "" });
    expect(again.stderr).toContain(`${file} is there already and stays as it is`);
  });

  it("writes nothing that could not be used", async () => {
    const place = await bundle.place();
    const refused = async (...args: string[]): Promise<string> => {
      const run = await place.run(["tools", "new", ...args]);
      expect(run.code).not.toBe(0);
      return run.stderr;
    };
    expect(await refused("x", "--", "no-such-program")).toContain(
      'no directory of PATH has an executable "no-such-program"',
    );
    expect(await refused("x", "--", "python3", "x.py")).toContain(
      "would be looked for in the project",
    );
    expect(await refused("x", "--", "./x.sh")).toContain("is never run as a tool");
    expect(await refused("mcp.x", "--", "ls")).toContain('begins with "mcp"');
    expect(await refused("../x", "--", "ls")).toContain("cannot be the name of a tool");
    expect(await refused("x", "--", "python3", "-c", "print({{args.a}})")).toContain(
      "the value would be read as code",
    );
    expect(await readdir(join(place.home, "tools"))).toEqual([]);
  });

  it("makes a script of sh -c, in which a value stays a value", async () => {
    verifies("DECL-3");
    const place = await bundle.place();
    const made = await place.run([
      "tools",
      "new",
      "say",
      "--",
      "sh",
      "-c",
      "echo {{args.text}} | cat",
    ]);
    expect(made.code).toBe(0);
    const called = await place.run(["call", "say", '{"text": "$(id); `id`"}', "--yes"]);
    expect(called).toMatchObject({ code: 0, stdout: "$(id); `id`\n" });
  });
});

describe("soong agents new and soong skills new", () => {
  it("write files that are used at once, and never over one that is there", async () => {
    verifies("AGENT-1", "SKILL-1");
    const place = await bundle.place();
    await place.write(
      "s.yaml",
      "turns: [ { expect: [ { system: { contains: You are reviewer } }, { not_tools: [code.write_file] } ], text: Fine. } ]",
    );
    const made = await place.run([
      "agents",
      "new",
      "reviewer",
      "--description",
      "Reads: all",
      "--tools",
      "code.read_file, code.search",
    ]);
    expect(made.stdout).toContain("Try it: soong run --agent reviewer");
    const run = await place.run(["run", "--agent", "reviewer", "--model", "script:s.yaml", "Look"]);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining("Fine.") as string });
    const worker = ["agents", "new", "builder", "--roles", "worker", "--json"];
    expect((await place.run(worker)).code).toBe(0);
    expect((await place.run(["agents"])).stdout).toMatch(/builder.*worker/);
    expect((await place.run(["agents", "new", "a", "--roles", "boss"])).stderr).toContain("roles");
    expect((await place.run(["agents", "new", "reviewer"])).stderr).toContain(
      "There is an agent reviewer already",
    );
    expect((await place.run(["agents", "new", "default_sub_agent"])).code).not.toBe(0);
    expect((await place.run(["agents", "new", "../../outside"])).stderr).toContain(
      "cannot be the id of an agent",
    );
    expect((await place.run(["agents", "new", "a", "--tools", "Read"])).stderr).toContain(
      "allowed_tools[0]: has no dot",
    );

    expect((await place.run(["skills", "new", "releases"])).code).toBe(0);
    expect((await place.run(["skills"])).stdout).toContain("releases");
    expect((await place.run(["skills", "new", "releases"])).stderr).toContain("is there already");
    expect((await place.run(["skills", "new", "No_Name"])).code).toBe(2);
  });
});

describe("soong hooks check", () => {
  it("names each mistake with its place, each program, and what a hook answers to a sample", async () => {
    verifies("HOOK-1", "HOOK-4");
    const place = await bundle.place();
    const file = join(place.home, "hooks.json");
    await place.write(
      file,
      '{ "hooks": [\n  { "id": "a", "event": "PreToolUs", "command": ["true"] },\n  { "id": "b", "event": "Stop", "command": ["./gone.sh"] } ] }',
    );
    const wrong = await place.run(["hooks", "check"]);
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain(
      `${file}:2:25: hooks[0].event: is "PreToolUs"; did you mean "PreToolUse"?`,
    );
    expect(wrong.stdout).toContain(`${file}:3:44: hooks[1].command`);

    const guard = join(place.home, "guard.sh");
    await place.write(
      guard,
      '#!/bin/sh\ncase "$(cat)" in *.lock*) echo \'{"decision":"deny","reason":"no locks"}\';; *bad*) echo nonsense;; esac\n',
    );
    await chmod(guard, 0o755);
    await place.write(
      file,
      JSON.stringify({
        hooks: [{ id: "locks", event: "PreToolUse", tool: "code.*", command: ["./guard.sh"] }],
      }),
    );
    expect((await place.run(["hooks", "check"])).stdout).toMatch(
      /^ok {4}locks +PreToolUse +code\.\* +runs .*guard\.sh\n$/,
    );
    const check = (sample: object, ...more: string[]) =>
      place.run([
        "hooks",
        "check",
        "--event",
        "PreToolUse",
        "--sample",
        JSON.stringify(sample),
        ...more,
      ]);
    const denied = await check({ tool_name: "code.write_file", input: { path: "a.lock" } });
    expect(denied).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'says  locks {"decision":"deny","reason":"no locks"}',
      ) as string,
    });
    expect((await check({ input: { path: "a.txt" } })).stdout).toContain(
      "pass  locks answers nothing",
    );
    const failed = await check({ input: { path: "bad" } }, "--json");
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain('"failed":"answered with something that is not JSON"');
    expect((await check({ tool_name: "web.fetch" })).stderr).toContain(
      "No hook is for PreToolUse of web.fetch",
    );
    expect((await place.run(["hooks", "check", "--event", "PreTool"])).stderr).toContain(
      "Did you mean PreToolUse?",
    );
  });
});

const LONG = Array.from({ length: 30 }, (_, i) => `--option-${i}`).join(" ");

describe("soong import", () => {
  it("without a terminal shows what it would write, and with --yes writes it", async () => {
    verifies("CONF-1", "CLI-6");
    const place = await bundle.place();
    const old = join(place.project, "old");
    await mkdir(join(old, ".claude"), { recursive: true });
    await place.write(
      join(old, ".claude.json"),
      JSON.stringify({
        mcpServers: {
          srv: { command: "srv", env: { API_KEY: "s3cr3t-value" } },
          long: {
            command: "node",
            args: LONG.split(" "),
            env: { NODE_OPTIONS: "-r ./x.cjs" },
          },
        },
      }),
    );
    await place.write(
      join(old, ".claude", "settings.json"),
      JSON.stringify({ permissions: { allow: ["Bash(git diff:*)"] } }),
    );
    const before = await readdir(place.home).catch(() => []);
    const shown = await place.run(["import", "claude-code", "--from", old]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain("Nothing was written. Run it again with --yes");
    expect(shown.stdout).not.toContain("s3cr3t-value");
    // What would be run is shown whole, with what changes how it runs.
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain(`NODE_OPTIONS=-r ./x.cjs node ${LONG}`);
    expect(await readdir(place.home).catch(() => [])).toEqual(before);
    const done = await place.run([
      "import",
      "claude-code",
      "--from",
      join(old, ".claude"),
      "--yes",
      "--json",
    ]);
    const records = done.stdout
      .trim()
      .split("\n")
      .map(
        (line) =>
          JSON.parse(line) as { item?: { kind: string; state: string }; written?: string[] },
      );
    expect(
      records.flatMap(({ item }) => (item === undefined ? [] : `${item.state} ${item.kind}`)),
    ).toEqual(["new server", "new server", "new rule"]);
    expect(records.at(-1)?.written).toEqual([
      join(place.home, "mcp.json"),
      join(place.home, "config.toml"),
    ]);
    expect(await readFile(join(place.home, "mcp.json"), "utf8")).toContain("${API_KEY}");
    const explained = await place.run([
      "explain",
      "code.run_command",
      '{"argv": ["git", "diff", "--stat"]}',
    ]);
    expect(explained.stdout).toContain("allow");
    expect((await place.run(["import", "claude-code", "--from", "nowhere"])).code).toBe(2);
    expect((await place.run(["import", "cursor"])).code).toBe(2);
    const none = await place.run(["import", "codex", "--from", "."]);
    expect(none.stdout).toMatch(/^Nothing of Codex was found in .*; --from names another/);
  });
});
