import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../test/any-character.ts";
import { foldName, tokenize } from "./tokenize.ts";

describe("tokenize", () => {
  test.each([
    ["read_file", "read file"],
    ["readFile", "read file"],
    ["ReadFile", "read file"],
    ["read-file", "read file"],
    ["code.read_file", "code read file"],
    ["mcp.git.list__refs", "mcp git list refs"],
    ["HTTPServer", "http server"],
    ["parseXMLDocument", "parse xml document"],
    ["listURLs", "list urls"],
    ["v2Api", "v2 api"],
    ["s3_upload", "s3 upload"],
    ["k8s", "k8s"],
    ["base64Encode", "base 64 encode"],
    ["convert3DModel", "convert 3d model"],
    ["Movies_1_BuyTickets", "movies 1 buy tickets"],
    ["Café façade", "cafe facade"],
    ["Привет, Мир", "привет мир"],
  ])("cuts %s into %s", (text, words) => {
    verifies("SEARCH-2");
    expect(tokenize(text, 20)).toEqual(words.split(" "));
  });

  test("cuts scripts without spaces into pairs of characters", () => {
    expect(tokenize("读取文件", 20)).toEqual(["读取", "取文", "文件"]);
    expect(tokenize("用 readFile 读", 20)).toEqual(["用", "read", "file", "读"]);
    expect(tokenize("ファイルを読む", 20)).toHaveLength(6);
  });

  test("gives a word of two humps in one piece as well", () => {
    const compounds: string[] = [];
    tokenize("Search GitHub and YouTube, not listPullRequests", 20, compounds);
    expect(compounds).toEqual(["github", "youtube"]);
  });

  test("stops at the number of words asked for, however long the text", () => {
    expect(tokenize("word ".repeat(1_000_000), 10)).toHaveLength(10);
    expect(tokenize("字".repeat(1_000_000), 10)).toHaveLength(10);
    expect(tokenize("aB".repeat(1_000_000), 10).length).toBeLessThanOrEqual(10);
    expect(tokenize("x".repeat(1_000_000), 10)).toEqual([]);
  });

  test("gives lower-case words without separators for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
        for (const word of tokenize(text, 50)) {
          expect(word).not.toBe("");
          expect(word).toMatch(/^[\p{L}\p{M}\p{N}]+$/u);
          expect(word).toBe(word.toLowerCase());
        }
      }),
    );
  });
});

describe("foldName", () => {
  test("is the same for one name in other case and with other separators", () => {
    const forms = [
      "code.read_file",
      "Code Read File",
      "code-read-file",
      "codeReadFile",
      "CODE__READ_FILE",
    ];
    expect(new Set(forms.map(foldName))).toEqual(new Set(["codereadfile"]));
    expect(foldName("工具.读取")).toBe("工具读取");
  });
});
