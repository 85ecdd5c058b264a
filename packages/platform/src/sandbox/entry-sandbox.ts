// The field `sandbox` of an MCP server or of a hook: `true`, or what is open inside. It is the user's wish for one program, so it is
// required: where there is no sandbox the program does not start.

import { hostPatternProblem } from "@soong/core/internal";
import { shape, type Shape } from "../document/index.ts";
import type { Sandbox, SandboxProfile } from "../process/index.ts";

export interface EntrySandbox {
  /** Patterns of the hosts that are open; none: no network. */
  readonly hosts?: readonly string[];
  /** Directories and files that may be written: absolute, or below `~/`. */
  readonly write?: readonly string[];
}

/** How such a program is started. Throws a ToolFailure where there is no sandbox, or what the entry opens cannot be opened. */
export type OpenEntrySandbox = (
  wanted: EntrySandbox,
  program: EntryProgram,
) => Promise<{ readonly by: Sandbox; readonly profile: SandboxProfile }>;

export interface EntryProgram {
  /** Canonical. */
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What else it may read, also where that is masked. */
  readonly files?: readonly string[];
}

const { flag, list, object, optional, text } = shape;

const MAX_ITEMS = 256;

const FIELDS = object(
  {
    hosts: optional(list(text({ problem: hostPatternProblem }), { max: MAX_ITEMS })),
    write: optional(list(text({ problem: writeProblem }), { max: MAX_ITEMS })),
  },
  { what: "a sandbox" },
);

/** `false` is the same as no field. */
export const entrySandbox: Shape<boolean | EntrySandbox> = (value, place) => {
  if (typeof value === "object") FIELDS(value, place);
  else flag(value, place);
};

export function readEntrySandbox(
  given: boolean | EntrySandbox | undefined,
): EntrySandbox | undefined {
  return given === true ? {} : given === false ? undefined : given;
}

function writeProblem(path: string): string | undefined {
  if (/^(?:~?\/)/.test(path) || path === "~") return undefined;
  return 'is neither absolute nor below "~/"';
}
