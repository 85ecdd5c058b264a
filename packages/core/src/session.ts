// A session: the runs that share a journal, grants and users to ask.

import {
  ChildPlaces,
  createArtifactSources,
  type AskElicitation,
  type AskPermission,
  type DeferredTools,
  type FindRequestId,
  type KernelConfig,
  type SharedParts,
} from "./call/index.ts";
import { omitUndefined } from "@soong/schema";
import type { SessionDispatch } from "./facts.ts";
import { Hooks } from "./hook/run-hooks.ts";
import type { AnyHook } from "./hook/hook.ts";
import {
  createMemoryArtifacts,
  createMemoryJournal,
  createRecorder,
  createRedactor,
  describeNoAnswer,
  liveFacts,
  watchFacts,
  within,
  type ArtifactStore,
  type Clock,
  type Fact,
  type FactListener,
  type IdSource,
  type Journal,
  type LiveFactsOptions,
  type Recorder,
  type Redactor,
  type WantedFacts,
} from "./journal/index.ts";
import { createGrants, type Grants, type PolicyInput, type ToolGrant } from "./permission/index.ts";
import type { RegisteredTool } from "./registry/registered-tool.ts";
import type { Registry } from "./registry/registry.ts";
import { collectContext, observe, startRun, type Run, type RunOptions } from "./run.ts";
import type { RunPolicies } from "./run-policy.ts";
import type { RunStarts } from "./run-start.ts";
import { createTextKeeper, type KeepText } from "./kept-texts.ts";
import type { SessionParts } from "./session-parts.ts";
import { messageOf, type FindPath, type Roots } from "./tool/index.ts";

export interface SessionOptions {
  readonly session_id?: string;
  readonly journal?: Journal;
  /** The seq of the last fact in that journal, when a session is opened again. */
  readonly lastSeq?: number;
  readonly artifacts?: ArtifactStore;
  /** Asks the user (PERM-4). Without it, what requires approval is denied. */
  readonly ask?: AskPermission;
  readonly elicit?: AskElicitation;
  /** Default: every question has an id of its own. */
  readonly findRequestId?: FindRequestId;
  readonly hooks?: readonly AnyHook[];
  readonly policy?: PolicyInput;
  /**
   * Values that never leave (REDACT-1), under the names they are shown by. The list may grow: what is added counts from
   * then on, in runs under way too.
   */
  readonly secrets?: readonly { name: string; value: string }[];
  readonly roots?: Roots;
  /** Where the links in an absolute path lead; undefined where that is not known. With it, rules hold through links on either side (PERM-15). */
  readonly resolvePath?: (path: string) => string | undefined;
  /** Looks up paths in inputs of tools that name no targets themselves, such as those of servers. Default: none is looked for. */
  readonly findPath?: FindPath;
  /** Asked of the project before a call works in it: one that was removed is not made again. Default: not looked at. */
  readonly isDirectory?: (path: string) => boolean;
  /** The book to keep grants in. Default: a new one. */
  readonly grants?: Grants;
  /** Recorded in the first fact of a new session. */
  readonly dispatchedBy?: SessionDispatch | undefined;
}

export interface Session {
  readonly session_id: string;
  readonly journal: Journal;
  readonly artifacts: ArtifactStore;
  readonly recorder: Recorder;
  /** Keeps a text as an artifact, each content once a session. Never rejects. */
  readonly keepText: KeepText;
  /** What SessionStart hooks want every run to know. */
  readonly context: readonly string[];
  startRun(options?: RunOptions): Promise<Run>;
  /** Called with each run as it begins; what it returns is called when the run ends. */
  onRun(listener: RunListener): () => void;
  /** The live stream of facts; read it late, slowly or never (EVENT-4). */
  facts(options?: LiveFactsOptions): AsyncIterableIterator<Fact>;
  /** Called with each fact of these types once it is committed; returns how to stop that. */
  watch(wanted: WantedFacts, listener: FactListener): () => void;
  grants(): readonly ToolGrant[];
  /** Undefined when there is no such grant. */
  revokeGrant(grant_id: string): ToolGrant | undefined;
  /** Ends the live streams; the journal stays. */
  close(): Promise<void>;
}

export type RunListener = (run: Run) => () => void;

export interface KernelParts {
  readonly config: KernelConfig;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly runs: Map<string, DeferredTools>;
  readonly policies: RunPolicies;
  readonly starts: RunStarts;
}

const NO_ROOTS: Roots = { project: "", write: [] };

export async function openSession(
  kernel: KernelParts,
  options: SessionOptions = {},
): Promise<Session> {
  const { config, clock, ids, registry, runs, policies, starts } = kernel;
  const session_id = options.session_id ?? ids.next("session");
  const journal = options.journal ?? createMemoryJournal();
  const artifacts = options.artifacts ?? createMemoryArtifacts();
  const { secrets } = options;
  const redactor = (): Redactor => createRedactor({ secrets });
  const ofSession = redactor();
  const recorder = createRecorder(session_id, journal, clock, ofSession, options.lastSeq);
  const keepText = createTextKeeper(artifacts);
  const grants = options.grants ?? createGrants();
  const instructions = new Map<RegisteredTool["name"], Promise<string | undefined>>();
  const { home, case_insensitive_paths: caseInsensitive = false } = options.policy ?? {};
  const hooksIn = ({ project }: Roots): Hooks =>
    new Hooks(options.hooks ?? [], {
      caseInsensitive,
      project: project === "" ? undefined : project,
      home,
      resolvePath: options.resolvePath,
    });
  const { findPath, isDirectory, ask, elicit, findRequestId } = options;
  const { resolvePath, policy = {}, roots = NO_ROOTS } = options;
  const shared: SharedParts = {
    config,
    clock,
    ids,
    artifacts,
    sourcesOfArtifact: createArtifactSources(journal),
    grants,
    findPath,
    isDirectory,
    ask,
    elicit,
    findRequestId,
    children: new ChildPlaces(config.agents.max_concurrent_children_per_session),
  };
  const parts: SessionParts = {
    session_id,
    shared,
    registry,
    recorder,
    redactor,
    hooks: hooksIn(roots),
    hooksIn,
    resolvePath,
    policy,
    roots,
    policies,
    starts,
    keepText,
    runs,
    instructionsOf(tool, runRecorder) {
      const key = `${tool.name}@${tool.generation}`;
      const known = instructions.get(key) ?? askForInstructions(kernel, tool, runRecorder);
      instructions.set(key, known);
      return known;
    },
  };
  if (options.lastSeq === undefined) {
    recorder.record("session.created", omitUndefined({ dispatched_by: options.dispatchedBy }));
  }
  const started = await observe(parts, recorder, ofSession, "SessionStart", { session_id });
  const context = collectContext(started);
  const listeners = new Set<RunListener>();
  let closed = false;
  const { lost } = journal;

  return {
    session_id,
    journal,
    artifacts,
    recorder,
    keepText,
    context,
    async startRun(runOptions) {
      const atEnd: (() => void)[] = [];
      const run = await startRun(parts, runOptions, () => {
        for (const tell of atEnd.splice(0)) tell();
      });
      if (lost !== undefined) atEnd.push(endWhenLost(run, lost));
      for (const listener of listeners) atEnd.push(listener(run));
      return run;
    },
    onRun(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    facts: (live) => liveFacts(journal, recorder, live),
    watch: (wanted, listener) => watchFacts(journal, recorder, wanted, listener),
    grants: () => grants.list(),
    revokeGrant(grant_id) {
      const revoked = grants.revoke(grant_id);
      if (revoked !== undefined) recorder.record("grant.revoked", { grant_id });
      return revoked;
    },
    async close() {
      const isFirst = !closed;
      closed = true;
      try {
        if (isFirst) await observe(parts, recorder, ofSession, "SessionEnd", { session_id });
        await recorder.flush();
      } finally {
        recorder.close();
      }
    },
  };
}

/** Nothing of it can be recorded any more, so nothing of it may continue. Returns how to stop that. */
function endWhenLost(run: Run, lost: AbortSignal): () => void {
  const abort = (): void => void run.abort(messageOf(lost.reason));
  lost.addEventListener("abort", abort, { once: true });
  return () => lost.removeEventListener("abort", abort);
}

/** A tool that cannot give its instructions goes without them, on record. */
async function askForInstructions(
  kernel: KernelParts,
  tool: RegisteredTool,
  recorder: Recorder,
): Promise<string | undefined> {
  const waited = await within(kernel.clock, kernel.config.tools.resolve_timeout_ms, () =>
    tool.definition.prompt?.(),
  );
  if (waited.kind === "answered" && typeof waited.value === "string") return waited.value;
  const why = waited.kind === "answered" ? "did not answer with text" : describeNoAnswer(waited);
  const { name: tool_name } = tool;
  const message = `the prompt of ${tool_name} ${why}`;
  recorder.record("error", { code: "prompt_failed", message, tool_name }, undefined, "warn");
  return undefined;
}
