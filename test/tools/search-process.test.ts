// What becomes of ripgrep's process (CODE-3): ended on abort, heard when it fails, never in the way.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import { openStage, type Stage } from "./search-stage.ts";

let stage: Stage;
let script: string;

beforeEach(async () => {
  stage = await openStage({ search: { locateRipgrep: () => Promise.resolve(script) } });
  stage.plant({ "project/a": "needle" });
  script = join(stage.base, "rg");
});

afterEach(() => stage.close());

function pretend(text: string): void {
  writeFileSync(script, `#!/bin/sh\n${text}\n`);
  chmodSync(script, 0o755);
}

async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !holds(); i += 1) await delay(10);
  expect(holds()).toBe(true);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("an abort ends ripgrep, and the call ends after it", async () => {
  verifies("CODE-3");
  const note = join(stage.base, "pid");
  pretend(`trap '' TERM INT; echo $$ > ${note}.new; mv ${note}.new ${note}; while :; do :; done`);
  const running = stage.call("code.search", { query: "needle" });
  await until(() => existsSync(note));
  const pid = Number(readFileSync(note, "utf8"));
  expect(isAlive(pid)).toBe(true);
  await stage.run.abort("enough");
  const result = await running;
  expect(result.status).toBe("aborted");
  expect(isAlive(pid)).toBe(false);
});

test.each([
  ["echo 'rg: something odd' >&2; exit 2", "something odd"],
  ["exit 0", "ended with 0"],
  ["kill -9 $$", "SIGKILL"],
])("a ripgrep that does %j is a clear error", async (text, said) => {
  verifies("CODE-3");
  pretend(text);
  const result = await stage.call("code.search", { query: "needle" });
  expect(result).toMatchObject({ status: "failed", error: { code: "ripgrep_failed" } });
  expect(result.error?.message).toContain(said);
});

test("a ripgrep that cannot be started is a clear error", async () => {
  verifies("CODE-3");
  const result = await stage.call("code.search", { query: "needle" });
  expect(result).toMatchObject({
    status: "failed",
    error: { code: "ripgrep_failed", error_class: "dependency_unavailable" },
  });
  expect(result.error?.message).toContain("could not be started");
});

test("ripgrep gets no configuration, no environment and no input", async () => {
  verifies("CODE-3");
  const seen = join(stage.base, "seen");
  pretend(
    `{ echo "$1"; env | grep -v '^\\(SOONG_PROCESS\\|PWD\\|SHLVL\\|_\\|OLDPWD\\)='; cat; } > ${seen}; exit 2`,
  );
  await stage.call("code.search", { query: "needle" });
  expect(readFileSync(seen, "utf8")).toBe("--no-config\n");
});

test.each([".gitignore", "deep/down/.gitignore", ".git/info/exclude", ".ignore", ".rgignore"])(
  "a FIFO in the place of %s holds up neither engine",
  async (name) => {
    verifies("PATH-4", "CODE-3");
    const real = await openStage();
    try {
      real.plant({
        "project/a": "needle",
        "project/deep/down/b": "needle",
        "project/.git/HEAD": "",
      });
      mkdirSync(join(real.project, ".git/info"));
      execFileSync("mkfifo", [join(real.project, name)]);
      const found = await real.call("code.search", { query: "needle" });
      expect(found).toMatchObject({ status: "succeeded", data: { files_with_matches: 2 } });
      const listed = await real.call("code.list_dir", { recursive: true, hidden: false });
      expect(listed).toMatchObject({ status: "succeeded" });
    } finally {
      real.close();
    }
  },
);
