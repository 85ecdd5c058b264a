import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { locateRipgrep, ripgrepOnPath } from "./ripgrep.ts";

let base: string;
let project: string;
let real: string;

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "soong-locate-")));
  project = join(base, "project");
  mkdirSync(join(project, "bin"), { recursive: true });
  mkdirSync(join(base, "bin"));
  real = (await locateRipgrep({ project: "/nowhere", write: [] })) ?? "";
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function script(place: string, text: string): void {
  writeFileSync(place, `#!/bin/sh\n${text}\n`);
  chmodSync(place, 0o755);
}

describe("ripgrep on PATH", () => {
  test("is taken where it behaves as expected", async () => {
    verifies("CODE-3");
    symlinkSync(real, join(base, "bin", "rg"));
    const path = `${join(base, "none")}:${join(base, "bin")}`;
    expect(await ripgrepOnPath({ project, write: [] }, path)).toBe(real);
  });

  test("is never one from the project or a write root, also not through a link", async () => {
    verifies("CODE-3");
    const trap = join(base, "started");
    script(join(project, "bin", "rg"), `touch ${trap}`);
    symlinkSync(join(project, "bin", "rg"), join(base, "bin", "rg"));
    const path = `${join(project, "bin")}:${join(base, "bin")}:bin:.:`;
    expect(await ripgrepOnPath({ project, write: [] }, path)).toBeUndefined();
    expect(await ripgrepOnPath({ project: "/nowhere", write: [project] }, path)).toBeUndefined();
    expect(existsSync(trap)).toBe(false);
  });

  test("is not used when it knows other options or reports in another form", async () => {
    verifies("PATH-3");
    script(join(base, "bin", "rg"), "echo 'rg: unrecognized flag' >&2; exit 2");
    expect(await ripgrepOnPath({ project, write: [] }, join(base, "bin"))).toBeUndefined();
  });
});
