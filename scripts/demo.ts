// `npm run demo`: the kernel and the built-in tools at work on a real project in a temporary folder,
// offline. A made-up model asks for things; each answer shows what Soong decided about it and why.
// Everything printed comes from the real pipeline, real files and real processes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createKernel,
  defineTool,
  type PermissionRequest,
  type Run,
  type ToolCall,
  type ToolResult,
} from "@soong/core";
import { openStore, type Store } from "@soong/store";
import { codeTools, readArtifactTool } from "@soong/tools";
import { run as runCommand } from "./command.ts";
import { packageFolders } from "./house.ts";

const publish = defineTool({
  name: "site.publish",
  description: "Publish the project on the web",
  input_schema: { type: "object", properties: { host: { type: "string" } } },
  tags: ["network", "dangerous"],
  handler: () => "published",
});

let calls = 0;
const base = await realpath(await mkdtemp(join(tmpdir(), "soong-demo-")));
const project = join(base, "greeter");
const home = join(base, "home");

try {
  await plantProject();
  const kernel = createKernel({
    tools: [...codeTools({ lockDirectory: join(base, "locks") }), publish],
    sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool()] }],
  });
  const store = await openStore({ directory: home });
  const kept = await store.createSession({ title: "the demo", project });
  const run = await kernel.startRun({
    ...kept,
    roots: { project, write: [] },
    ask: answer,
    secrets: [{ name: "API_TOKEN", value: "4f9d2c7e81ab" }],
    policy: {
      rules: [
        {
          tool: "site.*",
          decision: "deny",
          reason: "nothing leaves this machine",
          origin: { file: "config.toml", line: 12 },
        },
        {
          tool: "code.run_command",
          tags: ["readonly"],
          decision: "allow",
          reason: "proven read-only",
          origin: { file: "config.toml", line: 17 },
        },
      ],
    },
  });
  await show(run);
  run.end("completed");
  await run.session.close();
  await kept.close();
  await showRecord(store, kept.session_id, run.identity.run_id);
  await showCrash(store, kept.session_id);
  await store.close();
} finally {
  await rm(base, { recursive: true, force: true });
}
buildPackages();
heading("Now try it yourself");
console.log("  npx soong tools");
console.log('  npx soong explain code.run_command \'{"argv": ["rm", "-r", "src"]}\'');

/** `npx soong` runs what is built. */
function buildPackages(): void {
  const isBuilt = packageFolders().every((folder) => existsSync(join("packages", folder, "dist")));
  if (isBuilt) return;
  console.log("\nBuilding the command …");
  for (const folder of packageFolders()) runCommand("tsc", ["--project", join("packages", folder)]);
}

async function show(run: Run): Promise<void> {
  heading("What this run may see, and why not the rest");
  for (const { name } of run.surface.loaded) console.log(`  loaded    ${name}`);
  for (const { tool_name, reason, detail } of run.surface.excluded) {
    console.log(`  excluded  ${tool_name} (${reason}: ${detail})`);
  }

  heading("A list, a search and a read side by side, and one the model got wrong");
  await turn(run, [
    call("code__list_dir", { recursive: true }),
    call("code__search", { query: "hel+o" }),
    call("code__read_file", { path: "src/greet.mjs" }),
    call("code__read_file", { file: "README.md" }),
  ]);

  heading("An edit: planned, shown as a diff, asked about, and done as it was shown");
  await turn(run, [
    call("code__edit_file", { path: "src/greet.mjs", edits: [{ old: '"helo"', new: '"hello"' }] }),
    call("code__run_command", { argv: ["node", "src/greet.mjs"], description: "try it" }),
  ]);

  heading(
    "An edit that misses changes nothing, says how near it was, and stops what comes after it",
  );
  await turn(run, [
    call("code__edit_file", {
      path: "src/greet.mjs",
      edits: [{ old: "const port = 30001;", new: "const port = 1;" }],
    }),
    call("code__read_file", { path: "README.md" }),
  ]);

  heading("A command that is proven read-only runs unasked; one that is not asks");
  await turn(run, [
    call("code__run_command", { argv: ["ls", "src"] }),
    call("code__run_command", { argv: ["rm", "-r", "src"] }),
  ]);

  heading("Refused: not on the surface, a sensitive file, a write outside the project");
  await turn(run, [call("site__publish", {}), call("code__read_file", { path: ".env" })]);
  await turn(run, [call("code__write_file", { path: "../elsewhere.txt", content: "x" })]);

  heading("Much output is cut, and the model reads on from the artifact");
  const [seq] = await turn(run, [call("code__run_command", { argv: ["seq", "100000"] })]);
  const artifact_id = seq?.artifacts[0]?.artifact_id ?? "";
  await turn(run, [call("internal__read_artifact", { artifact_id, query: "^77777$" })]);

  heading("Why would this edit be asked about? (nothing is run)");
  const why = await run.explain(
    call("code__edit_file", { path: "README.md", edits: [{ old: "Says", new: "Says a" }] }),
  );
  if (why.outcome !== "refused") {
    console.log(`  ${why.outcome}: ${why.reason}`);
    for (const { layer, rule, verdict, reason } of why.chain) {
      console.log(`    ${layer.padEnd(9)} ${verdict.padEnd(12)} ${rule}: ${reason}`);
    }
  }
}

async function showRecord(store: Store, session_id: string, run_id: string): Promise<void> {
  heading("Everything is on record, durably, and nobody can change it unseen");
  const facts = await (await store.readSession(session_id)).facts();
  const types = new Set(facts.map(({ type }) => type));
  console.log(`  ${facts.length} facts of ${types.size} types, in ${home}/store/soong.db`);
  const log = await readFile(join(home, "runs", run_id, "logs", "tools.jsonl"), "utf8");
  console.log(`  ${log.split("\n").length - 1} lines in runs/${run_id}/logs/tools.jsonl`);
  const verified = await store.verify(session_id, { artifacts: true });
  console.log(`  chain and artifacts: ${verified.ok ? "as recorded" : verified.problem.message}`);
}

async function showCrash(store: Store, session_id: string): Promise<void> {
  heading(
    "Killed in the middle of a command, the session opens again and knows what it does not know",
  );
  const argv = ["scripts/run.mjs", "scripts/demo-killed.ts", home, session_id, project];
  const killed = spawn(process.execPath, argv, { stdio: ["ignore", "inherit", "inherit"] });
  const [, signal] = (await once(killed, "exit")) as [number | null, string | null];
  console.log(`  a second process went on with it and was ended by ${signal}`);
  const again = await store.openSession(session_id);
  for (const { data } of await again.reader.facts({ limit: 10_000 })) {
    const { result } = data as { result?: ToolResult };
    if (result?.error?.code === "runtime_restarted") console.log(`  ${line(result)}`);
  }
  const verified = await store.verify(session_id);
  console.log(`  ${verified.facts} facts, chain: ${verified.ok ? "as recorded" : "broken"}`);
}

async function plantProject(): Promise<void> {
  await mkdir(join(project, "src"), { recursive: true });
  await writeFile(join(project, "README.md"), "# Greeter\nSays hello.\n");
  await writeFile(join(project, ".env"), "API_TOKEN=4f9d2c7e81ab\n");
  await writeFile(
    join(project, "src", "greet.mjs"),
    'const port = 30000;\nconsole.log("helo", port);\n',
  );
}

async function turn(of: Run, asked: ToolCall[]): Promise<ToolResult[]> {
  const results = await of.execute(asked);
  for (const result of results) console.log(`  ${line(result)}`);
  return results;
}

function line({ tool_name, status, summary }: ToolResult): string {
  return `${status.padEnd(10)} ${tool_name}: ${summary.replaceAll("\n", "\n             ")}`;
}

function call(name: string, input: Record<string, unknown>): ToolCall {
  calls += 1;
  return { id: `call_${calls}`, name, arguments: JSON.stringify(input) };
}

/** The person at the terminal: yes to edits and to trying things, no to anything else. */
function answer(request: PermissionRequest): { decision: "allow_once" | "deny"; reason: string } {
  console.log(`  asked      ${request.tool_name}: ${request.reason}`);
  const { preview } = request;
  if (preview?.kind === "diff") console.log(preview.diff.replaceAll(/^/gm, "               "));
  if (preview?.kind === "command") console.log(`               $ ${preview.argv.join(" ")}`);
  const isNode = preview?.kind === "command" && preview.argv[0] === "node";
  const isOwnFile = preview?.kind === "diff" && preview.path.startsWith(`${project}/`);
  const isCount = preview?.kind === "command" && preview.argv[0] === "seq";
  return isNode || isOwnFile || isCount
    ? { decision: "allow_once", reason: "looks right" }
    : { decision: "deny", reason: "better not" };
}

function heading(text: string): void {
  console.log(`\n${text}`);
}
