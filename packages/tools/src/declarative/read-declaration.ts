// One file, read into one tool: everything that is wrong with it, each with its line and field (DECL-2).

import { basename, dirname, isAbsolute } from "node:path";
import type { AnyTool, JsonObject, RegisteredTool } from "@soong/core";
import { qualifyName, readDefinition } from "@soong/core/internal";
import { isRecord } from "@soong/schema";
import {
  checkDocument,
  problemAt,
  sortProblems,
  type DocumentPath,
  type Problem,
  type UserDocument,
} from "@soong/platform";
import { ownProgramProblem, programProblem, readJsonFile } from "../json/trusted-file.ts";
import { compileArgv, compileShell } from "./command-template.ts";
import { declarationShape, type Declaration } from "./declaration.ts";
import {
  createDeclaredTool,
  programOf,
  type CommandTemplate,
  type DeclaredToolOptions,
} from "./declared-tool.ts";
import { findSchemaField, type FoundField } from "./schema-field.ts";
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

/** No one writes more by hand. */
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
  const directory = dirname(file);
  const checked = checkDocument(document, declarationShape(options));
  const problems = checked.ok ? [] : [...checked.problems];
  if (!isRecord(document.value)) return { ok: false, problems };
  const tool = readKernelTool(document, problems);
  const wrong = new Set(problems.map(({ field }) => topField(field)));
  const isSound = (...fields: string[]): boolean => fields.every((field) => !wrong.has(field));
  const report: Report = (path, message) =>
    void (message !== undefined && problems.push(problemAt(document, path, message)));
  const declaration = document.value as Declaration;
  const { command_type, command, working_dir } = declaration;
  const name = isSound("name") ? qualifyName(declaration.name, "declarative") : "";
  if (isSound("command_type", "tags", "permission")) checkTogether(declaration, report);
  const template = isSound("command_type")
    ? compile(declaration, tool, { isSound, report })
    : undefined;
  const holder = isSound("name") ? options.takenBy?.(name) : undefined;
  if (holder !== undefined) report(["name"], `"${name}" is taken by ${holder}`);
  if (isSound("working_dir") && working_dir !== undefined && isAbsolute(working_dir)) {
    const problem = await directoryProblem(working_dir);
    report(["working_dir"], problem && `${working_dir} ${problem}`);
  }
  if (isSound("command") && command_type === "exec") {
    report(["command"], await ownProgramProblem(command, directory));
  }
  if (problems.length > 0 || template === undefined) {
    return { ok: false, problems: sortProblems(problems) };
  }
  const definition = createDeclaredTool(file, directory, declaration, template, options);
  const missing = programProblem(programOf(template), { directory, roots: undefined });
  return { ok: true, declared: { file, document, definition, missing } };
}

/** Without a message there is nothing to report. */
type Report = (path: DocumentPath, message: string | undefined) => void;

/** Adds what the registry would say of it, without saying again what has been said. */
function readKernelTool(document: UserDocument, problems: Problem[]): RegisteredTool | undefined {
  const { name: given, description, input_schema, permission, tags } = document.value as JsonObject;
  const name = typeof given === "string" ? qualifyName(given, "declarative") : given;
  const draft = { name, description, input_schema, permission, tags, handler: () => undefined };
  const read = readDefinition(draft as AnyTool, SOURCE);
  if (read.ok) return read.tool;
  const said = new Set(problems.map(({ field }) => topField(field)));
  for (const { field, message } of read.problems) {
    if (said.has(topField(field))) continue;
    // `input_schema/properties/a~1b`, as the registry names fields, to a path.
    const [top = "", ...steps] = field.split("/");
    const path = steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    problems.push({ ...problemAt(document, [top, ...path], message), field });
  }
  return undefined;
}

function topField(field: string | undefined): string {
  return field?.split(/[/.[]/)[0] ?? "";
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
  { isSound, report }: { isSound: (field: string) => boolean; report: Report },
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
    if (!isSound("command")) return undefined;
    const script = compileShell(command, find, (message) => report(["command"], message));
    return script && { type: "shell", script };
  }
  if (!isSound("args")) return undefined;
  if (isSound("command")) checkProgram(command, args, report);
  const items = compileArgv(args, find, (index, message) => report(["args", index], message));
  return items && { type: "exec", program: command, args: items };
}

function checkProgram(command: string, args: readonly string[], report: Report): void {
  if (command.includes("{{")) {
    report(["command"], "takes no template: the model never chooses the program");
  }
  const [script = ""] = args;
  if (script === "" || /^[-{]/.test(script) || isAbsolute(script)) return;
  if (!INTERPRETERS.test(basename(command))) return;
  // `node tool.js` would run any file of that name that the project has.
  report(
    ["args", 0],
    `${JSON.stringify(script)} would be looked for in the project; write the whole path, or make the script executable and name it in command as "./${basename(script)}"`,
  );
}

const INTERPRETERS =
  /^(?:node|nodejs|deno|bun|python|pypy|perl|ruby|php|lua|sh|bash|dash|ksh|zsh)[0-9.]*$/;
