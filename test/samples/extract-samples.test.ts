import { expect, test } from "vitest";
import { extractSamples } from "./extract-samples.ts";

function page(...lines: string[]): string {
  return lines.join("\n");
}

test("ts and js blocks are samples, other blocks are not", () => {
  const text = page(
    "# A",
    "```ts",
    "let a = 1;",
    "",
    "a;",
    "```",
    "```sh",
    "ls",
    "```",
    "```js",
    "```",
  );
  expect(extractSamples("a.md", text)).toEqual([
    { page: "a.md", line: 2, language: "ts", code: "let a = 1;\n\na;\n", prints: undefined },
    { page: "a.md", line: 10, language: "js", code: "", prints: undefined },
  ]);
});

test("a text block behind `prints:` is the promised output", () => {
  const text = page("```ts", "1;", "```", "", "It prints:", "", "```text", "one", "two", "```");
  expect(extractSamples("a.md", text)[0]?.prints).toBe("one\ntwo\n");
});

test("a text block without that line is not", () => {
  const text = page("```ts", "1;", "```", "Think of it as", "```text", "one", "```");
  expect(extractSamples("a.md", text)[0]?.prints).toBeUndefined();
});

test("a block is exempt behind a marker with a reason, and only the one behind it", () => {
  const exempt = page("<!-- not run: needs a key -->", "```ts", "1;", "```", "```ts", "2;", "```");
  expect(extractSamples("a.md", exempt).map((sample) => sample.code)).toEqual(["2;\n"]);
  const noReason = page("<!-- not run: -->", "```ts", "1;", "```");
  expect(extractSamples("a.md", noReason)).toHaveLength(1);
});

test("a block inside a list is taken without its indent, a fence inside a longer fence as text", () => {
  const text = page("- so:", "  ````ts", "  `", "    ```", "  ````");
  expect(extractSamples("a.md", text).map((sample) => sample.code)).toEqual(["`\n  ```\n"]);
});

test("a block that never ends is an error with its place", () => {
  expect(() => extractSamples("a.md", "\n```ts\n1;")).toThrow("a.md:2: the code block never ends");
});
