// What a run began with, as its journal has it (REPLAY-1): who it was, what it was asked for, what judged it, and the
// definitions its tools were made from.

import {
  sha256Hex,
  type ConfigInput,
  type DefinitionsRecord,
  type Fact,
  type FactData,
  type Policy,
  type Role,
  type RunOptions,
} from "@soong/core";
import { compileRecordedPolicy } from "@soong/core/internal";
import { omitUndefined } from "@soong/schema";
import { damagedJournal } from "./check-fact.ts";
import { ReplayError } from "./replay-error.ts";
import { readArtifact, readFacts, type ReplaySource } from "./source.ts";

export interface RecordedRun {
  readonly started: Fact<"run.started">;
  /** The first surface. */
  readonly catalog: Fact<"tool.catalog.resolved">;
  readonly role: Role;
  readonly policy: Policy;
  readonly config: ConfigInput;
  readonly request: FactData<"run.started">["request"];
  readonly definitions: DefinitionsRecord;
  /** When calls ended, waited for approval and were halted is on record. Otherwise it is inferred. */
  readonly hasOrder: boolean;
}

export async function readRecordedRun(source: ReplaySource, run_id: string): Promise<RecordedRun> {
  let started: Fact<"run.started"> | undefined;
  let known = false;
  for await (const fact of readFacts(source, run_id)) {
    known = true;
    if (fact.type === "run.started") started = fact;
    if (fact.type !== "tool.catalog.resolved" || started === undefined) continue;
    return readStart(source, started, fact);
  }
  throw known
    ? new ReplayError(
        "run_never_started",
        `The run ${run_id} never began: nothing was decided in it.`,
      )
    : new ReplayError("run_unknown", `There is no run ${run_id} in this session.`);
}

async function readStart(
  source: ReplaySource,
  started: RecordedRun["started"],
  catalog: RecordedRun["catalog"],
): Promise<RecordedRun> {
  const { role, policy, config, request, definitions, record_version = 1 } = started.data;
  if (definitions === undefined || config === undefined || request === undefined) {
    throw new ReplayError(
      "definitions_not_kept",
      `The run ${started.run_id} was recorded without the definitions of its tools, by an earlier version or where they could not be kept: it cannot be decided again. It can still be exported as a script.`,
    );
  }
  const compiled = policy === undefined ? undefined : compileRecordedPolicy(policy);
  if (compiled?.ok !== true) throw damagedJournal(started.seq, "its policy is none");
  return {
    started,
    catalog,
    role,
    policy: compiled.policy,
    config,
    request,
    definitions: await readDefinitions(source, started),
    hasOrder: record_version >= 2,
  };
}

/** Of `run.started`, or of a later surface. The bytes are held against what the fact says of them. */
export async function readDefinitions(
  source: ReplaySource,
  { seq, data }: Fact<"run.started" | "tool.catalog.resolved">,
): Promise<DefinitionsRecord> {
  if (data.definitions === undefined) throw damagedJournal(seq, "its definitions are not named");
  const { artifact_id, sha256 } = data.definitions;
  const bytes = await readArtifact(source, artifact_id);
  if (bytes === undefined) throw damagedJournal(seq, `the artifact ${artifact_id} is missing`);
  if (sha256Hex(bytes) !== sha256)
    throw damagedJournal(seq, `the artifact ${artifact_id} was changed`);
  return JSON.parse(new TextDecoder().decode(bytes)) as DefinitionsRecord;
}

/** The run as it was asked for, to be judged by a policy. */
export function toRunOptions({ started, role, request }: RecordedRun, policy: Policy): RunOptions {
  const { run_id = "", agent_id = "", parent_run_id = "", parent_agent_id = "" } = started;
  const { allowed_tools, suggested_tools, task_denied, loaded_tools } = request;
  const { ceiling, mode, input } = policy;
  return {
    run_id,
    agent_id,
    role,
    mode,
    profile: request.profile,
    ...omitUndefined({ roots: input.roots }),
    ...(ceiling === undefined
      ? {}
      : { parent: { run_id: parent_run_id, agent_id: parent_agent_id, policy: ceiling } }),
    ...omitUndefined({
      allowedTools: allowed_tools,
      suggestedTools: suggested_tools,
      taskDenied: task_denied,
      loadedTools: loaded_tools,
    }),
  };
}
