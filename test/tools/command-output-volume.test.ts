// CMD-2, RESULT-6: much output through the whole pipeline, with artifacts on a real disk.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { verifies } from "#laws";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { NODE_BUNDLE } from "../node-bundle.ts";

const execute = promisify(execFile);

test("a gigabyte of output costs neither memory nor the run: its ends are shown, all of it is kept", async () => {
  verifies("CMD-2", "RESULT-6", "ART-1", "ART-2");
  const megabytes = process.env["SOONG_TEST_FULL"] === "1" ? 1024 : 160;
  // Inside the repository, so that it finds the installed packages.
  const folder = join(".cache", `volume-${process.pid}`);
  await mkdir(folder, { recursive: true });
  try {
    const outfile = join(folder, "runtime.mjs");
    await build({
      ...NODE_BUNDLE,
      entryPoints: ["test/tools/output-volume-runtime.ts"],
      outfile,
      packages: "external",
    });
    const { stdout } = await execute(process.execPath, [outfile, script(megabytes)]);
    const told = JSON.parse(stdout) as Record<string, unknown>;
    expect(told).toMatchObject({ status: "succeeded", begins: true, ends: true });
    expect(told["shown_bytes"]).toBeLessThanOrEqual(64 * 1024);
    expect(told["artifacts"]).toMatchObject([expectedOutput(megabytes)]);
    expect(told["above_idle"]).toBeLessThan(100 * 1024 * 1024);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

const MEGABYTE = 1_000_000;

function script(megabytes: number): string {
  return `echo first; yes line | head -c ${megabytes * MEGABYTE}; echo last`;
}

/** What that prints, made another way. */
function expectedOutput(megabytes: number): { size: number; sha256: string } {
  const hash = createHash("sha256").update("first\n");
  const megabyte = "line\n".repeat(MEGABYTE / 5);
  for (let i = 0; i < megabytes; i += 1) hash.update(megabyte);
  return { size: 11 + megabytes * MEGABYTE, sha256: hash.update("last\n").digest("hex") };
}
