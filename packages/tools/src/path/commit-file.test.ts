import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";

import type { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";

import {
  beforeRename,
  commitStage,
  type CommitStage,
  contentOf,
  OPENINGS,
  refusal,
  sha256,
} from "../../../../test/tools/path-commit-stage.ts";
import { commitFile, type FileCommit } from "./commit-file.ts";
import { readStamp } from "./open-regular-file.ts";

let stage: CommitStage;
let folder: string;

beforeEach(() => {
  stage = commitStage();
  ({ folder } = stage);
});

afterEach(() => {
  stage.remove();
});

describe.each(OPENINGS)("a commit %s", (_how, opening) => {
  const commit = (path: string, text: string, options: Partial<FileCommit> = {}) =>
    commitFile(stage.commitOf(path, text, options), opening);

  test("replaces the whole file, keeps its mode and leaves nothing else behind", async () => {
    verifies("CODE-4");
    const path = join(folder, "a.txt");
    writeFileSync(path, "a long old text");
    chmodSync(path, 0o751);
    const before = statSync(path).ino;
    const committed = await commit(path, "new", { expected: sha256("a long old text") });
    expect(committed).toEqual({ created: false, mode: 0o751, stamp: await readStamp(path) });
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o7777).toBe(0o751);
    expect(statSync(path).ino).not.toBe(before);
    expect(readdirSync(folder)).toEqual(["a.txt"]);
    expect(readdirSync(stage.lockDirectory)).toEqual([]);
  });

  test("makes a new file with the rights any new file gets", async () => {
    verifies("CODE-4");
    writeFileSync(join(folder, "any"), "");
    const path = join(folder, "new.txt");
    const committed = await commit(path, "new");
    const mode = statSync(join(folder, "any")).mode & 0o7777;
    expect(committed).toEqual({ created: true, mode, stamp: await readStamp(path) });
    expect(statSync(path).mode & 0o7777).toBe(mode);
    expect(statSync(path).nlink).toBe(1);
    expect(readdirSync(folder)).toEqual(["any", "new.txt"]);
  });

  test("gives a mode that was asked for, exactly", async () => {
    const path = join(folder, "a");
    expect((await commit(path, "1", { mode: 0o777 })).mode).toBe(0o777);
    expect((await commit(path, "2", { mode: 0o604, expected: sha256("1") })).mode).toBe(0o604);
    expect(statSync(path).mode & 0o7777).toBe(0o604);
  });

  test("drops set-user-id and similar bits, which were meant for the old bytes", async () => {
    const path = join(folder, "a");
    writeFileSync(path, "old");
    chmodSync(path, 0o4755);
    expect((await commit(path, "new", { expected: sha256("old") })).mode).toBe(0o755);
  });

  test("writes this name only: another hard link keeps the old bytes", async () => {
    verifies("PATH-2");
    const path = join(folder, "a");
    writeFileSync(path, "old");
    linkSync(path, join(folder, "other-name"));
    await commit(path, "new", { expected: sha256("old") });
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(readFileSync(join(folder, "other-name"), "utf8")).toBe("old");
  });

  test.each(["line\nbreak", "🦊".repeat(63), "x".repeat(255), "a%20b", ".hidden", "a (deleted)"])(
    "takes the name %j",
    async (name) => {
      const path = join(folder, name);
      await commit(path, "one");
      await commit(path, "two", { expected: sha256("one") });
      expect(readFileSync(path, "utf8")).toBe("two");
      expect(readdirSync(folder)).toEqual([name]);
    },
  );

  test("writes an empty file and bytes that are no text", async () => {
    await commit(join(folder, "empty"), "");
    expect(readFileSync(join(folder, "empty"))).toEqual(Buffer.alloc(0));
    const bytes = Buffer.from([0, 255, 254, 10, 13]);
    await commitFile({ ...stage.commitOf(join(folder, "bytes"), ""), bytes }, opening);
    expect(readFileSync(join(folder, "bytes"))).toEqual(bytes);
  });

  describe("of something that is not as planned", () => {
    test.each([
      ["was changed", "other", sha256("old")],
      ["was changed", "old and grown", sha256("old")],
      ["was removed", undefined, sha256("old")],
      ["appeared", "other", null],
      ["appeared", "", null],
    ])("that %s is refused and left unchanged", async (how, there, expected) => {
      verifies("EDIT-6");
      const path = join(folder, "a");
      if (there !== undefined) {
        writeFileSync(path, there);
      }
      const error = await refusal(commit(path, "new", { expected }));
      expect(error).toMatchObject({
        code: "changed_since_approval",
        retryable: true,
        recovery: "retry",
      });
      expect(error.message).toContain(how);
      expect(contentOf(path)).toBe(there);
      expect(readdirSync(folder).length).toBe(there === undefined ? 0 : 1);
    });

    test("because a link is there now is path_changed, also a dangling one", async () => {
      verifies("PATH-1", "PATH-2");
      symlinkSync("../outside/secret", join(folder, "link"));
      symlinkSync("../outside/none", join(folder, "dangling"));
      for (const expected of [null, sha256("secret")]) {
        for (const name of ["link", "dangling"]) {
          const error = await refusal(commit(join(folder, name), "new", { expected }));
          expect(error.code).toBe("path_changed");
        }
      }
    });

    test("because a parent is a link now is path_changed, also when directories are made", async () => {
      verifies("PATH-1", "PATH-2");
      symlinkSync("../outside", join(folder, "dir"));
      for (const path of ["dir/secret", "dir/new", "dir/a/b/new"]) {
        const wanted = commit(join(folder, path), "new", { createDirs: true });
        expect((await refusal(wanted)).code).toMatch(/^(path_changed|not_a_directory)$/);
      }
    });

    test("because it is no regular file is said so", async () => {
      verifies("PATH-4");
      mkdirSync(join(folder, "dir"));
      const error = await refusal(commit(join(folder, "dir"), "new"));
      expect(error).toMatchObject({ code: "not_a_regular_file", details: { kind: "directory" } });
    });
  });

  describe("with directories to make", () => {
    test("makes them all", async () => {
      verifies("CODE-4");
      const path = join(folder, "a/b/c/new.txt");
      await commit(path, "new", { createDirs: true });
      expect(readFileSync(path, "utf8")).toBe("new");
      mkdirSync(join(folder, "any"));
      expect(statSync(join(folder, "a")).mode).toBe(statSync(join(folder, "any")).mode);
    });

    test("makes none unless requested", async () => {
      const error = await refusal(commit(join(folder, "a/new.txt"), "new"));
      expect(error).toMatchObject({ code: "file_not_found", details: { path: join(folder, "a") } });
      expect(existsSync(join(folder, "a"))).toBe(false);
    });

    test("says so when a file is in the way", async () => {
      writeFileSync(join(folder, "a"), "");
      const error = await refusal(commit(join(folder, "a/b/new"), "new", { createDirs: true }));
      expect(error.code).toBe("not_a_directory");
      expect(readdirSync(folder)).toEqual(["a"]);
    });

    test("removes those it made when the commit fails, and only those", async () => {
      mkdirSync(join(folder, "a"));
      const error = await refusal(
        commit(join(folder, "a/b/c/new"), "x", { createDirs: true, expected: sha256("old") }),
      );
      expect(error.code).toBe("changed_since_approval");
      expect(readdirSync(folder)).toEqual(["a"]);
      expect(readdirSync(join(folder, "a"))).toEqual([]);
    });

    test("removes those it made when a later one cannot be made", async () => {
      const path = join(folder, `a/b/${"x".repeat(300)}/new`);
      const error = await refusal(commit(path, "x", { createDirs: true }));
      expect(error.code).toBe("invalid_path");
      expect(readdirSync(folder)).toEqual([]);
    });

    test("leaves one in which another process has put something meanwhile", async () => {
      const path = join(folder, "a/b/new");
      const error = await refusal(
        commitFile(
          stage.commitOf(path, "new", { createDirs: true }),
          beforeRename(opening, path, () => {
            writeFileSync(path, "theirs");
          }),
        ),
      );
      expect(error.code).toBe("changed_since_approval");
      expect(readdirSync(join(folder, "a/b"))).toEqual(["new"]);
    });
  });

  test("the temporary file is private until it has the rights of the old one", async () => {
    const path = join(folder, "a");
    writeFileSync(path, "old", { mode: 0o600 });
    let modes: number[] = [];
    const looking = beforeRename(opening, path, () => {
      const names = readdirSync(folder).filter((name) => name !== "a");
      expect(names[0]).toMatch(/^\.a\.soong-[0-9a-f]{20}\.tmp$/);
      modes = names.map((name) => statSync(join(folder, name)).mode & 0o7777);
    });
    await commitFile(stage.commitOf(path, "new", { expected: sha256("old") }), looking);
    expect(modes).toEqual([0o600]);
  });

  test.runIf(process.platform === "linux")(
    "no commit, done or refused, leaves a handle open",
    async () => {
      const path = join(folder, "a/b/c");
      await commit(path, "0", { createDirs: true });
      expect(await openBelow(folder)).toEqual([]);
      for (let count = 0; count < 5; count += 1) {
        await commit(path, String(count + 1), { expected: sha256(String(count)) });
        await refusal(commit(path, "x"));
        await refusal(commit(join(folder, `n/${count}`), "x", { expected: "", createDirs: true }));
        await refusal(commit(join(folder, "a/b"), "x"));
      }
      expect(await openBelow(folder)).toEqual([]);
    },
  );

  test("eight at once by the same process, each on what it read, lose nothing", async () => {
    verifies("EDIT-6");
    const path = join(folder, "counter");
    writeFileSync(path, "0");
    const increment = async (): Promise<void> => {
      const text = readFileSync(path, "utf8");
      const wanted = commit(path, String(Number(text) + 1), { expected: sha256(text) });
      const code = await wanted.then(
        () => undefined,
        (error: unknown) => (error as ToolFailure).error.code,
      );
      if (code === undefined) {
        return;
      }
      expect(code).toBe("changed_since_approval");
      await increment();
    };
    await Promise.all(Array.from({ length: 8 }, increment));
    expect(readFileSync(path, "utf8")).toBe("8");
    expect(readdirSync(folder)).toEqual(["counter"]);
  });
});

/** What this process has open there; other tests of it open and close files meanwhile. */
async function openBelow(directory: string): Promise<string[]> {
  const fds = await readdir("/proc/self/fd");
  const paths = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
  return paths.filter((path) => path.startsWith(directory));
}
