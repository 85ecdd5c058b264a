// One model request, until it is answered or nothing more can be tried (LOOP-3, MODEL-4): attempts at one model with
// waits between them, then the next model of the chain. Each choice is a fact.

import type { ModelTools } from "@soong/core";
import { omitUndefined } from "@soong/schema";
import { isRetryable, type Model, type ModelError, type ModelRequest } from "../model/index.ts";
import type { Backoff } from "./backoff.ts";
import { findBudgetExclusion, checkBudget, describeBudget } from "./budget.ts";
import { findToolExclusion } from "./find-tool-exclusion.ts";
import { noteAttempt, findRateLimit, getWaitMs } from "./rate-limits.ts";
import { recordFact, type Running } from "./running.ts";
import { streamAnswer, type Attempt } from "./stream-answer.ts";

export interface RequestParts {
  readonly tools: ModelTools;
  readonly estimatedTokens: number;
  readonly backoff: Backoff;
  /** As this model is to read it. */
  request(model: Model): ModelRequest;
}

export async function requestModel(running: Running, parts: RequestParts): Promise<Attempt> {
  const { control, limits, log, clock } = running;
  let failures = 0;
  let reason = chooseFirst(running, parts.tools);
  for (let attempt = 1; ; attempt += 1) {
    const model = running.models[running.chosen] ?? running.models[0];
    if (failures === 0) recordRouting(running, parts, model, reason);
    const stopped = outOfBudget(running, model);
    if (stopped !== undefined) return stopped;
    const request = parts.request(model);
    const outcome = await streamAnswer(running, { model, request, tools: parts.tools, attempt });
    if (outcome.kind === "aborted") return outcome;
    noteAttempt(model, outcome.kind === "failed" ? outcome.error : undefined, clock);
    if (outcome.kind !== "failed") return outcome;
    const { error, wrote } = outcome;
    if (wrote) return outcome;
    failures += 1;
    const waitMs = parts.backoff(failures, error);
    if (isRetryable(error) && failures <= limits.retries && waitMs <= limits.max_retry_after_ms) {
      log.add({ type: "abandoned", reason: error.message, model: model.id, wait_ms: waitMs });
      if ((await control.wait(waitMs)) === "aborted") return { kind: "aborted" };
      continue;
    }
    const next = fallbackFor(running, parts.tools, error);
    if (next === undefined) return outcome;
    const to = running.models[next] ?? model;
    recordFact(running, "routing.fallback", {
      request: request.index,
      from: model.id,
      to: to.id,
      reason: error.kind,
      message: error.message,
      attempts: failures,
    });
    log.add({ type: "abandoned", reason: error.message, model: to.id, wait_ms: 0 });
    running.chosen = next;
    reason = `fallback from ${model.id}: ${error.kind}`;
    failures = 0;
  }
}

/** Passes over a model that cannot keep to the budget, or is limited for longer than a run waits. Says why. */
function chooseFirst(running: Running, tools: ModelTools): string {
  const { models, limits, clock, chosen } = running;
  const first = models[chosen] ?? models[0];
  const unpriced = findBudgetExclusion(first, limits.budget ?? {});
  const isLimited = getWaitMs(first, clock) > limits.max_retry_after_ms;
  const next = unpriced !== undefined || isLimited ? nextAfter(running, tools) : undefined;
  if (next === undefined) {
    return chosen === 0 ? "first of the chain" : "chosen by an earlier fallback";
  }
  running.chosen = next;
  return `${first.id} is passed over: ${unpriced ?? `limited until ${findRateLimit(first, clock)?.until}`}`;
}

/** Another model may be there when this one is not, or can do what it cannot; a wrong key stays wrong. */
function fallbackFor(running: Running, tools: ModelTools, error: ModelError): number | undefined {
  if (!isRetryable(error) && error.kind !== "unsupported_capability") return undefined;
  return nextAfter(running, tools);
}

function nextAfter(running: Running, tools: ModelTools): number | undefined {
  const at = running.models.findIndex(
    (model, i) => i > running.chosen && exclusion(running, model, tools) === undefined,
  );
  return at === -1 ? undefined : at;
}

/** Why a model cannot take this request, as a clause. */
function exclusion(
  { limits, clock }: Running,
  model: Model,
  tools: ModelTools,
): string | undefined {
  const unable = findToolExclusion(model, tools) ?? findBudgetExclusion(model, limits.budget ?? {});
  if (unable !== undefined || getWaitMs(model, clock) <= limits.max_retry_after_ms) {
    return unable;
  }
  return `it is limited until ${findRateLimit(model, clock)?.until}`;
}

/** Also what its children have used counts: a run may not have done by others what it may not do itself. */
function outOfBudget({ limits, account }: Running, model: Model): Attempt | undefined {
  const { budget = {} } = limits;
  const unpriced = findBudgetExclusion(model, budget);
  const message =
    checkBudget(budget, account) ??
    (unpriced === undefined
      ? undefined
      : `${model.id} cannot be asked: ${unpriced}. Give it prices, or lift the budget.`);
  if (message === undefined) return undefined;
  return { kind: "failed", error: { kind: "budget", message }, wrote: false };
}

function recordRouting(
  running: Running,
  { tools, estimatedTokens }: RequestParts,
  selected: Model,
  reason: string,
): void {
  const { models, limits, account, requests, clock } = running;
  const limited = models.flatMap((model) => findRateLimit(model, clock) ?? []);
  recordFact(running, "routing.decided", {
    request: requests,
    requested: models[0].id,
    requirements: { tools: tools.tools.length, estimated_tokens: estimatedTokens },
    candidates: models.map((model) => {
      const excluded =
        model === selected
          ? findBudgetExclusion(model, limits.budget ?? {})
          : exclusion(running, model, tools);
      return { model: model.id, ...omitUndefined({ excluded }) };
    }),
    selected: selected.id,
    fallback_chain: models.slice(running.chosen + 1).map(({ id }) => id),
    budget: {
      max_turns: limits.max_turns,
      turns_used: requests - 1,
      max_output_tokens: limits.max_output_tokens ?? null,
      context_tokens: limits.context_tokens ?? null,
      ...describeBudget(limits.budget ?? {}, account),
      used: { ...account },
    },
    rate_limit: limited.length === 0 ? { state: "not_limited" } : { state: "limited", limited },
    reason,
  });
}
