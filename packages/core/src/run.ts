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
  type Explanation,
  type OnPersonAsked,
  type RunIdentity,
  type SharedParts,
  type ToolCall,
  type Turn,
} from "./call/index.ts";
import { runHook } from "./hook/run-hooks.ts";
import type { HookAnswers, HookEvent, HookPayloads } from "./hook/hook.ts";
import {
  describeNoAnswer,
  within,
  type FactData,
  type FactType,
  type Recorder,
  type Redactor,
} from "./journal/index.ts";
import {
  compilePolicy,
  describePolicy,
  linkedPaths,
  mergePolicies,
  type Mode,
  type Policy,
  type PolicyInput,
} from "./permission/index.ts";
import type { RegisteredTool } from "./registry/registered-tool.ts";
import type { RegistrySnapshot } from "./registry/registry.ts";
import { catalogRecord } from "./surface/catalog.ts";
import { createDeferredIndex } from "./surface/search-deferred.ts";
import { modelTools, type ModelTools } from "./surface/model-tools.ts";
import { PORTABLE_PROFILE, type ModelProfile } from "./surface/profile.ts";
import { resolveSurface } from "./surface/resolve-surface.ts";
import type { Role } from "./surface/ceiling.ts";
import type { Surface, SurfaceProblem } from "./surface/surface.ts";
import type { KeptDefinitions } from "./kept-definitions.ts";
import { omitUndefined, type JsonObject } from "@soong/schema";
import type { SessionParts } from "./session-parts.ts";
import {
  type Places,
  type Roots,
  type RunContext,
  SoongError,
  type ToolResult,
} from "./tool/index.ts";

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
  readonly suggestedTools?: readonly string[];
  readonly taskDenied?: readonly string[];
  readonly profile?: ModelProfile;
  readonly roots?: Roots;
  readonly context?: RunContext;
  /** Names loaded earlier, when a run is resumed (SEARCH-3). */
  readonly loadedTools?: readonly string[];
  /** The gateway's bound on inline results. */
  readonly inlineLimitBytes?: number;
  /** For whoever keeps the conversation: what of it a call may add to. Left out: whatever it brings. */
  readonly admitContext?: AdmitContext;
  /** Sources that are not there yet, for the model to know. */
  readonly connecting?: () => readonly string[];
  /** For whoever waits for the run on a clock of their own: a person's time is nobody's (PIPE-6). */
  readonly onPersonAsked?: OnPersonAsked;
}

/** Events of a run that the kernel itself does not see. */
export type DrivenEvent = "SubagentStart" | "SubagentStop" | "PreCompact";

type RunEvent = DrivenEvent | "UserPromptSubmit" | "Stop";

export interface Run {
  readonly identity: RunIdentity;
  readonly policy: Policy;
  readonly context: RunContext;
  /** For whoever drives the run: facts and nodes of it, in one count of run_seq. */
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
  /** The places of the run, for whoever reads a file for the model without a call: what is restricted holds there, too (PERM-15). */
  readonly places: Places;
  /** HOOK-6: a prompt may be blocked or given context before the model sees it. */
  submitPrompt(prompt: string): Promise<{ blocked?: string; context: string[] }>;
  /** HOOK-6: asked once whether to go on when the model is done. */
  stopping(): Promise<{ continue: boolean; context: string[] }>;
  /** HOOK-7: tells the hooks of an event that whoever drives the run knows of. They only watch. */
  notify<Event extends DrivenEvent>(
    event: Event,
    about: Omit<HookPayloads[Event], "session_id" | "run_id">,
  ): Promise<void>;
  abort(reason: string): Promise<void>;
  end(reason: "completed" | "failed" | "aborted", data?: FactData): void;
}

/** The request cannot be met; nothing was started. */
export class RunRefused extends SoongError {
  override readonly name = "RunRefused";
  readonly problems: readonly SurfaceProblem[];

  constructor(problems: readonly SurfaceProblem[]) {
    super("run_refused", problems.map(({ message }) => message).join("\n"));
    this.problems = problems;
  }
}

export async function startRun(
  parts: SessionParts,
  options: RunOptions = {},
  onEnd: () => void = () => {},
): Promise<Run> {
  const { registry } = parts;
  const { ids, config, clock } = parts.shared;
  const identity: RunIdentity = {
    session_id: parts.session_id,
    run_id: options.run_id ?? ids.next("run"),
    agent_id: options.agent_id ?? ids.next("agent"),
    ...omitUndefined({
      parent_run_id: options.parent?.run_id,
      parent_agent_id: options.parent?.agent_id,
    }),
    role: options.role ?? "main",
  };
  // A child of a plan run is in plan mode, whatever it is started with (SURF-9).
  const mode = options.parent?.policy?.mode === "plan" ? "plan" : (options.mode ?? "normal");
  const { roots = parts.roots, profile = PORTABLE_PROFILE } = options;
  const policy = effectivePolicy(parts, options, mode, roots);
  const hooks = roots === parts.roots ? parts.hooks : parts.hooksIn(roots);
  // One a run: placeholders are stable within it (REDACT-1).
  const redactor = parts.redactor();
  const recorder = parts.recorder.forRun(identity, redactor);
  const index = createDeferredIndex();
  const usedIds = new Set<string>();
  const loadedLater: string[] = [...(options.loadedTools ?? [])];
  const turns = new Set<Turn>();
  let wanted = false;
  /** The revision of the registry that was last looked at, whether or not anything had changed. */
  let looked = registry.revision;
  /** One at a time; whoever asks meanwhile waits for the same answer. */
  let refreshing: Promise<void> = Promise.resolve();
  let continued = false;

  /** What the surface was resolved from. */
  let snapshot = registry.snapshot();
  const first = await resolve();
  const shown = await show(first);
  let definitions = await parts.keepDefinitions(snapshot, identity);
  recordWith(definitions, "run.started", {
    record_version: RECORD_VERSION,
    role: first.role,
    mode: first.mode,
    policy: describePolicy(policy),
    surface_revision: first.revision,
    config,
    request: {
      profile,
      allowed_tools: options.allowedTools,
      suggested_tools: options.suggestedTools,
      task_denied: options.taskDenied,
      loaded_tools: options.loadedTools,
    },
    definitions: definitions.ref,
  });
  recorder.record(
    "tool.catalog.resolved",
    catalogRecord(first, policy, { definitions: definitions.ref?.artifact_id }),
  );

  const host: CallRun = {
    ...parts.shared,
    identity,
    deadlines: new Deadlines(clock),
    recorder,
    redactor,
    hooks,
    policy,
    roots,
    mappingRules: new Map(),
    inlineLimitBytes: options.inlineLimitBytes ?? Number.POSITIVE_INFINITY,
    childrenStarted: 0,
    registry,
    surface: first,
    modelTools: shown,
    context: freezeContext(options.context ?? {}),
    refreshNextTurn(name) {
      wanted = true;
      loadedLater.push(name);
    },
    admitContext: options.admitContext,
    onPersonAsked: options.onPersonAsked,
  };
  const key = runKey(identity.session_id, identity.run_id);
  parts.runs.set(key, {
    search: (query, limit) => index.search(host.surface, query, limit, host.modelTools.names),
    load,
    connecting: () => options.connecting?.() ?? [],
  });

  return {
    identity,
    policy,
    recorder,
    redactor,
    get context() {
      return host.context;
    },
    get surface() {
      return host.surface;
    },
    async tools() {
      if (wanted || registry.revision !== looked) {
        wanted = false;
        looked = registry.revision;
        refreshing = refreshing.catch(() => {}).then(refresh);
      }
      await refreshing;
      return host.modelTools;
    },
    openTurn,
    async execute(calls) {
      const opened = openTurn();
      for (const call of calls) opened.push(call);
      opened.end();
      return opened.settled();
    },
    async call(name, input) {
      const opened = openTurn();
      opened.push({ name, arguments: input });
      opened.end();
      const [result] = await opened.settled();
      return result as ToolResult;
    },
    explain: (call) => explainCall(host, call),
    places: placesOfReading(host),
    async submitPrompt(prompt) {
      const answers = await tellHooks("UserPromptSubmit", { prompt });
      const block = answers.find(({ block: blocks }) => blocks === true);
      const blocked = block && (block.reason ?? "a hook blocked this prompt");
      return { ...omitUndefined({ blocked }), context: collectContext(answers) };
    },
    async notify(event, about) {
      await tellHooks(event, about);
    },
    async stopping() {
      const answers = await tellHooks("Stop", { already_continued: continued });
      const goOn = !continued && answers.some((answer) => answer.continue === true);
      continued ||= goOn;
      return { continue: goOn, context: collectContext(answers) };
    },
    async abort(reason) {
      await Promise.all([...turns].map((turn) => turn.abort(reason)));
    },
    end(reason, data = {}) {
      parts.runs.delete(key);
      onEnd();
      recorder.record(`run.${reason}`, data);
    },
  };

  function openTurn(turnOptions: { parentNodeId?: string } = {}): Turn {
    const onSettled = (turn: Turn): void => void turns.delete(turn);
    const opened = new OpenTurn(host, { ...turnOptions, usedIds, onSettled });
    turns.add(opened);
    return opened;
  }

  /** Pure inside; isEnabled and prompt, which are not, are asked first. */
  async function resolve(previous?: Surface): Promise<Surface> {
    const current = registry.snapshot();
    const resolved = resolveSurface({
      registry: current,
      role: identity.role,
      mode,
      policy,
      profile,
      disabled: config.tools.disabled,
      refusedByThemselves: await askEnabled(parts.shared, current),
      deferBudgetTokens: config.tools.defer_budget_tokens,
      loadedLater: loadedLater.filter((name) => current.tools.has(name)),
      taskDenied: options.taskDenied,
      allowedTools: options.allowedTools,
      suggestedTools: options.suggestedTools,
      previous,
    });
    if (!resolved.ok) throw new RunRefused(resolved.problems);
    snapshot = current;
    return resolved.surface;
  }

  async function refresh(): Promise<void> {
    const before = host.surface;
    const next = await resolve(before);
    if (next === before) return;
    const list = await show(next);
    const kept = await parts.keepDefinitions(snapshot, identity);
    const isNews = kept.ref !== undefined && kept.ref.sha256 !== definitions.ref?.sha256;
    definitions = kept;
    // Switched together: no call is judged by a surface whose list the model has not been given.
    host.surface = next;
    host.modelTools = list;
    const since = { base: before, definitions: kept.ref?.artifact_id };
    const record = catalogRecord(next, policy, since);
    if (isNews) recordWith(kept, "tool.catalog.resolved", { ...record, definitions: kept.ref });
    else recorder.record("tool.catalog.resolved", record);
  }

  /** With the artifact the fact speaks of, in one entry: neither is there without the other. */
  function recordWith(kept: KeptDefinitions, type: FactType, data: FactData): void {
    const fact = recorder.draft(type, redactor.value(data as JsonObject));
    const { created, problem: message } = kept;
    const about = created === undefined ? [] : [recorder.draft("artifact.created", { ...created })];
    recorder.commit([fact, ...about]);
    if (message === undefined) return;
    recorder.record("error", { code: "definitions_not_kept", message }, undefined, "warn");
  }

  async function show(of: Surface): Promise<ModelTools> {
    const instructions = new Map<string, string>();
    for (const tool of of.loaded) {
      if (tool.definition.prompt === undefined) continue;
      const text = await parts.instructionsOf(tool, recorder);
      if (text !== undefined) instructions.set(tool.name, text);
    }
    const { defer_budget_tokens } = config.tools;
    return modelTools(of, instructions, (text) => redactor.text(text), defer_budget_tokens);
  }

  function load(names: readonly string[]): readonly RegisteredTool[] {
    const fresh = names.flatMap((name) => {
      const standing = host.surface.standing.get(name);
      return standing?.state === "deferred" && !loadedLater.includes(name) ? [standing.tool] : [];
    });
    if (fresh.length === 0) return fresh;
    const loaded = fresh.map(({ name }) => name);
    loadedLater.push(...loaded);
    wanted = true;
    const { revision: surface_revision } = host.surface;
    recorder.record("tool.deferred.loaded", { tools: loaded, surface_revision });
    return fresh;
  }

  function tellHooks<Event extends RunEvent>(
    event: Event,
    about: Omit<HookPayloads[Event], "session_id" | "run_id">,
  ): Promise<HookAnswers[Event][]> {
    const { session_id, run_id } = identity;
    const payload = { ...about, session_id, run_id } as HookPayloads[Event];
    return observe(parts, recorder, redactor, event, payload);
  }
}

/** 2: when calls ended that were put on record later, waits for people, and halts are on record (REPLAY-1). */
const RECORD_VERSION = 2;

/** Runs are told apart by session too: a caller may give any id. */
export function runKey(session_id: string, run_id: string): string {
  return JSON.stringify([session_id, run_id]);
}

/** What the session and the run say together, under the ceiling of the parent (PERM-12). */
function effectivePolicy(
  parts: SessionParts,
  options: RunOptions,
  mode: Mode,
  roots: Roots,
): Policy {
  const input: PolicyInput = {
    ...mergePolicies(parts.policy, options.policy ?? {}),
    mode,
    ...(roots.project === "" ? {} : { roots }),
  };
  const compiled = compilePolicy({
    ...input,
    ...omitUndefined({
      links: parts.resolvePath && readLinks(input, parts.resolvePath),
      ceiling: options.parent?.policy,
    }),
  });
  if (compiled.ok) return compiled.policy;
  const lines = compiled.problems.map(({ field, message }) => `permissions: ${field} ${message}`);
  throw new Error(lines.join("\n"));
}

/** Where the paths of rules lead now. It is recorded with the policy: a replay judges by the same places. */
function readLinks(
  input: PolicyInput,
  resolvePath: (path: string) => string | undefined,
): Record<string, string> {
  const links: Record<string, string> = {};
  for (const path of linkedPaths(input)) {
    const real = resolvePath(path);
    if (real !== undefined && real !== path) links[path] = real;
  }
  return { ...input.links, ...links };
}

/** REG-4: whatever is not a clear yes is a no, with the reason. */
async function askEnabled(
  { config, clock }: SharedParts,
  snapshot: RegistrySnapshot,
): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  const { resolve_timeout_ms } = config.tools;
  const asked = [...snapshot.tools.values()].filter(
    ({ definition }) => definition.isEnabled !== undefined,
  );
  const asking = asked.map(async ({ name, definition }) => {
    const waited = await within(clock, resolve_timeout_ms, () => definition.isEnabled?.());
    if (waited.kind !== "answered") refused.set(name, `isEnabled ${describeNoAnswer(waited)}`);
    else if (waited.value !== true) refused.set(name, "isEnabled said no");
  });
  await Promise.all(asking);
  return refused;
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
