import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { parseIgnoreFile } from "./ignore-rules.ts";

function verdict(text: string, path: string): "ignored" | "kept" | undefined {
  const isDirectory = path.endsWith("/");
  const plain = isDirectory ? path.slice(0, -1) : path;
  const name = plain.slice(plain.lastIndexOf("/") + 1);
  return parseIgnoreFile(text)?.verdict(name, () => plain, isDirectory);
}

describe("the rules of an ignore file", () => {
  test.each([
    ["*.log", "a/b.log", "ignored"],
    ["*.log\n!keep.log", "keep.log", "kept"],
    ["!keep.log\n*.log", "keep.log", "ignored"],
    ["build/", "a/build/", "ignored"],
    ["build/", "a/build", undefined],
    ["/build", "build", "ignored"],
    ["/build", "a/build", undefined],
    ["a/b", "a/b", "ignored"],
    ["a/b", "x/a/b", undefined],
    ["a/b/", "a/b/", "ignored"],
    ["**/x", "a/x", "ignored"],
    ["a/**", "a/x/y", "ignored"],
    ["# a", "# a", undefined],
    ["\\# a", "# a", "ignored"],
    ["\\!a", "!a", "ignored"],
    ["a  ", "a", "ignored"],
    ["a\\ ", "a ", "ignored"],
    ["a\\\\ ", "a\\", "ignored"],
    ["\ufeffa", "a", "ignored"],
    ["a\r\nb\r\n", "b", "ignored"],
    ["[a", "[a", undefined],
    ["[a\nb", "b", "ignored"],
    ["", "a", undefined],
    ["/", "a", undefined],
    ["!", "a", undefined],
  ])("%j on %j: %s", (text, path, expected) => {
    verifies("CODE-2");
    expect(verdict(text, path)).toBe(expected);
  });
});
