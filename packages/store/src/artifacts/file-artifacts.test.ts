import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, writeFile, chmod, symlink, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { createMemoryArtifacts, ToolFailure, type ArtifactInput } from "@soong/core";
import { anyCharacter } from "../../../../test/any-character.ts";
import { openFileArtifacts } from "./file-artifacts.ts";

const about: ArtifactInput = {
  media_type: "text/plain",
  name: "out.txt",
  session_id: "s1",
  run_id: "r1",
  tool_call_id: "c1",
  retention: "session",
};
const clock = { now: () => 0 };
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

let base: string;
let directory: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "soong-artifacts-"));
  directory = join(base, "artifacts");
});
afterEach(() => rm(base, { recursive: true, force: true }));

describe("artifacts on disk", () => {
  test("the record says what the bytes are and which call made them", async () => {
    verifies("ART-1");
    const artifacts = await openFileArtifacts({ directory, clock });
    const record = await artifacts.write("grüße", about);
    expect(record).toEqual({
      artifact_id: expect.stringMatching(/^art_/) as string,
      sha256: sha256("grüße"),
      media_type: "text/plain",
      size: 7,
      name: "out.txt",
      session_id: "s1",
      run_id: "r1",
      tool_call_id: "c1",
      created_at: "1970-01-01T00:00:00.000Z",
      retention: "session",
    });
    expect(await artifacts.stat(record.artifact_id)).toEqual(record);
    expect(await artifacts.list()).toEqual([record]);
  });

  test("another process finds what this one kept", async () => {
    verifies("ART-1");
    const { artifact_id } = await (await openFileArtifacts({ directory })).write("kept", about);
    const later = await openFileArtifacts({ directory });
    expect(Buffer.from((await later.read(artifact_id)) ?? []).toString()).toBe("kept");
    expect((await later.stat(artifact_id))?.tool_call_id).toBe("c1");
  });

  test("no one but the owner can look into the directory or the files", async () => {
    verifies("ART-1");
    const before = process.umask(0);
    try {
      const artifacts = await openFileArtifacts({ directory });
      const sink = artifacts.open(about);
      await sink.write("secret");
      for (const name of await readdir(directory)) {
        expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
      }
      await sink.close();
    } finally {
      process.umask(before);
    }
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const names = await readdir(directory);
    expect(names).toHaveLength(2);
    for (const name of names) {
      expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
    }
  });

  test("a directory that was open to others is closed to them", async () => {
    verifies("ART-1");
    await mkdir(directory, { mode: 0o755 });
    await chmod(directory, 0o755);
    await openFileArtifacts({ directory });
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  test("an id that is not of our making reaches no file", async () => {
    verifies("ART-1");
    const artifacts = await openFileArtifacts({ directory });
    await writeFile(join(base, "outside.json"), JSON.stringify({ artifact_id: "x" }));
    await symlink(base, join(directory, "up"));
    for (const id of [
      "../outside",
      "up/outside",
      "",
      ".",
      "..",
      "a\0b",
      "a".repeat(300),
      "ART.json",
    ]) {
      expect(await artifacts.stat(id)).toBeUndefined();
      expect(await artifacts.read(id)).toBeUndefined();
    }
  });

  test("an artifact cannot be read before it is closed, and never after it is given up", async () => {
    verifies("ART-1");
    const artifacts = await openFileArtifacts({ directory, ids: { next: () => "art_1" } });
    const sink = artifacts.open(about);
    await sink.write("half");
    expect(await artifacts.stat("art_1")).toBeUndefined();
    expect(await artifacts.list()).toEqual([]);
    await sink.discard();
    await sink.discard();
    expect(await readdir(directory)).toEqual([]);
    expect(() => sink.write("more")).toThrow(ToolFailure);
    expect(() => sink.close()).toThrow(/already discarded/);
  });

  test("discarding after closing changes nothing", async () => {
    verifies("ART-1");
    const artifacts = await openFileArtifacts({ directory });
    const sink = artifacts.open(about);
    await sink.write("whole");
    const { artifact_id } = await sink.close();
    await sink.discard();
    expect(Buffer.from((await artifacts.read(artifact_id)) ?? []).toString()).toBe("whole");
  });

  test("pieces are kept in the order they were given, awaited or not, and the buffer may be reused", async () => {
    verifies("ART-1");
    const artifacts = await openFileArtifacts({ directory });
    const sink = artifacts.open(about);
    const buffer = new Uint8Array(3);
    for (let i = 0; i < 200; i += 1) {
      buffer.fill(i);
      void sink.write(buffer);
    }
    const record = await sink.close();
    const expected = Buffer.concat(Array.from({ length: 200 }, (_, i) => Buffer.alloc(3, i)));
    expect(record.sha256).toBe(sha256(expected));
    expect(await artifacts.read(record.artifact_id)).toEqual(new Uint8Array(expected));
  });

  test("what a killed process left unfinished is swept away, what a live one writes is not", async () => {
    verifies("ART-1");
    const live = (await openFileArtifacts({ directory, ids: { next: () => "art_live" } })).open(
      about,
    );
    await live.write("in progress");
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    await writeFile(join(directory, `art_dead.${child.pid}.part`), "half");
    const later = await openFileArtifacts({ directory });
    expect(await readdir(directory)).toEqual([`art_live.${process.pid}.part`]);
    const record = await live.close();
    expect(await later.stat(record.artifact_id)).toEqual(record);
  });

  test("a disk that refuses says so, and nothing is left behind", async () => {
    verifies("ART-1");
    const artifacts = await openFileArtifacts({ directory, ids: { next: () => "art_1" } });
    // The name is taken by a directory: no right of any user makes this write succeed.
    await mkdir(join(directory, `art_1.${process.pid}.part`));
    const sink = artifacts.open(about);
    await expect(sink.write("x")).rejects.toThrow(/EEXIST/);
    expect(() => sink.write("y")).toThrow(/EEXIST/);
    expect(() => sink.close()).toThrow(/EEXIST/);
    await expect(artifacts.write("x", about)).rejects.toThrow(/EEXIST/);
    expect(await artifacts.list()).toEqual([]);
  });

  test("a directory of another user is refused", async () => {
    verifies("ART-1");
    // "/" belongs to root; an ordinary user is refused for that, and root is shown a foreign one.
    if (process.getuid?.() === 0) {
      const { chown } = await import("node:fs/promises");
      await mkdir(directory);
      await chown(directory, 65534, 65534);
      await expect(openFileArtifacts({ directory })).rejects.toThrow(/another user/);
    } else {
      await expect(openFileArtifacts({ directory: "/" })).rejects.toThrow(/another user/);
    }
  });

  test("disk and memory give back the same bytes, ranges and records for anything written", async () => {
    verifies("ART-1");
    const onDisk = await openFileArtifacts({ directory, clock });
    const inMemory = createMemoryArtifacts({ clock });
    const piece = fc.oneof(fc.string({ unit: anyCharacter }), fc.uint8Array({ maxLength: 40 }));
    const range = fc.record({
      offset: fc.oneof(fc.integer({ min: -5, max: 80 }), fc.constant(Number.NaN)),
      length: fc.oneof(fc.integer({ min: -5, max: 80 }), fc.constant(Number.POSITIVE_INFINITY)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), range, async (pieces, part) => {
        const disk = onDisk.open(about);
        const memory = inMemory.open(about);
        for (const bytes of pieces) {
          await memory.write(bytes);
          await disk.write(bytes);
        }
        const kept = await disk.close();
        const expected = await memory.close();
        expect({ ...kept, artifact_id: "" }).toEqual({ ...expected, artifact_id: "" });
        expect(await onDisk.read(kept.artifact_id)).toEqual(
          await inMemory.read(expected.artifact_id),
        );
        expect(await onDisk.read(kept.artifact_id, part)).toEqual(
          await inMemory.read(expected.artifact_id, part),
        );
      }),
      { numRuns: 100 },
    );
  });
});
