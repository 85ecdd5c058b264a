// What a run began with, as its journal has it (REPLAY-1): who it was, what it was asked for, what judged it, and the
// definitions its tools were made from.

import {
  compileRecordedPolicy,
  sha256Hex,
  type ArtifactRef,
  entriesIn,
  type CatalogEntry,
  type ConfigInput,
  type DefinitionsRecord,
  type Fact,
  type JsonObject,
  type ModelProfile,
  type Policy,
  type Role,
  type RunOptions,
} from "@soong/core";
import { ReplayError } from "./replay-error.ts";
import { artifactOf, damaged, factsOf, type ReplaySource } from "./source.ts";

export interface RecordedRun {
  readonly started: Fact;
  /** The first surface. */
  readonly catalog: Fact;
  readonly role: Role;
  readonly policy: Policy;
  readonly config: ConfigInput;
  readonly request: RecordedRequest;
  readonly definitions: DefinitionsRecord;
}

export interface RecordedRequest {
  readonly profile: ModelProfile;
  readonly allowed_tools?: readonly string[];
  readonly suggested_tools?: readonly string[];
  readonly task_denied?: readonly string[];
  readonly loaded_tools?: readonly string[];
}

export async function readRecordedRun(source: ReplaySource, run_id: string): Promise<RecordedRun> {
  let started: Fact | undefined;
  let known = false;
  for await (const fact of factsOf(source, run_id)) {
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

async function readStart(source: ReplaySource, started: Fact, catalog: Fact): Promise<RecordedRun> {
  const { role, policy, config, request, definitions } = started.data as JsonObject;
  if (definitions === undefined || config === undefined || request === undefined) {
    throw new ReplayError(
      "definitions_not_kept",
      `The run ${started.run_id} was recorded without the definitions of its tools, by an earlier version or where they could not be kept: it cannot be decided again. It can still be exported as a script.`,
    );
  }
  const compiled = isObject(policy) ? compileRecordedPolicy(policy) : undefined;
  if (compiled?.ok !== true) throw damaged(started.seq, "its policy is none");
  if (!isObject(config) || !isObject(request)) throw damaged(started.seq, "its config is none");
  return {
    started,
    catalog,
    role: role as Role,
    policy: compiled.policy,
    config,
    request: request as unknown as RecordedRequest,
    definitions: await readDefinitions(source, started),
  };
}

/** Of `run.started`, or of a later surface. The bytes are held against what the fact says of them. */
export async function readDefinitions(
  source: ReplaySource,
  { seq, data }: Fact,
): Promise<DefinitionsRecord> {
  const { artifact_id, sha256 } = data["definitions"] as unknown as ArtifactRef;
  const bytes = await artifactOf(source, artifact_id);
  if (bytes === undefined) throw damaged(seq, `the artifact ${artifact_id} is missing`);
  if (sha256Hex(bytes) !== sha256) throw damaged(seq, `the artifact ${artifact_id} was changed`);
  return JSON.parse(new TextDecoder().decode(bytes)) as DefinitionsRecord;
}

/** The run as it was asked for, to be judged by a policy. */
export function runOptionsOf({ started, role, request }: RecordedRun, policy: Policy): RunOptions {
  const { run_id = "", agent_id = "", parent_run_id = "", parent_agent_id = "" } = started;
  const { allowed_tools, suggested_tools, task_denied, loaded_tools } = request;
  const { ceiling, mode, input } = policy;
  return {
    run_id,
    agent_id,
    role,
    mode,
    profile: request.profile,
    ...(input.roots === undefined ? {} : { roots: input.roots }),
    ...(ceiling === undefined
      ? {}
      : { parent: { run_id: parent_run_id, agent_id: parent_agent_id, policy: ceiling } }),
    ...(allowed_tools === undefined ? {} : { allowedTools: allowed_tools }),
    ...(suggested_tools === undefined ? {} : { suggestedTools: suggested_tools }),
    ...(task_denied === undefined ? {} : { taskDenied: task_denied }),
    ...(loaded_tools === undefined ? {} : { loadedTools: loaded_tools }),
  };
}

export function catalogEntries({ data }: Fact): readonly CatalogEntry[] {
  return entriesIn(data);
}

export function textIn(data: object, field: string): string {
  const value = (data as Record<string, unknown>)[field];
  return typeof value === "string" ? value : "";
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
