// Every reference is to a record of the log. Artifacts, facts and agents are kept elsewhere: of artifacts, an invocation
// lists all that its result has.

import type { Report } from "./problem.ts";
import { readList, readRecord, readText, type UncheckedRecord } from "../projection/read-fields.ts";

type Target =
  | "tool"
  | "interface"
  | "permission_profile"
  | "execution_profile"
  | "scheduler_policy"
  | "surface"
  | "invocation"
  | "decision"
  | "hook"
  | "result"
  | "persistence"
  | "input"
  | "artifact";

/** A field of a record, what it names, and what it is looked for as. */
interface Reference {
  readonly field: string;
  readonly to: Target;
}

const INVOCATION: Reference = { field: "invocation_id", to: "invocation" };
const TOOL: Reference = { field: "tool_id", to: "tool" };
const PROFILES: readonly Reference[] = [
  { field: "execution_profile_ref", to: "execution_profile" },
  { field: "permission_profile_ref", to: "permission_profile" },
];

const DEFINES: Readonly<Record<string, readonly Reference[]>> = {
  tool_declaration: [TOOL],
  tool_interface: [{ field: "interface_id", to: "interface" }],
  tool_permission_profile: [{ field: "permission_profile_id", to: "permission_profile" }],
  tool_execution_profile: [{ field: "execution_profile_id", to: "execution_profile" }],
  tool_scheduler_policy: [{ field: "scheduler_policy_id", to: "scheduler_policy" }],
  tool_surface: [{ field: "surface_id", to: "surface" }],
  tool_invocation: [INVOCATION, { field: "model_input_ref", to: "input" }],
  tool_permission_decision: [{ field: "decision_id", to: "decision" }],
  tool_hook: [{ field: "hook_id", to: "hook" }],
  tool_input_mutation: [{ field: "to_input_ref", to: "input" }],
  tool_result: [{ field: "result_id", to: "result" }],
  tool_result_persistence: [{ field: "decision_id", to: "persistence" }],
};

const REFERS: Readonly<Record<string, readonly Reference[]>> = {
  tool_declaration: [{ field: "interface_ref", to: "interface" }, ...PROFILES],
  tool_interface: [TOOL, ...PROFILES],
  tool_surface: [
    { field: "tool_refs", to: "tool" },
    { field: "loaded_tools", to: "tool" },
    { field: "deferred_tools", to: "tool" },
    { field: "blocked_tools", to: "tool" },
    { field: "excluded_tools", to: "tool" },
  ],
  deferred_tool_ref: [TOOL],
  tool_invocation: [
    TOOL,
    { field: "surface_id", to: "surface" },
    { field: "observable_input_ref", to: "input" },
    { field: "permission_input_ref", to: "input" },
    { field: "call_input_ref", to: "input" },
    { field: "parent_invocation_id", to: "invocation" },
    { field: "permission_decision_refs", to: "decision" },
    { field: "hook_refs", to: "hook" },
    { field: "scheduler_policy_ref", to: "scheduler_policy" },
    { field: "execution_profile_ref", to: "execution_profile" },
  ],
  tool_permission_decision: [INVOCATION],
  tool_hook: [INVOCATION, TOOL],
  tool_input_mutation: [
    INVOCATION,
    { field: "source_ref", to: "hook" },
    { field: "from_input_ref", to: "input" },
  ],
  tool_progress: [INVOCATION],
  tool_result: [
    INVOCATION,
    { field: "persistence_refs", to: "persistence" },
    { field: "artifact_refs", to: "artifact" },
  ],
  tool_result_persistence: [
    INVOCATION,
    { field: "result_id", to: "result" },
    { field: "persisted_ref", to: "artifact" },
  ],
  tool_event: [INVOCATION, TOOL],
};

export class ReferenceRules {
  readonly #defined = new Set<string>();
  /** What was referred to, with who did first. */
  readonly #wanted = new Map<string, string>();
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  check(record: UncheckedRecord): void {
    const kind = readText(record["record_type"]) ?? "";
    const owner = readText(record["invocation_id"]) ?? "";
    if (Object.hasOwn(DEFINES, kind)) {
      for (const { field, to } of DEFINES[kind] ?? []) {
        const id = readText(record[field]);
        if (id !== undefined) this.#defined.add(`${to} ${id}`);
      }
    }
    if (kind === "tool_invocation") {
      for (const one of readList(record["artifact_refs"])) {
        this.#defined.add(`artifact ${owner} ${readId(one, "artifact")}`);
      }
    }
    if (!Object.hasOwn(REFERS, kind)) return;
    for (const { field, to } of REFERS[kind] ?? []) {
      const value = record[field];
      if (value === undefined) continue;
      const list: readonly unknown[] = Array.isArray(value) ? value : [value];
      for (const one of list) this.#want(to, owner, one, `${kind}.${field}`);
    }
    const sibling = readRecord(record["error"])["sibling_invocation_id"];
    if (sibling !== undefined) this.#want("invocation", owner, sibling, `${kind}.error`);
  }

  end(): void {
    for (const [target, from] of this.#wanted) {
      if (this.#defined.has(target)) continue;
      this.#report("refs_resolve", target.slice(target.indexOf(" ") + 1), `${from}: no ${target}`);
    }
  }

  #want(to: Target, owner: string, value: unknown, from: string): void {
    const id = readId(value, to);
    // A tool that no one declared was requested by this name.
    if (to === "tool" && id.startsWith("unknown:")) return;
    const target = to === "artifact" ? `artifact ${owner} ${id}` : `${to} ${id}`;
    if (!this.#wanted.has(target)) this.#wanted.set(target, from);
  }
}

/** References are ids, or records with one. */
function readId(value: unknown, to: Target): string {
  if (typeof value === "string") return value;
  return readText(readRecord(value)[to === "artifact" ? "artifact_id" : "tool_id"]) ?? "(no id)";
}
