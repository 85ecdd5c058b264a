// No secret reaches what a store keeps, but for the bytes of artifacts, which stay what their hash says.

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, defineTool } from "@soong/core";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "#laws";
import { openStore } from "../open/open-store.ts";

const SECRET = "5up3r-s3cr3t-v4lu3";
const KEY = `ghp_${"a1B2".repeat(9)}`;

test("database, run folders and what is read again hold the placeholder of a secret, never the secret", async () => {
  verifies("REDACT-1", "EVENT-5");
  const home = await mkdtemp(join(tmpdir(), "soong-redaction-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const tell = defineTool({
    name: "secrets.tell",
    description: "Tells",
    input_schema: { type: "object" },
    permission: "readonly",
    handler: (_input, context) => {
      context.progress({ message: `now ${SECRET}` });
      if (context.toolCallId === "fails") throw new Error(`no ${SECRET} for ${KEY}`);
      return { text: SECRET, key: KEY, long: `${SECRET} ${"x".repeat(5000)}` };
    },
  });
  const store = await openStore({ directory: home });
  const kept = await store.createSession();
  const session = await createKernel({ tools: [tell] }).openSession({
    ...kept,
    secrets: [{ name: "TOKEN", value: SECRET }],
  });
  const run = await session.startRun();
  await run.execute([
    { id: "works", name: "secrets.tell", arguments: { also: SECRET } },
    { id: "fails", name: "secrets.tell", arguments: JSON.stringify({ also: KEY }) },
  ]);
  run.end("failed", { reason: SECRET });
  await session.close();
  await kept.close();

  const again = await store.openSession(kept.session_id);
  const read = JSON.stringify([
    await again.reader.facts(),
    await again.reader.activePath(run.identity.agent_id),
  ]);
  expect(read).toContain("[redacted:TOKEN]");
  expect(leaksIn(read)).toEqual([]);
  await store.close();

  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.some((file) => file.endsWith("events.jsonl"))).toBe(true);
  const leaking: string[] = [];
  for (const file of files) {
    if (leaksIn(await readFile(file, "latin1")).length > 0) leaking.push(file);
  }
  expect(leaking).toEqual([]);
});

function leaksIn(text: string): string[] {
  return [SECRET, KEY].filter((secret) => text.includes(secret));
}
