// hooks.json (HOOK-1): what may stand in it, and what is said of a mistake.

import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createKernel, defineTool, type JsonObject } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test } from "vitest";
import { loadHooks } from "../../packages/tools/src/hook/load-hooks.ts";
import { describeProblem } from "@soong/platform";
import { placesOfEachTest } from "./declarative-world.ts";

const places = placesOfEachTest();

function entry(about: JsonObject = {}): JsonObject {
  return { id: "one", event: "PreToolUse", command: ["/bin/sh", "-c", "true"], ...about };
}

async function problemsOf(content: JsonObject | string): Promise<string[]> {
  const file = places.write("home/hooks.json", content);
  const loaded = await loadHooks(file, { project: places.project });
  if (loaded.ok) return [];
  return loaded.problems.map((problem) => describeProblem(problem).replace(`${places.home}/`, ""));
}

describe("a good file", () => {
  test("gives hooks that the kernel runs, from the home and with the project", async () => {
    verifies("HOOK-1", "HOOK-5");
    const script = `node -e 'let s="";process.stdin.on("data",(c)=>s+=c).on("end",()=>{const p=JSON.parse(s);console.log(JSON.stringify({decision:"deny",reason:[process.cwd(),p.project,p.tool_name].join(" ")}))})'`;
    const file = places.write("home/hooks.json", {
      hooks: [
        {
          id: "a",
          event: "PreToolUse",
          command: ["sh", "-c", script],
          tool: "notes.*",
          tags: ["write"],
          timeout_ms: 60_000,
          env_allowlist: ["HOME"],
          on_failure: "continue",
        },
        { id: "b", event: "PreToolUse", command: ["./hooks/b.sh"], path: "/nowhere/**" },
        {
          id: "c",
          event: "SessionStart",
          command: ["/bin/sh", "-c", 'echo \'{"context":"hello"}\''],
        },
      ],
    });
    places.write("home/hooks/b.sh", "#!/bin/sh\nexit 1\n", 0o755);
    const loaded = await loadHooks(file, { project: places.project });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const tool = defineTool({
      name: "notes.edit",
      description: "x",
      input_schema: { type: "object" },
      handler: () => "x",
    });
    const run = await createKernel({ tools: [tool] }).startRun({ hooks: loaded.hooks });
    expect(run.session.context).toEqual(["hello"]);
    const result = await run.call("notes.edit", {});
    expect(result).toMatchObject({ status: "denied" });
    expect(result.error?.message).toContain(`${places.home} ${places.project} notes.edit`);
  });

  test("may be absent, or hold nothing", async () => {
    verifies("HOOK-1");
    expect(await loadHooks(join(places.home, "hooks.json"))).toEqual({ ok: true, hooks: [] });
    expect(await loadHooks(join(places.folder, "none", "hooks.json"))).toEqual({
      ok: true,
      hooks: [],
    });
    expect(await problemsOf({ hooks: [] })).toEqual([]);
  });

  test("may name every event there is", async () => {
    verifies("HOOK-1");
    const events = [
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PermissionRequest",
      "PostToolUse",
      "PostToolUseFailure",
      "Elicitation",
      "ElicitationResult",
      "Stop",
    ];
    expect(await problemsOf({ hooks: events.map((event) => entry({ id: event, event })) })).toEqual(
      [],
    );
  });
});

describe("a mistake", () => {
  test.each([
    [
      { event: "PreTooluse" },
      'hooks.json:5:16: hooks[0].event: is "PreTooluse"; did you mean "PreToolUse"?',
    ],
    [{ event: "OnSave" }, 'hooks[0].event: is "OnSave"; "SessionStart" or'],
    [
      { comand: ["x"] },
      'hooks.json:11:7: hooks[0].comand: is not a field; did you mean "command"?',
    ],
    [{ command: "rm -rf /" }, "hooks[0].command: is text; a list is expected"],
    [{ command: [] }, "hooks[0].command: is empty; the first item is the program"],
    [{ command: [""] }, "hooks[0].command[0]: is empty"],
    [{ command: ["/bin/sh", 1] }, "hooks[0].command[1]: is 1; text is expected"],
    [{ command: ["/bin/sh", "\0"] }, "hooks[0].command[1]: contains a NUL"],
    [
      { command: ["no-such-program"] },
      'hooks[0].command: The program cannot be run: no directory of PATH has an executable "no-such-program".',
    ],
    [{ command: ["./guard.sh"] }, "guard.sh is not there or not executable"],
    [{ id: "" }, "hooks[0].id: is empty"],
    [{ timeout_ms: 0 }, "hooks[0].timeout_ms: is 0; a whole number from 1 to 600000 is expected"],
    [{ on_failure: "deny" }, 'hooks[0].on_failure: is "deny"; "continue" is expected'],
    [
      { env_allowlist: ["*"] },
      "hooks[0].env_allowlist[0]: is not the name of an environment variable",
    ],
    [{ tags: [1] }, "hooks[0].tags[0]: is 1; text is expected"],
    [{ path: "~me/secrets" }, 'hooks[0].path: begins with "~"'],
    [{ path: "a//b" }, "hooks[0].path: has an empty segment"],
    [{ path: "" }, "hooks[0].path: is empty"],
    [{ event: "SessionStart", tool: "x.*" }, "hooks[0].tool: says nothing for SessionStart"],
    [{ event: "Stop", tags: ["write"] }, "hooks[0].tags: says nothing for Stop"],
    [
      { event: "PostToolUse", on_failure: "continue" },
      "hooks[0].on_failure: says nothing for PostToolUse",
    ],
  ])("%j is reported with line and field: %s", async (about, message) => {
    verifies("HOOK-1", "HOOK-5");
    expect(await problemsOf({ hooks: [entry(about as JsonObject)] })).toEqual([
      expect.stringContaining(message),
    ]);
  });

  test.each([
    ["{}", "hooks.json:1:1: hooks: is missing"],
    ['{"hooks":{}}', "hooks.json:1:10: hooks: is an object; a list is expected"],
    ['{"hooks":[1]}', "hooks.json:1:11: hooks[0]: is 1; an object is expected"],
    ['{"hooks":[],"hook":[]}', 'hooks.json:1:13: hook: is not a field; did you mean "hooks"?'],
    ["[]", "hooks.json:1:1: is a list; an object is expected"],
    ["{", 'hooks.json:1:2: ends where a "}" is still missing'],
  ])("%s is reported", async (text, message) => {
    verifies("HOOK-1");
    expect(await problemsOf(text)).toEqual([message]);
  });

  test("every mistake of every entry comes at once", async () => {
    verifies("HOOK-1");
    const problems = await problemsOf({ hooks: [{ event: "x" }, entry(), entry()] });
    expect(problems.map((problem) => problem.split(": ")[1])).toEqual([
      "hooks[0].id",
      "hooks[0].command",
      "hooks[0].event",
      "hooks[2].id",
    ]);
  });

  test("a hook's program is never one of the project", async () => {
    verifies("HOOK-5");
    const inside = places.write("project/guard", "#!/bin/sh\n", 0o755);
    expect(await problemsOf({ hooks: [entry({ command: [inside] })] })).toEqual([
      expect.stringContaining(`${inside} is inside ${places.project}, where the agent may write`),
    ]);
  });

  test("a hook's program that anyone could change is not believed", async () => {
    verifies("HOOK-5");
    places.write("home/guard.sh", "#!/bin/sh\n", 0o757);
    expect(await problemsOf({ hooks: [entry({ command: ["./guard.sh"] })] })).toEqual([
      expect.stringContaining("guard.sh can be written by anyone"),
    ]);
  });

  test("a file others could change, or a link, is not believed", async () => {
    verifies("HOOK-1");
    const file = places.write("home/hooks.json", { hooks: [] });
    chmodSync(file, 0o666);
    expect(await loadHooks(file)).toMatchObject({ ok: false });
    chmodSync(file, 0o644);
    chmodSync(places.home, 0o777);
    expect(await loadHooks(file)).toMatchObject({ ok: false });
    chmodSync(places.home, 0o755);
    expect(await loadHooks(file)).toMatchObject({ ok: true });
    symlinkSync(file, join(places.home, "link.json"));
    expect(await loadHooks(join(places.home, "link.json"))).toMatchObject({ ok: false });
  });
});
