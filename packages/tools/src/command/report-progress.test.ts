import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { CapturedOutput } from "./captured-output.ts";
import { lastLine, lastLines } from "./report-progress.ts";

const same = (text: string): string => text;

test("the last line that says something is reported", () => {
  verifies("CMD-5");
  const cases: [string, string, string | undefined][] = [
    ["one\ntwo\n", "", "two"],
    ["one\ntwo", "", "two"],
    ["10%\r50%", "", "50%"],
    ["", "warning\n", "warning"],
    ["\n\n", "  \n", undefined],
    ["", "", undefined],
    ["\u001b[2Ka\tb\n", "", "[2Ka b"],
    [`x\n${"y".repeat(300)}`, "", `${"y".repeat(199)}…`],
    ["z".repeat(5000), "", undefined],
    [`${"z".repeat(5000)}\nend`, "", "end"],
  ];
  for (const [stdout, stderr, expected] of cases) {
    expect(lastLine([stream(stdout), stream(stderr)], same)).toBe(expected);
  }
});

test("secrets are hidden before the line is cut", () => {
  verifies("CMD-5", "REDACT-1");
  const line = `${"y".repeat(195)}SECRET`;
  expect(lastLine([stream(line)], (text) => text.replaceAll("SECRET", "[x]"))).toBe(
    `${"y".repeat(195)}[x]`,
  );
});

test("the last lines are those a terminal would show, with no secret in any of them", () => {
  verifies("CMD-5", "REDACT-1");
  const hide = (text: string): string => text.replaceAll("SECRET", "[x]");
  const cases: [string, string[]][] = [
    ["", []],
    ["one\n\n  two\n", ["one", "  two"]],
    ["1\n2\n3\n4\n5\n6\n", ["2", "3", "4", "5", "6"]],
    ["10%\r50%\r\n\u001b[31mred\u001b[0m \u001b]0;title\u0007\tx", ["50%", "red     x"]],
    ["SEC\u001b[0mRET SECRET", ["[x] [x]"]],
    ["y".repeat(300), [`${"y".repeat(199)}…`]],
    [
      `${"long line\n".repeat(4000)}end SECRET\n`,
      ["long line", "long line", "long line", "long line", "end [x]"],
    ],
  ];
  for (const [text, expected] of cases) expect(lastLines(stream(text), hide)).toEqual(expected);
});

function stream(text: string): CapturedOutput {
  const recent = Buffer.from(text);
  return { recent, bytes: recent.length } as CapturedOutput;
}
