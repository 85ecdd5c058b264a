// `soong tools new`, `soong agents new`, `soong skills new`: a file of the home that works as it is, and is the user's to
// change. Each is read by the reader of a run before it has its name, and none is ever replaced.

import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { basename, isAbsolute, join, resolve, sep } from "node:path";
import { isSkillName, loadAgentCatalog, parseAgentDefinition, readSkill } from "@soong/agent";
import { writeWholeFile, type Problem } from "@soong/platform";
import { checkDeclarativeTool } from "@soong/tools";
import { CommandError, UsageError, visibleLine } from "../../output/index.ts";
import { homePaths } from "../../runtime/home.ts";
import { declarativeOptions } from "../../runtime/user-tools.ts";
import { loadUserConfig, resolveHome } from "../context.ts";
import type { CommandContext, Handler } from "../handler.ts";

export const createTool: Handler<"tools new"> = async (
  context,
  { name, command: given },
  { description, readonly = false },
) => {
  const { home, values } = await loadUserConfig(context);
  const folder = homePaths(home).tools;
  if (!/^[A-Za-z0-9_.-]+$/.test(name) || name.startsWith(".")) {
    throw new UsageError(
      `${visibleLine(name)} cannot be the name of a tool: letters, digits, "_", "-" and dots between its parts.`,
    );
  }
  const [program = "echo", ...args] =
    given.length === 0 ? ["echo", "Hello,", "{{args.name}}"] : given;
  const fields = [...new Set(args.flatMap(listFields))];
  const declaration = {
    name,
    description: description ?? `Runs ${[program, ...args].join(" ").replaceAll(FIELD, "<$1>")}`,
    input_schema: {
      type: "object",
      properties: Object.fromEntries(fields.map((field) => [field, { type: "string" }])),
      required: fields,
      additionalProperties: false,
    },
    permission: readonly || given.length === 0 ? "readonly" : "write",
    ...declareCommand(program, args, { cwd: context.cwd, folder }),
    output: "text",
  };
  const file = join(folder, `${name}.json`);
  if (existsSync(file)) throw refuseReplacing(file);
  // Hidden files are not read by a run.
  const draft = join(folder, `.${name}.json`);
  const text = `${JSON.stringify(declaration, undefined, 2)}\n`;
  const toolName = await withDraft(draft, text, async () => {
    const options = { ...declarativeOptions(values), directory: folder };
    const checked = await checkDeclarativeTool(draft, options);
    if (!checked.ok) throw refuse(checked.problems, draft, file);
    await writeNew(file, text);
    return checked.tool_name;
  });
  const input = JSON.stringify(Object.fromEntries(fields.map((field) => [field, "…"])));
  const next = `soong call ${toolName}${fields.length === 0 ? "" : ` '${input}'`}`;
  printCreated(context, { file, tool_name: toolName, next }, `the tool ${toolName}`);
};

const FIELD = /\{\{\s*args\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;

/** `{{args.place.city}}` is a field of an object, which a schema has to be written for. */
function listFields(argument: string): string[] {
  return Array.from(argument.matchAll(FIELD), ([, field = ""]) => field);
}

/** `sh -c SCRIPT` is a shell script, in which each value is quoted. In code of any other language nothing would quote it. */
function declareCommand(
  program: string,
  args: readonly string[],
  { cwd, folder }: { readonly cwd: string; readonly folder: string },
): object {
  const [flag = "", script = ""] = args;
  if (program === "sh" && flag === "-c" && args.length === 2) {
    return { command_type: "shell", command: script };
  }
  const code = args.findIndex(
    (one, at) => at > 0 && one.includes("{{") && CODE_FLAG.test(args[at - 1] ?? ""),
  );
  if (code !== -1 && INTERPRETERS.test(basename(program))) {
    throw new UsageError(
      `In ${visibleLine(args[code] ?? "")} the value would be read as code. Give it as an argument of its own behind the code, or write a script: sh -c quotes each value.`,
    );
  }
  return { command_type: "exec", command: resolveProgram(program, cwd, folder), args };
}

const INTERPRETERS =
  /^(?:node|nodejs|deno|bun|python|pypy|perl|ruby|php|lua|sh|bash|dash|ksh|zsh|fish)[0-9.]*$/;
const CODE_FLAG = /^(?:-[a-zA-Z]*[ceEprR]|--eval|--print|eval)$/;

/** A path is meant from here; in the file it would be from the folder of the tools. */
function resolveProgram(program: string, cwd: string, folder: string): string {
  if (!program.includes("/") || isAbsolute(program)) return program;
  const path = resolve(cwd, program);
  if (path.startsWith(folder + sep)) return path;
  throw new UsageError(
    `${visibleLine(path)} may be a file of a project, and such a program is never run as a tool. Put it into ${visibleLine(folder)} and name it from there, or write its whole path.`,
  );
}

export const createAgent: Handler<"agents new"> = async (
  context,
  { id },
  { description = "Say here what it is good for.", model, roles = "main,sub,fork", tools },
) => {
  const folder = homePaths(resolveHome(context)).agents;
  const file = join(folder, `${id}.md`);
  const front = [
    `description: ${JSON.stringify(description)}`,
    `roles: ${JSON.stringify(splitList(roles))}`,
    ...(model === undefined ? [] : [`model: ${JSON.stringify(model)}`]),
    tools === undefined
      ? "# allowed_tools: [code.read_file, code.search, code.list_dir]"
      : `allowed_tools: ${JSON.stringify(splitList(tools))}`,
    "# mode: plan",
  ];
  const body = `You are ${id}. Say here how it works: what to look at first, what to leave alone, and how to answer.`;
  const text = ["---", ...front, "---", "", body, ""].join("\n");
  const parsed = parseAgentDefinition(text, file);
  if (!parsed.ok) throw refuse(parsed.problems, file, file);
  if (parsed.definition.id !== id) {
    throw new UsageError(
      `${visibleLine(id)} cannot be the id of an agent: lower-case letters, digits, "_" and "-".`,
    );
  }
  const { definitions } = await loadAgentCatalog({ folder });
  const there = definitions.get(id);
  if (there !== undefined) {
    const where = there.origin.kind === "file" ? there.origin.file : "Soong itself";
    throw new UsageError(
      `There is an agent ${id} already, in ${visibleLine(where)}. Choose another id.`,
    );
  }
  await writeNew(file, text);
  const next = parsed.definition.roles?.includes("main")
    ? `soong run --agent ${id} "Look at the last commit"`
    : "soong agents";
  printCreated(context, { file, agent_id: id, next }, `the agent ${id}`);
};

function splitList(text: string): string[] {
  return text.split(",").map((one) => one.trim());
}

export const createSkill: Handler<"skills new"> = async (
  context,
  { name },
  { description = "Say here what it is for, and when to use it." },
) => {
  const folder = homePaths(resolveHome(context)).skills;
  if (!isSkillName(name)) {
    throw new UsageError(
      `${visibleLine(name)} cannot be the name of a skill: lower-case letters, digits and single hyphens between them, 64 characters at most.`,
    );
  }
  const file = join(folder, name, "SKILL.md");
  const front = [`name: ${name}`, `description: ${JSON.stringify(description)}`];
  const body = [`# ${name}`, "", "Say here how this work is done, step by step."];
  const text = ["---", ...front, "---", "", ...body, ""].join("\n");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await mkdir(join(folder, name), { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw refuseReplacing(join(folder, name));
    throw error;
  }
  await writeNew(file, text);
  const read = await readSkill(folder, name);
  if (!read.ok) {
    await rm(join(folder, name), { recursive: true, force: true });
    throw refuse(read.problems, file, file);
  }
  printCreated(context, { file, skill: name, next: "soong skills" }, `the skill ${name}`);
};

async function withDraft<T>(draft: string, text: string, work: () => Promise<T>): Promise<T> {
  await writeWholeFile(draft, text);
  try {
    return await work();
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeWholeFile(file, text, "new");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw refuseReplacing(file);
    throw error;
  }
}

function refuseReplacing(path: string): UsageError {
  return new UsageError(`${visibleLine(path)} is there already and stays as it is.`);
}

/** `draft` goes by the name the user knows; nothing is in its lines yet. */
function refuse(problems: readonly Problem[], draft: string, file: string): CommandError {
  const lines = problems.map(({ file: named, field, message }) => {
    const shown = basename(named) === basename(draft) ? file : named;
    return visibleLine(`${shown}: ${field === undefined ? "" : `${field}: `}${message}`);
  });
  return new CommandError([...lines, "Nothing was written."].join("\n"));
}

function printCreated(
  { print }: CommandContext,
  record: Readonly<Record<"file" | "next", string>> & Readonly<Record<string, string>>,
  what: string,
): void {
  print(record, () => [
    `Wrote ${visibleLine(record.file)}: ${visibleLine(what)}. It is yours to change.`,
    `Try it: ${visibleLine(record.next)}`,
  ]);
}
