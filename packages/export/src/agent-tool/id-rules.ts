// Ids name one record, and sequences rise.

import type { Report } from "./problem.ts";
import { readText, type UncheckedRecord } from "../projection/read-fields.ts";

/** The field that names a record. The last record of an id that may be written again counts. */
const IDS: ReadonlyMap<unknown, { readonly field: string; readonly again?: true }> = new Map([
  ["tool_declaration", { field: "tool_id", again: true }],
  ["tool_interface", { field: "interface_id" }],
  ["tool_surface", { field: "surface_id", again: true }],
  ["deferred_tool_ref", { field: "tool_id", again: true }],
  ["tool_permission_profile", { field: "permission_profile_id", again: true }],
  ["tool_execution_profile", { field: "execution_profile_id", again: true }],
  ["tool_scheduler_policy", { field: "scheduler_policy_id", again: true }],
  ["tool_invocation", { field: "invocation_id", again: true }],
  ["tool_permission_decision", { field: "decision_id" }],
  ["tool_hook", { field: "hook_id" }],
  ["tool_input_mutation", { field: "mutation_id" }],
  ["tool_progress", { field: "progress_id" }],
  // A second result of an invocation breaks `one_result`.
  ["tool_result", { field: "result_id", again: true }],
  ["tool_result_persistence", { field: "decision_id" }],
  ["tool_event", { field: "event_id" }],
]);

export class IdRules {
  readonly #seen = new Set<string>();
  /** The last progress of each invocation. */
  readonly #progress = new Map<string, number>();
  #sequence = -1;
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  check(record: UncheckedRecord): void {
    const kind = record["record_type"];
    const naming = IDS.get(kind);
    if (naming === undefined) {
      this.#report("known_record_type", undefined, `there is no kind ${JSON.stringify(kind)}`);
      return;
    }
    const id = readText(record[naming.field]);
    if (id === undefined) {
      this.#report("unique_ids", id, `a ${String(kind)} has no ${naming.field}`);
    } else if (naming.again === undefined) this.#checkUnique(String(kind), id);
    const { sequence } = record;
    if (typeof sequence === "number") this.#checkSequence(record, id, sequence);
  }

  end(): void {}

  #checkUnique(kind: string, id: string): void {
    const key = `${kind} ${id}`;
    if (this.#seen.has(key)) this.#report("unique_ids", id, `two of ${kind} have the id ${id}`);
    this.#seen.add(key);
  }

  /** Of all events, and of the progress records of each invocation. */
  #checkSequence(record: UncheckedRecord, id: string | undefined, sequence: number): void {
    if (record["record_type"] === "tool_event") {
      if (sequence <= this.#sequence) {
        const message = `the sequence ${sequence} comes after ${this.#sequence}`;
        this.#report("monotone_sequence", id, message);
      }
      this.#sequence = Math.max(this.#sequence, sequence);
    } else if (record["record_type"] === "tool_progress") {
      const invocation = readText(record["invocation_id"]) ?? "";
      const last = this.#progress.get(invocation) ?? -1;
      if (sequence <= last) {
        const message = `progress ${sequence} of ${invocation} comes after ${last}`;
        this.#report("monotone_sequence", id, message);
      }
      this.#progress.set(invocation, Math.max(last, sequence));
    }
  }
}
