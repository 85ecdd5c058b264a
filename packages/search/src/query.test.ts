import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { readQuery } from "./query.ts";
import { stem } from "./stem.ts";
import { Vocabulary } from "./vocabulary.ts";

function vocabularyOf(known: string) {
  const vocabulary = new Vocabulary();
  for (const word of known.split(" ")) vocabulary.retain(vocabulary.intern(stem(word), word));
  return vocabulary;
}

function read(query: string, known: string) {
  const vocabulary = vocabularyOf(known);
  return readQuery(query, vocabulary, 100).map(({ word, stems }) => {
    return `${word}: ${stems.map(({ id, kind }) => `${kind} ${vocabulary.readable(id)}`).join(", ")}`;
  });
}

describe("readQuery", () => {
  test("takes words in any form, each once", () => {
    verifies("SEARCH-2");
    expect(read("reading files, file by file", "read file")).toEqual([
      "reading: same read",
      "files: same file",
    ]);
  });

  test("takes synonyms beside the word and instead of it, for less", () => {
    expect(read("remove", "remove delete")).toEqual(["remove: same remove, synonym delete"]);
    expect(read("erase", "delete")).toEqual(["erase: synonym delete"]);
  });

  test("doubts a word that hardly any tool has where a common one is a slip away", () => {
    verifies("SEARCH-5");
    const common = Array.from({ length: 20 }, () => "search").join(" ");
    expect(read("serch", `serch ${common}`)).toEqual(["serch: same serch, typo search"]);
    expect(read("serch", "serch search")).toEqual(["serch: same serch"]);
  });

  test("gives less for a rare guess where a commoner word is as near", () => {
    const weightOf = (guess: string, known: string) => {
      const vocabulary = vocabularyOf(known);
      const [word] = readQuery("cert", vocabulary, 100);
      return word?.stems.find(({ id }) => id === vocabulary.idOf(guess))?.weight ?? 0;
    };
    expect(weightOf("cort", "cort cart cart cart")).toBeLessThan(weightOf("cort", "cort cart"));
    expect(weightOf("cart", "cort cart cart cart")).toBe(weightOf("cart", "cart cart cart"));
  });

  test("leaves stop words out of a sentence", () => {
    const query = "Could you please help me to find the weather";
    expect(read(query, "find weather help please to the")).toEqual([
      "find: same find",
      "weather: same weather",
    ]);
  });

  test("lets stop words count a little among keywords, or when there is nothing else", () => {
    expect(read("turn off light", "turn off light")).toHaveLength(3);
    expect(read("can you do it for me please now", "can do")).toEqual([
      "can: same can",
      "do: same do",
    ]);
  });

  test("reads two words as one and one as two", () => {
    expect(read("web hook", "webhook")).toEqual(["webhook: same webhook"]);
    expect(read("sign up form", "signup form")).toContain("signup: same signup");
    expect(read("websearch", "web search")).toEqual(["web: same web", "search: same search"]);
    expect(read("GitHub", "github")).toContain("github: same github");
  });

  test("guesses only at words it does not know", () => {
    expect(read("serach", "search searches")).toEqual(["serach: typo search"]);
    expect(read("calend", "calendar")).toEqual(["calend: prefix calendar"]);
    expect(read("form", "form from forms farm")).toEqual(["form: same form"]);
  });

  test("guesses at a few words of a query only, and reads only its start", () => {
    const nonsense = Array.from({ length: 500 }, (_, at) => `serach${"abcdefghij"[at % 10]}q`);
    expect(read(nonsense.join(" "), "search").length).toBeLessThanOrEqual(8);
    expect(read("file ".repeat(200_000), "file")).toEqual(["file: same file"]);
  });

  test("finds nothing in nothing", () => {
    for (const query of ["", "   ", "?!…", "\u0000", "\ud800", "constructor", "__proto__"]) {
      expect(read(query, "file")).toEqual([]);
    }
  });
});
