import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";

import { OPENINGS } from "../../../../test/tools/path-commit-stage.ts";
import { asOrdinaryUser } from "../../../../test/tools/path-ordinary-user.ts";
import { openRegularFile, readStamp } from "./open-regular-file.ts";
import { type Opening, openingByHandle, openingByName, platformOpening } from "./pinned-node.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-open-")));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

test("on Linux files are opened through handles", () => {
  verifies("PATH-1");
  expect(platformOpening).toBe(process.platform === "linux" ? openingByHandle : openingByName);
});

describe.each(OPENINGS)("opened %s", (_how, opening) => {
  async function refusal(path: string): Promise<ToolFailure["error"]> {
    const error: unknown = await openRegularFile(path, opening).then(
      async (file) => {
        await file.close();
        return undefined;
      },
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(ToolFailure);
    return (error as ToolFailure).error;
  }

  test.each(["a.txt", "line\nbreak", "🦊", "a%20b", "x".repeat(255), "a (deleted)", "-x", " "])(
    "a regular file named %j is opened, with its size, mode and stamp",
    async (name) => {
      verifies("PATH-1");
      const path = join(folder, name);
      writeFileSync(path, "hello");
      chmodSync(path, 0o640);
      const file = await openRegularFile(path, opening);
      try {
        expect(file).toMatchObject({ path, size: 5, mode: 0o640 });
        expect(file.stamp).toEqual(await readStamp(path));
        expect(await file.handle.readFile("utf8")).toBe("hello");
      } finally {
        await file.close();
      }
    },
  );

  test("what is missing is file_not_found, also below a file", async () => {
    writeFileSync(join(folder, "a.txt"), "");
    expect((await refusal(join(folder, "none"))).code).toBe("file_not_found");
    expect((await refusal(join(folder, "none/below"))).code).toBe("file_not_found");
    expect((await refusal(join(folder, "a.txt/below"))).code).toBe("file_not_found");
  });

  test("a directory, FIFO, socket or device is refused by its kind and never waited for", async () => {
    verifies("PATH-4");
    execFileSync("mkfifo", [join(folder, "fifo")]);
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(join(folder, "socket"), resolve);
    });
    try {
      const kinds = [];
      for (const path of [folder, join(folder, "fifo"), join(folder, "socket"), "/dev/zero"]) {
        const { code, details } = await refusal(path);
        kinds.push([code, details?.kind]);
      }
      expect(kinds).toEqual([
        ["not_a_regular_file", "directory"],
        ["not_a_regular_file", "fifo"],
        ["not_a_regular_file", "socket"],
        ["not_a_regular_file", "device"],
      ]);
    } finally {
      server.close();
    }
  });

  test("a link in the place of the file is refused, whether or not it leads somewhere", async () => {
    verifies("PATH-1");
    writeFileSync(join(folder, "secret"), "secret");
    symlinkSync("secret", join(folder, "link"));
    symlinkSync("none", join(folder, "dangling"));
    for (const name of ["link", "dangling"]) {
      const error = await refusal(join(folder, name));
      expect(error).toMatchObject({
        code: "not_a_regular_file",
        details: { kind: "symlink" },
      });
    }
  });

  test("a link in the place of a parent directory is path_changed", async () => {
    verifies("PATH-1");
    mkdirSync(join(folder, "project"));
    mkdirSync(join(folder, "outside"));
    writeFileSync(join(folder, "outside/file"), "secret");
    symlinkSync("../outside", join(folder, "project/dir"));
    const error = await refusal(join(folder, "project/dir/file"));
    expect(error).toMatchObject({ code: "path_changed", retryable: true, recovery: "retry" });
  });

  test("a path that is not canonical is not what was judged", async () => {
    writeFileSync(join(folder, "a.txt"), "");
    expect((await refusal(`${folder}/./a.txt`)).code).toBe("path_changed");
  });

  test("a file that is replaced between the two looks is opened at the second try", async () => {
    const path = join(folder, "a.txt");
    writeFileSync(path, "old");
    const replacing = interfered(opening, () => {
      writeFileSync(join(folder, "new"), "new");
      renameSync(join(folder, "new"), path);
    });
    const file = await openRegularFile(path, replacing);
    expect(await file.handle.readFile("utf8")).toBe("new");
    await file.close();
  });

  test("a parent swapped for a link and back between the looks never opens the other file", async () => {
    verifies("PATH-1");
    mkdirSync(join(folder, "dir"));
    mkdirSync(join(folder, "outside"));
    const path = join(folder, "dir/file");
    writeFileSync(path, "inside");
    writeFileSync(join(folder, "outside/file"), "secret");
    renameSync(join(folder, "dir"), join(folder, "dir.real"));
    symlinkSync("outside", join(folder, "dir"));
    const swapping = interfered(opening, () => {
      unlinkSync(join(folder, "dir"));
      renameSync(join(folder, "dir.real"), join(folder, "dir"));
    });
    const file = await openRegularFile(path, swapping);
    expect(await file.handle.readFile("utf8")).toBe("inside");
    await file.close();
  });

  test("a file that is swapped for a link after it was verified is not followed", async () => {
    verifies("PATH-1");
    const path = join(folder, "file");
    writeFileSync(path, "inside");
    writeFileSync(join(folder, "secret"), "secret");
    const swapping = interfered(opening, () => undefined, {
      beforeReopen() {
        unlinkSync(path);
        symlinkSync("secret", path);
      },
    });
    const content = await openRegularFile(path, swapping).then(
      async (file) => {
        const text = await file.handle.readFile("utf8");
        await file.close();
        return text;
      },
      (error: unknown) => (error as ToolFailure).error.code,
    );
    expect(content).toBe(opening === openingByName ? "path_changed" : "inside");
  });

  test("a file moved to the name that the kernel gives to removed files is path_changed", async () => {
    const judged = join(folder, "a (deleted)");
    writeFileSync(judged, "inside");
    const node = opening.pin(judged, judged);
    expect(node.isAtJudgedPath()).toBe(true);
    renameSync(judged, join(folder, "a"));
    unlinkSync(join(folder, "a"));
    expect(node.isAtJudgedPath()).toBe(false);
    node.close();
  });

  test("a file that we may not read is access_denied", async () => {
    const path = join(folder, "private");
    writeFileSync(path, "");
    chmodSync(path, 0o000);
    chmodSync(folder, 0o755);
    const error = await asOrdinaryUser(() => refusal(path));
    expect(error.code).toBe("access_denied");
  });

  test.runIf(process.platform === "linux")("no refusal leaves a handle open", async () => {
    writeFileSync(join(folder, "secret"), "secret");
    symlinkSync("secret", join(folder, "link"));
    symlinkSync(".", join(folder, "here"));
    const before = (await readdir("/proc/self/fd")).length;
    for (const path of ["link", "here/secret", "none", ".", "secret/below"]) {
      await refusal(join(folder, path) === folder ? folder : `${folder}/${path}`);
    }
    expect((await readdir("/proc/self/fd")).length).toBe(before);
  });
});

describe("the stamp of a path", () => {
  test("distinguishes a file from its successor, from its own later state, and from a missing one", async () => {
    const path = join(folder, "a");
    expect(await readStamp(path)).toBeUndefined();
    expect(await readStamp(join(folder, "none/a"))).toBeUndefined();
    writeFileSync(path, "one");
    const first = await readStamp(path);
    expect(JSON.parse(JSON.stringify(first))).toEqual(first);
    expect(await readStamp(path)).toEqual(first);
    linkSync(path, join(folder, "second-link"));
    expect(await readStamp(join(folder, "second-link"))).toEqual(first);
    writeFileSync(path, "three");
    expect(await readStamp(path)).not.toEqual(first);
    expect(await readStamp(join(path, "below"))).toBeUndefined();
  });

  test("is that of a link itself, not of what it leads to", async () => {
    writeFileSync(join(folder, "a"), "");
    symlinkSync("a", join(folder, "link"));
    expect((await readStamp(join(folder, "link")))?.ino).not.toBe(
      (await readStamp(join(folder, "a")))?.ino,
    );
  });
});

/** Lets something happen right after the first pin, as another process would. */
function interfered(
  opening: Opening,
  afterFirstPin: () => void,
  also: { beforeReopen?: () => void } = {},
): Opening {
  let pins = 0;
  return {
    pin(name, judged) {
      const node = opening.pin(name, judged);
      pins += 1;
      if (pins === 1) {
        afterFirstPin();
      }
      return {
        ...node,
        reopen(flags) {
          also.beforeReopen?.();
          return node.reopen(flags);
        },
      };
    },
  };
}
