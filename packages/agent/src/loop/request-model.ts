// One model request, until it is answered or nothing more can be tried (LOOP-3, MODEL-4): attempts at one model with
// waits between them, then the next model of the chain. Each choice is a fact.

import type { ModelTools } from "@soong/core";
import { isRetryable, type Model, type ModelError, type ModelRequest } from "../model/index.ts";
import type { Backoff } from "./backoff.ts";
import { exclusionOf } from "./candidates.ts";
import { record, type Running } from "./running.ts";
import { streamAnswer, type Attempt } from "./stream-answer.ts";

export interface RequestParts {
  readonly tools: ModelTools;
  readonly estimatedTokens: number;
  readonly backoff: Backoff;
  /** As this model is to read it. */
  request(model: Model): ModelRequest;
}

export async function requestModel(running: Running, parts: RequestParts): Promise<Attempt> {
  const { control, limits, log } = running;
  let failures = 0;
  let reason = running.chosen === 0 ? "first of the chain" : "chosen by an earlier fallback";
  let limited: ModelError | undefined;
  for (let attempt = 1; ; attempt += 1) {
    const model = running.models[running.chosen] ?? running.models[0];
    if (failures === 0) recordRouting(running, parts, model, reason, limited);
    const request = parts.request(model);
    const outcome = await streamAnswer(running, { model, request, tools: parts.tools, attempt });
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
    record(running, "routing.fallback", {
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
    limited = error.kind === "rate_limited" || error.kind === "overloaded" ? error : undefined;
    failures = 0;
  }
}

/** Another model may be there when this one is not, or can do what it cannot; a wrong key stays wrong. */
function fallbackFor(running: Running, tools: ModelTools, error: ModelError): number | undefined {
  if (!isRetryable(error) && error.kind !== "unsupported_capability") return undefined;
  const at = running.models.findIndex(
    (model, i) => i > running.chosen && exclusionOf(model, tools) === undefined,
  );
  return at === -1 ? undefined : at;
}

function recordRouting(
  running: Running,
  { tools, estimatedTokens }: RequestParts,
  selected: Model,
  reason: string,
  limited: ModelError | undefined,
): void {
  const { models, limits, usage, requests } = running;
  record(running, "routing.decided", {
    request: requests,
    requested: models[0].id,
    requirements: { tools: tools.tools.length, estimated_tokens: estimatedTokens },
    candidates: models.map((model) => {
      const exclusion = model === selected ? undefined : exclusionOf(model, tools);
      return { model: model.id, ...(exclusion === undefined ? {} : { excluded: exclusion }) };
    }),
    selected: selected.id,
    fallback_chain: models.slice(running.chosen + 1).map(({ id }) => id),
    budget: {
      max_turns: limits.max_turns,
      turns_used: requests - 1,
      max_output_tokens: limits.max_output_tokens ?? null,
      context_tokens: limits.context_tokens ?? null,
      used: { ...usage },
    },
    rate_limit:
      limited === undefined
        ? { state: "not_limited" }
        : { state: "limited", kind: limited.kind, retry_after_ms: limited.retry_after_ms ?? null },
    reason,
  });
}
