import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

import type { ToolFailure } from "@soong/core";
import { afterEach, beforeEach, expect, test } from "vitest";

import { isRoot, ORDINARY_USER } from "../../../../test/tools/path-ordinary-user.ts";
import { defaultLockDirectory, prepareLockDirectory } from "./lock-directory.ts";

let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "soong-home-")));
});

afterEach(() => {
  rmSync(home, { recursive: true });
});

const SHARED = `/tmp/soong-${process.geteuid?.()}/locks`;

test("the default is in the home of the user, even if the environment has another home", () => {
  const before = process.env.HOME;
  process.env.HOME = home;
  try {
    expect([join(userInfo().homedir, ".soong-agent/locks"), SHARED]).toContain(
      defaultLockDirectory(),
    );
  } finally {
    process.env.HOME = before;
  }
  expect(defaultLockDirectory(home)).toBe(join(home, ".soong-agent/locks"));
  mkdirSync(join(home, ".soong-agent/locks"), { recursive: true });
  expect(defaultLockDirectory(home)).toBe(join(home, ".soong-agent/locks"));
});

test("a home that is not there, or not a directory, is passed over for /tmp", () => {
  expect(defaultLockDirectory("/nonexistent/nobody")).toBe(SHARED);
  expect(defaultLockDirectory("/dev/null")).toBe(SHARED);
});

test("a home that cannot be written is passed over for /tmp", () => {
  if (!isRoot) {
    chmodSync(home, 0o555);
    expect(defaultLockDirectory(home)).toBe(SHARED);
    chmodSync(home, 0o755);
  }
  // Root may write anywhere, except below what is no directory.
  writeFileSync(join(home, ".soong-agent"), "");
  expect(defaultLockDirectory(home)).toBe(SHARED);
});

test("a lock directory of another user is refused, and one that another user could replace", async () => {
  const code = (directory: string): Promise<string> =>
    prepareLockDirectory(directory).then(
      () => "fine",
      (error: unknown) => (error as ToolFailure).error.code,
    );
  const locks = join(home, "locks");
  expect(await code(locks)).toBe("fine");
  if (!isRoot) {
    expect(await code("/usr/lib")).toBe("lock_unavailable");
    return;
  }
  chownSync(locks, ORDINARY_USER, ORDINARY_USER);
  expect(await code(locks)).toBe("lock_unavailable");
  expect(statSync(locks).uid).toBe(ORDINARY_USER);
  chownSync(locks, 0, 0);
  chownSync(home, ORDINARY_USER, ORDINARY_USER);
  expect(await code(locks)).toBe("lock_unavailable");
});
