// hooks.json of the agent's home (HOOK-1): `{ "hooks": [ … ] }`, every mistake with its line and field. A file
// of a project is never read: hooks run before anyone has trusted a project.

import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  isGuard,
  pathPatternProblem,
  ToolFailure,
  type AnyHook,
  type HookEvent,
  type JsonObject,
} from "@soong/core";
import { findProgram, programEnvironment } from "@soong/platform";
import { ownProgramProblem, variableName } from "../declarative/index.ts";
import {
  directoryTrustProblem,
  fieldProblems,
  isObject,
  listOf,
  nonEmptyText,
  oneOf,
  problemAt,
  readJsonFile,
  wholeNumber,
  type FieldCheck,
  type FieldRules,
  type FileProblem,
  type JsonDocument,
} from "../json/index.ts";
import { commandHook, placesOfHook, type CommandHook } from "./command-hook.ts";

export interface LoadHooksOptions {
  /** Told to every hook; no program is taken from there. Relative paths of hooks begin here. */
  readonly project?: string;
  /** What "~/" means in the path of a hook. */
  readonly userHome?: string;
  readonly log?: CommandHook["log"];
  /** For hooks that set no time of their own. */
  readonly timeout_ms?: number;
}

export type LoadedHooks =
  | { ok: true; hooks: readonly AnyHook[] }
  | { ok: false; problems: readonly FileProblem[] };

/** A file that is not there has no hooks. */
export async function loadHooks(
  file: string,
  options: LoadHooksOptions = {},
): Promise<LoadedHooks> {
  const refused = (message: string): LoadedHooks => ({ ok: false, problems: [{ file, message }] });
  let cwd: string;
  try {
    const untrusted = await directoryTrustProblem(dirname(file));
    cwd = await realpath(dirname(file));
    await realpath(file);
    if (untrusted !== undefined) return refused(`its directory ${untrusted}`);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "ENOENT") return { ok: true, hooks: [] };
    return refused(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const canonical = join(cwd, basename(file));
  const read = await readJsonFile(canonical, { maxBytes: MAX_FILE_BYTES });
  if (!read.ok) return read;
  const problems = await problemsOf(canonical, read.document, { cwd, ...options });
  if (problems.length > 0) return { ok: false, problems };
  const { hooks } = read.document.value as unknown as { hooks: CommandHook[] };
  const { userHome: _, ...ofEvery } = options;
  return { ok: true, hooks: hooks.map((entry) => commandHook({ ...ofEvery, ...entry, cwd })) };
}

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_HOOKS = 256;
const MAX_TIMEOUT_MS = 600_000;

/** All events there are; the type sees to it that none is forgotten. */
const EVENTS: Readonly<Record<HookEvent, "of a call" | "of a run">> = {
  SessionStart: "of a run",
  UserPromptSubmit: "of a run",
  PreToolUse: "of a call",
  PermissionRequest: "of a call",
  PostToolUse: "of a call",
  PostToolUseFailure: "of a call",
  Elicitation: "of a call",
  ElicitationResult: "of a call",
  Stop: "of a run",
  SessionEnd: "of a run",
  SubagentStart: "of a run",
  SubagentStop: "of a run",
  PreCompact: "of a run",
  Notification: "of a call",
};

const text: FieldCheck = (value, report) => {
  if (typeof value !== "string") report([], "is not text");
  else if (value.includes("\0")) report([], "contains a NUL character");
};

const argv: FieldCheck = (value, report) => {
  listOf(text, MAX_HOOKS)(value, report);
  if (!Array.isArray(value)) return;
  if (value.length === 0) report([], "is empty; the first item is the program");
  else if (value[0] === "") report([0], "is empty; the first item is the program");
};

const RULES: FieldRules = new Map([
  ["id", { required: true, check: nonEmptyText(100) }],
  ["event", { required: true, check: oneOf(Object.keys(EVENTS)) }],
  ["command", { required: true, check: argv }],
  ["tool", { required: false, check: nonEmptyText(256) }],
  ["tags", { required: false, check: listOf(nonEmptyText(64), 32) }],
  ["path", { required: false, check: nonEmptyText(4096) }],
  ["timeout_ms", { required: false, check: wholeNumber(1, MAX_TIMEOUT_MS) }],
  ["on_failure", { required: false, check: oneOf(["continue"]) }],
  ["env_allowlist", { required: false, check: listOf(variableName, 256) }],
]);

const FILE_RULES: FieldRules = new Map([
  ["hooks", { required: true, check: listOf(() => {}, MAX_HOOKS) }],
]);

type HookPlaces = Pick<CommandHook, "cwd" | "project"> & Pick<LoadHooksOptions, "userHome">;

async function problemsOf(
  file: string,
  document: JsonDocument,
  places: HookPlaces,
): Promise<FileProblem[]> {
  const problems = fieldProblems(file, document, [], document.value, FILE_RULES);
  if (!isObject(document.value) || !Array.isArray(document.value["hooks"])) return problems;
  const ids = new Set<unknown>();
  for (const [index, entry] of document.value["hooks"].entries()) {
    const at = ["hooks", index];
    const wrong = fieldProblems(file, document, at, entry, RULES);
    problems.push(...wrong);
    if (wrong.length > 0 || !isObject(entry)) continue;
    if (ids.has(entry["id"])) {
      problems.push(problemAt(file, document, [...at, "id"], "is the id of an earlier hook"));
    }
    ids.add(entry["id"]);
    for (const { field, message } of await togetherProblems(entry, places)) {
      problems.push(problemAt(file, document, [...at, field], message));
    }
  }
  return problems;
}

async function togetherProblems(
  entry: JsonObject,
  places: HookPlaces,
): Promise<{ field: string; message: string }[]> {
  const { event, command, path } = entry as unknown as CommandHook;
  const problems: { field: string; message: string }[] = [];
  const { project, userHome: home } = places;
  const wrong =
    path === undefined
      ? undefined
      : pathPatternProblem(path, {
          ...(project === undefined ? {} : { project }),
          ...(home === undefined ? {} : { home }),
        });
  if (wrong !== undefined) problems.push({ field: "path", message: wrong });
  if (EVENTS[event] === "of a run") {
    for (const field of ["tool", "tags", "path"]) {
      if (entry[field] !== undefined) {
        problems.push({ field, message: `says nothing for ${event}, which is not about a tool` });
      }
    }
  }
  if (entry["on_failure"] !== undefined && !isGuard(event)) {
    problems.push({
      field: "on_failure",
      message: `says nothing for ${event}, which cannot stop a call`,
    });
  }
  const [program = ""] = command;
  const untrusted = await ownProgramProblem(program, places.cwd);
  if (untrusted !== undefined) problems.push({ field: "command", message: untrusted });
  try {
    const where = placesOfHook(places);
    findProgram(program, where, programEnvironment([], where.roots));
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    problems.push({ field: "command", message: error.message });
  }
  return problems;
}
