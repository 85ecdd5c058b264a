// A folder for what several test files need and one of them makes: there from the start of a run of tests to its end.
// A run that watches has none, for what is made there would stay as it was when sources change.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

let folder: string | undefined;

export function setup({ config }: TestProject): void {
  if (config.watch) return;
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-shared-")));
  process.env["SOONG_TEST_SHARED"] = folder;
}

export function teardown(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
