// What a user does first with the installed package: keep a session, come back to it, check it.

import { createKernel, defineTool } from "@soong/core";
import { openFileArtifacts, openStore } from "@soong/store";
import { conformanceChecks } from "@soong/store/conformance";

const note = defineTool({
  name: "notes.add",
  description: "Add a note",
  input_schema: { type: "object" },
  permission: "readonly",
  handler: () => "noted",
});
const store = await openStore({ directory: "./home" });
const kept = await store.createSession({ title: "first" });
const session = await createKernel({ tools: [note] }).openSession(kept);
const run = await session.startRun();
await run.call("notes.add", {});
run.end("completed");
await session.close();
await kept.close();

const again = await store.openSession(kept.session_id);
if (again.lastSeq === undefined) throw new Error("the session has forgotten its facts");
const verified = await store.verify(kept.session_id);
if (!verified.ok) throw new Error(verified.problem.message);
await store.close();

const artifacts = await openFileArtifacts({ directory: "./kept" });
const about = { media_type: "text/plain", session_id: "s", run_id: "r" };
const { artifact_id } = await artifacts.write("hello", about);
const bytes = await artifacts.read(artifact_id, { offset: 1, length: 3 });
if (new TextDecoder().decode(bytes) !== "ell") throw new Error("the bytes are not what was kept");
if (conformanceChecks.length === 0) throw new Error("there is nothing a store is held to");
