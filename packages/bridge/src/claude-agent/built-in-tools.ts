// Claude Code's own tools, as the kernel sees them: what each of them does, and which paths, hosts and commands a call names. So
// a rule holds for them as it does for the tools of the kernel.

import type { AnyTool, JsonObject, Permission, TargetsContext, Targets } from "@soong/core";
import {
  createExternalTools,
  type ExternalDefinition,
  type ExternalTools,
} from "../kernel/index.ts";
import { findCommandPaths, findTargetPath, type PathAccess } from "./find-paths.ts";

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
  const findDirectory = ({ toolCallId, roots }: TargetsContext): string =>
    directories.get(toolCallId) ?? roots.project;
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

/** A tool that works on the path in this field; without it, on the directory it runs in. */
function onPath(
  description: string,
  field: string,
  access: PathAccess,
  isRequired = true,
): BuiltIn {
  return {
    description,
    permission: access === "write" ? "write" : "readonly",
    tags: ["filesystem"],
    properties: { [field]: TEXT },
    required: isRequired ? [field] : [],
    targets: async (input, context, directory) => {
      const given = input[field];
      const path = typeof given === "string" ? given : directory;
      return { resources: [await findTargetPath({ path, directory, access }, context)] };
    },
  };
}

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
    return {
      resources: [
        {
          kind: "command",
          executable: "/bin/bash",
          argv: ["bash", "-c", command],
          cwd,
          ...(may_reach.length > 0 && { may_reach }),
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
  ["Glob", onPath("Find files by name", "path", "list", false)],
  ["Grep", onPath("Search in files", "path", "search", false)],
  ["LS", onPath("List a directory", "path", "list")],
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
  ["ExitPlanMode", bookkeeping("Show the plan to the user")],
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
