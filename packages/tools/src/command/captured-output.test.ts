import { createHash } from "node:crypto";
import {
  createMemoryArtifacts,
  type ArtifactAccess,
  type ArtifactSink,
  type MemoryArtifacts,
} from "@soong/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import { captureOutput } from "./captured-output.ts";

const LIMIT = 100;

test("output within the bound stays in memory, whole", async () => {
  verifies("CMD-2");
  const { capture, store } = capturing();
  await push(capture, "a".repeat(LIMIT));
  expect(capture.ends).toEqual({ whole: Buffer.from("a".repeat(LIMIT)) });
  expect(await capture.keep(false)).toEqual({ kind: "inline" });
  expect(store.list()).toEqual([]);
});

test("output that fits is kept all the same when it is not all shown", async () => {
  verifies("CMD-2");
  const { capture, store } = capturing();
  await push(capture, "abc");
  const kept = await capture.keep(true);
  expect(kept).toMatchObject({ kind: "artifact", ref: { size: 3, media_type: "text/plain" } });
  expect(store.list()).toHaveLength(1);
});

test("more than the bound is an artifact with every byte, however it came in pieces", async () => {
  verifies("CMD-2");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2 * LIMIT), { maxLength: 12, size: "max" }), async (sizes) => {
      const chunks = sizes.map((size, index) => Buffer.alloc(size, `${index} `));
      const { capture, store } = capturing();
      for (const chunk of chunks) await capture.push(chunk);
      const all = Buffer.concat(chunks);
      const kept = await capture.keep(false);
      expect(capture.bytes).toBe(all.length);
      if (all.length <= LIMIT) {
        expect(kept.kind).toBe("inline");
        return;
      }
      if (kept.kind !== "artifact") throw new Error(kept.kind);
      expect(kept.ref.sha256).toBe(createHash("sha256").update(all).digest("hex"));
      expect(Buffer.from((await store.read(kept.ref.artifact_id)) ?? [])).toEqual(all);
    }),
  );
});

test("the ends are the first and the last bytes, and memory does not grow with the rest", async () => {
  verifies("CMD-2");
  const { capture } = capturing({ write: () => undefined });
  const piece = Buffer.alloc(7919, "0123456789");
  let hash = 0;
  for (let index = 0; index < 500; index += 1) {
    piece.write(String(index).padStart(8, "0"), 0);
    await capture.push(Buffer.from(piece));
    hash += piece.length;
  }
  const { ends } = capture;
  if ("whole" in ends) throw new Error("it cannot be whole");
  expect(capture.bytes).toBe(hash);
  expect(ends.first.subarray(0, 8).toString()).toBe("00000000");
  expect(ends.last.subarray(-7919, -7911).toString()).toBe("00000499");
  expect(ends.first.length).toBe(LIMIT + 16 * 1024);
  expect(ends.last.length).toBe(LIMIT + 16 * 1024);
});

test("single bytes are as good as one large piece", async () => {
  verifies("CMD-2");
  const text = "x".repeat(40_000);
  const { capture } = capturing();
  for (const letter of text) await capture.push(Buffer.from(letter));
  const other = capturing().capture;
  await push(other, text);
  expect(capture.ends).toEqual(other.ends);
});

test("a pending write holds the command back", async () => {
  verifies("CMD-2");
  let release = (): void => {};
  const { capture } = capturing({
    write: () =>
      new Promise<void>((resolve) => {
        release = resolve;
      }),
  });
  let isDone = false;
  const pushed = Promise.resolve(capture.push(Buffer.alloc(LIMIT + 1))).then(() => {
    isDone = true;
  });
  await Promise.resolve();
  expect(isDone).toBe(false);
  release();
  await pushed;
  expect(isDone).toBe(true);
});

test("it is closed only after what was still being written", async () => {
  verifies("CMD-2");
  const order: string[] = [];
  const { capture } = capturing({
    write: async () => {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      order.push("written");
    },
    close: async () => {
      order.push("closed");
      return { artifact_id: "x", media_type: "text/plain", size: 1, sha256: "" };
    },
  });
  void capture.push(Buffer.alloc(LIMIT + 1));
  await capture.keep(false);
  expect(order).toEqual(["written", "closed"]);
});

test("an artifact that fails is reported, and the ends are still there", async () => {
  verifies("CMD-2");
  let discarded = 0;
  const faults: Partial<ArtifactSink>[] = [
    { write: () => Promise.reject(new Error("disk full")) },
    {
      write: () => {
        throw new Error("disk full");
      },
    },
    { close: () => Promise.reject(new Error("disk full")) },
  ];
  for (const fault of faults) {
    const { capture } = capturing({
      discard: async () => {
        discarded += 1;
        throw new Error("nor can it be discarded");
      },
      ...fault,
    });
    await push(capture, "a".repeat(LIMIT + 1));
    await push(capture, "the end");
    expect(await capture.keep(false)).toEqual({ kind: "lost", why: "disk full" });
    expect(capture.ends).toEqual({ whole: Buffer.from(`${"a".repeat(LIMIT + 1)}the end`) });
  }
  expect(discarded).toBe(2);
});

test("an artifact that cannot even be opened is reported, once", async () => {
  verifies("CMD-2");
  let opened = 0;
  const capture = captureOutput("stderr", {
    inlineLimitBytes: LIMIT,
    artifacts: {
      open() {
        opened += 1;
        throw new Error("no store");
      },
    } as unknown as ArtifactAccess,
  });
  await push(capture, "a".repeat(LIMIT + 1));
  await push(capture, "b".repeat(LIMIT + 1));
  expect(await capture.keep(true)).toEqual({ kind: "lost", why: "no store" });
  expect(opened).toBe(1);
});

test("bytes that are no text are called so", async () => {
  verifies("CMD-2");
  const binary = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]);
  const { capture } = capturing();
  await capture.push(Buffer.concat(Array.from({ length: 20 }, () => binary)));
  expect(await capture.keep(false)).toMatchObject({
    ref: { media_type: "application/octet-stream", name: "stdout.bin" },
  });
});

function capturing(sink: Partial<ArtifactSink> = {}): {
  capture: ReturnType<typeof captureOutput>;
  store: MemoryArtifacts;
} {
  const store = createMemoryArtifacts();
  const artifacts = {
    open: (about: { media_type: string; name?: string }) => ({
      ...store.open({ ...about, session_id: "s", run_id: "r" }),
      ...sink,
    }),
  } as unknown as ArtifactAccess;
  return { capture: captureOutput("stdout", { artifacts, inlineLimitBytes: LIMIT }), store };
}

async function push(capture: ReturnType<typeof captureOutput>, text: string): Promise<void> {
  await capture.push(Buffer.from(text));
}
