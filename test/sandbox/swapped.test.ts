// CMD-6: a directory that is replaced by a link while a sandbox is set up opens nothing outside. Another command could do so; here
// it happens at the worst moment, after everything was looked at and before anything is mounted.

import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "#laws";
import { openSandbox, startProcess, type Sandbox, type SandboxProfile } from "@soong/platform";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { createFolder, needsSandbox } from "./support.ts";

const sandbox = openSandbox();
afterAll(() => sandbox.close());

let base: string;
beforeEach(() => {
  base = createFolder(process.getuid?.() ?? 0);
  for (const folder of ["project/a", "project/a/b", "outside", "outside/b"]) {
    mkdirSync(join(base, folder), { recursive: true });
    writeFileSync(join(base, folder, "file"), folder);
  }
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const PROFILES: readonly (readonly [string, (project: string) => Partial<SandboxProfile>])[] = [
  ["of a masked file", (project) => ({ writable: [project], masked: [join(project, "a/file")] })],
  ["of a masked directory", (project) => ({ writable: [project], masked: [join(project, "a/b")] })],
  [
    "of a file that is kept",
    (project) => ({ writable: [project], fixed: [join(project, "a/file")] }),
  ],
  ["that is kept", (project) => ({ writable: [project], fixed: [join(project, "a")] })],
  ["that may be written", (project) => ({ writable: [join(project, "a")] })],
];

test.for(PROFILES)("a directory %s becomes a link", async ([, profileIn], context) => {
  verifies("CMD-6");
  needsSandbox(context, sandbox.state());
  const project = join(base, "project");
  const start = (by: Sandbox, script: string, profile: Partial<SandboxProfile>) =>
    startProcess({
      executable: "/bin/sh",
      argv: ["sh", "-c", script],
      cwd: base,
      env: { PATH: "/usr/bin:/bin" },
      sandbox: { by, profile: { writable: [], fixed: [], masked: [], absent: [], ...profile } },
    });
  // There is someone who could do it.
  const other = start(sandbox, "sleep 300", {});
  const swapping: Sandbox = {
    ...sandbox,
    enter(command, profile) {
      const entry = sandbox.enter(command, profile);
      renameSync(join(project, "a"), join(project, "away"));
      symlinkSync("../outside", join(project, "a"));
      return entry;
    },
  };
  const { end } = start(
    swapping,
    "echo x > project/a/new; echo x > outside/new; echo x > outside/b/new; echo x > project/ran",
    profileIn(project),
  );
  await expect(end).rejects.toMatchObject({ error: { code: "sandbox_failed" } });
  expect(readdirSync(join(base, "outside"))).toEqual(["b", "file"]);
  expect(readdirSync(join(base, "outside/b"))).toEqual(["file"]);
  expect(readdirSync(project).toSorted()).toEqual(["a", "away"]);
  await other.stop("abort");
});
