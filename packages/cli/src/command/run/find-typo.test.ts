import { describe, expect, it } from "vitest";
import { verifies } from "#laws";
import { findTypo } from "./find-typo.ts";

const NAMES = [
  "run",
  "tools",
  "tools check",
  "sessions",
  "resume",
  "call",
  "tasks",
  "show",
  "help",
];

describe("words that begin with no command", () => {
  it.each([
    ["sesions", "sessions"],
    ["toosl check x", "tools check x"],
    ["resum session_0abc", "resume session_0abc"],
    ["cal code.read_file {}", "call code.read_file {}"],
    ["cll", "call"],
    ["how", "show"],
  ])("%s: is taken for %s", (typed, meant) => {
    verifies("CLI-2");
    expect(findTypo(typed.split(" "), NAMES)).toBe(meant);
  });

  it.each([
    "fix the test",
    "how does this work",
    "how does v2 work",
    "hello",
    "tests",
    "tool calls are slow, why",
    "修复测试",
    "test",
    "why",
    "",
  ])("%s: is a prompt", (typed) => {
    expect(findTypo(typed.split(" "), NAMES)).toBeUndefined();
  });

  it("a quoted sentence is a prompt, with any first word", () => {
    expect(findTypo(["sesions are slow"], NAMES)).toBeUndefined();
  });
});
