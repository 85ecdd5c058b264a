// One file, read into one tool: everything that is wrong with it, each with its line and field (DECL-2).

import { basename, dirname, isAbsolute } from "node:path";
import { ToolFailure, type AnyTool, type JsonObject, type RegisteredTool } from "@soong/core";
import { readDefinition } from "@soong/core/internal";
import { isRecord } from "@soong/schema";
import {
  checkDocument,
  findProgram,
  problemAt,
  programEnvironment,
  sortProblems,
  type DocumentPath,
  type Problem,
  type UserDocument,
} from "@soong/platform";
import { readJsonFile } from "../json/index.ts";
import { compileArgv } from "./argv-template.ts";
import { declarationShape, type Declaration } from "./declaration.ts";
import {
  createDeclaredTool,
  programOf,
  type CommandTemplate,
  type DeclaredToolOptions,
} from "./declared-tool.ts";
import { ownProgramProblem } from "./own-program.ts";
import { findSchemaField, type FoundField } from "./schema-field.ts";
import { compileShell } from "./shell-template.ts";
import { directoryProblem } from "./working-directory.ts";

export interface DeclaredTool {
  readonly file: string;
  readonly definition: AnyTool;
  readonly document: UserDocument;
  /** Why it cannot be run on this machine as it is, in one sentence. */
  readonly missing: string | undefined;
}

export type ReadDeclaration =
  | { ok: true; declared: DeclaredTool }
  | { ok: false; problems: readonly Problem[] };

export const SOURCE = { id: "user-tools", kind: "declarative", trusted: true } as const;

/** Nobody writes more by hand. */
export const MAX_FILE_BYTES = 256 * 1024;

export interface ReadOptions extends DeclaredToolOptions {
  readonly maxTimeoutMs: number;
  /** What has this name already, as in `a built-in tool`. */
  readonly takenBy?: (name: string) => string | undefined;
}

/** `file` is canonical but for its last segment. */
export async function readDeclaration(
  file: string,
  options: ReadOptions,
): Promise<ReadDeclaration> {
  const read = await readJsonFile(file, { maxBytes: MAX_FILE_BYTES });
  if (!read.ok) return read;
  const { document } = read;
  const checked = checkDocument(document, declarationShape(options));
  const problems = checked.ok ? [] : [...checked.problems];
  if (!isRecord(document.value)) return { ok: false, problems };
  const kernel = kernelProblems(document, problems);
  problems.push(...kernel.problems);
  const wrong = new Set(problems.map(({ field }) => topField(field)));
  const report = (path: DocumentPath, message: string): void => {
    problems.push(problemAt(document, path, message));
  };
  const declaration = document.value as Declaration;
  if (!wrong.has("command_type") && !wrong.has("tags") && !wrong.has("permission")) {
    checkTogether(declaration, report);
  }
  const template = wrong.has("command_type")
    ? undefined
    : compile(declaration, kernel.tool, { isWrong: (field) => wrong.has(field), report });
  if (!wrong.has("name")) checkName(declaration, options, report);
  if (!wrong.has("working_dir")) await checkWorkingDir(declaration, report);
  if (!wrong.has("command")) await checkOwnProgram(declaration, dirname(file), report);
  if (problems.length > 0 || template === undefined) {
    return { ok: false, problems: sortProblems(problems) };
  }
  const directory = dirname(file);
  return {
    ok: true,
    declared: {
      file,
      document,
      definition: createDeclaredTool(file, directory, declaration, template, options),
      missing: missingProgram(template, directory),
    },
  };
}

type Report = (path: DocumentPath, message: string) => void;

/** What the registry would say of it, without saying again what has been said. */
function kernelProblems(
  document: UserDocument,
  known: readonly Problem[],
): { tool: RegisteredTool | undefined; problems: Problem[] } {
  const { name, description, input_schema, permission, tags } = document.value as JsonObject;
  const draft = { name, description, input_schema, permission, tags, handler: () => undefined };
  const read = readDefinition(draft as AnyTool, SOURCE);
  if (read.ok) return { tool: read.tool, problems: [] };
  const said = new Set(known.map(({ field }) => topField(field)));
  const problems = read.problems
    .filter(({ field }) => !said.has(topField(field)))
    .map(({ field, message }) => ({
      ...problemAt(document, pathOfField(field), message),
      field,
    }));
  return { tool: undefined, problems };
}

/** `input_schema/properties/a~1b`, as the registry names fields, to a path. */
function pathOfField(field: string): DocumentPath {
  return field
    .split("/")
    .map((step, index) => (index === 0 ? step : step.replaceAll("~1", "/").replaceAll("~0", "~")));
}

function topField(field: string | undefined): string {
  return field?.split(/[/.[]/)[0] ?? "";
}

function checkName({ name }: Declaration, { takenBy }: ReadOptions, report: Report): void {
  const holder = takenBy?.(name);
  if (holder !== undefined) report(["name"], `"${name}" is taken by ${holder}`);
}

function checkTogether(
  { command_type, tags = [], permission, concurrency_safe, args }: Declaration,
  report: Report,
): void {
  if (tags.includes("readonly") && permission !== "readonly") {
    report(["tags"], 'says "readonly" where permission does not');
  }
  if (concurrency_safe === true && permission !== "readonly") {
    report(
      ["concurrency_safe"],
      "is true where permission is not readonly: what writes runs alone",
    );
  }
  if (command_type !== "shell") return;
  if (permission !== "write" && !tags.includes("dangerous") && !tags.includes("write")) {
    report(
      ["tags"],
      'has to name "dangerous" or "write" for a shell script without permission "write"',
    );
  }
  if (args !== undefined) {
    report(["args"], "is for command_type exec; a shell script has its templates in command");
  }
}

function compile(
  { command_type, command, args = [] }: Declaration,
  tool: RegisteredTool | undefined,
  { isWrong, report }: { isWrong: (field: string) => boolean; report: Report },
): CommandTemplate | undefined {
  const find = (path: readonly string[]): FoundField =>
    tool === undefined
      ? // The schema has been complained about; what could be in it is anyone's guess.
        { ok: true, field: { path, optional: false, list: false, enumerated: false } }
      : findSchemaField(
          { schema: tool.input.lowered.schema, sensitive: tool.input.sensitive },
          path,
        );
  if (command_type === "shell") {
    if (isWrong("command")) return undefined;
    const script = compileShell(command, find);
    if (script.ok) return { type: "shell", script: script.template };
    for (const message of script.problems) report(["command"], message);
    return undefined;
  }
  if (isWrong("args")) return undefined;
  if (!isWrong("command")) checkProgram(command, args, report);
  const compiled = compileArgv(args, find);
  if (compiled.ok) return { type: "exec", program: command, args: compiled.template };
  for (const { index, message } of compiled.problems) report(["args", index], message);
  return undefined;
}

function checkProgram(command: string, args: readonly string[], report: Report): void {
  if (command.includes("{{")) {
    report(["command"], "takes no template: the model never chooses the program");
  }
  checkScriptArgument(command, args, report);
}

/** `node tool.js` would run whatever file of that name the project has. */
function checkScriptArgument(command: string, args: readonly string[], report: Report): void {
  const [script] = args;
  if (script === undefined || script === "" || /^[-{]/.test(script) || isAbsolute(script)) return;
  if (!INTERPRETERS.test(basename(command))) return;
  report(
    ["args", 0],
    `${JSON.stringify(script)} would be looked for in the project; write the whole path, or make the script executable and name it in command as "./${basename(script)}"`,
  );
}

const INTERPRETERS =
  /^(?:node|nodejs|deno|bun|python|pypy|perl|ruby|php|lua|sh|bash|dash|ksh|zsh)[0-9.]*$/;

async function checkOwnProgram(
  { command_type, command }: Declaration,
  directory: string,
  report: Report,
): Promise<void> {
  if (command_type !== "exec") return;
  const problem = await ownProgramProblem(command, directory);
  if (problem !== undefined) report(["command"], problem);
}

async function checkWorkingDir({ working_dir }: Declaration, report: Report): Promise<void> {
  if (working_dir === undefined || !isAbsolute(working_dir)) return;
  const problem = await directoryProblem(working_dir);
  if (problem !== undefined) report(["working_dir"], `${working_dir} ${problem}`);
}

function missingProgram(template: CommandTemplate, directory: string): string | undefined {
  try {
    findProgram(
      programOf(template),
      { directory, roots: undefined },
      programEnvironment([], undefined),
    );
    return undefined;
  } catch (error) {
    if (error instanceof ToolFailure) return error.message;
    throw error;
  }
}
