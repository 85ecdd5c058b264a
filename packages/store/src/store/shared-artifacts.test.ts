// Artifacts of the same content take their room on the disk once, in whichever session they are.

import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifies } from "#laws";
import type { Store } from "../contract/store.ts";
import { openStore } from "../open/open-store.ts";

const LONG = "definitions ".repeat(10_000);

let home: string;
let store: Store;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "soong-shared-"));
  store = await openStore({ directory: home });
});
afterEach(async () => {
  await store.close();
  await rm(home, { recursive: true, force: true });
});

/** Keeps `text` in a session of its own, which is then closed. */
async function keep(text: string) {
  const session = await store.createSession();
  const about = { media_type: "text/plain", session_id: session.session_id, run_id: "r1" };
  const { artifact_id } = await session.artifacts.write(text, about);
  await session.close();
  return { session_id: session.session_id, artifact_id };
}

type Kept = Awaited<ReturnType<typeof keep>>;

const pathOf = ({ session_id, artifact_id }: Kept) =>
  join(home, "artifacts", session_id, artifact_id);

const inodeOf = async (kept: Kept) => (await stat(pathOf(kept))).ino;

async function textOf({ session_id, artifact_id }: Kept) {
  const session = await store.openSession(session_id);
  const bytes = await session.artifacts.read(artifact_id);
  await session.close();
  return Buffer.from(bytes ?? []).toString();
}

test("sessions share the space of a long artifact, and keep it when the other is removed", async () => {
  verifies("MCP-10", "ART-1");
  const [first, second] = [await keep(LONG), await keep(LONG)];
  expect(await inodeOf(second)).toBe(await inodeOf(first));
  expect(await readdir(join(home, "artifacts", second.session_id))).toEqual([second.artifact_id]);
  await store.removeSession(first.session_id);
  expect(await textOf(second)).toBe(LONG);
  expect(await textOf(await keep(LONG))).toBe(LONG);
});

test("what was damaged on the disk is not shared", async () => {
  verifies("ART-1");
  const first = await keep(LONG);
  await writeFile(pathOf(first), LONG.replace("d", "D"));
  const second = await keep(LONG);
  expect(await inodeOf(second)).not.toBe(await inodeOf(first));
  expect(await textOf(second)).toBe(LONG);
});

test("short artifacts are not looked for", async () => {
  const [first, second] = [await keep("short"), await keep("short")];
  expect(await inodeOf(second)).not.toBe(await inodeOf(first));
});
