import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { editDistance } from "@soong/schema";
import { stem } from "./stem.ts";
import { Vocabulary } from "./vocabulary.ts";

function vocabularyOf(...stems: string[]) {
  const vocabulary = new Vocabulary();
  for (const stemmed of stems) vocabulary.retain(vocabulary.intern(stemmed, stemmed));
  const near = (word: string) => vocabulary.near(word).map(({ id }) => vocabulary.stemOf(id));
  return { vocabulary, near };
}

describe("the vocabulary", () => {
  test("forgets a stem when the last tool that holds it goes, and gives its number out again", () => {
    const { vocabulary, near } = vocabularyOf("calendar");
    const id = vocabulary.idOf("calendar") ?? -1;
    vocabulary.retain(id);
    vocabulary.release(id);
    expect(vocabulary.idOf("calendar")).toBe(id);
    vocabulary.release(id);
    expect(vocabulary.idOf("calendar")).toBeUndefined();
    expect(near("calendr")).toEqual([]);
    expect(vocabulary.intern("weather", "weather")).toBe(id);
  });

  test("reads a stem by the shortest form it was met in", () => {
    const vocabulary = new Vocabulary();
    const id = vocabulary.intern("delet", "deleting");
    vocabulary.intern("delet", "delete");
    vocabulary.intern("delet", "deletes");
    expect(vocabulary.readable(id)).toBe("delete");
  });

  test("finds stems by their beginning and by slips, at either end too", () => {
    const { near } = vocabularyOf("search", "repository", "calendar", "读取", "取消");
    expect(near("serach")).toEqual(["search"]);
    expect(near("earch")).toEqual(["search"]);
    expect(near("zearch")).toEqual(["search"]);
    expect(near("searc")).toEqual(["search"]);
    expect(near("repo")).toEqual(["repository"]);
    expect(near("celandar")).toEqual(["calendar"]);
    expect(near("读")).toEqual(["读取"]);
  });

  test.each([
    ["locatoins", "location"],
    ["descriptino", "description"],
    ["updatng", "updating"],
    ["fsiles", "files"],
    ["iage", "image"],
    ["drlwing", "drawing"],
    ["seassion", "session"],
    ["connetcions", "connections"],
  ])("finds what %s was meant to be, though its ending hides the stem", (typed, meant) => {
    verifies("SEARCH-2");
    expect(vocabularyOf(stem(meant), "banana").near(typed)).toEqual([stem(meant)]);
  });

  test("guesses nothing for short words, numbers and words far from any other", () => {
    const { near } = vocabularyOf("search", "get", "v2", "2024");
    for (const word of ["se", "git", "v3", "2025", "banana", "", "__proto__"]) {
      expect(near(word)).toEqual([]);
    }
  });

  test("finds every stem one slip away, for any words", () => {
    const word = fc.stringMatching(/^[abcd]{4,7}$/);
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 40 }), word, (stems, typed) => {
        const { near } = vocabularyOf(...stems);
        const wanted = stems.filter((stemmed) => {
          return stemmed.startsWith(typed) || editDistance(typed, stemmed, 1) <= 1;
        });
        expect(near(typed).toSorted()).toEqual(wanted.toSorted());
      }),
    );
  });
});
