// Checking one file, and trying it on a sample (DECL-6).

import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { expect, test } from "vitest";
import { checkDeclarativeTool } from "../../packages/tools/src/declarative/load-tools.ts";
import { declared, placesOfEachTest, scripted } from "./declarative-world.ts";

const places = placesOfEachTest();

const greet = scripted(`printf '{"ok":true,"summary":"hello %s"}' "$1"`, {
  input_schema: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  args: ["-c", `printf '{"ok":true,"summary":"hello %s"}' "$1"`, "sh", "{{args.who}}"],
});

test("a good file is good without being run", async () => {
  verifies("DECL-6");
  const file = places.write("home/tools/x.json", greet);
  expect(await checkDeclarativeTool(file)).toEqual({ ok: true, tool_name: "test.tool" });
});

test("a bad one is reported with all its problems", async () => {
  verifies("DECL-6");
  const file = places.write("home/tools/x.json", { ...greet, nmae: 1, timeout_ms: -1 });
  const checked = await checkDeclarativeTool(file);
  expect(checked.ok ? [] : checked.problems).toMatchObject([
    { file, field: "nmae", line: 23 },
    { file, field: "timeout_ms", line: 24 },
  ]);
});

test("a sample runs the way every call runs", async () => {
  verifies("DECL-6");
  const file = places.write("home/tools/x.json", greet);
  const { project } = places;
  expect(
    await checkDeclarativeTool(file, { sample: { input: { who: "you" }, project } }),
  ).toMatchObject({
    ok: true,
    result: { status: "succeeded", summary: "hello you" },
  });
  expect(await checkDeclarativeTool(file, { sample: { input: {}, project } })).toMatchObject({
    ok: true,
    result: { status: "failed", error: { code: "invalid_arguments" } },
  });
});

test("the user can still be asked, and say no", async () => {
  verifies("DECL-6");
  const file = places.write("home/tools/x.json", greet);
  const sample = {
    input: { who: "you" },
    project: places.project,
    ask: () => ({ decision: "deny" as const }),
  };
  expect(await checkDeclarativeTool(file, { sample })).toMatchObject({
    result: { status: "rejected" },
  });
});

test("what would not be loaded does not pass", async () => {
  verifies("DECL-6");
  const file = places.write("home/tools/x.json", declared({ command: "no-such-program" }));
  const link = join(places.tools, "link.json");
  symlinkSync(file, link);
  for (const [path, message] of [
    [file, "no-such-program"],
    [link, "is a symbolic link"],
    [join(places.tools, "none.json"), "is not there"],
    [join(places.home, "none", "x.json"), "cannot be read"],
    [places.tools, "is a directory"],
  ] as const) {
    const checked = await checkDeclarativeTool(path);
    expect(checked.ok ? "ok" : checked.problems[0]?.message).toContain(message);
  }
  chmodSync(places.tools, 0o777);
  expect(await checkDeclarativeTool(file)).toMatchObject({ ok: false });
});

test("a name that is taken is an error with file and line", async () => {
  verifies("DECL-7");
  const other = places.write("home/tools/other.json", greet);
  const file = places.write("home/tools/x.json", greet);
  const draft = places.write("drafts/x.json", greet);
  const again = places.write("drafts/new.json", greet);
  const taken = { line: 2, field: "name", message: `"test.tool" is declared in ${other} already` };
  const { tools: directory } = places;
  expect(await checkDeclarativeTool(file)).toMatchObject({ problems: [{ file, ...taken }] });
  expect(await checkDeclarativeTool(draft, { directory })).toMatchObject({
    problems: [{ file: draft, ...taken, message: expect.stringContaining("already") as string }],
  });
  expect(await checkDeclarativeTool(again, { directory })).toMatchObject({ ok: false });
  const builtIn = await checkDeclarativeTool(file, { takenBy: () => "a built-in tool" });
  expect(builtIn).toMatchObject({
    problems: [{ file, line: 2, message: '"test.tool" is taken by a built-in tool' }],
  });
});

test("a new version of an installed file does not take its own name", async () => {
  verifies("DECL-7");
  places.write("home/tools/x.json", greet);
  const draft = places.write("drafts/x.json", greet);
  expect(await checkDeclarativeTool(draft, { directory: places.tools })).toMatchObject({
    ok: true,
  });
});
