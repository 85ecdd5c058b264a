// What is on record of a run before its first call (REPLAY-1): what it was asked for, what judges it, and by
// reference the definitions it began with. They are kept once a session, however many runs begin on them.

import { artifactRef, type KernelConfig } from "./call/index.ts";
import type { ArtifactRecord, ArtifactStore, FactData } from "./journal/index.ts";
import { describePolicy, type Policy } from "./permission/index.ts";
import { describeDefinitions, type RegistrySnapshot } from "./registry/index.ts";
import { PORTABLE_PROFILE, type ModelProfile, type Surface } from "./surface/index.ts";
import { messageOf, type ArtifactRef } from "./tool/index.ts";

/** Which definitions a run has been recorded with. `created`: they were put aside for this very one. */
export type KeptDefinitions =
  | { readonly ok: true; readonly ref: ArtifactRef; readonly created?: ArtifactRecord }
  /** The run goes on without: it cannot be replayed, and nothing else is different. */
  | { readonly ok: false; readonly message: string };

export type KeepDefinitions = (
  snapshot: RegistrySnapshot,
  of: { readonly session_id: string; readonly run_id: string },
) => Promise<KeptDefinitions>;

/** What a run's surface was asked for with. */
interface RunRequest {
  readonly profile?: ModelProfile;
  readonly allowedTools?: readonly string[];
  readonly suggestedTools?: readonly string[];
  readonly taskDenied?: readonly string[];
  readonly loadedTools?: readonly string[];
}

/** 2: when calls ended that were put on record later, waits for people, and halts are on record (REPLAY-1). */
const RECORD_VERSION = 2;

const DEFINITIONS_NAME = "definitions.json";

export function definitionsKeeper(artifacts: ArtifactStore): KeepDefinitions {
  /** By the hash of their text: runs that begin at the same time wait for the same one. */
  const kept = new Map<string, Promise<ArtifactRecord>>();

  return async (snapshot, of) => {
    try {
      const { text, sha256 } = describeDefinitions(snapshot);
      const known = kept.get(sha256);
      if (known !== undefined) return { ok: true, ref: artifactRef(await known) };
      const about = { media_type: "application/json", name: DEFINITIONS_NAME, ...of };
      const writing = artifacts.write(text, about);
      kept.set(sha256, writing);
      writing.catch(() => kept.delete(sha256));
      const created = await writing;
      return { ok: true, ref: artifactRef(created), created };
    } catch (error) {
      return { ok: false, message: `the definitions could not be kept: ${messageOf(error)}` };
    }
  };
}

/** The data of `run.started`. */
export function runRecord(
  config: KernelConfig,
  options: RunRequest,
  policy: Policy,
  surface: Surface,
  definitions: KeptDefinitions,
): FactData<"run.started"> {
  return {
    record_version: RECORD_VERSION,
    role: surface.role,
    mode: surface.mode,
    policy: describePolicy(policy),
    surface_revision: surface.revision,
    config,
    request: {
      profile: options.profile ?? PORTABLE_PROFILE,
      allowed_tools: options.allowedTools,
      suggested_tools: options.suggestedTools,
      task_denied: options.taskDenied,
      loaded_tools: options.loadedTools,
    },
    definitions: definitions.ok ? definitions.ref : undefined,
  };
}
