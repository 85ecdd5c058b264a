import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { directoryTrustProblem, readJsonFile } from "./trusted-file.ts";

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "soong-json-")));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

async function messageFor(file: string, maxBytes = 1000): Promise<string> {
  const read = await readJsonFile(file, { maxBytes });
  return read.ok ? "none" : read.problems.map(({ message }) => message).join("; ");
}

function put(content: string | Uint8Array, mode = 0o644): string {
  const file = join(folder, "x.json");
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

describe("reading a JSON file", () => {
  test("a plain file comes back with its value, a mark of UTF-8 before it or not", async () => {
    for (const text of ['{"a":"ä"}', '\uFEFF{"a":"ä"}']) {
      const read = await readJsonFile(put(text), { maxBytes: 1000 });
      expect(read.ok && read.document.value).toEqual({ a: "ä" });
    }
  });

  test("a syntax error names the file with line and column", async () => {
    const file = put('{\n  "a": 1,\n}');
    const read = await readJsonFile(file, { maxBytes: 1000 });
    expect(read.ok ? [] : read.problems).toMatchObject([{ file, line: 3, column: 1 }]);
  });

  test.each([
    ["UTF-16, little end first", Buffer.from("\uFEFF{}", "utf16le"), "is UTF-16"],
    ["UTF-16, big end first", Buffer.from("\uFEFF{}", "utf16le").swap16(), "is UTF-16"],
    ["Latin-1", Buffer.from('{"a":"ä"}', "latin1"), "is not UTF-8"],
    ["a file over the bound", "[" + "1,".repeat(600) + "1]", "is larger than 1000 bytes"],
  ])("%s is refused clearly", async (_, content, message) => {
    expect(await messageFor(put(content))).toContain(message);
  });

  test("a file of exactly the bound is read, one byte more is not", async () => {
    const file = put(`"${"x".repeat(998)}"`);
    expect(await messageFor(file, 1000)).toBe("none");
    expect(await messageFor(file, 999)).toBe("is larger than 999 bytes");
  });

  test("what is not there, a directory, a FIFO and a link are distinguished and never block", async () => {
    expect(await messageFor(join(folder, "none.json"))).toBe("is not there");
    mkdirSync(join(folder, "d.json"));
    expect(await messageFor(join(folder, "d.json"))).toContain("is a directory");
    execFileSync("mkfifo", [join(folder, "f.json")]);
    expect(await messageFor(join(folder, "f.json"))).toContain("is a FIFO");
    symlinkSync(put("{}"), join(folder, "l.json"));
    expect(await messageFor(join(folder, "l.json"))).toContain("is a symbolic link");
  });

  test("a file anyone can write to is not believed", async () => {
    expect(await messageFor(put("{}", 0o646))).toContain("can be written by anyone");
    expect(await messageFor(put("{}", 0o664))).toBe("none");
  });

  test("a file of another user is not believed", async () => {
    const file = put("{}");
    giveAway(file);
    expect(await messageFor(file)).toMatch(/belongs to the user with the id [0-9]+, who could/);
  });

  test("a file without the right to read is reported as such", async () => {
    const file = put("{}", 0o000);
    chmodSync(folder, 0o755);
    const asRoot = process.getuid?.() === 0;
    if (asRoot) process.seteuid?.(SOMEBODY_ELSE);
    try {
      expect(await messageFor(file)).toContain("no right to");
    } finally {
      if (asRoot) process.seteuid?.(0);
    }
  });
});

describe("a directory others could change", () => {
  test("by its own mode, sticky or not", async () => {
    expect(await directoryTrustProblem(folder)).toBeUndefined();
    for (const mode of [0o777, 0o1777]) {
      chmodSync(folder, mode);
      expect(await directoryTrustProblem(folder)).toContain("can be written by anyone");
    }
  });

  test("by one above it, unless that is sticky", async () => {
    const below = join(folder, "a", "b");
    mkdirSync(below, { recursive: true });
    chmodSync(folder, 0o777);
    expect(await directoryTrustProblem(below)).toContain(`is inside ${folder}`);
    chmodSync(folder, 0o1777);
    expect(await directoryTrustProblem(below)).toBeUndefined();
  });

  test("by the directory a link leads to", async () => {
    const open = join(folder, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    symlinkSync(open, join(folder, "link"));
    expect(await directoryTrustProblem(join(folder, "link"))).toContain("can be written by anyone");
  });

  test("by its owner", async () => {
    giveAway(folder);
    expect(await directoryTrustProblem(folder)).toContain("belongs to the user with the id");
  });
});

const SOMEBODY_ELSE = 12345;

/** Makes it another user's: really where we may, else by being someone else ourselves. */
function giveAway(path: string): void {
  if (process.getuid?.() === 0) chownSync(path, SOMEBODY_ELSE, SOMEBODY_ELSE);
  else vi.spyOn(process, "getuid").mockReturnValue((process.getuid?.() ?? 0) + 1);
}
