import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readBoundedFile, writeWholeFile } from "./disk.ts";

test("a file is read up to the limit, and not beyond", async () => {
  const folder = mkdtempSync(join(tmpdir(), "soong-disk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "a.txt");
  writeFileSync(file, "12345");
  expect(await readBoundedFile(file, 5)).toMatchObject({
    kind: "file",
    bytes: Buffer.from("12345"),
  });
  expect(await readBoundedFile(file, 4)).toEqual({ kind: "too_large" });
  expect(await readBoundedFile(folder, 5)).toEqual({ kind: "directory" });
  expect(await readBoundedFile("/dev/null", 5)).toEqual({ kind: "special" });
  await expect(readBoundedFile(join(folder, "b.txt"), 5)).rejects.toThrow("ENOENT");
});

// The size of such a file is 0 before it is read, as that of a file that grows meanwhile is too small.
test.runIf(process.platform === "linux")(
  "a file that holds more than its size is read whole, within the limit",
  async () => {
    const read = await readBoundedFile("/proc/self/status", 64 * 1024);
    expect(read.kind === "file" && read.bytes.toString()).toContain("Name:");
    expect(await readBoundedFile("/proc/self/status", 8)).toEqual({ kind: "too_large" });
  },
);

test("a file whose text comes in parts is there whole, or not at all", async () => {
  const folder = mkdtempSync(join(tmpdir(), "soong-disk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const seen: string[][] = [];
  async function* parts(fails: boolean): AsyncGenerator<string, undefined> {
    yield "one\n";
    seen.push(readdirSync(folder).filter((name) => !name.startsWith(".")));
    if (fails) throw new Error("the source is gone");
    yield "two\n";
    return undefined;
  }
  await expect(writeWholeFile(join(folder, "a"), parts(true))).rejects.toThrow("source is gone");
  expect(readdirSync(folder)).toEqual([]);
  await writeWholeFile(join(folder, "a"), parts(false), "new");
  expect(readFileSync(join(folder, "a"), "utf8")).toBe("one\ntwo\n");
  expect(seen).toEqual([[], []]);
  await expect(writeWholeFile(join(folder, "a"), parts(false), "new")).rejects.toMatchObject({
    code: "EEXIST",
  });
  expect(readdirSync(folder)).toEqual(["a"]);
});
