import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { readPaste, readTypedLine, writeMention, writePrompt } from "./typed-line.ts";

test.each([
  ["/model  script:a.yaml ", { kind: "command", name: "model", rest: "script:a.yaml" }],
  ["  /help", { kind: "command", name: "help", rest: "" }],
  ["/", { kind: "command", name: "", rest: "" }],
  ["/grants revoke\nx", { kind: "command", name: "grants", rest: "revoke\nx" }],
  ["//etc is a folder", { kind: "prompt", text: "/etc is a folder", mentions: [] }],
  [" exit ", { kind: "command", name: "quit", rest: "" }],
  ["exit the loop", { kind: "prompt", text: "exit the loop", mentions: [] }],
  ["! git status ", { kind: "shell", command: "git status" }],
  ["# We use tabs.", { kind: "note", text: "We use tabs." }],
  ["# A page\nwith text", { kind: "prompt", text: "# A page\nwith text", mentions: [] }],
  ["#3 is broken", { kind: "prompt", text: "#3 is broken", mentions: [] }],
  ["what is 1/2?", { kind: "prompt", text: "what is 1/2?", mentions: [] }],
])("%j is read as what it is", (typed, line) => {
  verifies("CLI-7");
  expect(readTypedLine(typed)).toEqual(line);
});

test.each(["!rm -rf x", " ! id", "# remember this", "/undo", "//x", "plain", "# A page\nof text"])(
  "the prompt %j is typed so that it stays a prompt",
  (prompt) => {
    verifies("CLI-7");
    const line = readTypedLine(writePrompt(prompt));
    expect(line).toEqual({ kind: "prompt", text: prompt.trim(), mentions: [] });
  },
);

test.each([
  ["look at @a.txt.", ["a.txt"]],
  ["@src/a.ts, and (@b.ts)?", ["src/a.ts", "b.ts"]],
  ['"@a" and @"two words.txt"!', ["a", "two words.txt"]],
  ["first\n@a.txt @a.txt", ["a.txt"]],
  ["mail me@example.com, @ 5, @@types/node", []],
  ["@", []],
  ["@...", []],
])("%j mentions the files it mentions", (typed, mentions) => {
  verifies("CLI-7");
  expect(readTypedLine(typed)).toMatchObject({ kind: "prompt", mentions });
});

test("two at signs are written as one, and only at the beginning of a word", () => {
  expect(readTypedLine("use @@types/node and a@@b")).toMatchObject({
    text: "use @types/node and a@@b",
  });
});

test("a path that is mentioned is read back as that path", () => {
  verifies("CLI-7");
  const path = fc
    .string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...Array.from("ab./ ,;:)'@-")) })
    .filter((text) => !text.startsWith("@") || /[\s,.;:!?)\]}']/.test(text.at(-1) ?? ""))
    .filter((text) => !/^[@\s]/.test(text));
  fc.assert(
    fc.property(path, (given) => {
      const typed = `see ${writeMention(given)} now`;
      expect(readTypedLine(typed)).toMatchObject({ mentions: [given] });
    }),
  );
});

test.each([
  ["/tmp/a.png", "@/tmp/a.png "],
  ["'/tmp/two words.JPG' ", '@"/tmp/two words.JPG" '],
  ["/tmp/two\\ words.webp\n", '@"/tmp/two words.webp" '],
  ["file:///tmp/a%20b.gif", '@"/tmp/a b.gif" '],
  ["~/Desktop/shot.jpeg", "@~/Desktop/shot.jpeg "],
  ["/tmp/a.txt", "/tmp/a.txt"],
  ["see /tmp/a.png", "see /tmp/a.png"],
  ["a.png", "a.png"],
  ["https://example.org/a.png", "https://example.org/a.png"],
])("a paste of %j puts %j into the line", (pasted, line) => {
  verifies("CLI-7");
  expect(readPaste(pasted)).toBe(line);
});
