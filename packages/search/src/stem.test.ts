import fc from "fast-check";
import { expect, test } from "vitest";
import { stem } from "./stem.ts";

test.each([
  ["file files filing filed"],
  ["delete deletes deleted deleting"],
  ["create creates created creating creation"],
  ["query queries"],
  ["copy copies copied copying"],
  ["search searches searched searching"],
  ["run runs running"],
  ["update updates updated updating"],
  ["translate translates translation translations translator translating"],
  ["calculate calculator calculation"],
  ["code codes coding coded"],
  ["box boxes"],
  ["alias aliases"],
  ["process processes processing processed"],
  ["branch branches"],
])("gives %s one key", (forms) => {
  expect(new Set(forms.split(" ").map(stem)).size).toBe(1);
});

test.each([
  ["news", "new"],
  ["alias", "alia"],
  ["status", "state"],
  ["class", "clas"],
  ["string", "str"],
  ["king", "k"],
  ["red", "r"],
  ["number", "numb"],
  ["flower", "flow"],
])("keeps %s apart from %s", (word, other) => {
  expect(stem(word)).not.toBe(stem(other));
});

test("leaves short words and other scripts alone", () => {
  for (const word of ["id", "s3", "bus", "读取", "файлы"]) expect(stem(word)).toBe(word);
});

test("never gives an empty key and never one longer than the word", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,15}$/), (word) => {
      const stemmed = stem(word);
      expect(stemmed.length).toBeGreaterThan(0);
      expect(stemmed.length).toBeLessThanOrEqual(word.length);
    }),
  );
});
