import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createPins, openPinFile } from "./pins.ts";

describe("the file of pins", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "soong-pins-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test("is the owner's alone, whole, and read again by the next process", async () => {
    verifies("MCP-7");
    const path = join(folder, "deep", "mcp-pins.json");
    const pins = await createPins(openPinFile(path));
    const tool = { name: "log", input_schema: { type: "object" } };
    await Promise.all([pins.allow("git", tool), pins.allow("files", tool)]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, "deep"))).toEqual(["mcp-pins.json"]);
    const again = await createPins(openPinFile(path));
    expect(again.check("git", tool).kind).toBe("same");
    expect(again.check("files", tool).kind).toBe("same");
  });

  test("keeps what several processes pin at once", async () => {
    verifies("MCP-7");
    const path = join(folder, "mcp-pins.json");
    const all = await Promise.all(Array.from({ length: 8 }, () => createPins(openPinFile(path))));
    const toolOf = (index: number) => ({ name: `tool-${index}`, input_schema: {} });
    await Promise.all(all.map((pins, index) => pins.allow("git", toolOf(index))));
    const { servers } = (await openPinFile(path).load()) as { servers: { git: object } };
    expect(Object.keys(servers.git)).toHaveLength(8);
    expect(await readdir(folder)).toEqual(["mcp-pins.json"]);
  });

  test("that is broken is an error with its name, and nothing is written over it", async () => {
    const path = join(folder, "mcp-pins.json");
    await writeFile(path, "{");
    await expect(createPins(openPinFile(path))).rejects.toThrow(`${path} is not JSON`);
    expect(await readFile(path, "utf8")).toBe("{");
  });

  test("that cannot be written leaves nothing behind", async () => {
    const path = join(folder, "mcp-pins.json");
    const pins = await createPins(openPinFile(path));
    const tool = { name: "log", input_schema: {} };
    // A folder in its place: no one can rename a file onto it, or read it.
    await mkdir(path);
    await expect(openPinFile(path).save({ version: 1, servers: {} })).rejects.toThrow(
      `${path} cannot be written`,
    );
    await expect(pins.allow("git", tool)).rejects.toThrow(`${path} cannot be read`);
    expect(await readdir(folder)).toEqual(["mcp-pins.json"]);
    await rmdir(path);
    await pins.allow("git", tool);
    expect(pins.check("git", tool).kind).toBe("same");
  });
});
