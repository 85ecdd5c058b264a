// hooks.json of the agent's home (HOOK-1): `{ "hooks": [ … ] }`, every mistake with its line and field. A file
// of a project is never read: hooks run before anyone has trusted a project.

import { realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf, type AnyHook, type HookEvent } from "@soong/core";
import { isGuard, pathPatternProblem } from "@soong/core/internal";
import { isRecord } from "@soong/schema";
import {
  checkDocument,
  entrySandbox,
  readEntrySandbox,
  readErrno,
  problemAt,
  shape,
  type Problem,
  type ShapeValue,
  type UserDocument,
} from "@soong/platform";
import { variableName } from "../declarative/declaration.ts";
import {
  directoryTrustProblem,
  ownProgramProblem,
  programProblem,
  readJsonFile,
} from "../json/trusted-file.ts";
import { commandHook, findHookProgram, placesOfHook, type CommandHook } from "./command-hook.ts";

export interface LoadHooksOptions {
  /** Sent to every hook; no program is taken from there. Relative paths of hooks begin here. */
  readonly project?: string;
  /** What "~/" means in the path of a hook. */
  readonly userHome?: string;
  readonly log?: CommandHook["log"];
  /** For hooks that set no time of their own. */
  readonly timeout_ms?: number;
  /** For hooks that want a sandbox. */
  readonly openSandbox?: CommandHook["openSandbox"];
}

export type LoadedHooks =
  | { ok: true; hooks: readonly LoadedHook[] }
  | { ok: false; problems: readonly Problem[] };

/** `executable`: the program it was found to run, canonical. `isSandboxed`: it runs in a sandbox, or fails. */
export type LoadedHook = AnyHook & { readonly executable: string; readonly isSandboxed: boolean };

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
    if (readErrno(error) === "ENOENT") return { ok: true, hooks: [] };
    return refused(`cannot be read: ${messageOf(error)}`);
  }
  const canonical = join(cwd, basename(file));
  const read = await readJsonFile(canonical, { maxBytes: MAX_FILE_BYTES });
  if (!read.ok) return read;
  const { hooks, problems } = await readHooks(read.document, { cwd, ...options });
  if (problems.length > 0) return { ok: false, problems };
  const { userHome: _, ...ofEvery } = options;
  return {
    ok: true,
    hooks: hooks.map((entry) => {
      const given = {
        ...ofEvery,
        ...entry,
        sandbox: readEntrySandbox(entry.sandbox),
        cwd,
        file: canonical,
      };
      return {
        ...commandHook(given),
        executable: findHookProgram(given).resolved,
        isSandboxed: given.sandbox !== undefined,
      };
    }),
  };
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

const { anything, choice, list, object, optional, refine, text, wholeNumber } = shape;

const FILE = object({ hooks: list(anything, { max: MAX_HOOKS }) });

const argv = refine(list(text({ mayBeEmpty: true }), { max: MAX_HOOKS }), (command, place) => {
  if (command.length === 0) place.report("is empty; the first item is the program");
  else if (command[0] === "") place.in(0).report("is empty; the first item is the program");
});

const HOOK = object({
  id: text({ max: 100 }),
  event: choice(Object.keys(EVENTS) as HookEvent[]),
  command: argv,
  tool: optional(text({ max: 256 })),
  tags: optional(list(text({ max: 64 }), { max: 32 })),
  path: optional(text({ max: 4096 })),
  timeout_ms: optional(wholeNumber(1, MAX_TIMEOUT_MS)),
  on_failure: optional(choice(["continue"])),
  env_allowlist: optional(list(variableName, { max: 256 })),
  sandbox: optional(entrySandbox),
});

type HookEntry = ShapeValue<typeof HOOK>;
type HookPlaces = Pick<CommandHook, "cwd" | "project"> & Pick<LoadHooksOptions, "userHome">;

async function readHooks(
  document: UserDocument,
  places: HookPlaces,
): Promise<{ hooks: readonly HookEntry[]; problems: readonly Problem[] }> {
  const file = checkDocument(document, FILE);
  const problems: Problem[] = file.ok ? [] : [...file.problems];
  const written = isRecord(document.value) ? document.value["hooks"] : undefined;
  const hooks: HookEntry[] = [];
  for (const index of Array.isArray(written) ? written.keys() : []) {
    const at = ["hooks", index];
    const checked = checkDocument(document, HOOK, { path: at });
    if (!checked.ok) {
      problems.push(...checked.problems);
      continue;
    }
    const entry = checked.value;
    if (hooks.some(({ id }) => id === entry.id)) {
      problems.push(problemAt(document, [...at, "id"], "is the id of an earlier hook"));
    }
    hooks.push(entry);
    for await (const [field, message] of togetherProblems(entry, places)) {
      if (message !== undefined) problems.push(problemAt(document, [...at, field], message));
    }
  }
  return { hooks, problems };
}

async function* togetherProblems(
  entry: HookEntry,
  places: HookPlaces,
): AsyncGenerator<[field: string, message: string | undefined]> {
  const { event, command, path, on_failure } = entry;
  const { cwd, project, userHome: home } = places;
  if (path !== undefined) yield ["path", pathPatternProblem(path, { project, home })];
  for (const field of ["tool", "tags", "path"] as const) {
    if (EVENTS[event] === "of a call" || entry[field] === undefined) continue;
    yield [field, `says nothing for ${event}, which is not about a tool`];
  }
  if (on_failure !== undefined && !isGuard(event)) {
    yield ["on_failure", `says nothing for ${event}, which cannot stop a call`];
  }
  const [program = ""] = command;
  yield ["command", await ownProgramProblem(program, cwd)];
  yield ["command", programProblem(program, placesOfHook(places))];
}
