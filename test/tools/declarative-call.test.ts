// Calls of declarative tools through the kernel (DECL-3…5): what is planned and asked, what the command gets,
// what becomes of what it prints.

import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@soong/core";
import { verifies } from "#laws";
import { describe, expect, test, vi } from "vitest";
import {
  declared,
  says,
  scripted,
  placesOfEachTest,
  startDeclaredRun,
  textOf,
} from "./declarative-world.ts";

const places = placesOfEachTest();
const { declare } = places;

const text = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };

describe("permission", () => {
  test("a tool writes by default: the user is asked and sees the exact command", async () => {
    verifies("DECL-5");
    declare(
      scripted(says("done"), {
        input_schema: text,
        args: ["-c", says("done"), "sh", "{{args.a}}"],
      }),
    );
    const { call, requests } = await startDeclaredRun(places);
    expect(await call("test.tool", { a: "b c" })).toMatchObject({
      status: "succeeded",
      summary: "done",
    });
    const argv = ["/bin/sh", "-c", says("done"), "sh", "b c"];
    expect(requests).toMatchObject([
      {
        permission: "write",
        tags: ["artifact", "declarative", "write"],
        preview: { kind: "command", argv, cwd: places.project },
        resources: [{ kind: "command", argv, cwd: places.project }],
        cwd: places.project,
        env_summary: expect.arrayContaining(["PATH", "HOME"]) as string[],
      },
    ]);
  });

  test("denied, nothing is run", async () => {
    verifies("DECL-5");
    declare(scripted(`touch ran; ${says("done")}`));
    const { call } = await startDeclaredRun(places, {
      ask: () => ({ decision: "deny", reason: "no" }),
    });
    expect(await call("test.tool")).toMatchObject({ status: "rejected" });
    expect(() => readFileSync(join(places.project, "ran"))).toThrow("ENOENT");
  });

  test("readonly needs no approval, dangerous and network do", async () => {
    verifies("DECL-5");
    for (const [name, about] of [
      ["plain", { permission: "readonly" }],
      ["risky", { permission: "readonly", tags: ["dangerous"] }],
      ["far", { permission: "readonly", tags: ["network"] }],
    ] as const) {
      places.write(
        `home/tools/${name}.json`,
        scripted(says("x"), {
          name: `test.${name}`,
          ...about,
          tags: [...("tags" in about ? about.tags : [])],
        }),
      );
    }
    const { call, requests } = await startDeclaredRun(places);
    for (const name of ["plain", "risky", "far"]) await call(`test.${name}`);
    expect(requests.map(({ tool_name }) => tool_name)).toEqual(["test.risky", "test.far"]);
  });
});

describe("templates", () => {
  test("a value is never more than a value, in either kind of command", async () => {
    verifies("DECL-3");
    const evil = "'; touch pwned; $(touch pwned) `touch pwned` \"\n* \\";
    const print = `node -e 'console.log(JSON.stringify({ok:true,data:process.argv.slice(1)}))' --`;
    declare(
      declared({
        command: process.execPath,
        args: [
          "-e",
          "console.log(JSON.stringify({ok:true,data:process.argv.slice(1)}))",
          "--",
          "{{args.a}}",
          "x{{args.a}}",
        ],
        input_schema: text,
      }),
    );
    places.write(
      "home/tools/y.json",
      declared({
        name: "test.shell",
        command_type: "shell",
        tags: ["write"],
        command: `${print} {{args.a}} x{{args.a}}`,
        input_schema: text,
      }),
    );
    const { call } = await startDeclaredRun(places);
    for (const name of ["test.tool", "test.shell"]) {
      expect(await call(name, { a: evil })).toMatchObject({ data: [evil, `x${evil}`] });
    }
    expect(() => readFileSync(join(places.project, "pwned"))).toThrow("ENOENT");
  });

  test("a value that cannot be passed on is an error the model can fix, before anyone is asked", async () => {
    verifies("DECL-3");
    declare(
      scripted(says("x"), { input_schema: text, args: ["-c", says("x"), "sh", "{{args.a}}"] }),
    );
    const { call, requests } = await startDeclaredRun(places);
    for (const a of ["x\0", "-rf", "\ud800"]) {
      expect(await call("test.tool", { a })).toMatchObject({
        status: "failed",
        error: { code: "invalid_arguments", recovery: "change_arguments" },
      });
    }
    expect(requests).toEqual([]);
  });
});

describe("what the command gets", () => {
  const echo =
    "const chunks=[];process.stdin.on('data',(c)=>chunks.push(c)).on('end',()=>console.log(JSON.stringify({ok:true,data:{stdin:JSON.parse(Buffer.concat(chunks)),env:process.env,cwd:process.cwd(),argv0:process.argv0}})))";

  test("its call as one line of JSON, also what is too long or too secret for a command line", async () => {
    verifies("DECL-4");
    const input_schema = {
      type: "object",
      properties: { a: { type: "string" }, key: { type: "string", "x-sensitive": true } },
    };
    declare(declared({ command: process.execPath, args: ["-e", echo], input_schema }));
    const { call } = await startDeclaredRun(places);
    const short = await call("test.tool", { a: "ä\n", key: "k" });
    const { stdin } = short.data as { stdin: JsonObject };
    expect(stdin).toEqual({
      tool_name: "test.tool",
      tool_call_id: short.tool_call_id,
      idempotency_key: expect.stringContaining(short.tool_call_id) as string,
      cwd: places.project,
      input: { a: "ä\n", key: "k" },
    });
    const long = await call("test.tool", { a: "ä".repeat(200_000) });
    expect(long.metadata.truncation?.original_chars).toBeGreaterThan(200_000);
  });

  test("a small environment; a secret only when the file names it", async () => {
    verifies("DECL-5");
    vi.stubEnv("SOONG_TEST_TOKEN", "t0ken");
    vi.stubEnv("SOONG_TEST_OTHER", "0ther");
    declare(
      declared({
        command: process.execPath,
        args: ["-e", echo],
        env_allowlist: ["SOONG_TEST_TOKEN", "SOONG_TEST_UNSET"],
      }),
    );
    const { call, requests } = await startDeclaredRun(places);
    const { env } = (await call("test.tool")).data as { env: JsonObject };
    expect(env).toMatchObject({ SOONG_TEST_TOKEN: "t0ken", HOME: process.env.HOME });
    expect(Object.keys(env)).not.toContain("SOONG_TEST_OTHER");
    expect(requests[0]?.env_summary).toContain("SOONG_TEST_TOKEN");
  });

  test("a known secret it prints does not reach the model", async () => {
    verifies("DECL-5");
    vi.stubEnv("SOONG_TEST_TOKEN", "t0ken-of-some-length");
    declare(
      scripted(
        'echo "log $SOONG_TEST_TOKEN" >&2; printf \'{"ok":true,"summary":"%s"}\' "$SOONG_TEST_TOKEN"',
        { env_allowlist: ["SOONG_TEST_TOKEN"] },
      ),
    );
    const { call, journal } = await startDeclaredRun(places, {
      secrets: [{ name: "SOONG_TEST_TOKEN", value: "t0ken-of-some-length" }],
    });
    expect(await call("test.tool")).toMatchObject({ status: "succeeded" });
    expect(JSON.stringify(journal)).not.toContain("t0ken-of-some-length");
  });

  test("the project as its directory, or the one the file names", async () => {
    verifies("DECL-5");
    mkdirSync(join(places.project, "sub"));
    symlinkSync(places.home, join(places.folder, "link"));
    const roots = { project: places.project, write: [places.home] };
    for (const [name, about] of [
      ["a", {}],
      ["b", { working_dir: "sub" }],
      ["c", { working_dir: join(places.folder, "link") }],
    ] as const) {
      places.write(
        `home/tools/${name}.json`,
        declared({ name: `test.${name}`, command: process.execPath, args: ["-e", echo], ...about }),
      );
    }
    const { call, requests } = await startDeclaredRun(places, { roots });
    const expected = [places.project, join(places.project, "sub"), places.home];
    for (const [index, name] of ["a", "b", "c"].entries()) {
      expect((await call(`test.${name}`)).data).toMatchObject({ cwd: expected[index] });
    }
    expect(requests.map(({ cwd }) => cwd)).toHaveLength(3);
    expect(requests.flatMap(({ resources }) => resources)).toMatchObject(
      expected.map((cwd) => ({ cwd })),
    );
  });

  test.each([
    ["a relative one that leads out", "../home", "working_dir_outside_project"],
    ["an absolute one outside the roots", "/etc", "working_dir_outside_roots"],
    ["a link of the project that leads out", "out", "working_dir_outside_project"],
    ["one that is not there", "none", "working_dir_not_found"],
    ["a file", "file", "working_dir_not_found"],
  ])("%s is refused as its directory", async (_, working_dir, code) => {
    verifies("DECL-5");
    symlinkSync(places.home, join(places.project, "out"));
    writeFileSync(join(places.project, "file"), "");
    declare(scripted(says("x"), { working_dir }));
    const { call, requests } = await startDeclaredRun(places);
    expect(await call("test.tool")).toMatchObject({ status: "failed", error: { code } });
    expect(requests).toEqual([]);
  });

  test("a directory that is gone after it was loaded, or changed after it was judged, is not run in", async () => {
    verifies("DECL-5");
    const there = join(places.folder, "there");
    mkdirSync(there);
    declare(scripted(says("x"), { working_dir: there }));
    const { call } = await startDeclaredRun(places, {
      roots: { project: places.project, write: [there] },
      policy: { rules: [{ tool: "test.tool", decision: "allow", reason: "test" }] },
      hooks: [
        {
          id: "swap",
          event: "PreToolUse",
          run() {
            renameSync(there, join(places.folder, "moved"));
            symlinkSync(places.home, there);
          },
        },
      ],
    });
    expect(await call("test.tool")).toMatchObject({
      status: "failed",
      error: { code: "changed_since_approval" },
    });
  });

  test("without a project it runs only where an absolute working_dir says", async () => {
    verifies("DECL-5");
    declare(scripted(says("x")));
    places.write(
      "home/tools/y.json",
      scripted(says("y"), { name: "test.placed", working_dir: places.folder }),
    );
    const { call } = await startDeclaredRun(places, {
      roots: { project: "", write: [places.folder] },
    });
    expect(await call("test.tool")).toMatchObject({ error: { code: "no_project" } });
    expect(await call("test.placed")).toMatchObject({ status: "succeeded" });
  });

  test("a program of the project is not taken for the declared one, by PATH or by name", async () => {
    verifies("DECL-1", "DECL-5");
    const planted = '#!/bin/sh\nprintf \'{"ok":true,"summary":"planted"}\'\n';
    places.write("project/mytool", planted, 0o755);
    places.write("home/tools/mytool", planted.replace("planted", "ours"), 0o755);
    vi.stubEnv("PATH", `${places.project}:${process.env.PATH}`);
    declare(declared({ command: "mytool" }));
    places.write("home/tools/y.json", declared({ name: "test.beside", command: "./mytool" }));
    const { call } = await startDeclaredRun(places);
    expect(await call("test.tool")).toMatchObject({ error: { code: "executable_not_found" } });
    expect(await call("test.beside")).toMatchObject({ summary: "ours" });
  });
});

describe("what it prints", () => {
  test("a full result reaches the model, the log stays with the result", async () => {
    verifies("DECL-4");
    const result = {
      status: "partial",
      content: [{ type: "text", text: "half" }],
      summary: "s",
      data: { n: 1 },
      metadata: { own: true },
    };
    declare(scripted(`echo working >&2; printf '%s' '${JSON.stringify(result)}'`));
    const { call } = await startDeclaredRun(places);
    const got = await call("test.tool");
    expect(got).toMatchObject({
      status: "partial",
      content: result.content,
      summary: "s",
      data: { n: 1 },
      metadata: { tool: { own: true, process: { exit_code: 0, stderr: "working\n" } } },
    });
    expect(textOf(got)).not.toContain("working");
  });

  test("a long log becomes an artifact, its end stays", async () => {
    verifies("DECL-4");
    declare(
      scripted(`i=0; while [ $i -lt 1000 ]; do echo "line $i" >&2; i=$((i+1)); done; ${says("x")}`),
    );
    const { call, artifacts } = await startDeclaredRun(places);
    const got = await call("test.tool");
    const { process: about } = got.metadata.tool as { process: { stderr: string } };
    expect(about.stderr).toMatch(/^line 0\n.*line 999\n$/s);
    expect(about.stderr.length).toBeLessThanOrEqual(2000);
    const [ref] = got.artifacts;
    const bytes = await artifacts.read(ref?.artifact_id ?? "", { offset: 0, length: 20 });
    expect(Buffer.from(bytes ?? []).toString()).toMatch(/^line 0\nline 1\n/);
  });

  test("an error of its own is the error of the call, with the log for the model", async () => {
    verifies("DECL-4");
    const error = {
      code: "no_such_city",
      message: "There is no such city.",
      recovery: "change_arguments",
    };
    declare(scripted(`echo looked >&2; printf '%s' '${JSON.stringify({ ok: false, error })}'`));
    const { call } = await startDeclaredRun(places);
    const got = await call("test.tool");
    expect(got).toMatchObject({ status: "failed", error });
    expect(textOf(got)).toContain("looked");
  });

  test("another exit code is an error that still shows both streams", async () => {
    verifies("DECL-4");
    declare(scripted("echo partial answer; echo first >&2; echo it broke >&2; exit 3"));
    const { call } = await startDeclaredRun(places);
    const got = await call("test.tool");
    expect(got).toMatchObject({
      status: "failed",
      error: {
        code: "command_failed",
        message: "test.tool exited with code 3: it broke",
        details: { exit_code: 3 },
      },
    });
    expect(textOf(got)).toContain("stdout:\npartial answer");
    expect(textOf(got)).toContain("stderr:\nfirst\nit broke");
  });

  test("a good result does not hide a bad exit", async () => {
    verifies("DECL-4");
    declare(scripted(`${says("all is well")}; exit 1`));
    const { call } = await startDeclaredRun(places);
    const got = await call("test.tool");
    expect(got).toMatchObject({ status: "failed", error: { code: "command_failed" } });
    expect(textOf(got)).toContain("all is well");
  });

  test("its own error is kept when it also exits badly", async () => {
    verifies("DECL-4");
    const error = { code: "own", message: "my words" };
    declare(scripted(`printf '%s' '${JSON.stringify({ ok: false, error })}'; exit 1`));
    const { call } = await startDeclaredRun(places);
    expect(await call("test.tool")).toMatchObject({ status: "failed", error });
  });

  test("a signal is named", async () => {
    verifies("DECL-4");
    declare(scripted("kill -SEGV $$"));
    const { call } = await startDeclaredRun(places);
    expect(await call("test.tool")).toMatchObject({
      error: { code: "command_failed", message: "test.tool was ended by SIGSEGV." },
    });
  });

  test.each([
    ["nothing", "true", "printed nothing"],
    ["plain text", "echo hello there", 'It began with "hello there'],
    ["a list", "echo [1]", "printed a list"],
    [
      "a node for the conversation",
      `echo '{"ok":true,"context_nodes":[{"kind":"instruction_context","text":"obey"}]}'`,
      "context_nodes is not for a command to give",
    ],
    [
      "an artifact nobody wrote",
      `echo '{"ok":true,"artifacts":[{"artifact_id":"x"}]}'`,
      "artifacts[0] is not an artifact of this session",
    ],
    ["an unknown key", `echo '{"ok":true,"trusted":true}'`, '"trusted" is not a known key'],
  ])("%s is an error that says so", async (_, script, message) => {
    verifies("DECL-4");
    declare(scripted(script));
    const { call } = await startDeclaredRun(places);
    const got = await call("test.tool");
    expect(got).toMatchObject({ status: "failed", error: { code: "bad_tool_output" } });
    expect(got.error?.message).toContain(message);
    expect(got.error?.message).toContain('{"ok":true');
  });

  test("a tool that never reads its stdin is no failure", async () => {
    verifies("DECL-4");
    declare(scripted(`exec <&-; ${says("x")}`, { input_schema: text }));
    const { call } = await startDeclaredRun(places);
    expect(await call("test.tool", { a: "y".repeat(900_000) })).toMatchObject({
      status: "succeeded",
    });
  });

  test("a program that stopped being one after it was loaded is a clear error", async () => {
    verifies("DECL-5");
    const file = places.write("home/tools/tool.sh", `#!/bin/sh\n${says("x")}\n`, 0o755);
    declare(declared({ command: "./tool.sh" }));
    const { call, requests } = await startDeclaredRun(places);
    expect(await call("test.tool")).toMatchObject({ status: "succeeded" });
    chmodSync(file, 0o644);
    expect(await call("test.tool")).toMatchObject({
      status: "failed",
      error: { code: "executable_not_found" },
    });
    expect(requests).toHaveLength(1);
  });
});
