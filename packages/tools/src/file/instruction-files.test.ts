import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asOrdinaryUser } from "../../../../test/tools/path-ordinary-user.ts";
import { instructionFiles } from "./instruction-files.ts";

let base: string;
let project: string;
let user: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "soong-instructions-")));
  project = join(base, "project");
  user = join(base, "home");
  mkdirSync(project);
  mkdirSync(user);
  chmodSync(base, 0o755);
});

afterEach(() => {
  rmSync(base, { recursive: true });
});

const load = (more: object = {}, redact = (text: string) => text) =>
  instructionFiles({ project, user, ...more })(redact);

test("the user's file comes before the project's, AGENTS.md before CLAUDE.md, in each place", async () => {
  verifies("INSTR-2");
  writeFileSync(join(user, "CLAUDE.md"), "of the user");
  writeFileSync(join(project, "AGENTS.md"), "\uFEFFof the project\r\n");
  writeFileSync(join(project, "CLAUDE.md"), "not this one");
  expect(await load()).toEqual({
    files: [
      { origin: "user", path: join(user, "CLAUDE.md"), text: "of the user", bytes: 11, cut: false },
      {
        origin: "project",
        path: join(project, "AGENTS.md"),
        text: "of the project\r\n",
        bytes: 19,
        cut: false,
      },
    ],
    skipped: [],
  });
});

test("where there is none there is nothing, and directories above are not looked at", async () => {
  verifies("INSTR-2");
  mkdirSync(join(project, ".git"));
  writeFileSync(join(project, "AGENTS.md"), "of the root");
  mkdirSync(join(project, "part"));
  expect(await load({ project: join(project, "part") })).toEqual({ files: [], skipped: [] });
  expect(await instructionFiles({})((text) => text)).toEqual({ files: [], skipped: [] });
});

test("a link within the project is followed, one that leads out or to a secret is not", async () => {
  verifies("INSTR-2", "PATH-3");
  writeFileSync(join(project, "guide.md"), "the guide");
  symlinkSync("guide.md", join(project, "AGENTS.md"));
  expect(await load()).toMatchObject({
    files: [{ origin: "project", path: join(project, "guide.md"), text: "the guide" }],
  });

  const secret = join(base, "outside.md");
  writeFileSync(secret, "outside");
  writeFileSync(join(project, ".env"), "KEY=1");
  writeFileSync(join(project, "own.secret"), "2");
  writeFileSync(join(project, "CLAUDE.md"), "not a stand-in for what is refused");
  for (const [target, why] of [
    [secret, `it leads out of the project, to ${JSON.stringify(secret)}`],
    ["../outside.md", `it leads out of the project, to ${JSON.stringify(secret)}`],
    [".env", "it leads to a sensitive file (.env)"],
    ["own.secret", "it leads to a sensitive file (*.secret)"],
  ] as const) {
    rmSync(join(project, "AGENTS.md"));
    symlinkSync(target, join(project, "AGENTS.md"));
    expect(await load({ sensitivePaths: ["*.secret"] })).toEqual({
      files: [],
      skipped: [{ origin: "project", path: join(project, "AGENTS.md"), why }],
    });
  }

  rmSync(join(project, "AGENTS.md"));
  symlinkSync("nowhere.md", join(project, "AGENTS.md"));
  expect((await load()).files).toMatchObject([{ path: join(project, "CLAUDE.md") }]);
});

test("the user's own link may lead anywhere", async () => {
  verifies("INSTR-2");
  writeFileSync(join(base, "dotfiles.md"), "mine");
  symlinkSync(join(base, "dotfiles.md"), join(user, "AGENTS.md"));
  expect((await load()).files).toMatchObject([{ origin: "user", text: "mine" }]);
});

test("what is no readable text is passed over with the reason, and nothing hangs", async () => {
  verifies("INSTR-2", "PATH-4");
  const path = join(project, "AGENTS.md");
  const whyOf = async () => (await load()).skipped.map(({ why }) => why).join();

  execFileSync("mkfifo", [path]);
  expect(await whyOf()).toContain("is a fifo, not a regular file");
  rmSync(path);
  mkdirSync(path);
  expect(await whyOf()).toContain("is a directory, not a regular file");
  rmSync(path, { recursive: true });
  symlinkSync("AGENTS.md", path);
  expect(await whyOf()).toContain("lead in a circle");
  rmSync(path);
  writeFileSync(path, new Uint8Array([0, 1, 2, 3, 255]));
  expect(await whyOf()).toBe("it is not text");
  writeFileSync(path, " \n\n");
  expect(await whyOf()).toBe("it is empty");
  writeFileSync(path, "");
  expect(await whyOf()).toBe("it is empty");
  writeFileSync(path, "secret", { mode: 0o600 });
  chmodSync(path, 0);
  chmodSync(project, 0o755);
  expect(await asOrdinaryUser(whyOf)).toContain("the operating system refuses access");
});

test("a file of two gigabytes costs no more than its limit, and says that it is cut", async () => {
  verifies("INSTR-2");
  const path = join(project, "AGENTS.md");
  writeFileSync(path, "a".repeat(70_000));
  truncateSync(path, 2 ** 31);
  const { files } = await load();
  expect(files).toMatchObject([{ bytes: 2 ** 31, cut: true }]);
  expect(files[0]?.text).toBe("a".repeat(32 * 1024));
});

test("no cut breaks a character, and none shows a part of a secret", async () => {
  verifies("INSTR-2", "REDACT-1");
  const path = join(project, "AGENTS.md");
  writeFileSync(path, "ä".repeat(40_000));
  expect((await load({ limitBytes: 1001 })).files[0]?.text).toBe("ä".repeat(500));
  writeFileSync(path, Buffer.from(`\uFEFF${"ä".repeat(40_000)}`, "utf16le"));
  expect((await load({ limitBytes: 1001 })).files[0]?.text).toBe("ä".repeat(500));
  writeFileSync(path, `${"x".repeat(95)}5up3r-s3cr3t${"y".repeat(100)}`);
  const redact = (text: string) => text.replaceAll("5up3r-s3cr3t", "[hidden]");
  const { files } = await load({ limitBytes: 100 }, redact);
  expect(files).toMatchObject([{ cut: true, text: `${"x".repeat(95)}[hidd` }]);
  writeFileSync(path, "exactly so");
  expect((await load({ limitBytes: 10 })).files).toMatchObject([{ cut: false, bytes: 10 }]);
});

test.each([
  [{ kind: "rule", decision: "deny", by: "rules[0]" }, "rules[0] restricts reading it"],
  [{ kind: "rule", decision: "ask", by: "rules[1]" }, "rules[1] restricts reading it"],
  [{ kind: "hook", decision: "ask", by: "guard" }, 'the hook "guard" restricts reading it'],
] as const)("a file that %j is about is omitted, with the reason", async (restriction, why) => {
  verifies("PERM-15", "INSTR-2");
  mkdirSync(join(project, "secrets"));
  writeFileSync(join(project, "secrets/real.md"), "the secret");
  symlinkSync("secrets/real.md", join(project, "AGENTS.md"));
  writeFileSync(join(user, "AGENTS.md"), "also secret");
  const loaded = await instructionFiles({ project, user })((text) => text, {
    restrictedBy: (path) =>
      /secrets|home/.test(path.slice(base.length)) ? restriction : undefined,
    restrictedGlobs: () => [],
  });
  expect(loaded.files).toEqual([]);
  expect(loaded.skipped).toEqual([
    { origin: "user", path: join(user, "AGENTS.md"), why },
    { origin: "project", path: join(project, "AGENTS.md"), why },
  ]);
});
