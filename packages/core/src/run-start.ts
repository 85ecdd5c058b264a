// What a run begins with: the tools it may see, the list it shows of them, and the records of both. All of it follows from the
// registry, the policy, the role, the mode, the model and the request, so runs that begin alike share it (REPLAY-1 has it
// with each of them all the same).

import { deepFreeze, type KernelConfig } from "./call/index.ts";
import {
  describeNoAnswer,
  within,
  type Clock,
  type FactData,
  type Redactor,
} from "./journal/index.ts";
import { describePolicy, frozenCopy, type Policy } from "./permission/index.ts";
import type { RegisteredTool } from "./registry/registered-tool.ts";
import type { Registry, RegistrySnapshot } from "./registry/registry.ts";
import { catalogRecord } from "./surface/catalog.ts";
import { modelTools, type ModelTools } from "./surface/model-tools.ts";
import type { ModelProfile } from "./surface/profile.ts";
import { resolveSurface } from "./surface/resolve-surface.ts";
import { createDeferredIndex } from "./surface/search-deferred.ts";
import type { Surface, SurfaceProblem, SurfaceRequest } from "./surface/surface.ts";
import { SoongError } from "./tool/index.ts";

/** What of a surface a run is asked for with. */
export interface StartRequest extends Pick<
  SurfaceRequest,
  | "role"
  | "mode"
  | "policy"
  | "profile"
  | "taskDenied"
  | "allowedTools"
  | "skipMissingTools"
  | "suggestedTools"
> {
  /** Names loaded earlier, when a run is resumed (SEARCH-3). */
  readonly loadedTools?: readonly string[];
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

/** The surfaces of a kernel. */
export class RunStarts {
  readonly #registry: Registry;
  readonly #config: KernelConfig;
  readonly #clock: Clock;
  readonly #known = new WeakMap<RegistrySnapshot, KnownStarts>();

  constructor(registry: Registry, config: KernelConfig, clock: Clock) {
    this.#registry = registry;
    this.#config = config;
    this.#clock = clock;
  }

  /** Throws a RunRefused where the request cannot be met. */
  async find(request: StartRequest): Promise<RunStart> {
    const snapshot = this.#registry.snapshot();
    let known = this.#known.get(snapshot);
    if (known === undefined) {
      known = new KnownStarts(snapshot);
      this.#known.set(snapshot, known);
    }
    const disabled = known.asked.length === 0 ? NONE : await this.#askEnabled(known.asked);
    return known.find(request, this.#config, disabled, () => {
      const { loadedTools = [] } = request;
      const surface = this.#resolve(request, { snapshot, disabled, loadedTools });
      return new RunStart(snapshot, surface, request, this.#config);
    });
  }

  /** The same surface as before where no one could tell the difference. */
  async follow(
    request: StartRequest,
    loadedTools: readonly string[],
    previous: Surface,
  ): Promise<{ snapshot: RegistrySnapshot; surface: Surface }> {
    const snapshot = this.#registry.snapshot();
    const disabled = await this.#askEnabled(listAsked(snapshot));
    const surface = this.#resolve(request, { snapshot, disabled, loadedTools, previous });
    return { snapshot, surface };
  }

  /** Pure inside; isEnabled, which is not, was asked before. */
  #resolve(
    request: StartRequest,
    { snapshot, disabled, loadedTools, previous }: ResolveInput,
  ): Surface {
    const { tools } = this.#config;
    const resolved = resolveSurface({
      ...request,
      registry: snapshot,
      disabled: tools.disabled,
      refusedByThemselves: disabled,
      deferBudgetTokens: tools.defer_budget_tokens,
      loadedLater: loadedTools.filter((name) => snapshot.tools.has(name)),
      previous,
    });
    if (!resolved.ok) throw new RunRefused(resolved.problems);
    return resolved.surface;
  }

  /** REG-4: anything but a clear yes is a no, with the reason. */
  async #askEnabled(tools: readonly RegisteredTool[]): Promise<ReadonlyMap<string, string>> {
    const refused = new Map<string, string>();
    const { resolve_timeout_ms } = this.#config.tools;
    const asking = tools.map(async ({ name, definition }) => {
      const waited = await within(this.#clock, resolve_timeout_ms, () => definition.isEnabled?.());
      if (waited.kind !== "answered") refused.set(name, `isEnabled ${describeNoAnswer(waited)}`);
      else if (waited.value !== true) refused.set(name, "isEnabled said no");
    });
    await Promise.all(asking);
    return refused;
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

interface ResolveInput {
  readonly snapshot: RegistrySnapshot;
  /** By their own isEnabled, with why. */
  readonly disabled: ReadonlyMap<string, string>;
  readonly loadedTools: readonly string[];
  readonly previous?: Surface;
}

function listAsked({ tools }: RegistrySnapshot): RegisteredTool[] {
  return [...tools.values()].filter(({ definition }) => definition.isEnabled !== undefined);
}

/** The starts on one revision of the registry: they go with it. */
class KnownStarts {
  readonly asked: readonly RegisteredTool[];
  /** By what is compared as an object, by the text of all that may be changed for the next run. */
  readonly #starts = new WeakMap<object, WeakMap<ModelProfile, Map<string, RunStart>>>();

  constructor(snapshot: RegistrySnapshot) {
    this.asked = listAsked(snapshot);
  }

  find(
    request: StartRequest,
    config: KernelConfig,
    disabled: ReadonlyMap<string, string>,
    make: () => RunStart,
  ): RunStart {
    const { policy, profile, role, mode } = request;
    const { taskDenied, allowedTools, skipMissingTools, suggestedTools, loadedTools } = request;
    const asked = [allowedTools, skipMissingTools, suggestedTools];
    const lists = [taskDenied, asked, loadedTools, [...disabled]];
    const text = JSON.stringify([role, mode, profile, config.tools.disabled, lists]);
    const known = this.#starts.get(policy)?.get(profile)?.get(text);
    if (known !== undefined) return known;
    const start = make();
    const ofPolicy = this.#starts.get(policy) ?? new WeakMap<ModelProfile, Map<string, RunStart>>();
    const alike = ofPolicy.get(profile) ?? new Map<string, RunStart>();
    if (alike.size >= MAX_ALIKE) alike.clear();
    this.#starts.set(policy, ofPolicy.set(profile, alike.set(text, start)));
    return start;
  }
}

const MAX_ALIKE = 50;

export class RunStart {
  readonly snapshot: RegistrySnapshot;
  readonly surface: Surface;
  /** Follows the deferred tools of all runs that began here: what they have loaded since differs little. */
  readonly index = createDeferredIndex();
  /** Loaded tools that have long instructions to ask for. */
  readonly prompted: readonly RegisteredTool[];
  readonly #policy: Policy;
  readonly #config: KernelConfig;
  /** As requested; the caller may change that object for the next run. */
  readonly #record: StartRecord;
  readonly #list = new CleanCopy<ModelTools>();
  readonly #about = new CleanCopy<StartRecord>();
  readonly #catalog = new CleanCopy<CatalogOf>();

  constructor(
    snapshot: RegistrySnapshot,
    surface: Surface,
    request: StartRequest,
    config: KernelConfig,
  ) {
    this.snapshot = snapshot;
    this.surface = surface;
    this.prompted = listPrompted(surface);
    this.#policy = request.policy;
    this.#config = config;
    this.#record = recordStart(request, surface, config);
  }

  /** What a model is shown. */
  list(redactor: Redactor, instructions: ReadonlyMap<string, string>): ModelTools {
    const make = (): ModelTools => showTools(this.surface, instructions, redactor, this.#config);
    return this.prompted.length === 0 ? this.#list.get(redactor, make) : make();
  }

  /** All of `run.started` but the definitions. */
  describe(redactor: Redactor): StartRecord {
    return this.#about.get(redactor, () => redactor.value(this.#record));
  }

  /** `tool.catalog.resolved`, which says where the definitions are kept. */
  catalog(redactor: Redactor, definitions: string | undefined): CatalogOf["record"] {
    const make = (): CatalogOf => {
      const record = catalogRecord(this.surface, this.#policy, { definitions });
      // Many facts have it: none of their readers may change it for the others.
      deepFreeze(record);
      return { definitions, record: redactor.value(record) };
    };
    return this.#catalog.get(redactor, make, (known) => known.definitions === definitions).record;
  }
}

export function listPrompted({ loaded }: Surface): RegisteredTool[] {
  return loaded.filter(({ definition }) => definition.prompt !== undefined);
}

export function showTools(
  surface: Surface,
  instructions: ReadonlyMap<string, string>,
  redactor: Redactor,
  { tools }: KernelConfig,
): ModelTools {
  const redact = (text: string): string => redactor.text(text);
  const list = modelTools(surface, instructions, redact, tools.defer_budget_tokens);
  // Many runs have it: none of those who read it may change it for the others.
  for (const items of [list.tools, list.deferred]) Object.freeze(items).forEach(Object.freeze);
  return Object.freeze(list);
}

function recordStart(
  { role, mode, policy, profile, ...lists }: StartRequest,
  { revision: surface_revision }: Surface,
  config: KernelConfig,
): StartRecord {
  const { allowedTools, skipMissingTools, suggestedTools, taskDenied, loadedTools } = lists;
  const request = {
    profile,
    allowed_tools: allowedTools,
    skip_missing_tools: skipMissingTools,
    suggested_tools: suggestedTools,
    task_denied: taskDenied,
    loaded_tools: loadedTools,
  };
  return {
    record_version: RECORD_VERSION,
    role,
    mode,
    policy: frozenCopy(describePolicy(policy)),
    surface_revision,
    config,
    request: frozenCopy(request),
  };
}

/** 2: when calls ended that were put on record later, waits for users, and halts are on record (REPLAY-1). */
const RECORD_VERSION = 2;

type StartRecord = Omit<FactData<"run.started">, "definitions">;

interface CatalogOf {
  readonly definitions: string | undefined;
  readonly record: FactData<"tool.catalog.resolved">;
}

/** Made with one redactor and, if it had nothing to hide in it, given to every other that knows the same secrets. */
class CleanCopy<T> {
  readonly #clean = new WeakMap<object, T>();

  get(redactor: Redactor, make: () => T, isRight: (known: T) => boolean = () => true): T {
    const { known: secrets, count } = redactor;
    const known = this.#clean.get(secrets);
    if (known !== undefined && isRight(known)) return known;
    const made = make();
    if (redactor.count === count) this.#clean.set(secrets, made);
    return made;
  }
}
