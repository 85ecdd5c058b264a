// What a user does first with the installed package: serve a kept session, ask for it with the token, get the page.

import { createKernel, defineTool } from "@soong/core";
import { serveInspector, type Changes, type FactRows, type Problem } from "@soong/inspector";
import { openStore } from "@soong/store";

const note = defineTool({
  name: "notes.add",
  description: "Add a note",
  input_schema: { type: "object" },
  permission: "readonly",
  handler: () => "noted",
});
const store = await openStore({ directory: "./inspected" });
const kept = await store.createSession({ title: "first" });
const session = await createKernel({ tools: [note] }).openSession(kept);
const run = await session.startRun();
await run.call("notes.add", {});
run.end("completed");
await session.close();
await kept.close();

const about = { home: "./inspected", cwd: process.cwd(), version: "1.0.0" };
const inspector = await serveInspector({ store, ...about });
const [origin = "", token = ""] = inspector.url.split("/#token=");

async function get(path: string, bearer = token): Promise<unknown> {
  const headers = { authorization: `Bearer ${bearer}` };
  return (await fetch(`${origin}${path}`, { headers })).json();
}

const { home } = (await get("/api/changes")) as Changes;
if (home?.sessions[0]?.title !== "first") throw new Error("the session is not listed");
const path = `/api/sessions/${kept.session_id}/facts?offset=0&limit=100`;
const { rows } = (await get(path)) as FactRows;
if (!rows.some(({ tool_name }) => tool_name === "notes.add"))
  throw new Error("no fact of the call");
const { error } = (await get(path, "another")) as Problem;
if (error.code !== "unauthorized") throw new Error("anybody may ask");
for (const [file, part] of [
  ["/", "<script"],
  ["/page.js", "function"],
  ["/page.css", "{"],
] as const) {
  const text = await (await fetch(`${origin}${file}`)).text();
  if (!text.includes(part)) throw new Error(`${file} is not the page's`);
}
await inspector.close();
await store.close();
