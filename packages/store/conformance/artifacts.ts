// The artifacts of a session: listed with it, read by others, and never those of another (ART-1).

import assert from "node:assert/strict";
import { artifactOf, sha256 } from "./artifact-checks.ts";
import { storeCheck, type ConformanceCheck } from "./check.ts";

export const artifacts: readonly ConformanceCheck[] = [
  storeCheck(
    "artifacts are read through another handle and after reopening",
    ["ART-1"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      const about = artifactOf(session.session_id, { name: "out.txt", tool_call_id: "c1" });
      const record = await session.artifacts.write("0123456789", about);
      await session.journal.flush();
      const reader = await (await place.open()).readSession(session.session_id);
      assert.deepEqual(await reader.artifacts(), [record]);
      const text = async (...of: Parameters<typeof reader.readArtifact>): Promise<string> =>
        Buffer.from((await reader.readArtifact(...of)) ?? []).toString();
      assert.equal(await text(record.artifact_id), "0123456789");
      assert.equal(await text(record.artifact_id, { offset: 8, length: 50 }), "89");
      assert.equal(await reader.readArtifact("art_none"), undefined);
      assert.equal(await reader.readArtifact("../soong.db"), undefined);
      await session.close();
      const again = await store.openSession(session.session_id);
      assert.deepEqual(await again.artifacts.stat(record.artifact_id), record);
      assert.equal(record.sha256, sha256((await again.artifacts.read(record.artifact_id)) ?? ""));
    },
  ),
  storeCheck("nothing of an artifact is there before it is closed", ["ART-1"], async (place) => {
    const session = await (await place.open()).createSession();
    const given = await session.artifacts.write("first", artifactOf(session.session_id));
    const sink = session.artifacts.open(artifactOf(session.session_id));
    await sink.write("half");
    await session.journal.flush();
    assert.deepEqual(await session.reader.artifacts(), [given]);
    const discarded = session.artifacts.open(artifactOf(session.session_id));
    await discarded.write("not wanted");
    await discarded.discard();
    const record = await sink.close();
    assert.deepEqual(await session.artifacts.stat(record.artifact_id), record);
    await session.journal.flush();
    assert.deepEqual(await session.reader.artifacts(), [given, record]);
  }),
  storeCheck(
    "artifacts are listed oldest first, however fast they came",
    ["ART-1"],
    async (place) => {
      const session = await (await place.open()).createSession();
      const written: string[] = [];
      for (let i = 0; i < 40; i += 1) {
        const { artifact_id } = await session.artifacts.write("", artifactOf(session.session_id));
        written.push(artifact_id);
      }
      await session.journal.flush();
      const listed = await session.reader.artifacts();
      assert.deepEqual(
        listed.map(({ artifact_id }) => artifact_id),
        written,
      );
    },
  ),
  storeCheck(
    "what a crash cut off of an artifact is not there, what was committed is",
    ["ART-1", "STORE-3"],
    async (place) => {
      const store = await place.open();
      const session = await store.createSession();
      const about = artifactOf(session.session_id);
      const record = await session.artifacts.write("kept", about);
      await session.journal.flush();
      const half = session.artifacts.open(about);
      await half.write("half");
      await place.crash(store);
      const again = await (await place.open()).openSession(session.session_id);
      assert.deepEqual(await again.reader.artifacts(), [record]);
      const bytes = await again.artifacts.read(record.artifact_id);
      assert.equal(Buffer.from(bytes ?? []).toString(), "kept");
      await half.discard();
    },
  ),
  storeCheck("a session does not read the artifacts of another", ["ART-1"], async (place) => {
    const store = await place.open();
    const [one, two] = [await store.createSession(), await store.createSession()];
    const { artifact_id } = await one.artifacts.write("of one", artifactOf(one.session_id));
    await one.journal.flush();
    assert.deepEqual(await two.reader.artifacts(), []);
    assert.equal(await two.reader.readArtifact(artifact_id), undefined);
    assert.equal(await two.artifacts.stat(artifact_id), undefined);
    assert.equal(await two.artifacts.read(artifact_id), undefined);
  }),
];
