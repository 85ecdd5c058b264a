import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { CapturedOutput } from "./captured-output.ts";
import { lastLine } from "./report-progress.ts";

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

function stream(text: string): CapturedOutput {
  return { recent: Buffer.from(text) } as CapturedOutput;
}
