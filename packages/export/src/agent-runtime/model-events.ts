// Model requests and the choice of the model.

import type { EventWriter, FactMappers } from "./event-writer.ts";
import {
  readList,
  readNumber,
  readRecord,
  readText,
  readTexts,
  type Unchecked,
} from "../projection/read-fields.ts";
import { describeUsage } from "./run-events.ts";

export const MODEL_EVENTS = {
  "model.started"(data, events) {
    const modelRequestId = createRequestId(data, events);
    const payload = describeRequest(data);
    events.add("model.requested", {
      modelRequestId,
      stepId: modelRequestId,
      status: "running",
      payload,
    });
  },

  "model.delta"(data, events) {
    const modelRequestId = createRequestId(data, events);
    const payload = {
      model: readText(data.model),
      text: readText(data.text) ?? "",
      chars: readNumber(data.chars),
    };
    events.add("model.delta", {
      modelRequestId,
      stepId: modelRequestId,
      status: "streaming",
      payload,
    });
  },

  "model.completed"(data, events) {
    const modelRequestId = createRequestId(data, events);
    events.add("model.completed", {
      modelRequestId,
      stepId: modelRequestId,
      status: "completed",
      payload: {
        stopReason: readText(data.stop),
        toolCalls: readNumber(data.calls),
        usage: describeUsage(data.usage, data.cost),
        ...describeRequest(data),
      },
    });
    recordCost(data, events, modelRequestId);
  },

  "model.failed"(data, events) {
    const modelRequestId = createRequestId(data, events);
    const error = readRecord(data.error);
    const kind = readText(error["kind"]);
    const message = readText(error["message"]);
    const model = readText(data.model);
    events.add("model.failed", {
      modelRequestId,
      stepId: modelRequestId,
      status: kind === "aborted" ? "cancelled" : "failed",
      nativeStatus: kind,
      statusReason: message,
      payload: {
        failureCategory: kind,
        message,
        httpStatus: readNumber(error["status"]),
        changedSomething: data.wrote === true,
        usage: describeUsage(data.usage, data.cost),
        ...describeRequest(data),
      },
    });
    const limit = kind === undefined ? undefined : LIMITS.get(kind);
    if (limit !== undefined) {
      const limitEvent = { kind, model, retryAfterMs: readNumber(error["retry_after_ms"]) };
      events.add(limit, { modelRequestId, limitEvent, statusReason: message });
    }
    recordCost(data, events, modelRequestId);
  },

  "routing.decided"(data, events) {
    const candidates = readList(data.candidates).map(readRecord);
    const usable = candidates.filter(({ excluded }) => readText(excluded) === undefined);
    const selectedModel = readText(data.selected);
    const candidateModelSet = {
      candidateCount: usable.length,
      candidates: candidates.map(({ model, excluded }) => ({
        model: readText(model),
        excludedReason: readText(excluded),
      })),
      singleCandidate: usable.length === 1,
    };
    const routingDecision = {
      requestedModel: readText(data.requested),
      selectedModel,
      candidateCount: usable.length,
      decisionSource: "runtime",
      decisionReason: readText(data.reason),
      fallbackChain: readTexts(data.fallback_chain),
      capabilityGap: selectedModel === undefined ? "unknown" : "none",
    };
    const payload = {
      request: readNumber(data.request),
      requirements: data.requirements,
      budget: data.budget,
      rateLimit: data.rate_limit,
    };
    events.add("routing.candidates.resolved", { candidateModelSet });
    if (usable.length === 1) events.add("routing.single_candidate", { candidateModelSet });
    const type = selectedModel === undefined ? "routing.not_possible" : "routing.decided";
    events.add(type, { routingDecision, payload });
  },

  "routing.fallback"(data, events) {
    const statusReason = readText(data.reason);
    const routingDecision = {
      requestedModel: readText(data.from),
      selectedModel: readText(data.to),
      decisionSource: "fallback",
      decisionReason: statusReason,
    };
    const payload = {
      request: readNumber(data.request),
      attempts: readNumber(data.attempts),
      message: readText(data.message),
    };
    events.add("routing.fallback.applied", { statusReason, routingDecision, payload });
  },
} satisfies FactMappers;

const LIMITS: ReadonlyMap<string, "rate_limit.hit" | "quota.blocked"> = new Map([
  ["rate_limited", "rate_limit.hit"],
  ["quota", "quota.blocked"],
  ["budget", "quota.blocked"],
] as const);

type RequestData = Unchecked<"model.started">;

function createRequestId(data: RequestData, events: EventWriter): string {
  const request = readNumber(data.request) ?? 0;
  return `${events.turnId ?? ""}/request-${request}.${readNumber(data.attempt) ?? 1}`;
}

function describeRequest(data: RequestData): object {
  return {
    model: readText(data.model),
    request: readNumber(data.request),
    attempt: readNumber(data.attempt),
    purpose: readText(data.purpose),
  };
}

/** An unknown cost is no cost of nothing: there is no event of it. */
function recordCost(
  data: Unchecked<"model.completed">,
  events: EventWriter,
  modelRequestId: string,
): void {
  const cost = readRecord(data.cost);
  const micros = readNumber(cost["micros"]);
  if (micros === undefined) return;
  const costState = {
    status: "recorded",
    amountMicros: micros,
    currency: readText(cost["currency"]),
    model: readText(data.model),
  };
  events.add("cost.recorded", { modelRequestId, costState });
}
