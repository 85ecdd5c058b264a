import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { BigIntStats } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";

import {
  asOrdinaryUser,
  isRoot,
  ORDINARY_USER,
} from "../../../../test/tools/path-ordinary-user.ts";
import { commitFile } from "./commit-file.ts";
import { openDirectory } from "./open-directory.ts";
import { writeTemporaryFile } from "./temporary-file.ts";

// Who may write what: as the user of the tests, and without root's privileges where that is the point.

let top: string;
let folder: string;
let path: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "soong-rights-")));
  chmodSync(top, 0o777);
  folder = join(top, "project");
  path = join(folder, "a");
  mkdirSync(folder);
  writeFileSync(path, "old");
});

afterEach(() => {
  rmSync(top, { recursive: true });
});

const expected = createHash("sha256").update("old").digest("hex");

async function commit(bytes = "new"): Promise<{ code: string; path: unknown } | number> {
  try {
    const { mode } = await commitFile({
      path,
      bytes: Buffer.from(bytes),
      expected,
      createDirs: true,
      // Each user has locks of its own.
      lockDirectory: join(top, `home-${process.geteuid?.()}`, "locks"),
    });
    return mode;
  } catch (error) {
    const { code, details } = (error as ToolFailure).error;
    return { code, path: details?.path };
  }
}

test("a file that no one may write is refused, to root as well", async () => {
  chmodSync(path, 0o444);
  expect(await commit()).toEqual({ code: "access_denied", path });
  expect(readFileSync(path, "utf8")).toBe("old");
  expect(readdirSync(folder)).toEqual(["a"]);
});

test("a file that we may not read is refused: it is unknown what would be lost", async () => {
  chmodSync(path, 0o222);
  chmodSync(folder, 0o777);
  expect(await asOrdinaryUser(() => commit())).toEqual({ code: "access_denied", path });
});

test("a directory that we may not write is named", async () => {
  chmodSync(path, 0o666);
  chmodSync(folder, 0o555);
  expect(await asOrdinaryUser(() => commit())).toEqual({ code: "access_denied", path: folder });
  expect(readFileSync(path, "utf8")).toBe("old");
  chmodSync(folder, 0o755);
});

test("a directory that we may write and search but not read is good enough", async () => {
  chmodSync(path, 0o666);
  chmodSync(folder, 0o333);
  expect(await asOrdinaryUser(() => commit())).toBe(0o666);
  chmodSync(folder, 0o755);
  expect(readFileSync(path, "utf8")).toBe("new");
});

test("owner and group of the old file are kept by a process that may set them", async () => {
  verifies("CODE-4");
  const [uid, gid] = isRoot ? [ORDINARY_USER, ORDINARY_USER] : [process.getuid!(), lastOwnGroup()];
  chownSync(path, uid, gid);
  chmodSync(path, 0o640);
  expect(await commit()).toBe(0o640);
  expect(statSync(path)).toMatchObject({ uid, gid });
});

test("where the group cannot be kept its rights are not given to another", async () => {
  chmodSync(folder, 0o777);
  const bits: number[] = [];
  for (const mode of [0o676, 0o670, 0o604, 0o777, 0o640]) {
    const stats = statSync(path, { bigint: true });
    const like = Object.assign(stats, { uid: 0n, gid: 54_321n, mode: BigInt(0o100_000 | mode) });
    bits.push(await asOrdinaryUser(() => modeOfTemporaryFile(like)));
  }
  expect(bits).toEqual([0o666, 0o600, 0o604, 0o777, 0o600]);
});

test("where only the group can be kept it is", async () => {
  chmodSync(folder, 0o777);
  const stats = statSync(path, { bigint: true });
  const gid = BigInt(process.getegid!());
  const like = Object.assign(stats, { uid: 54_321n, gid, mode: 0o100_660n });
  expect(await asOrdinaryUser(() => modeOfTemporaryFile(like))).toBe(0o660);
});

async function modeOfTemporaryFile(like: BigIntStats): Promise<number> {
  const directory = await openDirectory(folder);
  const rights = { like, mode: undefined };
  const file = await writeTemporaryFile(directory, "a", Buffer.from("new"), rights);
  const { mode } = await file.handle.stat();
  await file.discard();
  await directory.close();
  return mode & 0o7777;
}

function lastOwnGroup(): number {
  return process.getgroups!().at(-1) ?? process.getgid!();
}
