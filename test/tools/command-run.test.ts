import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createFilesRead } from "../../packages/tools/src/file/files-read.ts";
import { readStamp } from "../../packages/tools/src/path/index.ts";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { dataOf, openStage, textOf, type Stage, type StageOptions } from "./command-stage.ts";

let stage: Stage | undefined;
afterEach(() => stage?.close());

async function open(options: StageOptions = {}): Promise<Stage> {
  stage = await openStage(options);
  return stage;
}

describe("what a model may ask for", () => {
  test("a list of arguments, never a shell line", async () => {
    verifies("CMD-1");
    const { command, write } = await open();
    expect(textOf(await command(["echo", "$HOME", "*", "a b", "|", "wc"]))).toBe(
      "$HOME * a b | wc",
    );
    const line = await command(["echo hello | wc"]);
    expect(line.error).toMatchObject({
      code: "executable_not_found",
      recovery: "change_arguments",
    });
    expect(line.error?.message).toContain("argv is a list");
    expect(line.error?.message).toContain('["echo","hello"');
    write("with space", "#!/bin/sh\necho it exists\n", 0o755);
    expect(textOf(await command(["./with space"]))).toBe("it exists");
  });

  const invalid: [name: string, input: object][] = [
    ["no program", { argv: [] }],
    ["a text instead of a list", { argv: "ls" }],
    ["variables of its own", { argv: ["ls"], env: { PATH: "/tmp" } }],
    ["more time than there is", { argv: ["ls"], timeout_ms: 600_001 }],
    ["no time at all", { argv: ["ls"], timeout_ms: 0 }],
    ["an empty directory", { argv: ["ls"], cwd: "" }],
    ["input for it", { argv: ["ls"], stdin: "x" }],
  ];
  test.each(invalid)("%s is refused", async (_, input) => {
    verifies("CMD-1");
    const { run } = await open();
    expect((await run.call("code.run_command", input)).error?.code).toBe("invalid_arguments");
  });

  test("a program that is not there is named, with the nearest one that is", async () => {
    verifies("CMD-1");
    const { command, write } = await open({
      tool: ({ project }) => ({ env: { PATH: join(project, "bin") } }),
    });
    write("bin/frobnicate", "#!/bin/sh\n", 0o755);
    write("bin/unrunnable", "#!/bin/sh\n", 0o644);
    const near = await command(["frobnicat"]);
    expect(near.error?.code).toBe("executable_not_found");
    expect(near.error?.message).toContain('Did you mean "frobnicate"?');
    expect((await command(["unrunnable"])).error?.message).not.toContain("Did you mean");
    for (const name of ["rm", "git", "tac"]) write(`bin/${name}`, "#!/bin/sh\n", 0o755);
    for (const name of ["rg", "tsc", "tox"]) {
      expect((await command([name])).error?.message).not.toContain("Did you mean");
    }
    expect((await command(["gti"])).error?.message).toContain('Did you mean "git"?');
    expect((await command(["./missing"])).error?.message).toContain("at that path");
    expect((await command([""])).error?.code).toBe("executable_not_found");
    const long = await command(["x".repeat(5000)]);
    expect(long.error?.message.length).toBeLessThan(500);
  });

  test("an argument no program can be given is a clear error", async () => {
    verifies("CMD-1");
    const { command } = await open();
    for (const argv of [["echo", "a\0b"], ["\0"], ["echo", "x".repeat(3_000_000)]]) {
      const result = await command(argv);
      expect(result.is_error).toBe(true);
      expect(textOf(result)).not.toContain("    at ");
    }
  });
});

describe("where it runs", () => {
  test("in the project, a directory of it, or a write root", async () => {
    verifies("CMD-1");
    const { command, project, writable, write } = await open();
    write("sub/x", "");
    expect(textOf(await command(["pwd"]))).toBe(project);
    expect(textOf(await command(["pwd"], { cwd: "sub" }))).toBe(join(project, "sub"));
    expect(textOf(await command(["pwd"], { cwd: writable }))).toBe(writable);
    expect(dataOf(await command(["pwd"], { cwd: "sub/.." }))["cwd"]).toBe(project);
  });

  test("never anywhere else, by any route", async () => {
    verifies("CMD-1");
    const { command, base, project, write } = await open();
    symlinkSync(base, join(project, "out"));
    for (const cwd of ["..", "/", base, "out", "out/home", "/tmp/../etc"]) {
      expect((await command(["pwd"], { cwd })).error?.code).toBe("cwd_outside_roots");
    }
    write("file", "");
    for (const cwd of ["missing", "file", "file/x"]) {
      expect((await command(["pwd"], { cwd })).error?.code).toBe("cwd_not_found");
    }
  });

  test("not at all in a run without a project", async () => {
    verifies("CMD-1");
    const { command } = await open({ session: { roots: { project: "", write: [] } } });
    const result = await command(["pwd"]);
    expect(result.error).toMatchObject({ code: "cwd_outside_roots", recovery: "ask_the_user" });
  });
});

describe("what it is given", () => {
  test("the environment is the list and the config, nothing else of ours", async () => {
    verifies("CMD-1");
    process.env["SOONG_COMMAND_SECRET"] = "swordfish";
    try {
      const { command } = await open({ tool: () => ({ env: { FROM_CONFIG: "yes" } }) });
      const shown = textOf(await command(["env"]));
      expect(shown).toContain("FROM_CONFIG=yes");
      expect(shown).toContain("PATH=");
      expect(shown).not.toContain("swordfish");
      const { command: other } = await openAnother({
        tool: () => ({ envAllowlist: ["PATH", "SOONG_COMMAND_*"] }),
      });
      expect(textOf(await other(["env"]))).toContain("SOONG_COMMAND_SECRET=swordfish");
    } finally {
      delete process.env["SOONG_COMMAND_SECRET"];
    }
  });

  test("nothing to read", async () => {
    verifies("CMD-1");
    const { command } = await open();
    expect(textOf(await command(["cat"]))).toBe("(It wrote nothing.)");
  });

  test("its name as it was asked for, so that one program can be many", async () => {
    verifies("CMD-1");
    const { command, project } = await open();
    symlinkSync("/bin/sh", join(project, "many"));
    expect(textOf(await command(["./many", "-c", 'echo "$0"']))).toBe("./many");
    expect(textOf(await command(["sh", "-c", 'echo "$0"']))).toBe("sh");
  });
});

describe("what the model reads", () => {
  test("both streams, apart", async () => {
    verifies("CMD-2");
    const { command } = await open();
    const result = await command(["bash", "-c", "echo out; echo err >&2"]);
    expect(result.status).toBe("succeeded");
    expect(textOf(result)).toBe("out\nstderr:\nerr");
    expect(result.data).toEqual({
      exit_code: 0,
      signal: null,
      stdout: { bytes: 4, truncated: false },
      stderr: { bytes: 4, truncated: false },
      cwd: stage?.project,
      duration_ms: expect.any(Number) as number,
      contained_by: "process_family",
    });
  });

  test("of a failure everything it wrote, and the exit code", async () => {
    verifies("CMD-2");
    const { command } = await open();
    const result = await command(["bash", "-c", "echo out; echo err >&2; exit 3"]);
    expect(result).toMatchObject({
      status: "failed",
      is_error: true,
      error: { code: "command_failed", details: { exit_code: 3, signal: null } },
      data: { exit_code: 3 },
    });
    expect(textOf(result)).toBe("The command failed with exit code 3.\nout\nstderr:\nerr");
    expect((await command(["false"])).error?.code).toBe("command_failed");
  });

  test("of one that was killed, the signal", async () => {
    verifies("CMD-2");
    const { command } = await open();
    const result = await command(["bash", "-c", "echo out; kill -KILL $$"]);
    expect(result.error?.details).toEqual({ exit_code: null, signal: "SIGKILL" });
    expect(textOf(result)).toBe("The command was killed by SIGKILL.\nout");
  });

  test("of one that wrote nothing, just that", async () => {
    verifies("CMD-2");
    const { command } = await open();
    expect(textOf(await command(["true"]))).toBe("(It wrote nothing.)");
    expect(textOf(await command(["bash", "-c", "echo only >&2"]))).toBe("stderr:\nonly");
  });

  test("characters whole, however the program's writes cut them", async () => {
    verifies("CMD-2");
    const { command } = await open();
    const script = `
      const bytes = Buffer.from("grüße 👋 ".repeat(20));
      (async () => {
        for (const byte of bytes) {
          await new Promise((done) => process.stdout.write(Buffer.from([byte]), () => setImmediate(done)));
        }
      })();`;
    const result = await command([process.execPath, "-e", script]);
    expect(textOf(result)).toBe("grüße 👋 ".repeat(20));
  });

  test("of processes left behind, how many were ended", async () => {
    verifies("CMD-2");
    const { command } = await open();
    const result = await command(["bash", "-c", "sleep 1000 & echo started"]);
    expect(result.status).toBe("succeeded");
    expect(textOf(result)).toContain("started\n(1 of its processes were still running");
  });

  test("of one that escaped it, nothing; but on record is what held the command", async () => {
    verifies("CMD-2", "CMD-3");
    const { command, project } = await open();
    const hidden = "env -i setsid /bin/sh -c 'echo $$ > pid; exec /bin/sleep 1000'";
    const script = `(${hidden} >/dev/null 2>&1 &); until [ -s pid ]; do sleep 0.02; done`;
    const result = await command(["sh", "-c", script]);
    const escaped = Number(readFileSync(join(project, "pid"), "utf8"));
    expect(process.kill(escaped, "SIGKILL")).toBe(true);
    expect(dataOf(result)).toMatchObject({ exit_code: 0, contained_by: "process_family" });
    expect(dataOf(result)).not.toHaveProperty("survivors");
  });

  test("of files it has read, those that have changed, once", async () => {
    verifies("CODE-5");
    const filesRead = createFilesRead();
    const { command, run, write, base } = await open({ tool: () => ({ filesRead }) });
    const paths = [write("a.txt", "a"), write("b.txt", "b"), write("sub/c.txt", "c")];
    for (const path of [...paths, join(base, "home")]) {
      const stamp = await readStamp(path);
      if (stamp !== undefined) filesRead.note(run.identity.run_id, path, stamp);
    }
    expect(dataOf(await command(["ls"]))).not.toHaveProperty("changed_files");
    const result = await command(["bash", "-c", "echo more >> a.txt; rm sub/c.txt; exit 1"]);
    expect(dataOf(result)["changed_files"]).toEqual(["a.txt", "sub/c.txt"]);
    expect(textOf(result)).toContain('(Changed since you read them: "a.txt", "sub/c.txt".');
    expect(dataOf(await command(["ls"]))).not.toHaveProperty("changed_files");
  });
});

async function openAnother(options: StageOptions): Promise<Stage> {
  stage?.close();
  return open(options);
}
