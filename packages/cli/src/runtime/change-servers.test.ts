import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeServers, planServerChanges } from "./change-servers.ts";
import { SetupError } from "./home.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "servers-"));
});
afterEach(() => rm(home, { recursive: true }));

const file = () => join(home, "mcp.json");

test("an entry is written into a file that is not there yet, readable by its owner only", async () => {
  await changeServers(home, {}, { git: { command: "git-server", args: ["--stdio"] } });
  expect(JSON.parse(await readFile(file(), "utf8"))).toEqual({
    mcpServers: { git: { command: "git-server", args: ["--stdio"] } },
  });
  expect((await stat(file())).mode & 0o777).toBe(0o600);
});

test("comments and other entries stay, and an entry is removed again", async () => {
  const before = `{\n  // mine\n  "mcpServers": {\n    "a": { "command": "a" } // first\n  }\n}\n`;
  await writeFile(file(), before);
  await changeServers(home, {}, { b: { url: "https://example.org/mcp" } });
  expect(await readFile(file(), "utf8")).toContain(`"a": { "command": "a" },\n    "b": {`);
  await changeServers(home, {}, { b: undefined });
  const after = await readFile(file(), "utf8");
  expect(after).toContain("// mine");
  expect(after).toContain("// first");
  expect(after).not.toContain("example.org");
});

test("what would not be sound is refused, and nothing is written", async () => {
  await writeFile(file(), "{}\n");
  const bad = { "a.b": { command: "x" } };
  await expect(changeServers(home, {}, bad)).rejects.toThrow(SetupError);
  await expect(planServerChanges(home, {}, { a: {} })).rejects.toThrow('"command"');
  expect(await readFile(file(), "utf8")).toBe("{}\n");
  await writeFile(file(), "{ nonsense");
  await expect(changeServers(home, {}, { a: { command: "x" } })).rejects.toThrow(SetupError);
  expect(await readFile(file(), "utf8")).toBe("{ nonsense");
});

test("processes that write at the same time lose nothing", async () => {
  const ids = Array.from({ length: 8 }, (_, index) => `s${index}`);
  await Promise.all(ids.map((id) => changeServers(home, {}, { [id]: { command: id } })));
  const { mcpServers } = JSON.parse(await readFile(file(), "utf8")) as { mcpServers: object };
  expect(Object.keys(mcpServers).toSorted()).toEqual(ids);
});
