// Loading declarative tools (DECL-1, DECL-2): where they may come from, and what is said of a bad file.

import {
  chmodSync,
  chownSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { createKernel, type JsonObject } from "@soong/core";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { loadDeclarativeTools } from "../../packages/tools/src/declarative/load-tools.ts";
import {
  createPlaces,
  declared,
  problemsIn,
  says,
  scripted,
  startDeclaredRun,
  type Places,
} from "./declarative-world.ts";

let places: Places;
beforeEach(() => {
  places = createPlaces();
});
afterEach(() => {
  vi.restoreAllMocks();
  places.remove();
});

/** The problems of one declaration, written over several lines, without the folder. */
async function problemsOf(about: JsonObject | string): Promise<string[]> {
  places.write("home/tools/x.json", typeof about === "string" ? about : declared(about));
  const problems = await problemsIn(places.tools);
  return problems.map((problem) => problem.replace(`${places.tools}/`, ""));
}

describe("where declared tools come from", () => {
  test("every *.json directly in the directory, sorted; nothing else", async () => {
    verifies("DECL-1");
    for (const name of ["b", "a", "C"]) {
      places.write(`home/tools/${name}.json`, declared({ name: `test.${name}` }));
    }
    places.write("home/tools/.hidden.json", "{");
    places.write("home/tools/readme.md", "{");
    places.write("home/tools/x.json.bak", "{");
    places.write("home/tools/below/d.json", "{");
    const loaded = await loadDeclarativeTools(places.tools);
    if (!loaded.ok) throw new Error("not loaded");
    expect(loaded.source).toMatchObject({ kind: "declarative", file: places.tools });
    expect(loaded.source.tools.map(({ name }) => name)).toEqual(["test.C", "test.a", "test.b"]);
  });

  test("a directory that is not there has no tools, a file in its place is a mistake", async () => {
    verifies("DECL-1");
    const loaded = await loadDeclarativeTools(join(places.home, "none", "tools"));
    expect(loaded).toMatchObject({ ok: true, source: { tools: [] } });
    places.write("home/file", "");
    expect(await problemsIn(join(places.home, "file"))).toEqual([
      expect.stringContaining("is not a directory"),
    ]);
    expect(await problemsIn(join(places.home, "file", "tools"))).toHaveLength(1);
  });

  test("a project declares nothing: what is in it is never read, no matter what it is called", async () => {
    verifies("DECL-1");
    const bad = declared({ name: "test.planted" });
    for (const path of [
      "tools",
      ".soong/tools",
      ".soong-agent/tools",
      "home/tools",
      ".config/soong/tools",
    ]) {
      places.write(`project/${path}/planted.json`, bad);
      // Reading it would fail loudly.
      places.write(`project/${path}/broken.json`, "{");
    }
    places.write("home/tools/a.json", scripted(says("ours"), { name: "test.ours" }));
    vi.spyOn(process, "cwd").mockReturnValue(places.project);
    const { run, call } = await startDeclaredRun(places);
    const { tools } = await run.tools();
    expect(JSON.stringify(tools)).not.toContain("planted");
    expect(await call("test.planted")).toMatchObject({ error: { error_class: "unknown_tool" } });
    expect(await call("test.ours")).toMatchObject({ status: "succeeded" });
  });

  test("a link to a file elsewhere, a directory, a FIFO and a huge file are each reported", async () => {
    verifies("DECL-1");
    const elsewhere = places.write("project/real.json", declared());
    symlinkSync(elsewhere, join(places.tools, "link.json"));
    symlinkSync(join(places.folder, "nothing"), join(places.tools, "dangling.json"));
    mkdirSync(join(places.tools, "folder.json"));
    execFileSync("mkfifo", [join(places.tools, "pipe.json")]);
    truncateSync(places.write("home/tools/huge.json", ""), 1024 * 1024 * 1024);
    const problems = await problemsIn(places.tools);
    expect(problems.map((problem) => problem.replace(`${places.tools}/`, ""))).toEqual([
      "dangling.json: is a symbolic link; put the file itself here",
      "folder.json: is a directory; a regular file is expected",
      "huge.json: is larger than 262144 bytes",
      "link.json: is a symbolic link; put the file itself here",
      "pipe.json: is a FIFO; a regular file is expected",
    ]);
  });

  test("what another user could have written is not trusted: a file, the directory, one above", async () => {
    verifies("DECL-1");
    const file = places.write("home/tools/x.json", declared());
    chmodSync(file, 0o666);
    expect(await problemsIn(places.tools)).toEqual([
      expect.stringContaining("can be written by anyone"),
    ]);
    chmodSync(file, 0o644);
    for (const directory of [places.tools, places.home]) {
      chmodSync(directory, 0o777);
      expect(await problemsIn(places.tools)).toEqual([expect.stringMatching(/anyone/)]);
      chmodSync(directory, 0o755);
    }
    expect(await problemsIn(places.tools)).toEqual([]);
  });

  test("a program beside the file that anyone can change is not believed, through a link neither", async () => {
    verifies("DECL-1");
    const program = places.write("home/tools/run.sh", "#!/bin/sh\n", 0o777);
    symlinkSync(program, join(places.tools, "link.sh"));
    for (const command of ["./run.sh", "./link.sh"]) {
      expect(await problemsOf({ command })).toEqual([
        `x.json:8:14: command: ${program} can be written by anyone, who could change what it grants; run chmod o-w on it`,
      ]);
    }
    chmodSync(program, 0o755);
    expect(await problemsOf({ command: "./link.sh" })).toEqual([]);
  });

  test("a file of another user is not believed", async () => {
    verifies("DECL-1");
    const file = places.write("home/tools/x.json", declared());
    if (process.getuid?.() === 0) chownSync(file, 12345, 12345);
    else vi.spyOn(process, "getuid").mockReturnValue((process.getuid?.() ?? 0) + 1);
    const [problem] = await problemsIn(places.tools);
    expect(problem).toMatch(/belongs to the user with the id [0-9]+/);
  });

  test("one name twice is reported at the second file", async () => {
    verifies("DECL-1");
    places.write("home/tools/a.json", declared());
    places.write("home/tools/b.json", declared());
    expect(await problemsIn(places.tools)).toEqual([
      `${places.tools}/b.json:2:11: name: "test.tool" is declared in ${places.tools}/a.json already`,
    ]);
  });

  test("problems of all files come at once, and then no tool is loaded", async () => {
    verifies("DECL-2");
    places.write("home/tools/a.json", "{");
    places.write("home/tools/b.json", declared({ command_type: "python" }));
    places.write("home/tools/c.json", declared({ name: "test.fine" }));
    const problems = await problemsIn(places.tools);
    expect(problems.map((problem) => problem.replace(/^.*\/([a-c]\.json).*$/s, "$1"))).toEqual([
      "a.json",
      "b.json",
    ]);
  });

  test("a program that is not installed costs its tool, with the reason, not the others", async () => {
    verifies("DECL-2");
    places.write("home/tools/a.json", declared({ command: "no-such-program-anywhere" }));
    places.write("home/tools/b.json", declared({ name: "test.there" }));
    const loaded = await loadDeclarativeTools(places.tools);
    if (!loaded.ok) throw new Error("not loaded");
    expect(loaded.source.tools.map(({ name }) => name)).toEqual(["test.there"]);
    const { registry } = createKernel({ sources: [loaded.source] });
    expect(registry.snapshot().excluded).toMatchObject([
      {
        tool_name: "test.tool",
        reason: "setup_required",
        detail: expect.stringContaining("no-such-program-anywhere") as string,
      },
    ]);
  });
});

describe("what a file may hold", () => {
  test("all fields there are", async () => {
    verifies("DECL-2");
    const all = declared({
      permission: "readonly",
      tags: ["network", "weather"],
      args: ["-c", "true"],
      working_dir: places.folder,
      env_allowlist: ["HOME"],
      timeout_ms: 600_000,
      stdout_limit_bytes: 1,
      stderr_limit_bytes: 16 * 1024 * 1024,
    });
    expect(await problemsOf(all)).toEqual([]);
  });

  test.each([
    [{ timeout: 5 }, 'x.json:9:3: timeout: is not a field; did you mean "timeout_ms"?'],
    [{ tag: ["x"] }, 'x.json:9:3: tag: is not a field; did you mean "tags"?'],
    [
      { handler: "x" },
      "x.json:9:3: handler: is not a field; there are name, description, input_schema",
    ],
    [
      { permission: "readwrite" },
      'x.json:9:17: permission: is "readwrite"; "readonly" or "write" is expected',
    ],
    [{ permission: "readonyl" }, 'did you mean "readonly"?'],
    [
      { command_type: "bash" },
      'x.json:7:19: command_type: is "bash"; "exec" or "shell" is expected',
    ],
    [{ tags: ["a", 7] }, "x.json:11:5: tags[1]: is 7; text is expected"],
    [{ tags: ["internal"] }, 'tags[0]: "internal" says where a tool comes from'],
    [{ tags: "network" }, "tags: is text; a list is expected"],
    [{ args: [1] }, "args[0]: is 1; text is expected"],
    [{ args: ["a\0"] }, "args[0]: contains a NUL"],
    [{ env_allowlist: ["AWS_*"] }, "env_allowlist[0]: is not the name of an environment variable"],
    [{ env_allowlist: ["A=b"] }, "env_allowlist[0]: is not the name of an environment variable"],
    [{ timeout_ms: 0 }, "timeout_ms: is 0; a whole number from 1 to 600000 is expected"],
    [{ timeout_ms: 600_001 }, "timeout_ms: is 600001; a whole number from 1 to 600000 is expected"],
    [
      { stdout_limit_bytes: -1 },
      "stdout_limit_bytes: is -1; a whole number from 1 to 16777216 is expected",
    ],
    [{ stderr_limit_bytes: "1" }, "stderr_limit_bytes: is text; a whole number"],
    [{ working_dir: "/no/such/place" }, "working_dir: /no/such/place does not exist"],
    [{ working_dir: "/dev/null" }, "working_dir: /dev/null is not a directory"],
    [{ working_dir: "~/x" }, 'working_dir: "~" is not expanded'],
    [{ working_dir: "{{args.x}}" }, "working_dir: takes no template"],
    [{ name: "a tool" }, 'x.json:2:11: name: has the segment "a tool"'],
    [{ name: "mcp.git.log" }, 'x.json:2:11: name: begins with "mcp", which is reserved'],
    [{ name: "internal.x" }, 'name: begins with "internal", which is reserved'],
    [{ name: "agent.x" }, 'name: begins with "agent", which is reserved'],
    [{ description: "  " }, "x.json:3:18: description: is empty"],
    [
      { input_schema: [] },
      "x.json:4:19: input_schema: is a list; an object, a JSON Schema, is expected",
    ],
    [
      { tags: ["write"], permission: "readonly" },
      'tags: says "write" where permission says "readonly"',
    ],
    [{ tags: ["readonly"] }, 'tags: says "readonly" where permission does not'],
    [
      { command_type: "shell", command: "true" },
      'tags: has to name "dangerous" or "write" for a shell script',
    ],
    [
      { command_type: "shell", command: "true", permission: "readonly" },
      'tags: has to name "dangerous" or "write"',
    ],
    [{ output: "json" }, "output:"],
    [{ concurrency_safe: "no" }, "concurrency_safe: is text; true or false is expected"],
    [
      { command_type: "shell", command: "true", tags: ["write"], args: [] },
      "args: is for command_type exec",
    ],
    [
      { command: "{{args.program}}" },
      "command: takes no template: the model never chooses the program",
    ],
    [
      { command: "node", args: ["tool.js"] },
      'args[0]: "tool.js" would be looked for in the project',
    ],
    [
      { command: "/usr/bin/python3.11", args: ["./x.py"] },
      'args[0]: "./x.py" would be looked for in the project',
    ],
    [
      { args: ["{{args.none}}"] },
      "x.json:10:5: args[0]: {{args.none}} names no field of input_schema",
    ],
    [
      { args: ["-", "{{ args.x }}"] },
      'x.json:11:5: args[1]: has "{{ args.x }}"; between double braces',
    ],
    [
      { command_type: "shell", tags: ["write"], command: "echo {{args.none}}" },
      "x.json:8:14: command: {{args.none}} names no field",
    ],
  ])("%j is refused: %s", async (about, message) => {
    verifies("DECL-2", "DECL-3");
    expect(await problemsOf(about as JsonObject)).toEqual([expect.stringContaining(message)]);
  });

  test("a schema the kernel cannot take is reported with its JSON pointer, line and column", async () => {
    verifies("DECL-2");
    const input_schema = {
      type: "object",
      properties: { "a/b": { type: "strnig" }, n: { type: "integer", multipleOf: 3 } },
    };
    expect(await problemsOf({ input_schema })).toEqual([
      expect.stringMatching(/^x\.json:8:17: input_schema\/properties\/a~1b\/type: type must be/),
    ]);
    const odd = { type: "object", properties: { n: { type: "integer", multipleOf: 3 } } };
    expect(await problemsOf({ input_schema: odd })).toEqual([
      expect.stringMatching(/^x\.json:9:23: input_schema\/properties\/n\/multipleOf: multipleOf: /),
    ]);
  });

  test("every missing field is named", async () => {
    verifies("DECL-2");
    expect(await problemsOf("{}")).toEqual(
      ["name", "description", "input_schema", "command_type", "command"].map(
        (field) => `x.json:1:1: ${field}: is missing`,
      ),
    );
  });

  test("several mistakes of one file come together, in the order of the file", async () => {
    verifies("DECL-2");
    const about = { name: "an x", tags: [1], args: ["{{x}}"], extra: 1, timeout_ms: 0 };
    const problems = await problemsOf(about);
    expect(problems.map((problem) => problem.split(": ")[1])).toEqual([
      "name",
      "tags[0]",
      "args[0]",
      "extra",
      "timeout_ms",
    ]);
  });

  test.each([
    ["[]", "x.json:1:1: is a list; an object is expected"],
    ["7", "x.json:1:1: is 7; an object is expected"],
    ["", "x.json:1:1: is empty"],
    ['{"name": "a.b", // x\n}', "x.json:1:17: has a comment"],
  ])("%j is refused", async (text, message) => {
    verifies("DECL-2");
    expect(await problemsOf(text)).toEqual([expect.stringContaining(message)]);
  });

  test("a key that is given twice is refused, among all other problems", async () => {
    verifies("DECL-2");
    expect(await problemsOf('{"name": "a.b", "name": "c.d"}')).toEqual([
      "x.json:1:1: description: is missing",
      "x.json:1:1: input_schema: is missing",
      "x.json:1:1: command_type: is missing",
      "x.json:1:1: command: is missing",
      "x.json:1:17: name: is given a second time",
    ]);
  });

  test("a sensitive field is kept out of the command line, where everyone could read it", async () => {
    verifies("DECL-3");
    const input_schema = {
      type: "object",
      properties: { password: { type: "string", "x-sensitive": true } },
    };
    expect(await problemsOf({ input_schema, args: ["--pw={{args.password}}"] })).toEqual([
      expect.stringContaining("{{args.password}} is marked sensitive"),
    ]);
    expect(await problemsOf({ input_schema })).toEqual([]);
  });

  test("the largest timeout is the one of the config", async () => {
    verifies("DECL-2");
    places.write("home/tools/x.json", declared({ timeout_ms: 5000 }));
    expect(await loadDeclarativeTools(places.tools, { maxTimeoutMs: 4999 })).toMatchObject({
      ok: false,
    });
    expect(await loadDeclarativeTools(places.tools, { maxTimeoutMs: 5000 })).toMatchObject({
      ok: true,
    });
  });

  test("a file that vanishes or is replaced while it is read ends in a problem, not in a crash", async () => {
    verifies("DECL-1");
    const file = places.write("home/tools/x.json", declared());
    const loading = loadDeclarativeTools(places.tools);
    rmSync(file);
    writeFileSync(file, "{");
    const loaded = await loading;
    expect(typeof loaded.ok).toBe("boolean");
  });
});
