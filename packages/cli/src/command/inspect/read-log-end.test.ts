import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { readLogEnd } from "./read-log-end.ts";

test("the end of a log is whole lines; none is empty, and a link is not followed", async () => {
  verifies("MCP-8");
  const folder = await mkdtemp(join(tmpdir(), "soong-log-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "a.log");
  expect(await readLogEnd(file)).toEqual({ text: "", omitted: 0 });
  await writeFile(file, "first line\nsecond\nthird\n");
  expect(await readLogEnd(file)).toEqual({ text: "first line\nsecond\nthird\n", omitted: 0 });
  expect(await readLogEnd(file, 15)).toEqual({ text: "second\nthird\n", omitted: 11 });
  expect(await readLogEnd(file, 3)).toEqual({ text: "", omitted: 24 });
  await symlink(file, join(folder, "b.log"));
  await expect(readLogEnd(join(folder, "b.log"))).rejects.toMatchObject({ code: "ELOOP" });
});
