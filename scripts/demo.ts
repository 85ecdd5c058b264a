// `npm run demo`: the kernel and the built-in tools at work on a real project in a temporary folder,
// offline. A made-up model asks for things; each answer shows what Soong decided about it and why.
// Everything printed comes from the real pipeline, real files and real processes.

import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
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
import { openFileArtifacts } from "@soong/store";
import { codeTools, readArtifactTool } from "@soong/tools";

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

try {
  await plantProject();
  const kernel = createKernel({
    tools: [...codeTools({ lockDirectory: join(base, "locks") }), publish],
    sources: [{ id: "artifacts", kind: "internal", tools: [readArtifactTool()] }],
  });
  const run = await kernel.startRun({
    roots: { project, write: [] },
    artifacts: await openFileArtifacts({ directory: join(base, "artifacts") }),
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
  await run.session.close();
  heading("Everything is on record");
  const counts = new Map<string, number>();
  for await (const { type } of run.session.facts()) counts.set(type, (counts.get(type) ?? 0) + 1);
  for (const [type, count] of counts) console.log(`  ${String(count).padStart(3)}  ${type}`);
} finally {
  await rm(base, { recursive: true, force: true });
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
