// What code.read_file tells of a file (CODE-1): the text exactly, and beside it only what must be said.

import { createHash, randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";
import { verifies } from "#laws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readFileTool } from "../../packages/tools/src/file/read-file.ts";
import { createStage, texts, type Stage } from "./read-file-stage.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await createStage();
});

afterEach(() => stage.close());

test("the tool says of itself that it only reads, bounds its result and keeps look-alikes of keys", () => {
  verifies("CODE-1", "REDACT-1");
  expect(readFileTool()).toMatchObject({
    name: "code.read_file",
    permission: "readonly",
    tags: ["code", "readonly", "filesystem"],
    concurrency_safe: true,
    destructive: false,
    open_world: false,
    bounds_itself: true,
    redaction: "known_values",
  });
});

describe("a text file", () => {
  test("is given exactly, with nothing beside it where there is nothing to say", async () => {
    verifies("CODE-1");
    const text = "  one\n\ttwo $& \u0007\n\nfünf 😀\n";
    const path = await stage.write("src/a file.txt", text);
    const result = await stage.read("src/a file.txt");
    expect(result).toMatchObject({ status: "succeeded", is_error: false });
    expect(texts(result)).toEqual([text]);
    expect(result.summary).toBe("Read lines 1–4 of src/a file.txt");
    expect(result.data).toEqual({
      path,
      start_line: 1,
      end_line: 4,
      line_count: 4,
      truncated: false,
      truncated_lines: [],
      encoding: "utf-8",
      bom: false,
      line_ending: "lf",
      size: Buffer.byteLength(text),
      total_lines: 4,
      final_newline: true,
    });
  });

  test("of more lines than asked for says where to read on", async () => {
    verifies("CODE-1");
    const lines = Array.from({ length: 450 }, (_, index) => `line ${index + 1}\n`);
    await stage.write("a", lines.join(""));
    const first = await stage.read("a");
    expect(texts(first)).toEqual([
      lines.slice(0, 200).join(""),
      "This is lines 1–200 of a. Read on with start_line 201.",
    ]);
    expect(first.data).toMatchObject({ truncated: true, next_start_line: 201, end_line: 200 });
    expect(first.data).not.toHaveProperty("total_lines");
    expect(first.data).not.toHaveProperty("final_newline");
    const last = await stage.read("a", { start_line: 401, max_lines: 1000 });
    expect(texts(last)).toEqual([lines.slice(400).join("")]);
    expect(last.data).toMatchObject({ start_line: 401, end_line: 450, total_lines: 450 });
    const one = await stage.read("a", { start_line: 7, max_lines: 1 });
    expect(texts(one)).toEqual(["line 7\n", "This is line 7 of a. Read on with start_line 8."]);
  });

  test("without a final newline says so to programs", async () => {
    verifies("CODE-1");
    await stage.write("a", "x\ny");
    const result = await stage.read("a");
    expect(texts(result)).toEqual(["x\ny"]);
    expect(result.data).toMatchObject({ final_newline: false, total_lines: 2 });
  });

  test("with cut lines names them", async () => {
    verifies("CODE-1");
    const long = "é".repeat(2049);
    await stage.write("a", `x\n${long}\ny\n`);
    const one = await stage.read("a");
    expect(texts(one)).toEqual([`x\n${long.slice(1)}\ny\n`, "Too long, so cut: line 2."]);
    expect(one.data).toMatchObject({ truncated_lines: [2], truncated: false });
    await stage.write("b", `${long}\n`.repeat(10));
    const [, note] = texts(await stage.read("b"));
    expect(note).toBe("Too long, so cut: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.");
  });

  test("stops within the inline bound at a line border, with all that is said beside it", async () => {
    verifies("CODE-1");
    await stage.write("a", `${"x".repeat(999)}\n`.repeat(1000));
    const result = await stage.read("a", { max_lines: 1000 });
    const [text = ""] = texts(result);
    expect(text.length % 1000).toBe(0);
    expect(text.length).toBeGreaterThan(60_000);
    const all = texts(result).join("\n") + JSON.stringify(result.data);
    expect(Buffer.byteLength(all)).toBeLessThanOrEqual(64 * 1024);
    expect(result.data).toMatchObject({ truncated: true, next_start_line: text.length / 1000 + 1 });
    expect(result.metadata.truncation).toBeUndefined();

    const narrow = await createStage({ inlineLimitBytes: 2000 });
    try {
      await narrow.write("a", `${"x".repeat(5000)}\nnext\n`);
      const one = await narrow.read("a");
      const shown = texts(one).join("\n") + JSON.stringify(one.data);
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(2000);
      expect(one.data).toMatchObject({ line_count: 1, truncated_lines: [1], next_start_line: 2 });
    } finally {
      await narrow.close();
    }
  });

  test("of blanks is described in words, because a blank text looks like a lost one", async () => {
    verifies("CODE-1");
    await stage.write("a", " \n\t\n");
    const result = await stage.read("a");
    expect(texts(result)).toEqual([String.raw`a has only white space in lines 1–2: " \n\t\n".`]);
    expect(result.data).toMatchObject({ line_count: 2, total_lines: 2 });
    await stage.write("b", "\n".repeat(500));
    const [note] = texts(await stage.read("b", { max_lines: 500 }));
    expect(note).toBe("b has only white space in lines 1–500.");
  });

  test("that is empty is read, and said to be empty", async () => {
    verifies("CODE-1");
    await stage.write("a", "");
    const result = await stage.read("a");
    expect(result.status).toBe("succeeded");
    expect(texts(result)).toEqual(["a is empty (its size is 0 bytes)."]);
    expect(result.data).toMatchObject({ line_count: 0, total_lines: 0, size: 0, truncated: false });
    await stage.write("b", "\ufeff");
    const marked = await stage.read("b");
    expect(texts(marked)).toEqual(["b is empty (its size is 3 bytes)."]);
    expect(marked.data).toMatchObject({ total_lines: 0, bom: true, encoding: "utf-8" });
  });

  test("that ends before start_line is an error that says how many lines there are", async () => {
    verifies("CODE-1");
    await stage.write("a", "x\ny\n");
    const result = await stage.read("a", { start_line: 3 });
    expect(result.status).toBe("failed");
    expect(result.error).toMatchObject({
      code: "start_line_past_end",
      message: "start_line 3 is past the end: a has 2 lines. Give a smaller start_line.",
      recovery: "change_arguments",
      details: { total_lines: 2 },
    });
    await stage.write("b", "");
    expect((await stage.read("b", { start_line: 2 })).error?.message).toContain("b has 0 lines");
    await stage.write("c", "x");
    expect((await stage.read("c", { start_line: 2 })).error?.message).toContain("c has 1 line.");
  });

  test("is asked for in whole numbers within bounds", async () => {
    verifies("CODE-1");
    await stage.write("a", "x\n");
    for (const wrong of [
      { start_line: 0 },
      { max_lines: 0 },
      { max_lines: 1001 },
      { start_line: 1.5 },
    ]) {
      const result = await stage.read("a", wrong);
      expect(result.error?.error_class, JSON.stringify(wrong)).toBe("schema_validation_failed");
    }
    expect((await stage.read("")).is_error).toBe(true);
    expect((await stage.read("a", { start_line: Number.MAX_SAFE_INTEGER })).error?.code).toBe(
      "start_line_past_end",
    );
  });
});

describe("the encoding", () => {
  const line = "größer 漢字 😀\r\n";

  test("of UTF-16 is recognised by its mark, and lines are found in its units", async () => {
    verifies("CODE-1");
    const little = Buffer.from(`\ufeff${line.repeat(3)}`, "utf16le");
    const big = Buffer.from(little).swap16();
    for (const [encoding, bytes] of [
      ["utf-16le", little],
      ["utf-16be", big],
    ] as const) {
      await stage.write("a", bytes);
      const result = await stage.read("a", { start_line: 2, max_lines: 1 });
      expect(texts(result)).toEqual([
        "größer 漢字 😀\n",
        `This is line 2 of a. Read on with start_line 3. The encoding is ${encoding}. Lines end in CRLF, shown here as LF.`,
      ]);
      expect(result.data).toMatchObject({ encoding, bom: true, line_ending: "crlf" });
    }
  });

  test("of UTF-8 may have a mark, which is no part of the text", async () => {
    verifies("CODE-1");
    await stage.write("a", "\ufeffx\n\ufeffy\r\n");
    const result = await stage.read("a");
    expect(texts(result)).toEqual([
      "x\n\ufeffy\n",
      "Some lines end in CRLF, all are shown with LF.",
    ]);
    expect(result.data).toMatchObject({ encoding: "utf-8", bom: true, line_ending: "mixed" });
  });

  test("is not mistaken because the part that is inspected ends within a character", async () => {
    verifies("CODE-1");
    await stage.write("a", `${"x".repeat(64 * 1024 - 2)}\né\n`);
    const result = await stage.read("a", { start_line: 2 });
    expect(texts(result)).toEqual(["é\n"]);
    expect(result.data).toMatchObject({ encoding: "utf-8" });
  });

  test("that is older than Unicode is declared", async () => {
    verifies("CODE-1");
    const text = "Le café était fermé à cause de l'été, où la mère va déjà.\n".repeat(3);
    await stage.write("a", Buffer.from(text, "latin1"));
    const result = await stage.read("a");
    expect(texts(result)).toEqual([text, "The encoding is windows-1252."]);
    expect(result.data).toMatchObject({ encoding: "windows-1252", bom: false });
  });

  test("of a damaged file is as it began, and the damage is declared where it shows", async () => {
    verifies("CODE-1");
    const good = "größer\n".repeat(20_000);
    await stage.write("a", Buffer.concat([Buffer.from(good), Buffer.of(0x61, 0xff, 0x0a)]));
    const head = await stage.read("a");
    expect(head.data).not.toHaveProperty("undecodable");
    const result = await stage.read("a", { start_line: 20_001 });
    expect(texts(result)).toEqual(["a\ufffd\n", "U+FFFD replaces bytes that do not decode."]);
    expect(result.data).toMatchObject({ encoding: "utf-8", undecodable: true });
  });
});

describe("a file that is no text", () => {
  test("is recognised by its content, not by its name, and has no content in the result", async () => {
    verifies("CODE-1");
    const bytes = Buffer.concat([Buffer.from("\x7fELF\0\0"), Buffer.from("secret words")]);
    const path = await stage.write("a.txt", bytes);
    const result = await stage.read("a.txt", { start_line: 5 });
    expect(result.status).toBe("succeeded");
    expect(texts(result)).toEqual([
      "a.txt is not text but application/x-executable, 18 bytes. Its content is not shown.",
    ]);
    expect(result.data).toEqual({
      path,
      encoding: "binary",
      media_type: "application/x-executable",
      size: 18,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
    expect(JSON.stringify(result)).not.toContain("secret words");
    await stage.write("b.png", "just words\n");
    expect(texts(await stage.read("b.png"))).toEqual(["just words\n"]);
    await stage.write("c", Buffer.of(0, 1, 2));
    expect((await stage.read("c")).data).toMatchObject({ media_type: "application/octet-stream" });
  });

  test("is hashed only where that is quick", async () => {
    verifies("CODE-1");
    await stage.write("a", Buffer.alloc(16 * 1024 * 1024));
    expect((await stage.read("a")).data).toHaveProperty("sha256");
    await stage.write("a", Buffer.alloc(16 * 1024 * 1024 + 1));
    const result = await stage.read("a");
    expect(result.data).toMatchObject({ encoding: "binary", size: 16 * 1024 * 1024 + 1 });
    expect(result.data).not.toHaveProperty("sha256");
  });

  test("but an image is shown, under any name", async () => {
    verifies("CODE-1");
    const images: [string, Buffer][] = [
      ["image/png", png()],
      ["image/jpeg", Buffer.of(0xff, 0xd8, 0xff, 0xe0, 0, 0x10, 0x4a, 0x46, 0x49, 0x46, 0)],
      ["image/gif", Buffer.from("GIF89a\x01\0\x01\0\0\0\0;", "latin1")],
      ["image/gif", Buffer.from("GIF87a\x01\0\x01\0\0\0\0;", "latin1")],
      ["image/webp", Buffer.from("RIFF\x1a\0\0\0WEBPVP8L", "latin1")],
    ];
    for (const [media_type, bytes] of images) {
      await stage.write("picture", bytes);
      const result = await stage.read("picture");
      expect(result.content).toEqual([
        { type: "image", media_type, data: bytes.toString("base64") },
        { type: "text", text: `picture is not text but ${media_type}, ${bytes.length} bytes.` },
      ]);
      expect(result.data).toMatchObject({ media_type, size: bytes.length });
    }
    const others: [string, string][] = [
      ["audio/wav", "RIFF\x1a\0\0\0WAVEfmt "],
      ["application/octet-stream", "RIFX\x1a\0\0\0WEBPVP8L"],
      ["application/octet-stream", "GIF\0"],
      ["application/x-tar", `${"name".padEnd(257, "\0")}ustar`],
    ];
    for (const [media_type, bytes] of others) {
      await stage.write("other", Buffer.from(bytes, "latin1"));
      const result = await stage.read("other");
      expect(result.content).toHaveLength(1);
      expect(result.data).toMatchObject({ media_type });
    }
    await stage.write("text", "GIF89a is how such a file begins.\n");
    expect((await stage.read("text")).data).toMatchObject({ encoding: "utf-8" });
  });

  test("and an image too large for a model is only described", async () => {
    verifies("CODE-1");
    const head = png();
    const bytes = Buffer.concat([head, randomBytes(3_750_000 - head.length)]);
    await stage.write("fits", bytes);
    const [image] = (await stage.read("fits")).content;
    const data = image?.type === "image" ? image.data : "";
    expect(data).toHaveLength(5_000_000);
    expect(Buffer.from(data, "base64").equals(bytes)).toBe(true);
    await stage.write("large", Buffer.concat([head, Buffer.alloc(3_750_001 - head.length)]));
    expect(texts(await stage.read("large"))).toEqual([
      "large is not text but image/png, 3750001 bytes. Its content is not shown.",
    ]);
  });

  /** One white pixel. */
  function png(): Buffer {
    const header = Buffer.from(
      "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0",
      "latin1",
    );
    return Buffer.concat([header, deflateSync(Buffer.of(0, 0xff))]);
  }
});
