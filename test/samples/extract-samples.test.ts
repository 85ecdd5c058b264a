import { expect, test } from "vitest";
import { extractSamples } from "./extract-samples.ts";

function page(...lines: string[]): string {
  return lines.join("\n");
}

const said = { page: "a.md", prints: undefined, file: undefined, notRun: undefined };

test("a block of a language that can be checked is a sample, a text block is not", () => {
  const text = page(
    "# A",
    "```ts",
    "let a = 1;",
    "",
    "a;",
    "```",
    "```text",
    "ls",
    "```",
    "```sh",
    "```",
  );
  expect(extractSamples("a.md", text)).toEqual([
    { ...said, line: 2, language: "ts", code: "let a = 1;\n\na;\n" },
    { ...said, line: 10, language: "sh", code: "" },
  ]);
});

test.each(["console", ""])("a block of %j, which no one would check, is an error", (language) => {
  const text = page("# A", `\`\`\`${language}`, "$ ls", "```");
  expect(() => extractSamples("a.md", text)).toThrow(`a.md:2: "${language}" is none of ts, js, sh`);
});

test("a text block behind `prints:` is the promised output", () => {
  const text = page("```ts", "1;", "```", "", "It prints:", "", "```text", "one", "two", "```");
  expect(extractSamples("a.md", text)[0]?.prints).toBe("one\ntwo\n");
});

test("a text block without that line is not", () => {
  const text = page("```ts", "1;", "```", "Think of it as", "```text", "one", "```");
  expect(extractSamples("a.md", text)[0]?.prints).toBeUndefined();
});

test("a line before it says as which file a block is saved", () => {
  const text = page(
    "Save this as `tour.yaml`:",
    "",
    "```yaml",
    "turns: []",
    "```",
    "```toml",
    "```",
  );
  expect(extractSamples("a.md", text).map(({ file }) => file)).toEqual(["tour.yaml", undefined]);
});

test("a block is exempt behind a marker with a reason, and only the one behind it", () => {
  const exempt = page("<!-- not run: needs a key -->", "```ts", "1;", "```", "```ts", "2;", "```");
  const reasons = extractSamples("a.md", exempt).map(({ notRun }) => notRun);
  expect(reasons).toEqual(["needs a key", undefined]);
  const noReason = page("<!-- not run: -->", "```ts", "1;", "```");
  expect(extractSamples("a.md", noReason)[0]?.notRun).toBeUndefined();
});

test("a block inside a list is taken without its indent, a fence inside a longer fence as text", () => {
  const text = page("- so:", "  ````ts", "  `", "    ```", "  ````");
  expect(extractSamples("a.md", text).map((sample) => sample.code)).toEqual(["`\n  ```\n"]);
});

test("a block that never ends is an error with its place", () => {
  expect(() => extractSamples("a.md", "\n```ts\n1;")).toThrow("a.md:2: the code block never ends");
});
