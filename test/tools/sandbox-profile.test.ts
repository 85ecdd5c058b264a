// What cannot be looked at is not taken for harmless (CMD-6): a command may be its owner, and open it.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileSensitivePaths } from "@soong/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import { profileOfCommand } from "../../packages/tools/src/sandbox/profile-of-command.ts";
import { asOrdinaryUser } from "./path-ordinary-user.ts";

let project: string;
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "soong-profile-")));
  chmodSync(project, 0o755);
});
afterEach(() => rmSync(project, { recursive: true }));

function write(path: string | Buffer, text = ""): void {
  writeFileSync(path, text);
}

function profileHere(named: readonly string[] = []) {
  const sensitiveBy = compileSensitivePaths({ project });
  return profileOfCommand(
    {
      command: { kind: "command", executable: "/bin/sh", argv: ["sh"], cwd: project },
      resources: named.map((path) => ({ kind: "path", path, access: "read" })),
      choice: {
        mode: "on",
        by: "test",
        roots: [project],
        hosts: [],
        hostRefusal: () => undefined,
      },
      programs: [],
      home: project,
    },
    {
      sensitiveBy,
      restrictedBy(path) {
        const by = sensitiveBy(path);
        return by === undefined ? undefined : { kind: "sensitive", decision: "ask", by };
      },
      restrictedGlobs: () => sensitiveBy.globs,
    },
    new AbortController().signal,
  );
}

test.for([0o711, 0o744, 0o700])(
  "a directory of mode %o is masked, also where the call names it",
  async (mode) => {
    verifies("CMD-6", "PATH-3");
    const closed = join(project, "a/closed");
    mkdirSync(closed, { recursive: true });
    write(join(closed, ".env"));
    chmodSync(closed, mode);
    const { profile } = await asOrdinaryUser(() => profileHere([closed]));
    expect(profile.masked).toContain(closed);
  },
);

test("in a root that cannot be listed nothing is run", async () => {
  verifies("CMD-6");
  chmodSync(project, 0o711);
  await expect(asOrdinaryUser(() => profileHere())).rejects.toThrow("cannot be listed");
});

test.for([
  ["worktrees", 0o711],
  ["worktrees/one", 0o744],
  ["modules", 0o711],
  ["modules/one", 0o700],
] as const)("of a git directory whose %s cannot be listed it is kept", async ([name, mode]) => {
  verifies("CMD-6");
  const git = join(project, ".git");
  const files = ["HEAD", "config", "worktrees/one/commondir", "modules/one/HEAD"];
  for (const file of files) {
    mkdirSync(dirname(join(git, file)), { recursive: true });
    write(join(git, file));
  }
  mkdirSync(join(git, "hooks"));
  chmodSync(join(git, name), mode);
  const { profile } = await asOrdinaryUser(() => profileHere());
  expect(profile.fixed).toContain(join(git, name));
});

test("a secret whose path is not UTF-8 cannot be masked, so nothing is run", async () => {
  verifies("CMD-6", "PATH-3");
  const folder = Buffer.from(`${project}/caf\xE9`, "latin1");
  mkdirSync(folder);
  write(Buffer.concat([folder, Buffer.from("/plain")]));
  await expect(profileHere()).resolves.toBeDefined();
  write(Buffer.concat([folder, Buffer.from("/.env")]));
  await expect(profileHere()).rejects.toThrow("not UTF-8");
});

test("a file that is both sensitive and run by other programs is kept, also where git has its content", async () => {
  verifies("CMD-6", "PATH-6");
  write(join(project, ".npmrc"), "registry=https://example.org\n");
  for (const args of [
    ["init", "-q"],
    ["add", ".npmrc"],
  ]) {
    execFileSync("git", args, { cwd: project });
  }
  const { profile } = await profileHere();
  expect(profile.masked).not.toContain(join(project, ".npmrc"));
  expect(profile.fixed).toContain(join(project, ".npmrc"));
});

test("a kept file is kept under every name, also among installed packages", async () => {
  verifies("CMD-6", "PATH-6");
  mkdirSync(join(project, "node_modules/one"), { recursive: true });
  write(join(project, "node_modules/one/linked"));
  linkSync(join(project, "node_modules/one/linked"), join(project, ".gdbinit"));
  const { profile } = await profileHere();
  expect(profile.fixed).toContain(join(project, "node_modules/one/linked"));
});
