// A run: one agent's pass over one surface. It keeps what lasts from turn to turn (the surface, what was
// loaded, the context) and opens turns. Loops build on this; they never touch the pipeline.

import {
  Deadlines,
  freezeContext,
  explainCall,
  OpenTurn,
  placesOfReading,
  type AdmitContext,
  type CallRun,
  type DeferredTools,
  type Explanation,
  type OnUserAsked,
  type RunIdentity,
  type SharedParts,
  type ToolCall,
  type Turn,
} from "./call/index.ts";
import { runHook, type Hooks } from "./hook/run-hooks.ts";
import type { HookAnswers, HookEvent, HookPayloads } from "./hook/hook.ts";
import {
  within,
  type Fact,
  type FactData,
  type FactType,
  type Recorder,
  type Redactor,
} from "./journal/index.ts";
import type { KeptText } from "./kept-texts.ts";
import type { Mode, Policy, PolicyInput } from "./permission/index.ts";
import type { RegisteredTool } from "./registry/registered-tool.ts";
import { describeDefinitions } from "./registry/describe-definitions.ts";
import type { Registry, RegistrySnapshot } from "./registry/registry.ts";
import { listPrompted, showTools, type RunStart, type StartRequest } from "./run-start.ts";
import type { SessionParts } from "./session-parts.ts";
import { catalogRecord } from "./surface/catalog.ts";
import type { Role } from "./surface/ceiling.ts";
import type { ModelTools } from "./surface/model-tools.ts";
import { PORTABLE_PROFILE, type ModelProfile } from "./surface/profile.ts";
import type { SearchAnswer } from "./surface/search-deferred.ts";
import type { Surface } from "./surface/surface.ts";
import type { Places, Roots, RunContext, ToolResult } from "./tool/index.ts";
import { omitUndefined } from "@soong/schema";

export interface RunOptions {
  readonly run_id?: string;
  readonly agent_id?: string;
  readonly parent?: {
    readonly run_id: string;
    readonly agent_id: string;
    readonly policy?: Policy;
  };
  readonly role?: Role;
  readonly mode?: Mode;
  /** Rules of this run; the session's apply in any case. */
  readonly policy?: PolicyInput;
  readonly allowedTools?: readonly string[];
  /** What this run cannot have of `allowedTools` is skipped. By default the run is refused. */
  readonly skipMissingTools?: boolean;
  readonly suggestedTools?: readonly string[];
  readonly taskDenied?: readonly string[];
  readonly profile?: ModelProfile;
  readonly roots?: Roots;
  readonly context?: RunContext;
  /** Names loaded earlier, when a run is resumed (SEARCH-3). */
  readonly loadedTools?: readonly string[];
  /** The gateway's bound on inline results. */
  readonly inlineLimitBytes?: number;
  /** For the owner of the conversation: what a call may add to it. Default: everything it brings. */
  readonly admitContext?: AdmitContext;
  /** Sources that are not there yet, for the model to know. */
  readonly connecting?: () => readonly string[];
  /** For a caller that waits for the run on a clock of its own: the user's time does not count (PIPE-6). */
  readonly onUserAsked?: OnUserAsked;
}

/** Events of a run that the kernel itself does not see. */
export type DrivenEvent = "SubagentStart" | "SubagentStop" | "PreCompact";

type RunEvent = DrivenEvent | "UserPromptSubmit" | "Stop";

type HookAbout<Event extends RunEvent> = Omit<HookPayloads[Event], "session_id" | "run_id">;

export interface Run {
  readonly identity: RunIdentity;
  readonly policy: Policy;
  readonly context: RunContext;
  /** For the driver of the run: its facts and nodes, in one count of run_seq. */
  readonly recorder: Recorder;
  /** The run's own: its placeholders are the ones its results have (REDACT-1). */
  readonly redactor: Redactor;
  /** As last shown to the model. */
  readonly surface: Surface;
  /**
   * What to send with the next model request. Looks at the registry again: a changed one gives a new
   * revision, and until then every request gets the same list.
   */
  tools(): Promise<ModelTools>;
  openTurn(options?: { parentNodeId?: string }): Turn;
  /** All calls of one answer, through the whole pipeline; results in call order. */
  execute(calls: readonly ToolCall[]): Promise<ToolResult[]>;
  call(name: string, input: unknown): Promise<ToolResult>;
  explain(call: ToolCall): Promise<Explanation>;
  /** The places of the run, for code that reads a file for the model without a call: what is restricted holds there, too (PERM-15). */
  readonly places: Places;
  /** HOOK-6: a prompt may be blocked or given context before the model sees it. */
  submitPrompt(prompt: string): Promise<{ blocked?: string; context: string[] }>;
  /** Whether there is any hook of this event. */
  hasHooks(event: HookEvent): boolean;
  /** HOOK-6: asked once whether to continue when the model is done. */
  stopping(): Promise<{ continue: boolean; context: string[] }>;
  /** HOOK-7: notifies the hooks of an event that the driver of the run knows of. They only watch. */
  notify<Event extends DrivenEvent>(
    event: Event,
    about: Omit<HookPayloads[Event], "session_id" | "run_id">,
  ): Promise<void>;
  abort(reason: string): Promise<void>;
  end(reason: "completed" | "failed" | "aborted", data?: FactData): void;
}

export async function startRun(
  parts: SessionParts,
  options: RunOptions = {},
  onEnd: () => void = () => {},
): Promise<Run> {
  const { ids } = parts.shared;
  const { parent, role = "main", roots = parts.roots, profile = PORTABLE_PROFILE } = options;
  const identity: RunIdentity = {
    session_id: parts.session_id,
    run_id: options.run_id ?? ids.next("run"),
    agent_id: options.agent_id ?? ids.next("agent"),
    ...(parent && { parent_run_id: parent.run_id, parent_agent_id: parent.agent_id }),
    role,
  };
  const above = parent?.policy?.mode;
  // A child of a plan run is in plan mode, with any options (SURF-9). Where edits are accepted, they are for children, too.
  const inherited = above === "accept_edits" ? above : "normal";
  const mode = above === "plan" ? above : (options.mode ?? inherited);
  const policy = parts.policies.find({
    session: parts.policy,
    run: options.policy,
    mode,
    roots,
    ceiling: parent?.policy,
    resolvePath: parts.resolvePath,
  });
  // One a run: placeholders are stable within it (REDACT-1).
  const redactor = parts.redactor();
  const recorder = parts.recorder.forRun(identity, redactor);
  const { allowedTools, skipMissingTools, suggestedTools, taskDenied, loadedTools } = options;
  const request: StartRequest = {
    role,
    mode,
    policy,
    profile,
    allowedTools,
    skipMissingTools,
    suggestedTools,
    taskDenied,
    loadedTools,
  };
  const start = await parts.starts.find(request);
  const instructions = await readInstructions(parts, start.prompted, recorder);
  const list = start.list(redactor, instructions);
  const definitions = await keepDefinitions(parts, start.snapshot, identity);
  const begun = { definitions: definitions.ref, ...start.describe(redactor) };
  recordWith(recorder, definitions, "run.started", begun);
  const kept = definitions.ref?.artifact_id;
  recorder.note({ factData: () => start.catalog(redactor, kept) }, "tool.catalog.resolved");
  const run = new KernelRun(parts, options, {
    identity,
    roots,
    redactor,
    recorder,
    request,
    start,
    list,
    definitions,
    onEnd,
  });
  parts.runs.set(run.key, run);
  return run;
}

/** What a run is made of when it begins. */
interface BegunRun {
  readonly identity: RunIdentity;
  readonly roots: Roots;
  readonly redactor: Redactor;
  readonly recorder: Recorder;
  readonly request: StartRequest;
  readonly start: RunStart;
  readonly list: ModelTools;
  readonly definitions: KeptText;
  readonly onEnd: () => void;
}

/** A class, as all that is made for each run: a literal with getters costs a run 100 µs. */
class KernelRun implements Run, CallRun, DeferredTools {
  readonly config: SharedParts["config"];
  readonly clock: SharedParts["clock"];
  readonly ids: SharedParts["ids"];
  readonly artifacts: SharedParts["artifacts"];
  readonly sourcesOfArtifact: SharedParts["sourcesOfArtifact"];
  readonly grants: SharedParts["grants"];
  readonly findPath: SharedParts["findPath"];
  readonly isDirectory: SharedParts["isDirectory"];
  readonly ask: SharedParts["ask"];
  readonly elicit: SharedParts["elicit"];
  readonly findRequestId: SharedParts["findRequestId"];
  readonly children: SharedParts["children"];
  readonly identity: RunIdentity;
  readonly deadlines: Deadlines;
  readonly recorder: Recorder;
  readonly redactor: Redactor;
  readonly hooks: Hooks;
  readonly policy: Policy;
  readonly roots: Roots;
  readonly mappingRules: CallRun["mappingRules"] = new Map();
  readonly plainVerdicts: CallRun["plainVerdicts"] = new Map();
  readonly inlineLimitBytes: number;
  childrenStarted = 0;
  readonly registry: Registry;
  surface: Surface;
  modelTools: ModelTools;
  context: RunContext;
  readonly admitContext: AdmitContext | undefined;
  readonly onUserAsked: OnUserAsked | undefined;
  readonly key: string;
  readonly #parts: SessionParts;
  readonly #options: RunOptions;
  readonly #start: RunStart;
  readonly #request: StartRequest;
  readonly #onEnd: () => void;
  readonly #usedIds = new Set<string>();
  readonly #turns = new Set<Turn>();
  readonly #onSettled = (turn: Turn): void => void this.#turns.delete(turn);
  readonly #loadedLater: string[];
  #definitions: KeptText;
  #wanted = false;
  /** The revision of the registry that was last looked at, whether or not anything had changed. */
  #looked: number;
  /** One at a time; a caller that asks meanwhile waits for the same answer. */
  #refreshing: Promise<void> | undefined = undefined;
  #continued = false;
  #hasEnded = false;
  #places: Places | undefined = undefined;

  constructor(parts: SessionParts, options: RunOptions, begun: BegunRun) {
    const { shared } = parts;
    const { identity, request, start, roots } = begun;
    this.config = shared.config;
    this.clock = shared.clock;
    this.ids = shared.ids;
    this.artifacts = shared.artifacts;
    this.sourcesOfArtifact = shared.sourcesOfArtifact;
    this.grants = shared.grants;
    this.findPath = shared.findPath;
    this.isDirectory = shared.isDirectory;
    this.ask = shared.ask;
    this.elicit = shared.elicit;
    this.findRequestId = shared.findRequestId;
    this.children = shared.children;
    this.identity = identity;
    this.deadlines = new Deadlines(shared.clock);
    this.recorder = begun.recorder;
    this.redactor = begun.redactor;
    this.hooks = roots === parts.roots ? parts.hooks : parts.hooksIn(roots);
    this.policy = request.policy;
    this.roots = roots;
    this.inlineLimitBytes = options.inlineLimitBytes ?? Number.POSITIVE_INFINITY;
    this.registry = parts.registry;
    this.surface = start.surface;
    this.modelTools = begun.list;
    this.context = options.context === undefined ? NO_CONTEXT : freezeContext(options.context);
    this.admitContext = options.admitContext;
    this.onUserAsked = options.onUserAsked;
    this.key = runKey(identity.session_id, identity.run_id);
    this.#parts = parts;
    this.#options = options;
    this.#start = start;
    this.#request = request;
    this.#onEnd = begun.onEnd;
    this.#loadedLater = [...(request.loadedTools ?? [])];
    this.#definitions = begun.definitions;
    this.#looked = start.snapshot.revision;
  }

  hasHooks(event: HookEvent): boolean {
    return this.hooks.has(event);
  }

  get places(): Places {
    return (this.#places ??= placesOfReading(this));
  }

  async tools(): Promise<ModelTools> {
    const { revision } = this.registry;
    if (this.#wanted || revision !== this.#looked) {
      this.#wanted = false;
      this.#looked = revision;
      this.#refreshing = (this.#refreshing ?? Promise.resolve())
        .catch(() => {})
        .then(() => this.#refresh());
    }
    if (this.#refreshing !== undefined) await this.#refreshing;
    return this.modelTools;
  }

  openTurn({ parentNodeId }: { parentNodeId?: string } = {}): Turn {
    const opened = new OpenTurn(this, {
      parentNodeId,
      usedIds: this.#usedIds,
      onSettled: this.#onSettled,
    });
    this.#turns.add(opened);
    if (this.#hasEnded) void opened.abort("the run has ended");
    return opened;
  }

  async execute(calls: readonly ToolCall[]): Promise<ToolResult[]> {
    const opened = this.openTurn();
    for (const call of calls) opened.push(call);
    opened.end();
    return opened.settled();
  }

  async call(name: string, input: unknown): Promise<ToolResult> {
    const [result] = await this.execute([{ name, arguments: input }]);
    return result as ToolResult;
  }

  explain(call: ToolCall): Promise<Explanation> {
    return explainCall(this, call);
  }

  async submitPrompt(prompt: string): Promise<{ blocked?: string; context: string[] }> {
    const answers = await this.#tellHooks("UserPromptSubmit", { prompt });
    const block = answers.find(({ block: blocks }) => blocks === true);
    const blocked = block && (block.reason ?? "a hook blocked this prompt");
    return { context: collectContext(answers), ...omitUndefined({ blocked }) };
  }

  async notify<Event extends DrivenEvent>(event: Event, about: HookAbout<Event>): Promise<void> {
    await this.#tellHooks(event, about);
  }

  async stopping(): Promise<{ continue: boolean; context: string[] }> {
    const answers = await this.#tellHooks("Stop", { already_continued: this.#continued });
    const goOn = !this.#continued && answers.some((answer) => answer.continue === true);
    this.#continued ||= goOn;
    return { continue: goOn, context: collectContext(answers) };
  }

  async abort(reason: string): Promise<void> {
    await Promise.all([...this.#turns].map((turn) => turn.abort(reason)));
  }

  end(reason: "completed" | "failed" | "aborted", data: FactData = {}): void {
    this.#hasEnded = true;
    this.#parts.runs.delete(this.key);
    this.deadlines.rest();
    this.#onEnd();
    this.recorder.record(`run.${reason}`, data);
  }

  refreshNextTurn(name: string): void {
    this.#wanted = true;
    this.#loadedLater.push(name);
  }

  search(query: string, limit: number): SearchAnswer {
    return this.#start.index.search(this.surface, query, limit, this.modelTools.names);
  }

  load(names: readonly string[]): readonly RegisteredTool[] {
    const fresh = names.flatMap((name) => {
      const standing = this.surface.standing.get(name);
      const isDeferred = standing?.state === "deferred" && !this.#loadedLater.includes(name);
      return isDeferred ? [standing.tool] : [];
    });
    if (fresh.length === 0) return fresh;
    const loaded = fresh.map(({ name }) => name);
    this.#loadedLater.push(...loaded);
    this.#wanted = true;
    const { revision: surface_revision } = this.surface;
    this.recorder.record("tool.deferred.loaded", { tools: loaded, surface_revision });
    return fresh;
  }

  connecting(): readonly string[] {
    return this.#options.connecting?.() ?? [];
  }

  async #refresh(): Promise<void> {
    const { recorder, redactor } = this;
    const before = this.surface;
    const { starts } = this.#parts;
    const { snapshot, surface } = await starts.follow(this.#request, this.#loadedLater, before);
    if (surface === before) return;
    const prompted = listPrompted(surface);
    const instructions = await readInstructions(this.#parts, prompted, recorder);
    const list = showTools(surface, instructions, redactor, this.config);
    const kept = await keepDefinitions(this.#parts, snapshot, this.identity);
    const isNews = kept.ref !== undefined && kept.ref.sha256 !== this.#definitions.ref?.sha256;
    this.#definitions = kept;
    // Switched together: no call is judged by a surface whose list the model has not been given.
    this.surface = surface;
    this.modelTools = list;
    const since = { base: before, definitions: kept.ref?.artifact_id };
    const record = redactor.value(catalogRecord(surface, this.policy, since));
    if (!isNews) recorder.recordClean("tool.catalog.resolved", record);
    else recordWith(recorder, kept, "tool.catalog.resolved", { ...record, definitions: kept.ref });
  }

  #tellHooks<Event extends RunEvent>(
    event: Event,
    about: HookAbout<Event>,
  ): Promise<HookAnswers[Event][]> {
    if (!this.#parts.hooks.has(event)) return NO_ANSWERS;
    const { session_id, run_id } = this.identity;
    const payload = { session_id, run_id, ...about } as HookPayloads[Event];
    return observe(this.#parts, this.recorder, this.redactor, event, payload);
  }
}

const NO_ANSWERS = Promise.resolve<never[]>([]);
const NO_CONTEXT: RunContext = Object.freeze({});

/** Runs are distinguished by session too: a caller may give any id. */
export function runKey(session_id: string, run_id: string): string {
  return JSON.stringify([session_id, run_id]);
}

/** Without them, the run cannot be replayed, and nothing else is different. */
function keepDefinitions(
  { keepText }: SessionParts,
  snapshot: RegistrySnapshot,
  identity: RunIdentity,
): Promise<KeptText> {
  return keepText("definitions.json", identity, () => describeDefinitions(snapshot));
}

/** With the artifact the fact refers to, in one entry: neither is there without the other. Of clean data. */
function recordWith<T extends FactType>(
  recorder: Recorder,
  kept: KeptText,
  type: T,
  data: FactData<T>,
): void {
  const fact = recorder.draft(type, data) as Fact;
  const { created, problem } = kept;
  const about = created === undefined ? [] : [recorder.draft("artifact.created", { ...created })];
  recorder.commit([fact, ...about]);
  if (problem === undefined) return;
  const message = `the definitions could not be kept: ${problem}`;
  recorder.record("error", { code: "definitions_not_kept", message }, undefined, "warn");
}

/** What tools have to say at length, asked for once a session. */
async function readInstructions(
  parts: SessionParts,
  tools: readonly RegisteredTool[],
  recorder: Recorder,
): Promise<ReadonlyMap<string, string>> {
  const instructions = new Map<string, string>();
  for (const tool of tools) {
    const text = await parts.instructionsOf(tool, recorder);
    if (text !== undefined) instructions.set(tool.name, text);
  }
  return instructions;
}

/** Hooks that only watch: a failure is on record as a warning and changes nothing (HOOK-4). */
export async function observe<Event extends Exclude<HookEvent, "PreToolUse" | "PermissionRequest">>(
  parts: SessionParts,
  recorder: Recorder,
  redactor: Redactor,
  event: Event,
  payload: HookPayloads[Event],
): Promise<HookAnswers[Event][]> {
  const { clock, config } = parts.shared;
  const answers: HookAnswers[Event][] = [];
  for (const hook of parts.hooks.matching(event)) {
    const outcome = await runHook(hook, event, payload, {
      clock,
      recorder,
      redactor,
      signal: () => new AbortController().signal,
      defaultTimeoutMs: config.hooks.timeout_ms,
      wait: (ms, work) => within(clock, ms, work),
    });
    if (outcome.ok) answers.push(outcome.answer);
  }
  return answers;
}

export function collectContext(answers: readonly { context?: string }[]): string[] {
  return answers.flatMap(({ context }) => (context === undefined ? [] : [context]));
}
