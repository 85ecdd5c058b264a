// What the command says of itself and of its tools: help, mistakes, the surface, explanations, colours.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandContext } from "../../packages/cli/src/command/handler.ts";
import { createProgram } from "../../packages/cli/src/command/program.ts";
import { bundleCli, recordsOf, type CliBundle } from "./cli-bundle.ts";

type Command = ReturnType<typeof createProgram>;

let bundle: CliBundle;

beforeAll(async () => {
  bundle = await bundleCli();
});

afterAll(() => bundle.remove());

describe("the version", () => {
  it("is that of the package, and loads nothing else to say so", async () => {
    verifies("CLI-6");
    const place = await bundle.place();
    const { version } = JSON.parse(await readFile("packages/cli/package.json", "utf8")) as {
      version: string;
    };
    expect(await place.run(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
    const files = [...loadedAtOnce("soong.cjs")];
    expect(files.filter((file) => !/packages\/cli\/src\/command/.test(file))).toEqual([]);
  });

  /** Every source file that is loaded with a file of the bundle, before anything is asked for. */
  function loadedAtOnce(name: string, files = new Set<string>()): Set<string> {
    const [, output] = Object.entries(bundle.metafile.outputs).find(([path]) =>
      path.endsWith(name),
    )!;
    for (const file of Object.keys(output.inputs)) files.add(file);
    for (const { path, kind, external } of output.imports) {
      if (kind !== "import-statement" || external === true) continue;
      loadedAtOnce(path.slice(path.lastIndexOf("/") + 1), files);
    }
    return files;
  }
});

describe("help", async () => {
  const printed: string[] = [];
  const output = {
    line: (text = "") => void printed.push(text),
    note: () => {},
    width: 80,
  };
  const program = createProgram({ output } as unknown as CommandContext, () => {});
  const every = (command: Command): Command[] => [command, ...command.commands.flatMap(every)];

  it.each(every(program).map((command) => [command.name(), command] as const))(
    "of %s has a description, examples, and lines that fit",
    (_, command) => {
      verifies("CLI-6");
      printed.length = 0;
      command.outputHelp();
      const help = printed.join("\n");
      expect(command.description()).not.toBe("");
      expect(help).toMatch(/Examples:\n {2}\S/);
      const options = help.slice(0, help.indexOf("Examples:")).split("\n");
      expect(options.filter((line) => line.length > 80)).toEqual([]);
    },
  );
});

describe("a mistake", () => {
  const mistakes: [string, string[], RegExp][] = [
    ["a command nobody knows", ["cal"], /unknown command 'cal'.*did you mean call\?.*soong --help/],
    ["an option nobody knows", ["sessions", "--jsn"], /'--jsn'.*--json\?.*soong sessions --help/],
    ["a flag no tool has", ["call", "code.search", "--jsn"], /no parameter --jsn.*mean --json\?/],
    [
      "a flag before its tool",
      ["call", "--query", "x", "code.search"],
      /name of the tool comes first/,
    ],
    ["a flag without its value", ["explain", "code.search", "--query"], /--query needs a value/],
    ["a command that is nearly one", ["toosl", "check", "x"], /mean tools check x\?.*-p 'toosl/],
    [
      "help for nothing",
      ["help", "mcp", "srve"],
      /no help for 'mcp srve'; did you mean mcp serve\?/,
    ],
    ["a sentence that begins with a command", ["init", "a b"], /-p 'init a b'/],
    ["-c and -r", ["-c", "-r", "x"], /give one of them/],
    ["nothing to resume", ["-r"], /no conversation of .* yet/],
    ["a missing argument", ["call"], /missing TOOL: `soong call .*<tool>/],
    ["a word too many", ["init", "now"], /too many arguments/],
    ["a tool nobody knows", ["call", "code.reed_file"], /no tool called.*mean code\.read_file\?/],
    ["input that is not JSON", ["call", "code.read_file", "{"], /not JSON.*single quotes/],
    ["nothing on stdin", ["call", "code.read_file", "-"], /stdin is not JSON/],
    ["a pattern that fits nothing", ["call", "code.list_dir", "--allow", ""], /--allow.*empty/],
    [
      "a project without a name",
      ["explain", "code.list_dir", "--cwd", ""],
      /is empty: name the project directory/,
    ],
    ["a project that is not there", ["explain", "code.list_dir", "--cwd", "x"], /not a directory/],
    ["a role nobody has", ["tools", "--role", "chef"], /--role cannot be 'chef'.*main, sub/],
    ["a hash of no session", ["verify", "--head", "abc"], /give that SESSION/],
    ["an age that is none", ["sessions", "rm", "--older-than", "old"], /90d/],
    ["a home that is not absolute", ["sessions"], /SOONG_AGENT_HOME is not an absolute path/],
  ];

  it("is reported in one sentence on stderr, with what to do, and ends with 2", async () => {
    verifies("CLI-6", "CLI-3");
    const place = await bundle.place();
    const told = mistakes.map(async ([name, args, sentence]) => {
      const env: Record<string, string> = name.includes("home") ? { SOONG_AGENT_HOME: "here" } : {};
      const ended = await place.run(args, { env });
      expect(ended, name).toMatchObject({ code: 2, stdout: "" });
      expect(ended.stderr, name).toMatch(sentence);
      expect(ended.stderr, name).not.toContain("    at ");
    });
    await Promise.all(told);
    expect(existsSync(place.home)).toBe(false);
  });
});

describe("soong tools", () => {
  const greet = {
    name: "local.greet",
    description: "Say hello to somebody",
    input_schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    permission: "readonly",
    command_type: "exec",
    command: "sh",
    args: [
      "-c",
      'cat > /dev/null; echo "{\\"ok\\": true, \\"summary\\": \\"hello $1\\"}"',
      "sh",
      "{{args.name}}",
    ],
  };

  it("lists the surface with reasons, for users and for programs", async () => {
    verifies("CLI-3", "CLI-6", "DECL-1");
    const place = await bundle.place();
    await place.write(join(place.home, "tools", "greet.json"), JSON.stringify(greet));
    const [listed, planned] = await Promise.all([
      place.run(["tools"]),
      place.run(["tools", "--mode", "plan", "--json"]),
    ]);
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(listed.stdout).toMatch(/^code\.write_file +loaded +ask$/m);
    expect(listed.stdout).toMatch(/^local\.greet +loaded +allowed$/m);
    expect(listed.stdout).toMatch(/^internal\.search_tools +excluded +nothing_deferred$/m);
    expect(listed.stdout).toMatch(/^For other roles or modes: [^]*agent\.task_create[^]*$/m);
    expect(Math.max(...listed.stdout.split("\n").map((line) => line.length))).toBeLessThan(81);
    expect(recordsOf(planned)).toContainEqual({
      schema: "soong.tools/1",
      tool: expect.objectContaining({
        tool_name: "code.write_file",
        state: "excluded",
        reason: expect.any(String) as string,
      }) as object,
    });
    expect(existsSync(join(place.home, "store"))).toBe(false);
  });

  it("searches as the model does", async () => {
    verifies("CLI-3");
    const place = await bundle.place();
    const [found, none] = await Promise.all([
      place.run(["tools", "--json", "find", "text", "in", "files"]),
      place.run(["tools", "zzyzx"]),
    ]);
    expect(recordsOf(found)[0]).toMatchObject({ tool: { tool_name: "code.search" } });
    expect(recordsOf(found)[0]?.["reasons"]).not.toEqual([]);
    expect(none).toMatchObject({ code: 1, stdout: "" });
  });

  it("check says what is wrong with a declaration and where, and runs a good one on a sample", async () => {
    verifies("DECL-6", "CLI-7");
    const place = await bundle.place();
    await place.write("greet.json", JSON.stringify(greet));
    await place.write("bad.json", '{\n  "name": "local.bad",\n  "nmae": 1\n}\n');
    const [good, bad] = await Promise.all([
      place.run(["tools", "check", "greet.json", "--sample", '{"name": "Ada"}']),
      place.run(["tools", "check", "greet.json", "bad.json"]),
    ]);
    expect(good).toMatchObject({ code: 0, stderr: "" });
    expect(good.stdout).toContain("local.greet");
    expect(good.stdout).toContain("hello Ada");
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/^ok +greet\.json/m);
    expect(bad.stdout).toMatch(/^fail +.*bad\.json:3:\d+: nmae/m);
  });
});

describe("soong explain", () => {
  it("shows every layer, the rule with file and line, and the verdict, and runs nothing", async () => {
    verifies("PERM-11", "CLI-3");
    const place = await bundle.place();
    const rule = '[[permissions.rules]]\ntool = "code.*"\ndecision = "allow"\nreason = "mine"\n';
    await place.write(join(place.home, "config.toml"), `# first\n${rule}`);
    const hook = {
      id: "start",
      event: "SessionStart",
      command: ["touch", join(place.home, "ran")],
    };
    const guard = { id: "guard", event: "PreToolUse", command: ["touch", join(place.home, "ran")] };
    await place.write(join(place.home, "hooks.json"), JSON.stringify({ hooks: [hook, guard] }));
    const args = ["explain", "code.run_command", '{"argv": ["touch", "ran"]}'];
    const [text, json, denied] = await Promise.all([
      place.run(args),
      place.run([...args, "--json"]),
      place.run([...args, "--json", "--deny", "code.run_command"]),
    ]);
    expect(text).toMatchObject({ code: 0, stderr: "" });
    expect(text.stdout).toMatch(/^code\.run_command: ask$/m);
    expect(text.stdout).toMatch(/rules +insufficient +rules\[0\] +\S+config\.toml:[23]$/m);
    expect(text.stdout).toMatch(/^> defaults +ask/m);
    expect(text.stdout).toContain("guard");
    expect(recordsOf(json)).toMatchObject([{ schema: "soong.explain/1", outcome: "ask" }]);
    expect(recordsOf(denied)).toMatchObject([
      { outcome: "refused", status: "denied", chain: [{ layer: "rules", verdict: "deny" }] },
    ]);
    expect(denied.stdout).toContain("--deny code.run_command");
    expect(existsSync(join(place.home, "ran"))).toBe(false);
    expect(existsSync(join(place.project, "ran"))).toBe(false);
    expect(existsSync(join(place.home, "store"))).toBe(false);
  });
});

describe("the reason of a rule", () => {
  it("shows no secret: when a call is explained, in the policy and in a refusal", async () => {
    verifies("REDACT-3", "PERM-11");
    const place = await bundle.place();
    const OPENAI_API_KEY = "plainwordsecret42";
    const rule = (tool: string, decision: string): string =>
      `[[permissions.rules]]\ntool = "${tool}"\ndecision = "${decision}"\nreason = "as ${OPENAI_API_KEY} says"\n`;
    const config = rule("code.list_dir", "deny") + rule("code.run_command", "ask");
    await place.write(join(place.home, "config.toml"), config);
    for (const args of [
      ["explain", "code.list_dir", "{}"],
      ["explain", "code.run_command", '{"argv":["ls"]}'],
      ["explain"],
      ["explain", "--json"],
      ["call", "code.list_dir", "{}"],
    ]) {
      const { stdout, stderr } = await place.run(args, { env: { OPENAI_API_KEY } });
      expect(stdout + stderr, args.join(" ")).toContain("[redacted:OPENAI_API_KEY]");
      expect(stdout + stderr, args.join(" ")).not.toContain(OPENAI_API_KEY);
    }
  });
});

describe("soong explain without a tool", () => {
  it("prints the policy: rules in order with their places, and what holds besides them", async () => {
    verifies("PERM-9", "PERM-11");
    const place = await bundle.place();
    const config = `[[permissions.rules]]
tool = "code.run_command"
decision = "deny"
reason = "none here"
[[permissions.rules]]
path = "src/**"
decision = "ask"
every_time = true
[permissions]
destructive = "deny"
[permissions.network]
mode = "hosts"
hosts = ["*.example.org"]
[tools]
write_roots = ["~/elsewhere"]
sensitive_paths = ["private/**"]
`;
    const file = join(place.home, "config.toml");
    await place.write(file, config);
    const flags = ["--mode", "plan", "--allow", "code.*"];
    const [text, json, outright] = await Promise.all([
      place.run(["explain", ...flags]),
      place.run(["explain", ...flags, "--json"]),
      place.run(["explain", "code.run_command", '{"argv": ["ls"]}']),
    ]);
    expect(text).toMatchObject({ code: 0, stderr: "" });
    for (const line of [
      /^ {2}mode +plan$/m,
      /^ {2}destructive +deny$/m,
      /^ {2}network +hosts; \*\.example\.org$/m,
      /^ {2}grants +none/m,
      /^ {2}rules\[0\] +deny {2}tool = "code\.run_command"$/m,
      /^ +none here$/m,
      /^ +\S+config\.toml:1$/m,
      /^ {2}rules\[1\] +ask, every time {2}path = "src\/\*\*"$/m,
      /^ {2}rules\[2\] +allow {2}tool = "code\.\*"$/m,
      /^ +--allow code\.\*$/m,
    ]) {
      expect(text.stdout).toMatch(line);
    }
    expect(recordsOf(json)).toMatchObject([
      {
        schema: "soong.policy/1",
        mode: "plan",
        destructive: "deny",
        network: { mode: "hosts", hosts: ["*.example.org"] },
        roots: { project: place.project, write: [expect.stringMatching(/elsewhere$/) as string] },
        protected_roots: expect.arrayContaining([place.home]) as string[],
        sensitive_paths: ["private/**"],
        rules: [
          { rule: "rules[0]", layer: "rules", decision: "deny", origin: { file, line: 1 } },
          { rule: "rules[1]", path: "src/**", decision: "ask", origin: { file, line: 5 } },
          { rule: "rules[2]", decision: "allow", origin: { flag: "--allow code.*" } },
        ],
        grants: [],
      },
    ]);
    // Denied whatever its input, so that it is not even offered: the rule is named all the same.
    expect(outright.stdout).toMatch(/^> rules +deny +rules\[0\] +\S+config\.toml:1$/m);
    expect(existsSync(join(place.home, "store"))).toBe(false);
  });
});

describe("what comes from outside", () => {
  /** Nothing but line breaks below the space. */
  const isRaw = (char: string): boolean =>
    (char < " " && char !== "\n") || (char >= "\u007f" && char <= "\u009f") || char === "\u202e";

  it("cannot move a terminal: control characters are written out", async () => {
    verifies("CLI-6");
    const place = await bundle.place();
    const evil = "\u001b]0;owned\u0007\u009b31m\u202e\r gone";
    await place.write("evil.txt", `${evil}\r\nnext\n`);
    const read = ["call", "code.read_file", '{"path": "evil.txt"}'];
    const [text, json, name] = await Promise.all([
      place.run(read),
      place.run([...read, "--json"]),
      place.run(["call", `code.${evil}`]),
    ]);
    expect(text.stdout).toContain("\\u001b]0;owned\\u0007\\u009b31m\\u202e\\r gone");
    expect(text.stdout).toContain("\nnext");
    for (const { stdout, stderr } of [text, json, name]) {
      expect(Array.from(stdout + stderr).filter(isRaw)).toEqual([]);
    }
    expect(JSON.stringify(recordsOf(json))).toContain("\u202e");
  });
});
