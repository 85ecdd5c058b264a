// DECL-7: what a declared command may print, how much of it, and what its log becomes.

import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHeldClock } from "@soong/core";
import { catalogEntries } from "@soong/core/internal";
import { codeTools, readArtifactTool } from "@soong/tools";
import { describe, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import {
  declared,
  eventually,
  says,
  scripted,
  placesOfEachTest,
  startDeclaredRun,
  textOf,
} from "./declarative-world.ts";

const places = placesOfEachTest();
const { declare } = places;

function print(value: unknown): string {
  return `printf '%s' '${JSON.stringify(value)}'`;
}

const MEGABYTES = (count: number): string =>
  `head -c ${count * 1024 * 1024} /dev/zero | tr '\\0' x`;

describe("a result", () => {
  test("with only ok and summary, or with every field empty, reads as its summary", async () => {
    verifies("DECL-7", "RESULT-8");
    const empty = { data: null, artifacts: [], error: null };
    for (const more of [{}, empty]) {
      declare(scripted(print({ ok: true, summary: "42 lines", ...more })));
      const { call } = await startDeclaredRun(places);
      const result = await call("test.tool");
      expect(result).toMatchObject({ status: "succeeded", summary: "42 lines" });
      expect(textOf(result)).toBe("42 lines");
    }
  });

  test("that says in any way that it failed is a failure", async () => {
    verifies("DECL-7");
    declare(scripted(print({ ok: true, is_error: true, summary: "no space left" })));
    const { call } = await startDeclaredRun(places);
    expect(await call("test.tool")).toMatchObject({
      is_error: true,
      error: { message: "no space left" },
    });
  });

  test.each<[object, string]>([
    [{ ok: false, summary: "the disk is full" }, "the disk is full"],
    [{ message: "the disk is full", code: 7 }, "the disk is full"],
    [{ error: { message: "the disk is full" } }, "the disk is full"],
    [{ errors: 3 }, "last of the log"],
  ])("of a program that exits with another code says why: %j", async (printed, words) => {
    verifies("DECL-7");
    declare(scripted(`${print(printed)}; echo last of the log >&2; exit 3`));
    const { call } = await startDeclaredRun(places);
    expect(await call("test.tool")).toMatchObject({
      error: { code: "command_failed", message: `test.tool exited with code 3: ${words}` },
    });
  });

  test("that nests without end is named as such, and its text is shown", async () => {
    verifies("DECL-7");
    places.write("project/deep.json", `{"ok":true,"data":${"[".repeat(5000)}${"]".repeat(5000)}}`);
    declare(scripted("cat deep.json"));
    const { call } = await startDeclaredRun(places);
    const result = await call("test.tool");
    expect(result).toMatchObject({
      error: {
        code: "bad_tool_output",
        message: expect.stringContaining("nested deeper than 500 levels") as string,
      },
    });
    expect(textOf(result)).toContain('stdout:\n{"ok":true,"data":[[[');
  });

  test("keeps the artifacts it gives, and names one of the session", async () => {
    verifies("DECL-7");
    const artifacts = [
      { name: "report.txt", text: "all of it" },
      { name: "b", blob: "aGk=" },
    ];
    declare(scripted(print({ ok: true, summary: "two", artifacts })));
    const schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
    places.write(
      "home/tools/y.json",
      declared({
        name: "test.again",
        input_schema: schema,
        args: ["-c", `printf '{"ok":true,"artifacts":["%s"]}' "$1"`, "sh", "{{args.id}}"],
      }),
    );
    const { call, artifacts: kept } = await startDeclaredRun(places);
    const result = await call("test.tool");
    const texts: string[] = [];
    for (const { artifact_id } of result.artifacts) {
      texts.push(Buffer.from((await kept.read(artifact_id)) ?? []).toString());
    }
    expect(texts).toEqual(["all of it", "hi"]);
    const [first] = result.artifacts;
    const again = await call("test.again", { id: first?.artifact_id ?? "" });
    expect(again.artifacts).toEqual([first]);
    const unknown = await call("test.again", { id: "none" });
    expect(unknown.error).toMatchObject({ code: "bad_tool_output" });
  });
});

describe('"output": "text"', () => {
  test("takes any program's stdout", async () => {
    verifies("DECL-7");
    declare(declared({ command: "/bin/echo", args: ["{not json}"], output: "text" }));
    const { call } = await startDeclaredRun(places);
    const result = await call("test.tool");
    expect(result).toMatchObject({ status: "succeeded", summary: "{not json}" });
    expect(textOf(result)).toBe("{not json}\n");
  });

  test("makes git log one file: its text for the model, its error with both streams", async () => {
    verifies("DECL-7");
    const git = (...args: string[]): void =>
      void execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.c", ...args], {
        cwd: places.project,
      });
    git("init", "-q");
    git("commit", "-q", "--allow-empty", "-m", "First");
    git("commit", "-q", "--allow-empty", "-m", "Zweiter: größer");
    places.write("home/tools/git-log.json", {
      name: "git_log",
      description: "The last commits",
      permission: "readonly",
      input_schema: { type: "object", properties: { count: { type: "integer" } } },
      command_type: "exec",
      command: "git",
      args: ["log", "--format=%s", "--max-count={{args.count}}"],
      output: "text",
    });
    const { call } = await startDeclaredRun(places);
    expect(textOf(await call("git_log"))).toBe("Zweiter: größer\nFirst\n");
    expect(textOf(await call("user.git_log", { count: 1 }))).toBe("Zweiter: größer\n");
    rmSync(join(places.project, ".git"), { recursive: true });
    const failed = await call("git_log");
    expect(failed).toMatchObject({ status: "failed", error: { code: "command_failed" } });
    expect(textOf(failed)).toContain("not a git repository");
  });

  test("that is no text is described, and all of it is an artifact", async () => {
    verifies("DECL-7");
    declare(scripted("head -c 2000 /dev/urandom", { output: "text" }));
    const { call } = await startDeclaredRun(places);
    const result = await call("test.tool");
    expect(result.status).toBe("succeeded");
    expect(textOf(result)).toContain("(2000 bytes that are not text)");
    expect(result.artifacts).toMatchObject([{ size: 2000, name: "stdout.bin" }]);
  });

  test("nothing printed is an empty success; another exit code is a failure with both streams", async () => {
    verifies("DECL-7");
    declare(scripted("true", { output: "text" }));
    places.write(
      "home/tools/y.json",
      scripted("echo out; echo err >&2; exit 3", { name: "test.bad", output: "text" }),
    );
    const { call } = await startDeclaredRun(places);
    expect(textOf(await call("test.tool"))).toBe("test.tool succeeded and returned nothing.");
    const bad = await call("test.bad");
    expect(bad).toMatchObject({ status: "failed", error: { code: "command_failed" } });
    expect(textOf(bad)).toContain("stdout:\nout");
    expect(textOf(bad)).toContain("stderr:\nerr");
  });

  test("over the limit: both ends inline, all of it in an artifact, and the program continues", async () => {
    verifies("DECL-7");
    const script = `echo first; ${MEGABYTES(3)}; echo; echo last; touch done`;
    declare(scripted(script, { output: "text", stdout_limit_bytes: 100_000 }));
    const { call, artifacts } = await startDeclaredRun(places);
    const result = await call("test.tool");
    expect(result.status).toBe("succeeded");
    expect(textOf(result)).toMatch(/^first\n/);
    expect(textOf(result)).toContain("\nlast\n");
    expect(textOf(result).length).toBeLessThan(64 * 1024);
    expect(result.artifacts).toHaveLength(1);
    const [{ artifact_id, size } = { artifact_id: "", size: 0 }] = result.artifacts;
    expect(size).toBe(3 * 1024 * 1024 + "first\n\nlast\n".length);
    expect((await artifacts.read(artifact_id))?.length).toBe(size);
    expect(existsSync(join(places.project, "done"))).toBe(true);
  });
});

describe("a log", () => {
  test("of megabytes on stderr is an artifact, and the tool ends well", async () => {
    verifies("DECL-7");
    declare(scripted(`echo begin >&2; { ${MEGABYTES(2)}; } >&2; echo end >&2; ${says("fine")}`));
    const { call } = await startDeclaredRun(places);
    const result = await call("test.tool");
    expect(result).toMatchObject({ status: "succeeded", summary: "fine" });
    expect(textOf(result)).toBe("fine");
    expect(result.artifacts).toMatchObject([{ name: "stderr.txt" }]);
    expect(result.artifacts[0]?.size).toBeGreaterThan(2 * 1024 * 1024);
    expect(JSON.stringify(result).length).toBeLessThan(5000);
  });

  test("is progress while the tool runs, at least every two seconds", async () => {
    verifies("DECL-7");
    const clock = createHeldClock();
    declare(scripted(`echo step one >&2; until [ -e go ]; do sleep 0.01; done; ${says("done")}`));
    const { call, journal } = await startDeclaredRun(places, { loading: { clock } });
    const progress = (): unknown[] =>
      journal.facts.filter(({ type }) => type === "tool.progress").map(({ data }) => data);
    const calling = call("test.tool");
    await eventually(() => {
      void clock.advance(2000);
      return JSON.stringify(progress()).includes("step one");
    });
    const before = progress().length;
    await clock.advance(2000);
    expect(progress().length).toBeGreaterThan(before);
    expect(progress().at(-1)).toMatchObject({
      message: "step one",
      data: { stderr_bytes: "step one\n".length, stdout_bytes: 0 },
    });
    writeFileSync(join(places.project, "go"), "");
    expect(await calling).toMatchObject({ status: "succeeded" });
  });
});

describe("the rest of a declaration", () => {
  test("permission write is enough for a shell tool", async () => {
    verifies("DECL-7");
    declare(declared({ command_type: "shell", command: says("x"), permission: "write" }));
    const { call } = await startDeclaredRun(places);
    expect(await call("test.tool")).toMatchObject({ status: "succeeded" });
  });

  test("variables the config allows to commands are there, too, and are named in the question", async () => {
    verifies("DECL-7");
    vi.stubEnv("SOONG_TEST_PROXY", "p1");
    declare(scripted('printf \'{"ok":true,"summary":"%s"}\' "$SOONG_TEST_PROXY"'));
    const loading = { envAllowlist: ["SOONG_TEST_PROXY"] };
    const { call, requests } = await startDeclaredRun(places, { loading });
    expect(await call("test.tool")).toMatchObject({ summary: "p1" });
    expect(requests[0]?.env_summary).toContain("SOONG_TEST_PROXY");
  });
});

test("the surface shows which tool is a shell script, and which makes artifacts", async () => {
  verifies("SURF-8");
  declare(declared({ command_type: "shell", command: says("x"), permission: "write" }));
  const { run } = await startDeclaredRun(places, { tools: codeTools() });
  const byName = new Map(
    catalogEntries(run.surface, run.policy).map((entry) => [entry.tool_name, entry.capabilities]),
  );
  expect(byName.get("test.tool")).toEqual(expect.arrayContaining(["shell", "artifact", "write"]));
  expect(byName.get("code.run_command")).toEqual(expect.arrayContaining(["shell", "artifact"]));
  expect(byName.get("code.write_file")).toContain("artifact");
  expect(byName.get("code.read_file")).not.toContain("shell");
  expect(readArtifactTool().tags).toContain("artifact");
});
