// Claude Code's own tools, as the kernel sees them: what each of them does, and which paths, hosts and commands a call names. So
// a rule holds for them as it does for the tools of the kernel.

import { resolve } from "node:path";
import type { AnyTool, JsonObject, Permission, TargetsContext, Targets } from "@soong/core";
import {
  createExternalTools,
  type ExternalDefinition,
  type ExternalTools,
} from "../kernel/index.ts";
import { expandHome, findCommandPaths, findGivenPaths, findTargetPath } from "./find-paths.ts";
import {
  ANY_NAME,
  findRestrictedBelow,
  readFilter,
  readGlob,
  type WalkedDirectory,
} from "./find-restricted-below.ts";

export interface ClaudeTools {
  /** Register them: `createKernel({ tools: [...claudeTools.tools] })`. */
  readonly tools: readonly AnyTool[];
  readonly external: ExternalTools;
  /** The call of the kernel for a tool of Claude Code; one that is not known here requires approval. */
  toCall(tool: HostCall): { id: string; name: string; arguments: unknown };
  /** The input of Claude Code again, after hooks of the kernel. */
  toInput(toolName: string, input: JsonObject): JsonObject;
}

export interface HostCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** Where the host works. Default: as it was given before for this call. */
  readonly cwd?: string | undefined;
}

export function createClaudeTools(): ClaudeTools {
  /** By call: the directory that its relative paths begin in. */
  const directories = new Map<string, string>();
  let latest: string | undefined;
  // A call whose id was used before has another one on record.
  const findDirectory = ({ toolCallId, roots }: TargetsContext): string =>
    directories.get(toolCallId) ?? latest ?? roots.project;
  const external = createExternalTools(
    [...BUILT_IN.entries(), ["Other", OTHER] as const].map(([name, tool]) =>
      defineBuiltIn(name, tool, findDirectory),
    ),
  );

  return {
    tools: external.tools,
    external,
    toCall({ id, name, input, cwd }) {
      if (cwd !== undefined) remember(directories, id, cwd);
      latest = cwd ?? latest;
      return BUILT_IN.has(name)
        ? { id, name: canonicalName(name), arguments: input }
        : { id, name: canonicalName("Other"), arguments: { tool: name, input } };
    },
    toInput(toolName, input) {
      return BUILT_IN.has(toolName) ? input : (input["input"] as JsonObject);
    },
  };
}

const MOST_DIRECTORIES = 1000;

function remember(directories: Map<string, string>, id: string, cwd: string): void {
  directories.set(id, cwd);
  const [oldest] = directories.keys();
  if (directories.size > MOST_DIRECTORIES && oldest !== undefined) directories.delete(oldest);
}

interface BuiltIn {
  readonly description: string;
  readonly permission: Permission;
  readonly tags?: readonly string[];
  readonly properties?: JsonObject;
  readonly required?: readonly string[];
  readonly targets?: (
    input: Readonly<Record<string, unknown>>,
    context: TargetsContext,
    directory: string,
  ) => Targets | Promise<Targets>;
}

function defineBuiltIn(
  name: string,
  { description, permission, tags = [], properties = {}, required = [], targets }: BuiltIn,
  findDirectory: (context: TargetsContext) => string,
): ExternalDefinition {
  return {
    name: canonicalName(name),
    description,
    input_schema: { type: "object", properties, required: [...required] },
    permission,
    tags,
    always_load: true,
    ...(permission === "readonly" && { concurrency_safe: true }),
    timeout_ms: LONGEST_CALL_MS,
    ...(targets && {
      targets: (input: unknown, context: TargetsContext) =>
        targets(input as Readonly<Record<string, unknown>>, context, findDirectory(context)),
    }),
  };
}

/** The host ends its tools itself. What the kernel allows at most is less, unless it is configured. */
const LONGEST_CALL_MS = 24 * 60 * 60 * 1000;

/** `NotebookEdit` is `claude.notebook_edit`. */
function canonicalName(name: string): string {
  return `claude.${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase()}`;
}

const TEXT: JsonObject = { type: "string" };

/** A tool that works on the path in this field. */
function onPath(description: string, field: string, access: "read" | "write"): BuiltIn {
  return {
    description,
    permission: access === "write" ? "write" : "readonly",
    tags: ["filesystem"],
    properties: { [field]: TEXT },
    required: [field],
    targets: async (input, context, directory) => {
      const path = String(input[field]);
      return { resources: await findGivenPaths({ path, directory, access }, context) };
    },
  };
}

interface Walk extends Omit<WalkedDirectory, "root"> {
  readonly path: string;
}

/** A tool that walks the directory in `path`; without it, the one it runs in. */
function onDirectory(
  description: string,
  access: "list" | "search",
  { properties = {}, readWalk }: Pick<BuiltIn, "properties"> & { readWalk: ReadWalk },
): BuiltIn {
  return {
    description,
    permission: "readonly",
    tags: ["filesystem"],
    properties: { path: TEXT, ...properties },
    targets: async (input, context, directory) => {
      // Claude Code drops blanks around it.
      const given = (readText(input["path"]) ?? "").trim();
      const { path, ...walk } = readWalk(input, resolve(directory, expandHome(given)));
      const root = await findTargetPath({ path, directory, access }, context);
      return { resources: await findRestrictedBelow({ root, ...walk }, context) };
    },
  };
}

type ReadWalk = (input: Readonly<Record<string, unknown>>, base: string) => Walk;

function readText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

const glob = onDirectory("Find files by name", "list", {
  properties: { pattern: TEXT },
  readWalk: (input, base) => {
    const { start, pattern } = readGlob(readText(input["pattern"]) ?? "");
    return { path: resolve(base, expandHome(start)), pattern };
  },
});

const grep = onDirectory("Search in files", "search", {
  properties: { glob: TEXT, output_mode: TEXT },
  readWalk: (input, base) => ({
    path: base,
    pattern: readFilter(readText(input["glob"]) ?? ""),
    showsContent: input["output_mode"] === "content",
  }),
});

const listDirectory = onDirectory("List a directory", "list", {
  readWalk: (_input, base) => ({ path: base, pattern: ANY_NAME }),
});

/** Concerns the conversation only; what it leads to is a call of its own. */
function bookkeeping(description: string): BuiltIn {
  return { description, permission: "readonly" };
}

const bash: BuiltIn = {
  description: "Run a command in a shell",
  permission: "write",
  tags: ["shell"],
  properties: { command: TEXT },
  required: ["command"],
  targets: async (input, context, cwd) => {
    const command = String(input["command"]);
    // What the command reaches without naming it is not known: rules on paths ask.
    const may_reach = [...context.restrictedGlobs("read")];
    const may_write = [...context.restrictedGlobs("write")];
    return {
      resources: [
        {
          kind: "command",
          executable: "/bin/bash",
          argv: ["bash", "-c", command],
          cwd,
          ...(may_reach.length > 0 && { may_reach }),
          ...(may_write.length > 0 && { may_write }),
        },
        ...(await findCommandPaths(command, cwd, context)),
      ],
    };
  },
};

const webFetch: BuiltIn = {
  description: "Fetch a page",
  permission: "readonly",
  tags: ["network"],
  properties: { url: TEXT },
  required: ["url"],
  targets: ({ url }) => ({ resources: [{ kind: "host", host: new URL(String(url)).hostname }] }),
};

const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map([
  ["Read", onPath("Read a file", "file_path", "read")],
  ["Write", onPath("Write a file", "file_path", "write")],
  ["Edit", onPath("Edit a file", "file_path", "write")],
  ["MultiEdit", onPath("Edit a file in several places", "file_path", "write")],
  ["NotebookEdit", onPath("Edit a notebook", "notebook_path", "write")],
  ["Glob", glob],
  ["Grep", grep],
  ["LS", listDirectory],
  ["Bash", bash],
  ["WebFetch", webFetch],
  [
    "WebSearch",
    { description: "Search the web", permission: "readonly", tags: ["network"] } satisfies BuiltIn,
  ],
  ["Agent", bookkeeping("Start an agent, each of whose calls is judged")],
  ["Task", bookkeeping("Start an agent, each of whose calls is judged")],
  ["AskUserQuestion", bookkeeping("Ask the user")],
  ["BashOutput", bookkeeping("Read what a command in the background has printed")],
  ["KillShell", bookkeeping("End a command in the background")],
  ["TaskOutput", bookkeeping("Read what a task in the background has printed")],
  ["TaskStop", bookkeeping("End a task in the background")],
  ["TodoWrite", bookkeeping("Write the list of things to do")],
  ["TaskCreate", bookkeeping("Add to the list of things to do")],
  ["TaskUpdate", bookkeeping("Change the list of things to do")],
  ["TaskGet", bookkeeping("Read the list of things to do")],
  ["TaskList", bookkeeping("Read the list of things to do")],
  ["EnterPlanMode", bookkeeping("Begin to plan")],
  ["ExitPlanMode", { description: "End the plan and begin to work", permission: "write" }],
  ["ToolSearch", bookkeeping("Search for tools")],
  ["Skill", bookkeeping("Read a skill")],
  ["ListAgents", bookkeeping("List the agents")],
  ["ReportFindings", bookkeeping("Report findings")],
]);

const OTHER: BuiltIn = {
  description: "A tool of the host that is not known here",
  permission: "write",
  properties: { tool: TEXT, input: { type: "object" } },
  required: ["tool", "input"],
};
