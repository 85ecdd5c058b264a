import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

import { ToolFailure } from "@soong/core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "#laws";

import { resolvePath, resolvePathNow } from "./resolve-path.ts";

let top: string;
let project: string;
let outside: string;

beforeAll(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "soong-resolve-")));
  project = join(top, "project");
  outside = join(top, "outside");
  mkdirSync(join(project, "src/deep"), { recursive: true });
  mkdirSync(join(outside, "dir"), { recursive: true });
  writeFileSync(join(project, "src/a.txt"), "a");
  writeFileSync(join(outside, "secret.txt"), "secret");
});

afterAll(() => {
  rmSync(top, { recursive: true });
});

/** Both forms must agree on everything. */
async function resolved(given: string, base = project): Promise<string> {
  const now = resolvePathNow(base, given);
  expect(await resolvePath(base, given)).toBe(now);
  return now;
}

async function refusal(given: string, base = project): Promise<ToolFailure["error"]> {
  const later = await resolvePath(base, given).catch((error: unknown) => error);
  expect(later).toBeInstanceOf(ToolFailure);
  expect(() => resolvePathNow(base, given)).toThrow((later as ToolFailure).message);
  return (later as ToolFailure).error;
}

describe("names without links", () => {
  test.each([
    ["src/a.txt", "src/a.txt"],
    ["./src//a.txt", "src/a.txt"],
    ["src/", "src"],
    ["src/a.txt/", "src/a.txt"],
    ["src/./deep/../a.txt", "src/a.txt"],
    ["src/missing/../a.txt", "src/a.txt"],
    ["src/a.txt/../a.txt", "src/a.txt"],
    ["missing/b.txt", "missing/b.txt"],
    ["missing/./x//../b.txt/", "missing/b.txt"],
    [".", ""],
    ["~/x", "~/x"],
    ["~", "~"],
    ["a%20b%2e%2e%2fc", "a%20b%2e%2e%2fc"],
    ["line\nbreak", "line\nbreak"],
    ["🦊 ünï", "🦊 ünï"],
    ["-rf", "-rf"],
    ["C:\\x", "C:\\x"],
    ["SRC/A.TXT", "SRC/A.TXT"],
  ])("%j means %j in the base", async (given, expected) => {
    verifies("PATH-1");
    expect(await resolved(given)).toBe(expected === "" ? project : join(project, expected));
  });

  test("`..` leaves the base and stops at the root", async () => {
    verifies("PATH-1");
    expect(await resolved("../outside/secret.txt")).toBe(join(outside, "secret.txt"));
    expect(await resolved(`${"../".repeat(50)}etc-of-nobody`)).toBe("/etc-of-nobody");
    expect(await resolved("..")).toBe(top);
  });

  test("an absolute path is taken as it is", async () => {
    expect(await resolved(join(outside, "secret.txt"))).toBe(join(outside, "secret.txt"));
    expect(await resolved("/")).toBe("/");
    expect(await resolved("//")).toBe("/");
    expect(await resolved("///nobody/..//x-of-nobody")).toBe("/x-of-nobody");
  });

  test("the base may have a trailing slash or links of its own", async () => {
    symlinkSync(project, join(top, "base-link"));
    expect(await resolved("src/a.txt", `${project}/`)).toBe(join(project, "src/a.txt"));
    expect(await resolved("new.txt", join(top, "base-link"))).toBe(join(project, "new.txt"));
    expect(await resolved("..", join(top, "base-link"))).toBe(top);
  });

  test("a relative base is a bug of the caller", async () => {
    await expect(resolvePath("relative", "x")).rejects.toThrow(TypeError);
    expect(() => resolvePathNow("", "x")).toThrow(TypeError);
  });
});

describe("links", () => {
  test("a link that leads out is followed out", async () => {
    verifies("PATH-1");
    symlinkSync(join(outside, "secret.txt"), join(project, "out-file"));
    symlinkSync("../outside", join(project, "out-dir"));
    expect(await resolved("out-file")).toBe(join(outside, "secret.txt"));
    expect(await resolved("out-dir/secret.txt")).toBe(join(outside, "secret.txt"));
  });

  test("a link in the parents of what does not exist is followed", async () => {
    verifies("PATH-1");
    symlinkSync(join(outside, "dir"), join(project, "parent"));
    expect(await resolved("parent/new.txt")).toBe(join(outside, "dir/new.txt"));
    expect(await resolved("parent/a/b/new.txt")).toBe(join(outside, "dir/a/b/new.txt"));
  });

  test("a dangling link means its target, not a new file in its own place", async () => {
    verifies("PATH-1");
    symlinkSync(join(outside, "not-there.txt"), join(project, "dangling"));
    symlinkSync("../outside/gone/../nor-there", join(project, "dangling-relative"));
    symlinkSync("dangling", join(project, "dangling-twice"));
    expect(await resolved("dangling")).toBe(join(outside, "not-there.txt"));
    expect(await resolved("dangling-relative")).toBe(join(outside, "nor-there"));
    expect(await resolved("dangling-twice")).toBe(join(outside, "not-there.txt"));
    expect(await resolved("dangling/below/it")).toBe(join(outside, "not-there.txt/below/it"));
  });

  test("`..` behind a link is the parent of the link's target", async () => {
    verifies("PATH-1");
    symlinkSync(join(outside, "dir"), join(project, "src/jump"));
    expect(await resolved("src/jump/../secret.txt")).toBe(join(outside, "secret.txt"));
    expect(await resolved("src/jump/../new.txt")).toBe(join(outside, "new.txt"));
    expect(await resolved("missing/../src/jump/../new.txt")).toBe(join(outside, "new.txt"));
  });

  test("a chain of forty links is followed, of one more refused", async () => {
    verifies("PATH-1");
    symlinkSync("end-of-chain", join(project, "chain-1"));
    for (let link = 2; link <= 41; link += 1) {
      symlinkSync(`chain-${link - 1}`, join(project, `chain-${link}`));
    }
    expect(await resolved("chain-40")).toBe(join(project, "end-of-chain"));
    expect((await refusal("chain-41")).code).toBe("invalid_path");
  });

  test("a circle of links is refused", async () => {
    verifies("PATH-1");
    symlinkSync("circle-b", join(project, "circle-a"));
    symlinkSync("circle-a", join(project, "circle-b"));
    symlinkSync(".", join(project, "self"));
    const error = await refusal("circle-a/x");
    expect(error).toMatchObject({ code: "invalid_path", recovery: "change_arguments" });
    expect(error.message).toContain("circle");
    expect(await resolved("self/self/self/src/a.txt")).toBe(join(project, "src/a.txt"));
  });
});

describe("what is no path", () => {
  test.each([
    ["nothing", "", "empty"],
    ["a NUL", "a\0b", "NUL"],
    ["half a character", "a\ud800b", "surrogate"],
    ["a name of 256 bytes", "ü".repeat(128), "255 bytes"],
    ["a missing parent's name of 256 bytes", `missing/${"x".repeat(256)}/y`, "255 bytes"],
    ["4096 bytes", "x/".repeat(2048), "4095 bytes"],
    ["what resolves to more than 4095 bytes", "long/".repeat(818), "4095 bytes"],
  ])("%s is refused", async (_what, given, why) => {
    const error = await refusal(given);
    expect(error).toMatchObject({ code: "invalid_path", error_class: "invalid_arguments" });
    expect(error.message).toContain(why);
    expect(error.message.length).toBeLessThan(5000);
  });

  test("a name of 255 bytes is fine", async () => {
    const name = `${"é".repeat(127)}x`;
    expect(await resolved(name)).toBe(join(project, name));
    expect(await resolved(`missing/${name}`)).toBe(join(project, "missing", name));
  });
});

describe("any tree of links", () => {
  const name = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(
    { weight: 4, arbitrary: name },
    { weight: 1, arbitrary: fc.constant("..") },
  );
  const path = fc.array(step, { minLength: 1, maxLength: 5 }).map((steps) => steps.join("/"));
  const node = fc.oneof(
    fc.record({ kind: fc.constant("directory" as const), at: path }),
    fc.record({ kind: fc.constant("file" as const), at: path }),
    fc.record({ kind: fc.constant("link" as const), at: path, to: path, absolute: fc.boolean() }),
  );

  test("what the kernel can resolve is resolved the same, and the rest to a place that stays put", async () => {
    verifies("PATH-1");
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(node, { maxLength: 12 }), path, async (nodes, given) => {
        count += 1;
        const base = join(top, `tree-${count}`);
        mkdirSync(base);
        for (const each of nodes) {
          plant(base, each);
        }
        const answer = await resolved(given, base).catch((error: unknown) => error);
        const kernel = real(join(base, ".") + `/${given}`);
        if (kernel !== undefined) {
          expect(answer).toBe(kernel);
        } else if (typeof answer === "string") {
          expect(await resolved(answer, "/")).toBe(answer);
        } else {
          expect((answer as ToolFailure).error.code).toBe("invalid_path");
        }
      }),
    );
  });

  function plant(
    base: string,
    node: { kind: string; at: string; to?: string; absolute?: boolean },
  ) {
    try {
      const at = `${base}/${node.at}`;
      // Links lead anywhere, planting does not.
      if (!realpathSync.native(dirname(at)).startsWith(base) || basename(at) === "..") {
        return;
      }
      if (node.kind === "directory") {
        mkdirSync(at);
      } else if (node.kind === "file") {
        writeFileSync(at, "");
      } else {
        symlinkSync(node.absolute === true ? `${base}/${node.to}` : (node.to ?? ""), at);
      }
    } catch {
      // Not every drawn tree can be built; what can is enough.
    }
  }

  function real(path: string): string | undefined {
    try {
      return realpathSync.native(path);
    } catch {
      return undefined;
    }
  }
});
