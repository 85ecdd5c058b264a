import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifies } from "#laws";
import { anyCharacter } from "../../../../test/any-character.ts";
import { ToolFailure } from "../tool/index.ts";
import { createMemoryArtifacts, type ArtifactInput } from "./artifacts.ts";

const about: ArtifactInput = {
  media_type: "text/plain",
  name: "out.txt",
  session_id: "s1",
  run_id: "r1",
  tool_call_id: "c1",
  retention: "session",
};
const clock = { now: () => 0 };
const utf8 = (text: string) => new TextEncoder().encode(text);

async function codeOf(action: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await action();
  } catch (error) {
    if (error instanceof ToolFailure) return error.error.code;
    throw error;
  }
  return undefined;
}

describe("artifacts in memory", () => {
  test("a text whose measures are known is kept and read like any other", async () => {
    verifies("ART-1");
    const artifacts = createMemoryArtifacts({ clock, maxBytes: 20 });
    const { sha256, size, artifact_id } = await artifacts.write("grüße", about);
    const again = await artifacts.write("grüße", { ...about, known: { sha256, size } });
    expect(again).toEqual({ ...again, sha256, size });
    expect(await artifacts.read(again.artifact_id)).toEqual(await artifacts.read(artifact_id));
    expect(await artifacts.read(again.artifact_id, { offset: 0, length: 2 })).toEqual(utf8("gr"));
    const known = { sha256, size: 7 };
    expect(await codeOf(() => artifacts.write("grüße", { ...about, known }))).toBe(
      "artifact_store_full",
    );
  });

  test("the record says what the bytes are and which call made them", async () => {
    verifies("ART-1");
    const artifacts = createMemoryArtifacts({ clock });
    const record = await artifacts.write("grüße", about);
    expect(record.artifact_id).toMatch(/^art_1_[0-9a-f]{12}$/);
    expect(record).toEqual({
      artifact_id: record.artifact_id,
      sha256: createHash("sha256").update("grüße", "utf8").digest("hex"),
      media_type: "text/plain",
      size: 7,
      name: "out.txt",
      session_id: "s1",
      run_id: "r1",
      tool_call_id: "c1",
      created_at: "1970-01-01T00:00:00.000Z",
      retention: "session",
    });
    expect(await artifacts.stat(record.artifact_id)).toBe(record);
    expect(artifacts.list()).toEqual([record]);
    expect(await artifacts.read(record.artifact_id)).toEqual(utf8("grüße"));
  });

  test("what was not said of an artifact is not in its record", async () => {
    verifies("ART-1");
    const artifacts = createMemoryArtifacts({ clock });
    const record = await artifacts.write("", {
      media_type: "text/plain",
      session_id: "s",
      run_id: "r",
    });
    expect(Object.keys(record)).toEqual([
      "artifact_id",
      "sha256",
      "media_type",
      "size",
      "session_id",
      "run_id",
      "created_at",
    ]);
  });

  test("ids come from the source that was passed in, and the same bytes twice are two artifacts", async () => {
    verifies("ART-1");
    let next = 0;
    const ids = { next: (prefix: string) => `${prefix}_${(next += 1)}` };
    const artifacts = createMemoryArtifacts({ ids });
    expect((await artifacts.write("same", about)).artifact_id).toBe("art_1");
    expect((await artifacts.write("same", about)).artifact_id).toBe("art_2");
    const plain = createMemoryArtifacts();
    const [one, other] = [await plain.write("same", about), await plain.write("same", about)];
    expect(one.artifact_id).not.toBe(other.artifact_id);
  });

  test("a caller that reuses its buffer, its description or what it read changes no artifact", async () => {
    verifies("ART-1");
    const artifacts = createMemoryArtifacts();
    const buffer = Buffer.from("first");
    const described = { ...about };
    const sink = artifacts.open(described);
    await sink.write(buffer);
    buffer.write("XXXXX");
    described.name = "other";
    const { artifact_id, name } = await sink.close();
    expect(name).toBe("out.txt");
    (await artifacts.read(artifact_id))?.fill(0);
    (await artifacts.read(artifact_id, { offset: 0, length: 5 }))?.fill(0);
    expect(await artifacts.read(artifact_id)).toEqual(utf8("first"));
  });

  test("any range of any bytes reads as a slice of them would", async () => {
    verifies("ART-3");
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 50 }),
        fc.nat({ max: 60 }),
        fc.nat({ max: 60 }),
        async (bytes, offset, length) => {
          const artifacts = createMemoryArtifacts();
          const { artifact_id } = await artifacts.write(bytes, about);
          expect(await artifacts.read(artifact_id, { offset, length })).toEqual(
            bytes.slice(offset, offset + length),
          );
        },
      ),
    );
  });

  test("a range that makes no sense reads nothing, and an unknown artifact is undefined", async () => {
    verifies("ART-3");
    const artifacts = createMemoryArtifacts();
    const { artifact_id } = await artifacts.write("abc", about);
    expect(await artifacts.read(artifact_id, { offset: -2, length: 2 })).toEqual(utf8("ab"));
    expect(await artifacts.read(artifact_id, { offset: 1, length: -1 })).toEqual(utf8(""));
    expect(await artifacts.read(artifact_id, { offset: Number.NaN, length: Infinity })).toEqual(
      utf8("abc"),
    );
    expect(await artifacts.read("__proto__")).toBeUndefined();
    expect(await artifacts.stat("constructor")).toBeUndefined();
  });

  test("pieces give the same artifact as the whole, wherever they were cut", async () => {
    verifies("ART-1");
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: anyCharacter }),
        fc.array(fc.nat({ max: 9 })),
        async (text, sizes) => {
          const artifacts = createMemoryArtifacts();
          const sink = artifacts.open(about);
          let at = 0;
          for (const size of sizes) {
            await sink.write(text.slice(at, at + size));
            at += size;
          }
          await sink.write(text.slice(at));
          const { artifact_id, sha256, size } = await sink.close();
          const whole = Buffer.from(text, "utf8");
          expect(await artifacts.read(artifact_id)).toEqual(new Uint8Array(whole));
          expect(sha256).toBe(createHash("sha256").update(whole).digest("hex"));
          expect(size).toBe(whole.length);
        },
      ),
    );
  });

  test("text and bytes may alternate; half a character before bytes is a replacement character", async () => {
    const artifacts = createMemoryArtifacts();
    const sink = artifacts.open(about);
    await sink.write("a\ud83d");
    await sink.write("\ude00b");
    await sink.write("\ud83d");
    await sink.write(new Uint8Array([0xff]));
    const { artifact_id } = await sink.close();
    expect(await artifacts.read(artifact_id)).toEqual(
      new Uint8Array([...utf8("a😀b\ufffd"), 0xff]),
    );
  });

  test("an unfinished artifact cannot be read, and a discarded one leaves nothing", async () => {
    verifies("ART-1");
    const artifacts = createMemoryArtifacts({ maxBytes: 10 });
    const sink = artifacts.open(about);
    await sink.write("12345678");
    expect(artifacts.list()).toEqual([]);
    await sink.discard();
    await sink.discard();
    expect(artifacts.list()).toEqual([]);
    expect(await codeOf(() => sink.write("x"))).toBe("artifact_sink_closed");
    expect(await codeOf(() => sink.close())).toBe("artifact_sink_closed");
    expect((await artifacts.write("1234567890", about)).size).toBe(10);
  });

  test("a closed sink takes nothing more, and discarding it keeps the artifact", async () => {
    verifies("ART-1");
    const artifacts = createMemoryArtifacts();
    const sink = artifacts.open(about);
    const { artifact_id } = await sink.close();
    expect(await codeOf(() => sink.write("late"))).toBe("artifact_sink_closed");
    expect(await codeOf(() => sink.close())).toBe("artifact_sink_closed");
    await sink.discard();
    expect(await artifacts.read(artifact_id)).toEqual(new Uint8Array(0));
  });

  test("the total is bounded, and what did not fit is given up whole", async () => {
    verifies("ART-1");
    const artifacts = createMemoryArtifacts({ maxBytes: 10 });
    await artifacts.write("12345", about);
    const sink = artifacts.open(about);
    await sink.write("123");
    expect(await codeOf(() => sink.write("456"))).toBe("artifact_store_full");
    // Closing now would pass a cut artifact off as a whole one.
    expect(await codeOf(() => sink.close())).toBe("artifact_store_full");
    expect(await codeOf(() => artifacts.write("123456", about))).toBe("artifact_store_full");
    expect((await artifacts.write("12345", about)).size).toBe(5);
    expect(artifacts.list()).toHaveLength(2);
  });
});
