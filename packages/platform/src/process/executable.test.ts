import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findExecutable } from "./program.ts";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "soong-executable-")));
  await mkdir(join(folder, "one"));
  await mkdir(join(folder, "two"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(path: string, mode = 0o755): Promise<string> {
  const file = join(folder, path);
  await writeFile(file, "#!/bin/sh\n");
  await chmod(file, mode);
  return file;
}

function find(name: string, ...entries: string[]) {
  return findExecutable(name, { path: entries.join(":"), cwd: folder });
}

describe("a program is found", () => {
  test("in the first entry of PATH that has one that can be run", async () => {
    await mkdir(join(folder, "zero"));
    await mkdir(join(folder, "zero", "tool"));
    await program("one/tool", 0o644);
    const tool = await program("two/tool");
    const entries = ["zero", "one", "two"].map((name) => join(folder, name));
    expect(find("tool", ...entries)).toEqual({ found: tool, resolved: tool });
  });

  test("as it is named, and with all links resolved", async () => {
    const tool = await program("two/tool");
    await symlink("../two/tool", join(folder, "one", "alias"));
    await symlink("one", join(folder, "bin"));
    expect(find("alias", join(folder, "bin"))).toEqual({
      found: join(folder, "bin", "alias"),
      resolved: tool,
    });
  });

  test("never through a relative or empty entry of PATH", async () => {
    await program("tool");
    await program("one/tool");
    expect(find("tool", "", ".", "one", "./one", "..")).toBeUndefined();
    // Nor through one that is relative to where the runtime happens to be.
    expect(find("tool", relative(process.cwd(), folder))).toBeUndefined();
    expect(findExecutable("tool", { path: "", cwd: folder })).toBeUndefined();
  });

  test("from the working directory when its name has a slash, for any PATH", async () => {
    const tool = await program("one/tool");
    await program("two/tool");
    expect(find("./one/tool", join(folder, "two"))).toEqual({ found: tool, resolved: tool });
    expect(find("one/tool")?.found).toBe(tool);
    expect(find(tool)?.found).toBe(tool);
    expect(find("./tool", join(folder, "one"))).toBeUndefined();
  });

  test("by the parent of what a link leads to, not of the link", async () => {
    await mkdir(join(folder, "two", "deep"));
    const tool = await program("two/tool");
    await program("one/tool");
    await symlink("../two/deep", join(folder, "one", "link"));
    expect(find("one/link/../tool")).toEqual({ found: tool, resolved: tool });
  });

  test.each(["", ".", "..", "/", "nothing", "a\0b", "./nothing", "one/", "dangling"])(
    "not for %j",
    async (name) => {
      await symlink("nowhere", join(folder, "one", "dangling"));
      expect(find(name, join(folder, "one"))).toBeUndefined();
    },
  );
});
