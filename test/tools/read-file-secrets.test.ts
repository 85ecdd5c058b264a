// Secrets in files (REDACT-1): known values never reach the model, also where a line is cut through
// one; what merely looks like a key stays, because what was read must fit the next edit.

import { verifies } from "#laws";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createStage, texts, type Stage } from "./read-file-stage.ts";

const KNOWN = "correct-horse/battery+staple";
const LOOK_ALIKE = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;

let stage: Stage;

beforeEach(async () => {
  stage = await createStage({ secrets: [{ name: "DB_PASSWORD", value: KNOWN }] });
});

afterEach(() => stage.close());

test("a known value is replaced, and what only looks like a key stays", async () => {
  verifies("REDACT-1");
  await stage.write(
    "config.ts",
    `const password = "${KNOWN}";\nconst token: string = "${LOOK_ALIKE}";\n`,
  );
  const result = await stage.read("config.ts");
  expect(texts(result)).toEqual([
    `const password = "[redacted:DB_PASSWORD]";\nconst token: string = "${LOOK_ALIKE}";\n`,
  ]);
  expect(result.metadata.redactions).toBe(1);
});

test("half a known value is not left at the end of a cut line", async () => {
  verifies("REDACT-1", "CODE-1");
  for (const rest of ["", "b".repeat(200_000)]) {
    for (let shown = 1; shown <= KNOWN.length; shown += 5) {
      const before = "a".repeat(4096 - shown);
      await stage.write("one-line.json", `${before}${KNOWN}${rest}b\n`);
      const result = await stage.read("one-line.json");
      const [text = ""] = texts(result);
      expect(text.startsWith(before)).toBe(true);
      expect(text.slice(before.length), `${shown}`).not.toContain("c");
      expect(result.data).toMatchObject({ truncated_lines: [1] });
    }
  }
});

test("a look-alike in a line that is cut elsewhere stays", async () => {
  verifies("REDACT-1");
  const line = `${LOOK_ALIKE} ${"a".repeat(5000)}`;
  await stage.write("a", line);
  expect(texts(await stage.read("a"))[0]).toBe(line.slice(0, 4096));
});

test("a known value in UTF-16 and across a chunk border is replaced", async () => {
  verifies("REDACT-1");
  await stage.write("wide", Buffer.from(`\ufeffpw ${KNOWN}\r\n`, "utf16le"));
  expect(texts(await stage.read("wide"))[0]).toBe("pw [redacted:DB_PASSWORD]\n");
  const filler = "x".repeat(1024 * 1024 - 10);
  await stage.write("border", `${filler}\n${KNOWN}\n`);
  expect(texts(await stage.read("border", { start_line: 2 }))[0]).toBe("[redacted:DB_PASSWORD]\n");
});

test("a secret in the name of a file is in no output", async () => {
  verifies("REDACT-1");
  const name = KNOWN.replaceAll("/", "-");
  const named = await createStage({ secrets: [{ name: "NAME", value: name }] });
  try {
    await named.write(name, "x\n".repeat(300));
    for (const result of [
      await named.read(name),
      await named.read(`${name}s`),
      await named.read(name, { start_line: 1000 }),
    ]) {
      expect(JSON.stringify(result)).not.toContain(name);
    }
  } finally {
    await named.close();
  }
});
