import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import { findProgram, isFixedProgram, programEnvironment } from "./program.ts";

let folder: string;
let project: string;
let tools: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-program-")));
  project = join(folder, "project");
  tools = join(folder, "tools");
  for (const name of ["project/bin", "tools", "elsewhere", "more"]) {
    mkdirSync(join(folder, name), { recursive: true });
  }
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function program(path: string): string {
  const file = join(folder, path);
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
}

function find(command: string, ...path: string[]): string {
  vi.stubEnv("PATH", path.map((name) => join(folder, name)).join(delimiter));
  const roots = { project, write: [join(folder, "more")] };
  try {
    return findProgram(
      command,
      { directory: tools, trusted: tools, roots },
      programEnvironment([], roots),
    ).found;
  } catch (error) {
    return error instanceof ToolFailure ? error.error.code : String(error);
  }
}

test("a bare name is found on PATH, ignoring what the project has put there", () => {
  verifies("DECL-5");
  program("project/bin/tool");
  program("more/tool");
  const real = program("elsewhere/tool");
  symlinkSync(join(project, "bin"), join(folder, "linked"));
  expect(find("tool", "project/bin", "linked", "more", "elsewhere")).toBe(real);
  expect(find("tool", "project/bin", "linked")).toBe("executable_not_found");
});

test("a program inside the project is not run, neither by its path nor through a link", () => {
  verifies("DECL-1", "DECL-5");
  const inside = program("project/bin/tool");
  symlinkSync(inside, join(folder, "elsewhere", "tool"));
  expect(find(inside)).toBe("executable_in_project");
  expect(find("tool", "elsewhere")).toBe("executable_in_project");
  expect(find(program("more/tool"))).toBe("executable_in_project");
});

test("a relative name is meant from the declaration, never from where the command runs", () => {
  verifies("DECL-5");
  program("project/bin/tool");
  expect(find("./bin/tool")).toBe("executable_not_found");
  const own = program("tools/tool");
  expect(find("./tool")).toBe(own);
  expect(find("../elsewhere/tool")).toBe("executable_not_found");
});

test("a link beside the declaration into the project is no way around", () => {
  verifies("DECL-5");
  symlinkSync(program("project/bin/tool"), join(tools, "tool"));
  expect(find("./tool")).toBe("executable_in_project");
});

test("what is beside the declaration is as trusted as the declaration, wherever that is", () => {
  verifies("DECL-5");
  project = folder;
  const own = program("tools/tool");
  expect(find("./tool")).toBe(own);
  expect(find(program("elsewhere/tool"))).toBe("executable_in_project");
});

test("what is not executable or not a file is not found", () => {
  verifies("DECL-5");
  writeFileSync(join(tools, "plain"), "");
  for (const command of ["./plain", "./", "none", "./none", ""]) {
    expect(find(command, "elsewhere")).toBe("executable_not_found");
  }
});

test("the environment holds the ordinary names, those listed, and nothing else", () => {
  verifies("DECL-5");
  vi.stubEnv("SOONG_TEST_TOKEN", "secret");
  vi.stubEnv("SOONG_TEST_OTHER", "other");
  vi.stubEnv("PATH", [join(project, "bin"), "relative", "", "/usr/bin"].join(delimiter));
  const env = programEnvironment(["SOONG_TEST_TOKEN"], { project, write: [] });
  expect(env).toMatchObject({ PATH: "/usr/bin", SOONG_TEST_TOKEN: "secret" });
  expect(env).not.toHaveProperty("SOONG_TEST_OTHER");
  vi.stubEnv("PATH", join(project, "bin"));
  expect(programEnvironment([], { project, write: [] })["PATH"]).toBe("/usr/bin:/bin");
});

test("a program of the system is fixed where neither it nor its folder can be written", () => {
  verifies("CMD-4");
  const git = { found: "/usr/bin/git", resolved: "/usr/bin/git" };
  const never = (): boolean => false;
  expect(isFixedProgram(git, never)).toBe(true);
  expect(isFixedProgram({ ...git, resolved: "/usr/lib/git-core/git" }, never)).toBe(true);
  for (const writable of ["/usr/bin", "/usr/bin/git"]) {
    expect(isFixedProgram(git, (path) => path === writable)).toBe(false);
  }
  for (const path of ["/home/me/bin/git", "/opt/git", "/usr/binary/git", "/project/usr/bin/git"]) {
    expect(isFixedProgram({ ...git, found: path }, never)).toBe(false);
    expect(isFixedProgram({ ...git, resolved: path }, never)).toBe(false);
  }
});
