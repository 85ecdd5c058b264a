import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../test/any-character.ts";
import type { SearchDocument } from "./search-document.ts";
import { createSearchIndex, type SearchIndex } from "./search-index.ts";

const FILES: SearchDocument[] = [
  {
    name: "code.read_file",
    aliases: ["cat"],
    search_hint: "open show text",
    description: "Reads a text file.",
    parameters: ["path", "line_range"],
    parameter_text: "Location relative to the root",
  },
  { name: "code.write_file", description: "Writes a file.", parameters: ["path", "content"] },
  { name: "code.delete_file", description: "Deletes a file.", parameters: ["path"] },
  {
    name: "mcp.github.create_issue",
    description: "Opens an issue.",
    parameters: ["repo", "title"],
  },
  {
    name: "mcp.weather.getForecast",
    description: "Weather of the coming days.",
    tags: ["network"],
  },
  { name: "internal.load_skill", description: "加载一个技能并读取它的说明" },
];

const names = (index: SearchIndex, query: string, limit = 5) =>
  index.search(query, { limit }).map(({ tool_name }) => tool_name);

const reasons = (index: SearchIndex, query: string) =>
  index.search(query, { limit: 1 })[0]?.reasons;

describe("ranking", () => {
  const index = createSearchIndex(FILES);

  test("finds tools by parts of names, hints, descriptions and parameters, and says where", () => {
    verifies("SEARCH-2");
    expect(reasons(index, "read files")).toEqual(["name: read, files"]);
    expect(reasons(index, "open text")).toEqual(["hint: open, text"]);
    expect(reasons(index, "coming days")).toEqual(["description: coming, days"]);
    expect(reasons(index, "content")).toEqual(["parameter: content"]);
    expect(reasons(index, "location")).toEqual(["parameter: location"]);
    expect(reasons(index, "network")).toEqual(["tag: network"]);
    expect(reasons(index, "cat file")).toEqual(["name: cat, file"]);
  });

  test("says which word it took for another", () => {
    verifies("SEARCH-2");
    expect(reasons(index, "erase file")).toEqual(["name: file", "synonym: erase→delete"]);
    expect(reasons(index, "wheather")).toEqual(["typo: wheather→weather"]);
    expect(reasons(index, "forec")).toEqual(["prefix: forec→forecast"]);
  });

  test("weighs name over hint over description over parameters", () => {
    verifies("SEARCH-2");
    const description = "Does something else that this sentence explains in plain words";
    const fields = createSearchIndex([
      { name: "d.one", description, parameters: ["zebra"] },
      { name: "c.two", description: `${description} about a zebra` },
      { name: "b.six", description, search_hint: "zebra" },
      { name: "a.zebra_ten", description },
    ]);
    expect(names(fields, "zebra")).toEqual(["a.zebra_ten", "b.six", "c.two", "d.one"]);
  });

  test("prefers the tool whose whole name was asked for", () => {
    const similar = createSearchIndex([
      { name: "a.create_issue_comment_reaction", description: "Makes one." },
      { name: "b.create_issue_draft", description: "Makes one." },
      { name: "c.issues_create", description: "Makes one." },
    ]);
    expect(names(similar, "create issue")[0]).toBe("c.issues_create");
  });

  test("gives scores between 0 and 1 that fall, and equal ones by name", () => {
    const twins = createSearchIndex([
      { name: "b.copy", description: "same" },
      { name: "a.copy", description: "same" },
      { name: "c.copy", description: "same" },
    ]);
    const found = twins.search("same copying", { limit: 9 });
    expect(found.map(({ tool_name }) => tool_name)).toEqual(["a.copy", "b.copy", "c.copy"]);
    expect(new Set(found.map(({ score }) => score)).size).toBe(1);
    const scores = index.search("read a file path", { limit: 9 }).map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
  });

  test("finds a Chinese description by a Chinese query", () => {
    expect(names(index, "读取技能说明")[0]).toBe("internal.load_skill");
    expect(names(index, "技")).toEqual(["internal.load_skill"]);
  });

  test("returns no more than the limit and only what the filter accepts", () => {
    verifies("SEARCH-2");
    const accepted = index.search("file", {
      limit: 9,
      filter: (name) => name !== "code.read_file",
    });
    expect(accepted.map(({ tool_name }) => tool_name).toSorted()).toEqual([
      "code.delete_file",
      "code.write_file",
    ]);
    expect(index.search("cat", { limit: 9, filter: () => false })).toEqual([]);
    expect(names(index, "file", 2)).toHaveLength(2);
    for (const limit of [0, -1, NaN]) expect(names(index, "code.read_file", limit)).toEqual([]);
    expect(names(index, "file", Infinity)).toHaveLength(3);
    expect(names(index, "file", 1.5)).toHaveLength(1);
  });
});

describe("exact names", () => {
  const decoys = Array.from({ length: 200 }, (_, at) => ({
    name: `x${at}.read_file_code`,
    search_hint: "code read file cat",
    description: "code read file cat ".repeat(5),
  }));
  const index = createSearchIndex([...decoys, ...FILES]);

  test.each([
    "code.read_file",
    "CODE.Read_File",
    "  code.read_file\n",
    "code read file",
    "code__read_file",
    "codeReadFile",
    "cat",
    "CAT",
    "read_file",
    "read file",
    "ReadFile",
  ])("ranks code.read_file first for %j", (query) => {
    verifies("SEARCH-5");
    const [first] = index.search(query, { limit: 3 });
    expect(first).toMatchObject({ tool_name: "code.read_file", score: 1 });
    expect(first?.reasons[0]).toMatch(/^exact (name|alias): /);
  });

  test("prefers the name as written, then its case, then an alias, then other separators", () => {
    const alike = createSearchIndex([
      { name: "a.b_c", description: "" },
      { name: "A.B_C", description: "" },
      { name: "x.y", aliases: ["a.B_c"], description: "" },
      { name: "ab.c", description: "" },
      { name: "z.abc", description: "" },
    ]);
    expect(names(alike, "a.b_c")).toEqual(["a.b_c", "A.B_C", "x.y", "ab.c", "z.abc"]);
  });

  test("holds for every tool, with any name and beside any others", () => {
    verifies("SEARCH-5");
    const part = fc.constantFrom(
      "get",
      "file",
      "the",
      "can",
      "readFile",
      "x",
      "v2",
      "__proto__",
      "工具",
      "_",
    );
    const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 30 }), (all) => {
        const many = createSearchIndex(
          all.map((each) => ({ name: each, description: all.join(" ") })),
        );
        for (const each of all) expect(names(many, each, 1)).toEqual([each]);
      }),
    );
  });
});

describe("updates", () => {
  test("replaces a tool of the same name, and forgets what is removed", () => {
    const index = createSearchIndex(FILES);
    index.add({ name: "code.read_file", description: "Now about zebras." });
    expect(index.size).toBe(FILES.length);
    expect(names(index, "zebra")).toEqual(["code.read_file"]);
    expect(names(index, "cat")).toEqual([]);
    expect(index.remove("code.read_file")).toBe(true);
    expect(index.remove("code.read_file")).toBe(false);
    expect(index.size).toBe(FILES.length - 1);
    expect(names(index, "zebra")).toEqual([]);
    expect(names(index, "code.read_file")).not.toContain("code.read_file");
  });

  test("rank like an index built in one go, after any sequence of them", () => {
    verifies("SEARCH-2");
    const word = fc.constantFrom(
      ..."read write file files delete remove list issue issues create calendar calender search the path 文件 GitHub v2".split(
        " ",
      ),
    );
    const phrase = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));
    const document = fc.record({
      name: fc.tuple(fc.constantFrom("a", "b"), word, word).map((parts) => parts.join(".")),
      description: phrase,
      search_hint: phrase,
      parameters: fc.array(word, { maxLength: 3 }),
      aliases: fc.array(word, { maxLength: 1 }),
    });
    const change = fc.oneof(
      { weight: 3, arbitrary: document.map((added) => ({ kind: "add" as const, added })) },
      { weight: 2, arbitrary: fc.nat().map((which) => ({ kind: "remove" as const, which })) },
    );
    const query = fc.oneof(
      phrase,
      fc.constantFrom("serach", "fil", "calend", "erase", "git hub", "读文件"),
    );
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 60 }),
        fc.array(query, { maxLength: 8 }),
        (changes, queries) => {
          const index = createSearchIndex();
          const held = new Map<string, SearchDocument>();
          for (const next of changes) {
            if (next.kind === "add") {
              index.add(next.added);
              held.delete(next.added.name);
              held.set(next.added.name, next.added);
            } else {
              const name = [...held.keys()][next.which % Math.max(1, held.size)] ?? "none";
              expect(index.remove(name)).toBe(held.delete(name));
            }
          }
          const fresh = createSearchIndex([...held.values()].toReversed());
          expect(index.size).toBe(fresh.size);
          for (const text of queries) {
            expect(ranking(index, text)).toEqual(ranking(fresh, text));
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("bad queries", () => {
  const index = createSearchIndex(FILES);

  test.each([
    ["nothing", ""],
    ["blanks", " \n\t "],
    ["signs", "?!… --- …"],
    ["a lone surrogate", "\ud800 \udfff"],
    ["a NUL", "\u0000"],
    ["a word of objects", "__proto__ constructor hasOwnProperty toString"],
    ["a regular expression", "(a+)+$ .* [z-a]"],
  ])("finds nothing in %s", (_what, query) => {
    expect(names(index, query)).toEqual([]);
  });

  test("of only stop words match names at most", () => {
    expect(names(index, "can you please do this for me")).toEqual([]);
  });

  test("of a megabyte are read at their start", () => {
    expect(names(index, "read file ".repeat(100_000))[0]).toBe("code.read_file");
    expect(names(index, "x".repeat(1_000_000))).toEqual([]);
    expect(names(index, "\u0301".repeat(1_000_000))).toEqual([]);
  });

  test("of any text give matches in order, and tools may be named like members of objects", () => {
    const odd = createSearchIndex(
      ["__proto__", "constructor", "toString"].map((name) => ({ name, description: name })),
    );
    expect(names(odd, "__proto__")[0]).toBe("__proto__");
    expect(names(odd, "constructor")[0]).toBe("constructor");
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (query) => {
        const scores = index.search(query, { limit: 9 }).map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      }),
    );
  });
});

function ranking(index: SearchIndex, query: string) {
  return index.search(query, { limit: 10 }).map(({ tool_name, score }) => ({ tool_name, score }));
}
