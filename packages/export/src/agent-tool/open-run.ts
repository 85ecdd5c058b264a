// A run that has not ended, or has calls that have not: what its tools are, and by which settings they run.

import {
  readCount,
  readObject,
  readRecord,
  readText,
  type Unchecked,
} from "../projection/read-fields.ts";
import type { RecordWriter } from "./record-writer.ts";
import { SCHEMA_VERSION } from "./records.ts";
import type { JsonObject } from "@soong/schema";

export type ToolState =
  | { readonly state: "loaded" }
  | { readonly state: "deferred" }
  | { readonly state: "excluded"; readonly reason: string; readonly detail: string | undefined };

export class OpenRun {
  readonly runtimeRefs: readonly string[];
  /** By which it is found: empty for what is of the session. */
  readonly key: string;
  /** What the ids of the records about this run begin with. */
  readonly id: string;
  mode: string | undefined = undefined;
  role: string | undefined = undefined;
  settings: RunSettings = NO_SETTINGS;
  schedulerPolicyId: string | undefined = undefined;
  selection: JsonObject | undefined = undefined;
  profile: JsonObject | undefined = undefined;
  /** By tool. Undefined: no catalog of this run was seen. */
  surface: Map<string, ToolState> | undefined = undefined;
  readonly revisions = new Set<number>();
  openCalls = 0;
  ended = false;

  constructor(run_id: string | undefined, session_id: string | undefined) {
    this.key = run_id ?? "";
    this.id = run_id ?? session_id ?? "unknown";
    this.runtimeRefs = [session_id, run_id].filter((ref) => ref !== undefined);
  }

  nameSurface(revision: number): string {
    return `${this.id}/surface/${revision}`;
  }
}

/** What of the settings of a run is said of its tools. */
export interface RunSettings {
  readonly network: string | undefined;
  readonly sandbox: string | undefined;
  readonly defaultTimeoutMs: number | undefined;
  readonly maxTimeoutMs: number | undefined;
  readonly inlineLimitBytes: number | undefined;
}

const NO_SETTINGS: RunSettings = {
  network: undefined,
  sandbox: undefined,
  defaultTimeoutMs: undefined,
  maxTimeoutMs: undefined,
  inlineLimitBytes: undefined,
};

export function startRun(
  run: OpenRun,
  { mode, role, policy, config, request }: Unchecked<"run.started">,
  writer: RecordWriter,
): void {
  const { network, sandbox } = readRecord(policy);
  const tools = readRecord(readRecord(config)["tools"]);
  run.mode = readText(mode);
  run.role = readText(role);
  run.settings = {
    network: readText(readRecord(network)["mode"]),
    sandbox: readText(readRecord(sandbox)["mode"]),
    defaultTimeoutMs: readCount(tools["default_timeout_ms"]),
    maxTimeoutMs: readCount(tools["max_timeout_ms"]),
    inlineLimitBytes: readCount(tools["inline_limit_bytes"]),
  };
  const { profile, ...selection } = readRecord(request);
  run.profile = readObject(profile);
  run.selection = Object.keys(selection).length === 0 ? undefined : (selection as JsonObject);
  run.schedulerPolicyId = `${run.id}/scheduler`;
  writer.add({
    record_type: "tool_scheduler_policy",
    schema_version: SCHEMA_VERSION,
    scheduler_policy_id: run.schedulerPolicyId,
    scope: "turn",
    max_parallel: readCount(tools["max_concurrency"]),
    ordering_policy: "preserve_terminal_order",
    yield_policy: "progress_immediate_results_ordered",
    // The default of a tool; its interface has its own.
    interrupt_behavior: "block",
    // After a failed write no later call starts; only a tool that says so cancels calls that run.
    sibling_failure_policy: "cancel_dependent",
    context_modifier_policy: "allow_serial_only",
    early_start: readText(tools["early_start"]),
  });
}
