import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { refuseUnstartable, startFailure } from "./start-failure.ts";
import { type ProcessOptions, startProcess } from "./start-process.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "soong-start-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function failureOf(options: Partial<ProcessOptions>): ToolFailure {
  try {
    startProcess({ executable: "/bin/true", argv: ["true"], cwd: folder, env: {}, ...options });
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
  throw new Error("It was started");
}

async function file(name: string, text: string, mode = 0o755): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

describe("a process that cannot be started says why", () => {
  test("when the program is missing, or a folder on the way to it is a file", async () => {
    const executable = join(folder, "none");
    const failure = failureOf({ executable });
    expect(failure.error).toMatchObject({
      code: "executable_not_found",
      recovery: "change_arguments",
    });
    expect(failure.message).toContain(executable);
    const plain = await file("plain", "");
    expect(failureOf({ executable: `${plain}/x` }).error.code).toBe("executable_not_found");
    await symlink("self", join(folder, "self"));
    expect(failureOf({ executable: join(folder, "self") }).error.code).toBe("executable_not_found");
  });

  test("when it may not be run, or is no file", async () => {
    const executable = await file("text", "#!/bin/sh\n", 0o644);
    expect(failureOf({ executable }).error.code).toBe("not_executable");
    expect(failureOf({ executable: folder }).error.code).toBe("not_executable");
    expect(failureOf({ executable: "/dev/null" }).error.code).toBe("not_executable");
  });

  test("when it is text that names no interpreter, which a C library would hand to the shell", async () => {
    for (const text of ["echo hello\n", "", "\n#!/bin/sh\n", "#! \n", "naïve"]) {
      const failure = failureOf({ executable: await file("script", text) });
      expect(failure.error.code, JSON.stringify(text)).toBe("not_executable");
      expect(failure.message).toContain("#!");
    }
  });

  test("when the interpreter of a script is missing or cannot be run", async () => {
    for (const interpreter of ["/nowhere/python", folder]) {
      const failure = failureOf({ executable: await file("script", `#!${interpreter} -x\n`) });
      expect(failure.error.code).toBe("not_executable");
      expect(failure.message).toContain(interpreter);
    }
  });

  test("when the working directory is missing or none", async () => {
    expect(failureOf({ cwd: join(folder, "none") }).error.code).toBe("cwd_not_found");
    const plain = await file("plain", "", 0o644);
    expect(failureOf({ cwd: plain }).error.code).toBe("cwd_not_a_directory");
    // Of two causes the first one met is named.
    expect(failureOf({ cwd: plain, executable: "/none" }).error.code).toBe("cwd_not_a_directory");
  });

  test("when there are more arguments than the system takes", () => {
    const argv = ["true", "x".repeat(8 * 1024 * 1024)];
    const failure = failureOf({ argv });
    expect(failure.error.code).toBe("argument_list_too_long");
    expect(failure.message).toContain("8388614 bytes");
    expect(failureOf({ env: { A: "x".repeat(8 * 1024 * 1024) } }).error.code).toBe(
      "argument_list_too_long",
    );
  });

  test.each<[string, Partial<ProcessOptions>]>([
    ["an empty argument list", { argv: [] }],
    ["a NUL in an argument", { argv: ["true", "a\0b"] }],
    ["a NUL in the name", { argv: ["tr\0ue"] }],
    ["half a character", { argv: ["true", "a\ud800"] }],
    ["a NUL in the program", { executable: "/bin/true\0" }],
    ["a program that is not absolute", { executable: "true" }],
    ["a NUL in the working directory", { cwd: "/\0" }],
    ["a working directory that is not absolute", { cwd: "." }],
    ["a NUL in the environment", { env: { SECRET: "sec\0ret" } }],
    ["an empty name in the environment", { env: { "": "x" } }],
    ["an equals sign in a name of the environment", { env: { "A=B": "x" } }],
  ])("when it is given %s", (_what, options) => {
    const failure = failureOf(options);
    expect(failure.error.code).toBe("invalid_argument");
    expect(failure.message).not.toContain("sec");
  });

  test("when it was aborted before", () => {
    expect(failureOf({ signal: AbortSignal.abort() }).error).toMatchObject({
      code: "aborted",
      error_class: "canceled",
    });
  });

  test("when all files are in order: then it is the system that has no space", () => {
    const request = { executable: "/bin/true", argv: ["true"], cwd: "/", env: {} };
    for (const code of [undefined, "EAGAIN", "ENOMEM"]) {
      expect(startFailure(request, code).error).toMatchObject({
        code: "too_many_processes",
        retryable: true,
        recovery: "retry_after_delay",
      });
    }
    expect(startFailure(request, "ETXTBSY").message).toContain("ETXTBSY");
  });
});

test("what the system can judge is left to it: binaries, scripts, files that cannot be read", async () => {
  const request = { argv: ["x"], cwd: "/", env: {} };
  await mkdir(join(folder, "bin"));
  const executables = [
    process.execPath,
    await file("script", "#!/bin/sh\n"),
    await file("spaced", "#! \t/bin/sh -e\n"),
    await file("foreign", "MZ\0\0"),
    join(folder, "none"),
  ];
  for (const executable of executables) {
    expect(() => refuseUnstartable({ ...request, executable })).not.toThrow();
  }
});
