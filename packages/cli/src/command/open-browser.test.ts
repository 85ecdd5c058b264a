// How the page is opened: with programs of our own in place of the one that opens browsers.

import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { verifies } from "#laws";
import { openPage } from "./open-browser.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "soong-open-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("the browser is started without the token, which every user could read, and finds it in a file of ours", async () => {
  verifies("UI-1");
  const opened = join(folder, "opened");
  for (const name of ["xdg-open", "open"]) {
    const program = join(folder, name);
    await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$*" >> '${opened}'\n`);
    await chmod(program, 0o755);
  }
  const env = { DISPLAY: ":0", PATH: `${folder}:${process.env["PATH"] ?? ""}` };
  const url = "http://127.0.0.1:4711/#token=a-secret-of-this-test";
  const close = await openPage(url, { cwd: join(folder, "project"), env });
  const given = await vi.waitFor(async () => {
    const text = await readFile(opened, "utf8");
    expect(text).toMatch(/\n$/);
    return text.trim();
  });
  expect(given).not.toContain("a-secret");
  const file = fileURLToPath(given);
  expect((await stat(file)).mode & 0o077).toBe(0);
  expect(await readFile(file, "utf8")).toContain(`content="0; url=${url}"`);
  await close();
  await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
});
