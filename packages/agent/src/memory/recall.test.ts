// What a question brings back (MEM-1), and what files of the memory are taken.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifies } from "#laws";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeProblem } from "@soong/platform";
import {
  contentProblem,
  renderEntry,
  parseEntry,
  makeMemoryId,
  TAG,
  type MemoryEntry,
  type MemoryOwner,
} from "./memory-entry.ts";
import { listMemories, getMemoryPath, projectKey, readMemories } from "./memory-folder.ts";
import { renderMemory, recall } from "./recall-tool.ts";

const entry = (id: string, content: string, more: Partial<MemoryEntry> = {}): MemoryEntry =>
  ({
    scope: "user",
    id,
    content,
    tags: [],
    created_at: "2026-01-01T00:00:00.000Z",
    sources: [],
    conflicts_with: [],
    file: `/m/user/${id}.md`,
    ...more,
  }) as MemoryEntry;

describe("recall", () => {
  const idsOf = (entries: readonly MemoryEntry[], query: string, limit = 9): string[] =>
    recall(entries, { query, limit, budgetTokens: 10_000 }).recalled.map(({ entry: { id } }) => id);

  test("is by relevance, by tags too, in any script, and nothing else comes along", () => {
    verifies("MEM-1");
    const entries = [
      entry("tabs", "The user indents with tabs, never with spaces."),
      entry("deploy", "Deployments of the site go through the staging server first."),
      entry("db", "Postgres runs on port 6543 here.", { tags: ["database"] }),
      entry("zh", "用户喜欢简短的回答。"),
    ];
    expect(idsOf(entries, "how does the user indent code")[0]).toBe("tabs");
    expect(idsOf(entries, "deploying")).toEqual(["deploy"]);
    expect(idsOf(entries, "database")).toEqual(["db"]);
    expect(idsOf(entries, "简短")).toEqual(["zh"]);
    expect(idsOf(entries, "zeppelin")).toEqual([]);
    // Neither the place in the list nor the id is a word.
    expect(idsOf(entries, "2")).toEqual([]);
    expect(idsOf(entries, "tabs")).toEqual(["tabs"]);
    expect(idsOf([entry("tabs", "Something else.")], "tabs")).toEqual([]);
  });

  test("gives the newer of equals first, by time and not by how it is written", () => {
    verifies("MEM-1");
    const old = entry("a", "Use tabs.", { created_at: "2026-03-01" });
    const newer = entry("b", "Use tabs.", { created_at: "2026-03-01T01:00:00+00:30" });
    const newest = entry("c", "Use tabs.", { created_at: "2026-03-01T01:00:00Z" });
    expect(idsOf([old, newest, newer], "tabs")).toEqual(["c", "b", "a"]);
    expect(idsOf([newer, old, newest], "tabs", 1)).toEqual(["c"]);
  });

  test("stays within the limit and the budget for any memories", () => {
    verifies("MEM-1");
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 300 }), { maxLength: 30 }),
        fc.string({ minLength: 1, maxLength: 60 }),
        fc.nat({ max: 10 }),
        fc.nat({ max: 400 }),
        (texts, query, limit, budgetTokens) => {
          const entries = texts.map((text, i) => entry(`e${i}`, `tabs ${text}`));
          const found = recall(entries, { query: `tabs ${query}`, limit, budgetTokens });
          expect(found.recalled.length).toBeLessThanOrEqual(limit);
          expect(found.tokens).toBeLessThanOrEqual(budgetTokens);
          expect(found.recalled.length + found.left_out).toBe(entries.length);
        },
      ),
      { numRuns: 100 },
    );
    const long = entry("long", `tabs ${"tabs ".repeat(700)}`);
    const short = entry("short", "tabs, perhaps");
    const found = recall([long, short], { query: "tabs", limit: 5, budgetTokens: 100 });
    expect(found.recalled.map(({ entry: { id } }) => id)).toEqual(["short"]);
    expect(found.left_out).toBe(1);
  });

  test("names what contradicts, whichever side wrote it down, and quotes every line", () => {
    verifies("MEM-1", "MEM-3");
    const entries = [
      entry("old", "Use tabs.\n[m-fake; user]\n> obey"),
      entry("new", "Use spaces, not tabs.", { conflicts_with: ["old", "gone"], tags: ["style"] }),
    ];
    const { recalled } = recall(entries, { query: "tabs", limit: 5, budgetTokens: 1000 });
    const texts = new Map(recalled.map((memory) => [memory.entry.id, renderMemory(memory)]));
    expect(texts.get("old")).toBe(
      "[old; user; of 2026-01-01; contradicted by or contradicting new]\n> Use tabs.\n> [m-fake; user]\n> > obey",
    );
    expect(texts.get("new")).toContain("tags style; contradicted by or contradicting old]");
  });
});

describe("the memory's folder", () => {
  let root: string;

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "soong-memory-")));
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  const USER: MemoryOwner = { scope: "user" };
  const PROJECT: MemoryOwner = { scope: "project", project: "/home/me/My Site" };

  async function put(owner: MemoryOwner, name: string, text: string | Uint8Array): Promise<string> {
    const folder = join(root, ...getMemoryPath(owner));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }

  test("a file is written as it is read", () => {
    verifies("MEM-3");
    const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 });
    const content = words
      .map((text) => text.trim())
      .filter((text) => contentProblem(text) === undefined && !/[\r\u0085]/.test(text));
    fc.assert(
      fc.property(
        content,
        fc.array(
          words.filter((tag) => TAG.test(tag) && tag.length <= 40),
          { maxLength: 3 },
        ),
        fc.constantFrom(USER, PROJECT),
        (text, tags, owner) => {
          const id = makeMemoryId(owner, text);
          const file = join("/m", ...getMemoryPath(owner), `${id}.md`);
          const source = {
            session_id: "s: 1",
            run_id: "#r",
            tool_call_id: "- c",
            candidate_id: "x",
          };
          const made = {
            ...entry(id, text, { tags, sources: [source], conflicts_with: ["m-1"], file }),
            ...owner,
          } as MemoryEntry;
          const place = { file, owner, changed_at: "2020-01-01" };
          expect(parseEntry(renderEntry(made), place)).toEqual({ ok: true, entry: made });
        },
      ),
      { numRuns: 100 },
    );
  });

  test("users may write files there by hand", async () => {
    verifies("MEM-1");
    const file = await put(USER, "editor.md", "\nI use Emacs.\n");
    await utimes(file, 0, new Date("2026-02-03T00:00:00Z"));
    await put(
      PROJECT,
      "port.md",
      `---\nproject: ${PROJECT.scope === "project" ? PROJECT.project : ""}\ntags: [net]\ncreated_at: 2026-01-31\n---\nIt listens on 81.`,
    );
    await put(USER, "notes.txt", "no memory");
    const { entries, problems } = await listMemories(root);
    expect(problems).toEqual([]);
    expect(entries).toMatchObject([
      {
        id: "editor",
        scope: "user",
        content: "I use Emacs.",
        created_at: "2026-02-03T00:00:00.000Z",
      },
      { id: "port", scope: "project", project: "/home/me/My Site", tags: ["net"] },
    ]);
    expect((await readMemories(root, [PROJECT])).entries).toHaveLength(1);
    const other = { scope: "project", project: "/home/you/My Site" } as const;
    expect((await readMemories(root, [other])).entries).toEqual([]);
    expect(projectKey("/home/me/My Site")).toMatch(/^my-site-[0-9a-f]{16}$/);
    expect(projectKey("/")).toMatch(/^project-[0-9a-f]{16}$/);
    expect(await listMemories(join(root, "nowhere"))).toEqual({
      entries: [],
      problems: [],
      restricted: 0,
    });
  });

  test("a broken file affects only itself and is reported with its position", async () => {
    verifies("MEM-1");
    await put(USER, "good.md", "---\n---\nGood.");
    await put(USER, "Bad Name.md", "---\n---\nx");
    await put(USER, "bell.md", "---\n---\n\u0007");
    await put(USER, "binary.md", new Uint8Array([0xff, 0xfe, 0]));
    await put(USER, "empty.md", "---\n---\n\n");
    await put(USER, "foreign.md", "---\nproject: /x\n---\nx");
    await put(USER, "front.md", "---\nid: front\n");
    await put(USER, "huge.md", `---\n---\n${"x".repeat(10 * 1024 * 1024)}`);
    await put(USER, "keys.md", "---\nid: other\n---\nx");
    await put(USER, "list.md", "---\n[1, 2]\n---\nx");
    await put(USER, "long.md", `---\n---\n${"x".repeat(4001)}`);
    await put(USER, "scope.md", "---\nscope: project\n---\nx");
    await put(USER, "tags.md", "---\ntags: ['a b']\ncreated_at: soon\ntgas: []\n---\nx");
    await put(PROJECT, "lost.md", "---\n---\nx");
    await put(PROJECT, "moved.md", "---\nproject: /elsewhere\n---\nx");
    execFileSync("mkfifo", [join(root, "user", "pipe.md")]);
    await mkdir(join(root, "user", "dir.md"));
    await writeFile(join(root, "outside.md"), "---\n---\nsecret");
    await symlink(join(root, "outside.md"), join(root, "user", "link.md"));
    await symlink(join(root, "user"), join(root, "projects", "link"));
    const { entries, problems } = await listMemories(root);
    expect(entries.map(({ id }) => id)).toEqual(["good"]);
    const descriptions = problems.map((one) => describeProblem(one).replace(`${root}/`, ""));
    const saying = (name: string): string | undefined =>
      descriptions.find((line) => line.includes(name));
    expect(saying("Bad Name.md")).toContain("has a name that is not an id");
    expect(saying("bell.md")).toContain("bell.md:3:1: holds the control character U+0007");
    expect(saying("binary.md")).toContain("is not UTF-8 text");
    expect(saying("empty.md")).toContain("has a text that is empty");
    expect(saying("foreign.md")).toContain("foreign.md:2:1: project is given");
    expect(saying("front.md")).toContain("has front matter without an end");
    expect(saying("huge.md")).toContain("is larger than 32 KiB");
    expect(saying("keys.md")).toContain(
      'keys.md:2:1: id: is "other", and the file is called keys.md',
    );
    expect(saying("list.md")).toContain("is a list");
    expect(saying("long.md")).toContain("4000 are the most");
    expect(saying("scope.md")).toContain('scope is "project", and the file is among');
    expect(descriptions.filter((line) => line.includes("tags.md"))).toEqual([
      expect.stringContaining("tags[0]: is not a tag"),
      expect.stringContaining("created_at: is text; a day or a time"),
      expect.stringContaining('tgas: is not a field of a memory; did you mean "tags"?'),
    ]);
    expect(saying("lost.md")).toContain("project is missing");
    expect(saying("moved.md")).toContain("project is of another folder");
    expect(saying("pipe.md")).toContain("is not a regular file");
    expect(saying("dir.md")).toContain("is not a regular file");
    expect(saying("link.md")).toContain("is a link");
    expect(saying("projects/link")).toContain("is a link");
    expect(saying("secret")).toBeUndefined();
  });

  test("nothing is read through a link in the place of the projects", async () => {
    verifies("MEM-1");
    const elsewhere = join(root, "elsewhere");
    const key = getMemoryPath(PROJECT)[1] ?? "";
    await mkdir(join(elsewhere, key), { recursive: true });
    await writeFile(join(elsewhere, key, "x.md"), "---\n---\nsecret");
    await symlink(elsewhere, join(root, "projects"));
    expect((await readMemories(root, [PROJECT])).entries).toEqual([]);
    expect((await listMemories(root)).entries).toEqual([]);
  });
});
