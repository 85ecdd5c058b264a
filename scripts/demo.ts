// `npm run demo`: the kernel at work, offline. A made-up model asks for things; each answer shows what
// Soong decided about it and why. Everything printed comes from the real pipeline.

import {
  createKernel,
  defineTool,
  ToolFailure,
  type PermissionRequest,
  type Run,
  type ToolCall,
  type ToolResult,
} from "@soong/core";

const files = new Map([
  ["/project/README.md", "# Greeter\nSays hello."],
  ["/project/src/greet.ts", 'export const greet = () => "helo";'],
  ["/project/.env", "API_TOKEN=4f9d2c7e81ab"],
]);

const read = defineTool({
  name: "files.read",
  description: "Read a file",
  input_schema: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
  permission: "readonly",
  concurrency_safe: true,
  prepare: (input) => ({
    resources: [{ kind: "path", access: "read", path: `/project/${pathOf(input)}` }],
  }),
  handler: (input) => contentOf(`/project/${pathOf(input)}`),
});

const edit = defineTool({
  name: "files.edit",
  description: "Replace a text that occurs once in a file",
  input_schema: {
    type: "object",
    properties: { path: { type: "string" }, old: { type: "string" }, new: { type: "string" } },
    required: ["path", "old", "new"],
    additionalProperties: false,
  },
  permission: "write",
  prepare(input) {
    const { path, before, after } = replacement(input);
    return {
      resources: [{ kind: "path", access: "write", path }],
      preview: { kind: "diff", path, diff: `- ${before}\n+ ${after}` },
    };
  },
  handler(input) {
    const { path, after } = replacement(input);
    files.set(path, after);
    return `edited ${path}`;
  },
});

const publish = defineTool({
  name: "site.publish",
  description: "Publish the project on the web",
  input_schema: { type: "object", properties: { host: { type: "string" } } },
  tags: ["network", "dangerous"],
  handler: () => "published",
});

let calls = 0;

const kernel = createKernel({ tools: [read, edit, publish] });
const run = await kernel.startRun({
  roots: { project: "/project", write: [] },
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
    ],
  },
});

heading("What this run may see, and why not the rest");
for (const { name } of run.surface.loaded) console.log(`  loaded    ${name}`);
for (const { tool_name, reason, detail } of run.surface.excluded) {
  console.log(`  excluded  ${tool_name} (${reason}: ${detail})`);
}

heading("Two reads side by side, and one the model got wrong");
await turn(run, [
  call("files__read", { path: "README.md" }),
  call("files__read", { path: "src/greet.ts" }),
  call("files__read", { file: "README.md" }),
]);

heading("An edit: planned, shown as a diff, asked about, and done as it was shown");
await turn(run, [
  call("files__edit", { path: "src/greet.ts", old: '"helo"', new: '"hello"' }),
  call("files__read", { path: "src/greet.ts" }),
]);

heading("A write that fails stops what comes after it");
await turn(run, [
  call("files__edit", { path: "src/greet.ts", old: "nowhere", new: "x" }),
  call("files__read", { path: "README.md" }),
]);

heading("Refused: not on the surface, and a sensitive file");
await turn(run, [call("site__publish", {}), call("files__read", { path: ".env" })]);

heading("Why would an edit be asked about? (nothing is run)");
const why = await run.explain(call("files__edit", { path: "README.md", old: "hello", new: "hi" }));
if (why.outcome !== "refused") {
  console.log(`  ${why.outcome}: ${why.reason}`);
  for (const { layer, rule, verdict, reason } of why.chain) {
    console.log(`    ${layer.padEnd(9)} ${verdict.padEnd(12)} ${rule}: ${reason}`);
  }
}

heading("Everything is on record");
await run.session.close();
const counts = new Map<string, number>();
for await (const { type } of run.session.facts()) counts.set(type, (counts.get(type) ?? 0) + 1);
for (const [type, count] of counts) console.log(`  ${String(count).padStart(3)}  ${type}`);

async function turn(of: Run, calls: ToolCall[]): Promise<void> {
  for (const result of await of.execute(calls)) console.log(`  ${line(result)}`);
}

function line({ tool_name, status, summary }: ToolResult): string {
  return `${status.padEnd(10)} ${tool_name}: ${summary}`;
}

function call(name: string, input: Record<string, string>): ToolCall {
  calls += 1;
  return { id: `call_${calls}`, name, arguments: JSON.stringify(input) };
}

/** The person at the terminal: yes to edits, no to anything sensitive. */
function answer(request: PermissionRequest): {
  decision: "allow_once" | "deny";
  reason: string;
} {
  console.log(`  asked      ${request.tool_name}: ${request.reason}`);
  if (request.preview?.kind === "diff") {
    console.log(request.preview.diff.replaceAll(/^/gm, "               "));
  }
  console.log(`             (${request.session_scope})`);
  return request.permission === "write"
    ? { decision: "allow_once", reason: "looks right" }
    : { decision: "deny", reason: "that file holds keys" };
}

function heading(text: string): void {
  console.log(`\n${text}`);
}

function pathOf(input: unknown): string {
  return (input as { path: string }).path;
}

function contentOf(path: string): string {
  const content = files.get(path);
  if (content !== undefined) return content;
  throw new ToolFailure({
    code: "file_not_found",
    message: `There is no file ${path}.`,
    recovery: "change_arguments",
  });
}

function replacement(input: unknown): { path: string; before: string; after: string } {
  const { old, new: text } = input as { old: string; new: string };
  const path = `/project/${pathOf(input)}`;
  const before = contentOf(path);
  if (before.split(old).length !== 2) {
    throw new ToolFailure({
      code: "text_not_found",
      message: `"${old}" does not occur exactly once in ${path}; nothing was changed.`,
      recovery: "change_arguments",
    });
  }
  return { path, before, after: before.split(old).join(text) };
}
