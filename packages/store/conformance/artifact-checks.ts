// What any artifact store must do, on a disk, in a database or in memory: the kernel's interface alone.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { ArtifactInput, ArtifactStore } from "@soong/core";
import type { Check } from "./check.ts";

/** An artifact store and the session its artifacts are of. */
export interface ArtifactsUnderTest {
  readonly session_id: string;
  readonly artifacts: ArtifactStore;
}

export function artifactOf(session_id: string, about: Partial<ArtifactInput> = {}): ArtifactInput {
  return { media_type: "text/plain", session_id, run_id: "run_1", ...about };
}

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Ids no one gave out; some would be a path if they were taken for a file name. */
const STRANGE_IDS = [
  "",
  ".",
  "..",
  "../soong.db",
  "../../etc/passwd",
  "/etc/passwd",
  "a/b",
  "a\\b",
  "a\0b",
  "%2e%2e%2f",
  "art_0",
  "\ud800",
  "' OR 1=1 --",
  "a".repeat(5000),
];

export const artifactChecks: readonly Check<ArtifactsUnderTest>[] = [
  {
    name: "the record says what the bytes are and which call made them",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const about = { name: "out.txt", tool_call_id: "call_1", retention: "session" };
      const record = await artifacts.write("grüße", artifactOf(session_id, about));
      const { artifact_id, created_at, ...rest } = record;
      assert.ok(artifact_id.length > 0);
      assert.equal(new Date(created_at).toISOString(), created_at);
      assert.deepEqual(rest, {
        sha256: sha256("grüße"),
        media_type: "text/plain",
        size: 7,
        session_id,
        run_id: "run_1",
        ...about,
      });
      assert.deepEqual(await artifacts.stat(artifact_id), record);
    },
  },
  {
    name: "fields that were not given are omitted of the record",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const record = await artifacts.write("x", artifactOf(session_id));
      for (const field of ["name", "tool_call_id", "retention"])
        assert.ok(!(field in record), field);
      const kept = await artifacts.stat(record.artifact_id);
      assert.deepEqual(kept, record);
    },
  },
  {
    name: "any bytes come back as they were, also none and a million",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const million = new Uint8Array(1_000_003).map((_, index) => (index * 31) % 251);
      for (const bytes of [new Uint8Array(0), everyByte, million]) {
        const record = await artifacts.write(bytes, artifactOf(session_id));
        assert.equal(record.size, bytes.length);
        assert.equal(record.sha256, sha256(bytes));
        const back = await artifacts.read(record.artifact_id);
        assert.ok(back !== undefined && Buffer.compare(back, bytes) === 0);
      }
    },
  },
  {
    name: "the same bytes written twice are two artifacts",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const first = await artifacts.write("same", artifactOf(session_id));
      const second = await artifacts.write("same", artifactOf(session_id, { run_id: "run_2" }));
      assert.notEqual(first.artifact_id, second.artifact_id);
      assert.equal((await artifacts.stat(first.artifact_id))?.run_id, "run_1");
      assert.equal((await artifacts.stat(second.artifact_id))?.run_id, "run_2");
    },
  },
  {
    name: "a range gives what there is of it",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const { artifact_id } = await artifacts.write("0123456789", artifactOf(session_id));
      const part = async (offset: number, length: number): Promise<string> =>
        Buffer.from((await artifacts.read(artifact_id, { offset, length })) ?? []).toString();
      assert.equal(await part(0, 4), "0123");
      assert.equal(await part(7, 2), "78");
      assert.equal(await part(8, 100), "89");
      assert.equal(await part(3, Number.POSITIVE_INFINITY), "3456789");
      for (const [offset, length] of [
        [10, 5],
        [99, 5],
        [2, 0],
        [2, -1],
        [Number.POSITIVE_INFINITY, 1],
      ] as const) {
        assert.equal(await part(offset, length), "", `${offset} ${length}`);
      }
      assert.equal(await part(-3, 2), "01");
      assert.equal(await part(Number.NaN, 2), "01");
    },
  },
  {
    name: "an id that no one gave out leads nowhere, with any text in it",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const { artifact_id } = await artifacts.write("kept", artifactOf(session_id));
      const nearly = [
        `${artifact_id}\0x`,
        `./${artifact_id}`,
        `${artifact_id}/`,
        ` ${artifact_id}`,
      ];
      for (const id of [...STRANGE_IDS, ...nearly]) {
        const shown = JSON.stringify(id.slice(0, 40));
        assert.equal(await artifacts.stat(id), undefined, shown);
        assert.equal(await artifacts.read(id), undefined, shown);
        assert.equal(await artifacts.read(id, { offset: 0, length: 1 }), undefined, shown);
      }
    },
  },
  {
    name: "bytes that come in pieces are kept in order, though no one waits and buffers are reused",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const sink = artifacts.open(artifactOf(session_id));
      const buffer = new Uint8Array(3);
      const pending: unknown[] = [];
      for (let i = 0; i < 100; i += 1) {
        buffer.fill(i);
        pending.push(sink.write(buffer));
      }
      const whole = Buffer.concat(Array.from({ length: 100 }, (_, i) => Buffer.alloc(3, i)));
      const record = await sink.close();
      await Promise.all(pending);
      assert.equal(record.sha256, sha256(whole));
      const back = await artifacts.read(record.artifact_id);
      assert.ok(back !== undefined && Buffer.compare(back, whole) === 0);
    },
  },
  {
    name: "a character cut in two by the pieces it came in is whole again",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const sink = artifacts.open(artifactOf(session_id));
      for (const piece of ["a\ud83d", "\ude00b", "\ud83d"]) await sink.write(piece);
      const record = await sink.close();
      const back = Buffer.from((await artifacts.read(record.artifact_id)) ?? []).toString();
      assert.equal(back, "a😀b\ufffd");
      assert.equal(record.size, 9);
    },
  },
  {
    name: "an artifact that was given up is not there, and takes nothing more",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const sink = artifacts.open(artifactOf(session_id));
      await sink.write("half");
      await sink.discard();
      await sink.discard();
      await assert.rejects(async () => sink.write("more"));
      await assert.rejects(async () => sink.close());
    },
  },
  {
    name: "giving up after closing changes nothing, and a closed one takes nothing more",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const sink = artifacts.open(artifactOf(session_id));
      await sink.write("whole");
      const { artifact_id } = await sink.close();
      await sink.discard();
      await assert.rejects(async () => sink.write("more"));
      await assert.rejects(async () => sink.close());
      const back = Buffer.from((await artifacts.read(artifact_id)) ?? []).toString();
      assert.equal(back, "whole");
    },
  },
  {
    name: "what a reader does with the bytes does not change them",
    laws: ["ART-1"],
    async run({ artifacts, session_id }) {
      const { artifact_id } = await artifacts.write("steady", artifactOf(session_id));
      (await artifacts.read(artifact_id))?.fill(0);
      const back = Buffer.from((await artifacts.read(artifact_id)) ?? []).toString();
      assert.equal(back, "steady");
    },
  },
];
