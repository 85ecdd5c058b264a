// The effects of a tool and of one call (DEF-3, DEF-4). What an author omits takes the safer
// value, and the record says which facts were declared and which assumed.

import { isPromise, messageOf } from "./errors.ts";
import type { Places } from "./context.ts";
import type { AnyTool, CallClass, InterruptBehavior, Permission } from "./definition.ts";

export interface Effects {
  readonly read_only: boolean;
  readonly concurrency_safe: boolean;
  readonly destructive: boolean;
  readonly open_world: boolean;
  /**
   * Leaves nothing behind, inside or outside: it may start before the answer is complete, be discarded with it and
   * be done again (SCHED-5, SCHED-6). A readonly call may still change a task or a memory, and is not repeatable then.
   */
  readonly repeatable: boolean;
}

/** Of an MCP tool (MCP-6). `vouched`: readonly by the user's word. `warned`: it says itself that it writes. */
export type ToolTrust = "vouched" | "warned";

export interface DefinedEffects extends Effects {
  readonly permission: Permission;
  readonly interrupt_behavior: InterruptBehavior;
  /** Which of these the author stated; the rest were assumed. */
  readonly declared: readonly string[];
  /** The four effects on their own, as every call of the tool has them unless it says less. */
  readonly worst: Effects;
}

const FACTS = [
  "permission",
  "concurrency_safe",
  "destructive",
  "open_world",
  "repeatable",
  "interrupt_behavior",
] as const;

/** `tags`: the tool's own and those of its source. */
export function definedEffects(
  tool: AnyTool,
  tags: readonly string[] = tool.tags ?? [],
): DefinedEffects {
  const permission = tool.permission ?? "write";
  const read_only = permission === "readonly";
  const concurrency_safe = read_only && (tool.concurrency_safe ?? false);
  const worst: Effects = Object.freeze({
    read_only,
    concurrency_safe,
    destructive: tool.destructive ?? !read_only,
    open_world: tool.open_world ?? tags.includes("network"),
    repeatable: isRepeatable(tool, { read_only, concurrency_safe }),
  });
  const { interrupt_behavior = "block" } = tool;
  const declared: string[] = [];
  for (const fact of FACTS) if (tool[fact] !== undefined) declared.push(fact);
  // Not spread: what is added after a spread gives each tool a hidden class of its own. Digests hold the order of these keys.
  const { destructive, open_world, repeatable } = worst;
  return {
    read_only,
    concurrency_safe,
    destructive,
    open_world,
    repeatable,
    worst,
    permission,
    interrupt_behavior,
    declared,
  };
}

/** Default: what may run beside any other call has nothing that another could find changed. */
export function isRepeatable(
  { repeatable, starts_agent }: Pick<AnyTool, "repeatable" | "starts_agent">,
  { read_only, concurrency_safe }: Pick<Effects, "read_only" | "concurrency_safe">,
): boolean {
  return read_only && starts_agent !== true && (repeatable ?? concurrency_safe);
}

export type ClassifiedEffects = { effects: Effects; problem?: string };

/** What a call is treated as when its own account of itself cannot be believed. */
const AS_A_WRITE = {
  read_only: false,
  concurrency_safe: false,
  destructive: true,
  repeatable: false,
} as const;

/** The effects of one call. `trusted` is the source's; the account of any other source is ignored. */
export function callEffects(
  tool: AnyTool,
  defined: DefinedEffects,
  input: unknown,
  trusted: boolean,
  places: () => Places,
): ClassifiedEffects {
  if (tool.classify === undefined || !trusted) return { effects: defined.worst };
  try {
    return classified(tool, tool.classify(input, places()), defined);
  } catch (error) {
    return asAWrite(defined, `classify threw: ${messageOf(error)}`);
  }
}

function classified(tool: AnyTool, said: CallClass, defined: DefinedEffects): ClassifiedEffects {
  const problem = classProblem(said, defined);
  if (problem !== undefined) return asAWrite(defined, problem);
  const read_only = said.read_only ?? defined.read_only;
  // A call that writes never runs in parallel with others, even if its tool declares otherwise.
  const concurrency_safe = read_only && (said.concurrency_safe ?? defined.concurrency_safe);
  return {
    effects: {
      read_only,
      concurrency_safe,
      destructive: said.destructive ?? (defined.destructive && !read_only),
      open_world: said.open_world ?? defined.open_world,
      repeatable: isRepeatable(tool, { read_only, concurrency_safe }),
    },
  };
}

function classProblem(said: unknown, defined: DefinedEffects): string | undefined {
  if (typeof said !== "object" || said === null) return "classify did not answer with an object";
  if (isPromise(said)) return "classify answered with a promise; it has to answer at once";
  const entries = said as Record<string, unknown>;
  for (const fact of ["read_only", "concurrency_safe", "destructive", "open_world"] as const) {
    const value = entries[fact];
    if (value === undefined) continue;
    if (typeof value !== "boolean") return `classify answered ${fact} with a ${typeof value}`;
    const harmful = fact === "destructive" || fact === "open_world";
    const worse = harmful ? value && !defined[fact] : !value && defined[fact];
    if (worse) return `classify reported ${fact}: ${value}, more than the definition states`;
  }
  return undefined;
}

function asAWrite(defined: DefinedEffects, problem: string): ClassifiedEffects {
  return { effects: { ...AS_A_WRITE, open_world: defined.open_world }, problem };
}
