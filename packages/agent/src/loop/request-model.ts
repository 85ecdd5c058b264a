// One model request, until it is answered or nothing more can be tried (LOOP-3, MODEL-4): attempts at one model with
// waits between them, then the next model of the chain. Each choice is a fact.

import type { Clock, ConversationNode, FactData, FactRecord, ModelTools } from "@soong/core";
import { isRetryable, type Model, type ModelError } from "../model/index.ts";
import { findToolsViolation } from "../provider/preflight.ts";
import { checkBudget, describeBudget, findBudgetExclusion, type LoopLimits } from "./limits.ts";
import type { ResolvedContext } from "./resolve-context.ts";
import { getModel, noteFact, recordFact, type Running } from "./running.ts";
import { streamAnswer, type Attempt } from "./stream-answer.ts";
import type { UsageTotal } from "./usage.ts";

interface RequestParts {
  readonly tools: ModelTools;
  readonly backoff: Backoff;
  readonly context: ResolvedContext;
}

export async function requestModel(running: Running, parts: RequestParts): Promise<Attempt> {
  const { control, limits, log, clock } = running;
  const { tools, context } = parts;
  let failures = 0;
  let reason = chooseFirst(running, tools);
  for (let attempt = 1; ; attempt += 1) {
    const model = getModel(running);
    if (failures === 0) recordRouting(running, parts, model, reason);
    const stopped = checkModelBudget(running, model);
    if (stopped !== undefined) return stopped;
    const outcome = await streamAnswer(running, { tools, context, model, attempt });
    if (outcome.kind === "aborted") return outcome;
    noteAttempt(model, outcome.kind === "failed" ? outcome.error : undefined, clock);
    if (outcome.kind !== "failed" || outcome.wrote) return outcome;
    const { error, hadBegun: had_begun } = outcome;
    failures += 1;
    const waitMs = parts.backoff(failures, error);
    if (isRetryable(error) && failures <= limits.retries && waitMs <= limits.max_retry_after_ms) {
      const retry = { count: failures, of: limits.retries };
      const about = { reason: error.message, had_begun, model: model.id, wait_ms: waitMs, retry };
      log.add({ type: "abandoned", ...about });
      if ((await control.wait(waitMs)) === "aborted") return { kind: "aborted" };
      continue;
    }
    // Another model may be there when this one is not, or can do what it cannot; a wrong key stays wrong.
    const mayHelp = isRetryable(error) || ELSEWHERE.has(error.kind);
    const next = mayHelp ? findNext(running, parts.tools) : -1;
    if (next === -1) return outcome;
    running.chosen = next;
    const to = getModel(running).id;
    recordFact(running, "routing.fallback", {
      request: running.requests,
      from: model.id,
      to,
      reason: error.kind,
      message: error.message,
      attempts: failures,
    });
    log.add({ type: "abandoned", reason: error.message, had_begun, model: to, wait_ms: 0 });
    reason = `fallback from ${model.id}: ${error.kind}`;
    failures = 0;
  }
}

/** What asking the same model again does not change. */
const ELSEWHERE: ReadonlySet<ModelError["kind"]> = new Set(["unsupported_capability", "quota"]);

/** Passes over a model that cannot keep to the budget, or is limited for longer than a run waits. Says why. */
function chooseFirst(running: Running, tools: ModelTools): string {
  const { limits, chosen } = running;
  const first = getModel(running);
  const unpriced = findBudgetExclusion(first, limits.budget);
  const limited = findLongLimit(running, first);
  const isUnfit = unpriced !== undefined || limited !== undefined;
  const next = isUnfit ? findNext(running, tools) : -1;
  if (next === -1) return chosen === 0 ? "first of the chain" : "chosen by an earlier fallback";
  running.chosen = next;
  return `${first.id} is passed over: ${unpriced ?? limited}`;
}

/** -1: no model after the present one can take this request. */
function findNext(running: Running, tools: ModelTools): number {
  return running.models.findIndex(
    (model, i) => i > running.chosen && findExclusion(running, model, tools) === undefined,
  );
}

/** Why a model cannot take this request, as a clause. */
function findExclusion(running: Running, model: Model, tools: ModelTools): string | undefined {
  const unable =
    findToolExclusion(model, tools) ?? findBudgetExclusion(model, running.limits.budget);
  const limited = findLongLimit(running, model);
  return unable ?? (limited === undefined ? undefined : `it is ${limited}`);
}

/** Also what its children have used counts: a run may not have done by others what it may not do itself. */
function checkModelBudget({ limits, account }: Running, model: Model): Attempt | undefined {
  const unpriced = findBudgetExclusion(model, limits.budget);
  const message =
    checkBudget(limits.budget, account) ??
    (unpriced && `${model.id} cannot be asked: ${unpriced}. Give it prices, or lift the budget.`);
  if (message === undefined) return undefined;
  return { kind: "failed", error: { kind: "budget", message }, wrote: false, hadBegun: false };
}

function recordRouting(
  running: Running,
  { tools, context }: RequestParts,
  selected: Model,
  reason: string,
): void {
  const {
    models,
    limits: { budget },
    clock,
  } = running;
  const limited = models.flatMap((model) => findRateLimit(model, clock) ?? []);
  const excluded = models.map((model) =>
    model === selected ? findBudgetExclusion(model, budget) : findExclusion(running, model, tools),
  );
  const requirements = { tools: tools.tools.length, estimated_tokens: context.estimatedTokens };
  const record = new RoutingRecord(running, requirements, excluded, selected, limited, reason);
  noteFact(running, record, "routing.decided");
}

type RoutingData = FactData<"routing.decided">;

/** The fact is made when it is read: most of it is the same for all requests of a run. */
class RoutingRecord implements FactRecord {
  nodes: readonly ConversationNode[] | undefined = undefined;
  readonly #models: Running["models"];
  readonly #limits: LoopLimits;
  readonly #contextTokens: number | undefined;
  readonly #request: number;
  readonly #chosen: number;
  readonly #used: UsageTotal;
  readonly #requirements: RoutingData["requirements"];
  /** By model; undefined where none is excluded. */
  readonly #excluded: readonly (string | undefined)[] | undefined;
  readonly #selected: string;
  readonly #limited: readonly RateLimit[] | undefined;
  readonly #reason: string;

  constructor(
    running: Running,
    requirements: RoutingData["requirements"],
    excluded: readonly (string | undefined)[],
    selected: Model,
    limited: readonly RateLimit[],
    reason: string,
  ) {
    this.#models = running.models;
    this.#limits = running.limits;
    this.#contextTokens = running.contextTokens;
    this.#request = running.requests;
    this.#chosen = running.chosen;
    this.#used = { ...running.account };
    this.#requirements = requirements;
    this.#excluded = excluded.every((why) => why === undefined) ? undefined : excluded;
    this.#selected = selected.id;
    this.#limited = limited.length === 0 ? undefined : limited;
    this.#reason = reason;
  }

  factData(): RoutingData {
    const models = this.#models;
    const limits = this.#limits;
    const limited = this.#limited;
    return {
      request: this.#request,
      requested: models[0].id,
      requirements: this.#requirements,
      candidates: models.map(({ id }, i) => ({ model: id, excluded: this.#excluded?.[i] })),
      selected: this.#selected,
      fallback_chain: models.slice(this.#chosen + 1).map(({ id }) => id),
      budget: {
        max_turns: limits.max_turns,
        turns_used: this.#request - 1,
        max_output_tokens: limits.max_output_tokens ?? null,
        context_tokens: this.#contextTokens ?? null,
        ...describeBudget(limits.budget, this.#used),
        used: this.#used,
      },
      rate_limit: limited === undefined ? { state: "not_limited" } : { state: "limited", limited },
      reason: this.#reason,
    };
  }
}

/**
 * Why a model of the chain cannot take a request, as a clause: a run's tools have one list and one set of names and schemas, made
 * for its first model, and another must be able to read them.
 */
function findToolExclusion({ profile }: Model, { tools }: ModelTools): string | undefined {
  const violation = findToolsViolation(tools, profile);
  return violation === undefined ? undefined : `it does not take this: ${violation}`;
}

/** A model has said that it takes no more for now, and until when where it said so. */
interface RateLimit {
  readonly model: string;
  readonly kind: "rate_limited" | "overloaded";
  /** As the provider asked for; null: it gave none. */
  readonly retry_after_ms: number | null;
  /** ISO time; null: not given. */
  readonly until: string | null;
}

/** Known as long as the model is: the next run of a conversation need not find it out again. */
const limits = new WeakMap<Model, { readonly rateLimit: RateLimit; readonly untilMs: number }>();

/** What a date can hold. */
const MAX_TIME = 8.64e15;

/** After every attempt; undefined: it answered. */
function noteAttempt(model: Model, error: ModelError | undefined, clock: Clock): void {
  if (error === undefined) limits.delete(model);
  else if (error.kind === "rate_limited" || error.kind === "overloaded") {
    const { kind, retry_after_ms: wait = Number.NaN } = error;
    const waitMs = wait >= 0 ? wait : Number.NaN;
    const at = clock.now() + waitMs;
    const isKnown = Math.abs(at) <= MAX_TIME;
    const until = isKnown ? new Date(at).toISOString() : null;
    const rateLimit = { model: model.id, kind, retry_after_ms: isKnown ? wait : null, until };
    // By the monotonic clock; the time of day is for display.
    limits.set(model, { rateLimit, untilMs: clock.monotonic() + waitMs });
  }
}

/** Undefined: it is not limited, as far as is known. */
function findRateLimit(model: Model, clock: Clock): RateLimit | undefined {
  const limit = limits.get(model);
  return limit === undefined || limit.untilMs <= clock.monotonic() ? undefined : limit.rateLimit;
}

/** For longer than a run waits, as a clause. */
function findLongLimit({ limits: { max_retry_after_ms }, clock }: Running, model: Model) {
  const { untilMs = 0, rateLimit } = limits.get(model) ?? {};
  const isLong = untilMs - clock.monotonic() > max_retry_after_ms;
  return isLong ? `limited until ${rateLimit?.until}` : undefined;
}

/** How long to wait before asking a model again. */
export type Backoff = (failures: number, error: ModelError) => number;

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Doubling, with jitter from a seeded source so that a recorded run waits as long when it is run again; what the provider asks
 * for comes first.
 */
export function createBackoff(seed: string): Backoff {
  const random = seededRandom(seed);
  return (failures, { retry_after_ms: asked = 0 }) => {
    const doubled = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
    // Half of it at least: many clients that failed together must not come back together.
    const jittered = Math.round(doubled * (0.5 + random() / 2));
    return Number.isFinite(asked) ? Math.max(asked, jittered) : jittered;
  };
}

/** FNV-1a for the seed, mulberry32 for the numbers: small, and the same everywhere. */
function seededRandom(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i += 1) {
    state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
