// What code.read_file opens and what it does not (PATH-3, PATH-4, PATH-5), judged by a real kernel.

import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { chmod, link, mkdir, open, symlink, unlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { asOrdinaryUser } from "./path-ordinary-user.ts";
import { createStage, texts, type Stage } from "./read-file-stage.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await createStage();
});

afterEach(() => stage.close());

describe("a file that is not there", () => {
  test("is an error that names what is beside it", async () => {
    verifies("CODE-1");
    for (const name of ["config.json", "Config.jsonc", "confix.json", "config.js", "other.txt"]) {
      await stage.write(`src/${name}`, "x");
    }
    const result = await stage.read("src/confg.json");
    expect(result.status).toBe("failed");
    expect(result.error).toMatchObject({ code: "file_not_found", recovery: "change_arguments" });
    const near = result.error?.details?.["near_names"];
    expect(near).toHaveLength(3);
    expect(near).toHaveProperty("0", "config.json");
    expect(near).not.toContain("other.txt");
    expect(result.error?.message).toContain(`In the same directory: "config.json", `);
  });

  test("is the same without anything near it, or without its directory", async () => {
    verifies("CODE-1");
    await stage.write("other.txt", "x");
    for (const path of ["nothing-like-it", "no/such/directory/a.txt", "other.txt/a"]) {
      const { error } = await stage.read(path);
      expect(error, path).toMatchObject({ code: "file_not_found", details: { near_names: [] } });
      expect(error?.message).toContain("code.list_dir");
    }
  });

  test("gives away no names of sensitive files", async () => {
    verifies("CODE-1", "PATH-3");
    await stage.write("server.pem", "x");
    await stage.write("server.pen", "x");
    const { error } = await stage.read("server.pe");
    expect(error?.details).toMatchObject({ near_names: ["server.pen"] });
    expect(JSON.stringify(error)).not.toContain("server.pem");
  });

  test("at the end of a dangling link is not found where the link leads", async () => {
    verifies("CODE-1", "PATH-5");
    await symlink(join(stage.outside, "gone"), join(stage.project, "link"));
    expect((await stage.read("link")).error).toMatchObject({
      code: "file_not_found",
      details: { path: join(stage.outside, "gone") },
    });
  });
});

describe("a sensitive file", () => {
  test("is denied where no one can be asked, even with a rule that allows the path", async () => {
    verifies("PATH-3");
    const allowing = await createStage({
      policy: { rules: [{ tool: "code.read_file", path: "**", decision: "allow" }] },
    });
    try {
      await allowing.write(".env", "PASSWORD=hunter2\n");
      await allowing.write("a.txt", "x\n");
      const result = await allowing.read(".env");
      expect(result.status).toBe("denied");
      expect(JSON.stringify(result)).not.toContain("hunter2");
      expect((await allowing.read("a.txt")).status).toBe("succeeded");
    } finally {
      await allowing.close();
    }
  });

  test("asks, and is read after a yes, by any name", async () => {
    verifies("PATH-3");
    const asking = await createStage({ ask: () => ({ decision: "allow_once" }) });
    try {
      await asking.write("deploy/.env.local", "A=1\n");
      await asking.write("plain.txt", "B=2\n");
      await symlink(join(asking.project, "deploy/.env.local"), join(asking.project, "settings"));
      await symlink(join(asking.project, "plain.txt"), join(asking.project, "id_rsa"));
      for (const [path, text] of [
        ["deploy/.env.local", "A=1\n"],
        ["./deploy/../deploy//.env.local", "A=1\n"],
        ["settings", "A=1\n"],
        ["id_rsa", "B=2\n"],
      ] as const) {
        const before = asking.asked.length;
        expect(texts(await asking.read(path)), path).toEqual([text]);
        expect(asking.asked.length, path).toBe(before + 1);
      }
      expect(texts(await asking.read("plain.txt"))).toEqual(["B=2\n"]);
      expect(asking.asked).toHaveLength(4);
    } finally {
      await asking.close();
    }
  });

  test("stays unread after a no", async () => {
    verifies("PATH-3");
    const asking = await createStage({ ask: () => ({ decision: "deny" }) });
    try {
      await asking.write("server.key", "hunter2\n");
      const result = await asking.read("server.key");
      expect(result.is_error).toBe(true);
      expect(asking.asked).toHaveLength(1);
      expect(JSON.stringify(result)).not.toContain("hunter2");
    } finally {
      await asking.close();
    }
  });

  test("is as little to be had when it is not there: the answer gives nothing away", async () => {
    verifies("PATH-3");
    await stage.write(".env", "x");
    const there = await stage.read(".env");
    const missing = await stage.read(".netrc");
    expect([there.status, missing.status]).toEqual(["denied", "denied"]);
    expect(missing.error?.code).toBe(there.error?.code);
    const asking = await createStage({ ask: () => ({ decision: "allow_once" }) });
    try {
      expect((await asking.read(".netrc")).error?.code).toBe("file_not_found");
    } finally {
      await asking.close();
    }
  });
});

describe("outside the project", () => {
  test("a file is read, by its path, upwards, and through a link", async () => {
    verifies("PATH-5");
    const target = join(stage.outside, "note.txt");
    await writeFile(target, "outside\n");
    await symlink(target, join(stage.project, "link"));
    await symlink(stage.outside, join(stage.project, "directory"));
    for (const path of [target, "../outside/note.txt", "link", "directory/note.txt"]) {
      const result = await stage.read(path);
      expect(texts(result), path).toEqual(["outside\n"]);
      expect(result.data, path).toMatchObject({ path: target });
      expect(result.summary).toBe(`Read line 1 of ${target}`);
    }
  });

  test("a sensitive one is denied, also through a link with a harmless name", async () => {
    verifies("PATH-5", "PATH-3");
    const keys = join(stage.base, "home/.ssh");
    await mkdir(keys, { recursive: true });
    await writeFile(join(keys, "config"), "hunter2\n");
    await symlink(join(keys, "config"), join(stage.project, "notes.txt"));
    await symlink(keys, join(stage.project, "notes"));
    for (const path of [join(keys, "config"), "notes.txt", "notes/config", "../home/.ssh/config"]) {
      expect((await stage.read(path)).status, path).toBe("denied");
    }
  });
});

describe("what is not a regular file", () => {
  test("is refused by its kind and never waited for", async () => {
    verifies("PATH-4");
    execFileSync("mkfifo", [join(stage.project, "fifo")]);
    await mkdir(join(stage.project, "directory"));
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(join(stage.project, "socket"), resolve);
    });
    await symlink("/dev/zero", join(stage.project, "zero"));
    try {
      const cases = [
        ["fifo", "fifo"],
        ["directory", "directory"],
        ["directory/", "directory"],
        [".", "directory"],
        ["socket", "socket"],
        ["/dev/zero", "device"],
        ["/dev/null", "device"],
        ["zero", "device"],
      ];
      for (const [path = "", kind] of cases) {
        const { error } = await stage.read(path);
        expect(error, path).toMatchObject({ code: "not_a_regular_file", details: { kind } });
      }
    } finally {
      server.close();
    }
    // A writer that waits for a reader shows that none ever came.
    const writer = open(join(stage.project, "fifo"), constants.O_WRONLY | constants.O_NONBLOCK);
    await expect(writer).rejects.toMatchObject({ code: "ENXIO" });
  });

  test("may have two names: a hard link is the file itself", async () => {
    verifies("PATH-4");
    const path = await stage.write("a", "x\n");
    await link(path, join(stage.project, "b"));
    expect(texts(await stage.read("b"))).toEqual(["x\n"]);
  });
});

test("a file without rights to read it is an error that says so", async () => {
  verifies("CODE-1");
  const path = await stage.write("a", "x\n");
  await chmod(stage.base, 0o755);
  await chmod(path, 0);
  const result = await asOrdinaryUser(() => stage.read("a"));
  expect(result.error).toMatchObject({ code: "access_denied" });
  await unlink(path);
});

test("paths that can be none are refused in words", async () => {
  verifies("CODE-1");
  await symlink("loop", join(stage.project, "loop"));
  for (const path of ["a\0b", "x".repeat(5000), "loop"]) {
    expect((await stage.read(path)).error?.code).toBe("invalid_path");
  }
});
