import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import {
  createWorkbench,
  dataOf,
  diffOf,
  textOf,
  type Workbench,
  type WorkbenchOptions,
} from "./workbench.ts";

let bench: Workbench;
const open = async (options?: WorkbenchOptions): Promise<void> => {
  await bench.close();
  bench = await createWorkbench(options);
};
beforeEach(async () => {
  bench = await createWorkbench();
});
afterEach(() => bench.close());

const write = (input: object) => bench.call("code.write_file", input);

describe("code.write_file", () => {
  test("writes a new file, just as given, and makes the directories it needs", async () => {
    verifies("CODE-4");
    const content = "grüße\r\n$& \\ no final newline";
    const result = await write({ path: "a/b/c.txt", content });
    expect(result.status).toBe("succeeded");
    expect(await bench.read("a/b/c.txt")).toBe(content);
    expect(dataOf(result)).toMatchObject({
      path: join(bench.project, "a/b/c.txt"),
      created: true,
      size: Buffer.byteLength(content),
    });
    expect(textOf(result)).toContain("a/b/c.txt");
  });

  test("a file that is there is a conflict, and stays as it is", async () => {
    verifies("CODE-4");
    await bench.write("a.txt", "old");
    const result = await write({ path: "a.txt", content: "new" });
    expect(result.error).toMatchObject({ code: "path_conflict", recovery: "change_arguments" });
    expect(result.error?.message).toContain("overwrite");
    expect(await bench.read("a.txt")).toBe("old");
  });

  test("an empty file is there, too", async () => {
    verifies("CODE-4");
    await bench.write("a.txt", "");
    expect((await write({ path: "a.txt", content: "new" })).error?.code).toBe("path_conflict");
  });

  test("overwrites on request, keeps the mode and leaves nothing beside it", async () => {
    verifies("CODE-4");
    const path = await bench.write("run.sh", "old\n");
    await chmod(path, 0o754);
    const result = await write({ path: "run.sh", content: "new\n", overwrite: true });
    expect(result.status).toBe("succeeded");
    expect(await bench.read("run.sh")).toBe("new\n");
    expect((await stat(path)).mode & 0o777).toBe(0o754);
    expect(await readdir(bench.project)).toEqual(["run.sh"]);
  });

  test("a new file has the mode the user's umask gives, not a private one", async () => {
    verifies("CODE-4");
    await write({ path: "new.txt", content: "x" });
    const plain = await bench.write("plain.txt", "x");
    const { mode } = await stat(join(bench.project, "new.txt"));
    expect(mode).toBe((await stat(plain)).mode);
  });

  test("without create_dirs a missing directory is an error and is not made", async () => {
    verifies("CODE-4");
    const result = await write({ path: "a/b.txt", content: "x", create_dirs: false });
    expect(result.is_error).toBe(true);
    expect(result.error?.message).toContain(join(bench.project, "a"));
    expect(await readdir(bench.project)).toEqual([]);
  });

  test("the user is shown the diff, and that something is overwritten", async () => {
    verifies("CODE-4", "DEF-5", "PERM-9");
    await open({ rules: [], ask: () => ({ decision: "allow_once" }) });
    await bench.write("a.txt", "one\ntwo\nthree\n");
    await write({ path: "a.txt", content: "one\n2\nthree\n", overwrite: true });
    await write({ path: "b.txt", content: "new\n" });
    const [over, fresh] = bench.asked;
    expect(over?.destructive).toBe(true);
    expect(over?.preview).toMatchObject({ kind: "diff", path: join(bench.project, "a.txt") });
    const diff = diffOf(over);
    expect(diff).toContain("-two\n+2\n");
    expect(diff).not.toContain("-one");
    expect(fresh?.destructive).toBe(false);
    expect(diffOf(fresh)).toContain("+new\n");
  });

  test("a file that changed between the question and the answer is not overwritten", async () => {
    verifies("PERM-8", "DEF-5");
    const path = join(bench.project, "a.txt");
    await open({
      rules: [],
      ask: async () => {
        await writeFile(join(bench.project, "a.txt"), "somebody else's\n");
        return { decision: "allow_once" };
      },
    });
    expect(path).not.toBe("");
    await bench.write("a.txt", "old\n");
    const result = await write({ path: "a.txt", content: "mine\n", overwrite: true });
    expect(result.error?.code).toBe("changed_since_approval");
    expect(await bench.read("a.txt")).toBe("somebody else's\n");
  });

  test("a file that appears between the question and the answer is not overwritten", async () => {
    verifies("PERM-8", "CODE-4");
    await open({
      rules: [],
      ask: async () => {
        await bench.write("a.txt", "theirs");
        return { decision: "allow_once" };
      },
    });
    const result = await write({ path: "a.txt", content: "mine" });
    expect(result.is_error).toBe(true);
    expect(await bench.read("a.txt")).toBe("theirs");
  });

  test("outside the project nothing is written without a yes", async () => {
    verifies("PATH-2");
    const target = join(bench.outside, "x.txt");
    const denied = await write({ path: target, content: "x" });
    expect(denied.status).toBe("denied");
    expect(denied.error?.code).toBe("write_outside_allowed_roots");
    await expect(lstat(target)).rejects.toThrow(/ENOENT/);
    await open({ ask: () => ({ decision: "allow_once" }) });
    const allowed = await write({ path: join(bench.outside, "x.txt"), content: "x" });
    expect(allowed.status).toBe("succeeded");
    expect(await readdir(bench.outside)).toEqual(["x.txt"]);
    expect(bench.asked).toHaveLength(1);
  });

  test("a link that leads out is outside, also a dangling one and one in a parent", async () => {
    verifies("PATH-1", "PATH-2");
    await writeFile(join(bench.outside, "there.txt"), "theirs");
    await symlink(join(bench.outside, "there.txt"), join(bench.project, "link"));
    await symlink(join(bench.outside, "missing.txt"), join(bench.project, "dangling"));
    await symlink(bench.outside, join(bench.project, "dir"));
    for (const path of ["link", "dangling", "dir/new.txt", "dir/deep/new.txt", "../outside/y"]) {
      const result = await write({ path, content: "x", overwrite: true });
      expect(result.error?.code, path).toBe("write_outside_allowed_roots");
    }
    expect(await readdir(bench.outside)).toEqual(["there.txt"]);
    expect(await readFile(join(bench.outside, "there.txt"), "utf8")).toBe("theirs");
  });

  test("a yes lets exactly that target be written, not where a swapped link leads", async () => {
    verifies("PATH-1", "PATH-2");
    await open({
      ask: async () => {
        // The directory that was judged becomes a link somewhere else.
        await rename(join(bench.outside, "dir"), join(bench.outside, "moved"));
        await mkdir(join(bench.base, "elsewhere"), { recursive: true });
        await symlink(join(bench.base, "elsewhere"), join(bench.outside, "dir"));
        return { decision: "allow_once" };
      },
    });
    await mkdir(join(bench.outside, "dir"));
    const result = await write({ path: join(bench.outside, "dir", "x"), content: "x" });
    expect(result.is_error).toBe(true);
    expect(await readdir(join(bench.base, "elsewhere"))).toEqual([]);
    expect(await readdir(join(bench.outside, "moved"))).toEqual([]);
  });

  test("a directory or a FIFO in the way is refused, never hung on", async () => {
    verifies("PATH-4");
    await mkdir(join(bench.project, "dir"));
    const { execFileSync } = await import("node:child_process");
    execFileSync("mkfifo", [join(bench.project, "pipe")]);
    for (const path of ["dir", "pipe"]) {
      const result = await write({ path, content: "x", overwrite: true });
      expect(result.error?.code, path).toBe("not_a_regular_file");
    }
  });

  test("the lock files of the runtime are never written, in spite of any rule", async () => {
    verifies("PERM-14");
    await bench.close();
    const first = await createWorkbench();
    bench = first;
    await open({
      ask: () => ({ decision: "allow_once" }),
      policy: { protected_roots: [first.lockDirectory] },
    });
    const result = await write({ path: join(first.lockDirectory, "x"), content: "x" });
    expect(result.error?.code).toBe("protected_path");
  });

  test("names that cannot be a path are refused in words", async () => {
    verifies("PATH-1");
    for (const path of ["a\0b", "x".repeat(5000), "y".repeat(300)]) {
      const result = await write({ path, content: "x" });
      expect(result.is_error).toBe(true);
      expect(result.error?.message.length).toBeGreaterThan(10);
    }
    expect(await readdir(bench.project)).toEqual([]);
  });

  test("%20 in a name is three characters", async () => {
    verifies("PATH-1");
    await write({ path: "a%20b.txt", content: "x" });
    expect(await readdir(bench.project)).toEqual(["a%20b.txt"]);
  });
});
