// Hooks of the dispatching process that can stop a call or withhold what it returns. Each is a program of that machine and is not
// executed on another one, so a worker takes a step only if it has the same hooks.

import type { AnyHook, HookEvent } from "@soong/core";
import {
  compilePathPattern,
  globsInside,
  isWithin,
  literalPrefix,
  type PatternPlaces,
} from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { chooseFold } from "./move-paths.ts";

/** What a hook applies to, in terms that mean the same on every machine. Its command may differ. */
export interface Guard extends Pick<AnyHook, "id" | "event" | "tool" | "on_failure"> {
  readonly tags?: readonly string[];
  /** Path patterns: relative to the project (`./`) or the home (`~/`) if they are inside of these, else absolute. */
  readonly paths?: readonly string[];
}

/** The events whose hooks can stop a call or withhold a result. Hooks of other events add context or watch. */
const WITHHOLDING: ReadonlySet<string> = new Set<HookEvent>([
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "Elicitation",
]);

export function listGuards(hooks: readonly AnyHook[], here: PatternPlaces): Guard[] {
  return hooks
    .filter(({ event }) => WITHHOLDING.has(event))
    .map(({ id, event, tool, tags, path, on_failure }) =>
      omitUndefined({
        id,
        event,
        tool,
        tags: tags?.toSorted(),
        paths: path === undefined ? undefined : listPlaces(path, here),
        on_failure,
      }),
    );
}

function listPlaces(pattern: string, here: PatternPlaces): string[] {
  const { project, home } = here;
  const { globs } = compilePathPattern(pattern, "restricts", here);
  const fromHome = (glob: string): string =>
    home !== undefined && glob.startsWith(`${home}/`) ? `~${glob.slice(home.length)}` : glob;
  if (project === undefined) return globs.map(fromHome).toSorted();
  const fold = chooseFold(here);
  const places = globs.flatMap((glob) => {
    const inside = globsInside(glob, project, fold).map((rest) => `./${rest}`);
    return isWithin(project, literalPrefix(glob).path) ? inside : [fromHome(glob), ...inside];
  });
  return [...new Set(places)].toSorted();
}

/** Returns a clause that follows "because". Undefined: this worker has all wanted guards. */
export function findMissingGuard(
  wanted: readonly Guard[],
  own: readonly Guard[],
): string | undefined {
  for (const guard of wanted) {
    const same = own.find(({ id }) => id === guard.id);
    const fields = FIELDS.filter(
      (field) => JSON.stringify(guard[field]) !== JSON.stringify(same?.[field]),
    );
    if (same !== undefined && fields.length === 0) continue;
    const how =
      same === undefined
        ? "is missing on this worker"
        : `differs on this worker (${fields.join(", ")})`;
    return `the hook ${guard.id} of the dispatching home can stop or change calls, and ${how}. Give all machines the same hooks.json, and start this worker again.`;
  }
  return undefined;
}

const FIELDS = ["event", "tool", "tags", "paths", "on_failure"] as const;
