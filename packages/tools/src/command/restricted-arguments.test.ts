import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileSensitivePaths } from "@soong/core";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "#laws";
import { restrictedArguments, type CommandArguments } from "./restricted-arguments.ts";

const ground = realpathSync(mkdtempSync(join(tmpdir(), "soong-sensitive-")));
const home = join(ground, "home");
const project = join(ground, "project");
const sensitiveBy = compileSensitivePaths({ home, project });

function sensitiveArguments(command: CommandArguments, sensitive = sensitiveBy): string[] {
  return restrictedArguments(command, {
    restrictedBy(path) {
      const by = sensitive(path);
      return by === undefined ? undefined : { kind: "sensitive", decision: "ask", by };
    },
    restrictedGlobs: () => [],
  }).named.map(({ path }) => path);
}

beforeAll(() => {
  mkdirSync(join(home, ".ssh"), { recursive: true });
  mkdirSync(join(project, "sub"), { recursive: true });
  for (const name of [".env", "server.pem", "a.txt", "my key.pem"]) {
    writeFileSync(join(project, name), "");
  }
  symlinkSync(join(home, ".ssh"), join(project, "link"));
  symlinkSync(".env", join(project, "innocent"));
  writeFileSync(join(home, ".ssh/config"), "");
});
afterAll(() => rmSync(ground, { recursive: true, force: true }));

test("a sensitive path is found wherever it is in an argument", () => {
  verifies("PATH-3");
  const env = join(project, ".env");
  const found: [string[], string[]][] = [
    [["cat", ".env"], [env]],
    [["cat", "./.env"], [env]],
    [["cat", "sub/../.env"], [env]],
    [["cat", env], [env]],
    [["node", "--env-file=.env", "x.js"], [env]],
    [["git", "show", "HEAD:.env"], [env]],
    [["curl", "-d", "@.env", "x"], [env]],
    [["dd", "if=.env", "of=x"], [env]],
    [["grep", "-f.env", "x"], [env]],
    [["bash", "-c", "cat .env"], [env]],
    [["bash", "-c", "cat<.env>x"], [env]],
    [["bash", "-c", "echo $(cat '.env')|wc"], [env]],
    [["bash", "-c", 'cat ".env";ls'], [env]],
    [["bash", "-c", "cat {a,.env}"], [env]],
    [["bash", "-c", "cat .e\\nv"], [env]],
    [["bash", "-c", "cat .e*"], [env]],
    [["bash", "-c", "cat .en[v]"], [env]],
    [["bash", "-c", "cat .en?"], [env]],
    [["docker", "run", "-v", ".env:/x:ro"], [env]],
    [["python3", "-c", "open('.env').read()"], [env]],
    [["x", "a,b,.env"], [env]],
    [["cat", "my key.pem"], [join(project, "my key.pem")]],
    [
      ["bash", "-c", "cat *.pem"],
      [join(project, "server.pem"), join(project, "my key.pem")],
    ],
    [["bash", "-c", "cat ~/.ssh/config"], [join(home, ".ssh/config")]],
    [["bash", "-c", 'cat "$HOME/.ssh/config"'], [join(home, ".ssh/config")]],
    [["bash", "-c", "cat ${HOME}/.ssh/config"], [join(home, ".ssh/config")]],
    [["cat", "link/config"], [join(home, ".ssh/config")]],
    [["cat", "innocent"], [env]],
    [["cat", "missing/.env"], [join(project, "missing/.env")]],
    [["cat", "*/.env"], [join(project, "*/.env")]],
    [["./deploy.key"], [join(project, "deploy.key")]],
  ];
  for (const [argv, paths] of found) {
    const here = sensitiveArguments({ argv, cwd: project, home }, sensitiveBy);
    expect([argv, here]).toEqual([argv, expect.arrayContaining(paths)]);
  }
});

test("arguments without one name none", () => {
  verifies("PATH-3");
  const harmless = [
    ["ls", "-la"],
    ["cat", "a.txt"],
    ["bash", "-c", "cat *.txt | grep env && echo .environment"],
    ["echo", ""],
    ["git", "log", "--format=%h %s"],
    ["cat", "a\0b"],
    ["x", "y".repeat(100_000)],
  ];
  for (const argv of harmless) {
    expect([argv, sensitiveArguments({ argv, cwd: project, home }, sensitiveBy)]).toEqual([
      argv,
      [],
    ]);
  }
});

test("surroundings never hide a path", () => {
  verifies("PATH-3");
  const border = fc.constantFrom(
    " ",
    "=",
    ":",
    ",",
    "@",
    '"',
    "'",
    ";",
    "|",
    "&",
    "<",
    ">",
    "(",
    ")",
  );
  const text = fc.stringMatching(/^[a-z./-]{0,10}$/);
  const path = fc.constantFrom(".env", "server.pem", "innocent", "link/config", "x/id_rsa");
  fc.assert(
    fc.property(text, border, path, border, text, (before, left, piece, right, after) => {
      const argv = ["x", `${before}${left}${piece}${right}${after}`];
      const found = sensitiveArguments({ argv, cwd: project, home }, sensitiveBy);
      expect(found.length).toBeGreaterThan(0);
      for (const one of found) expect(sensitiveBy(one)).toBeDefined();
    }),
  );
});

test("a script of many words is looked through quickly", () => {
  verifies("PATH-3");
  const words = Array.from({ length: 20_000 }, (_, index) => `word-${index}`);
  const argv = ["bash", "-c", `${words.join(" ")} .env`];
  expect(sensitiveArguments({ argv, cwd: project, home }, sensitiveBy)).toEqual([
    join(project, ".env"),
  ]);
});
