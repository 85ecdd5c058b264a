import { expect, test } from "vitest";
import { stem } from "./stem.ts";
import { isStopWord } from "./stop-words.ts";
import { findSynonyms } from "./synonyms.ts";

test("knows the words for common operations, both ways and in any form", () => {
  expect(findSynonyms(stem("delete"))).toContain(stem("remove"));
  expect(findSynonyms(stem("removing"))).toContain(stem("delete"));
  expect(findSynonyms(stem("repos"))).toContain(stem("repository"));
});

test("has nothing for other words, even if objects inherit them", () => {
  for (const word of ["zebra", "constructor", "__proto__", "toString", ""]) {
    expect(findSynonyms(word)).toEqual([]);
  }
});

test("never offers a word for itself, nor one that is not searched for", () => {
  for (const word of ["create", "find", "list", "get", "image", "order", "link"]) {
    const stemmed = stem(word);
    expect(findSynonyms(stemmed)).not.toContain(stemmed);
    expect(findSynonyms(stemmed).filter(isStopWord)).toEqual([]);
  }
});
