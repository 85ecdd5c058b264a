// What a session has used so far, and how full the window of its model is: read off its facts as they are recorded.

import { deriveContext, describeCost, reportUsage, sumUsage, type UsageTotal } from "@soong/agent";
import type { Fact, FactData, FactType, Session } from "@soong/core";
import { visibleLine } from "../output/index.ts";

export type ContextData = FactData<"context.resolved">;

const WATCHED: ReadonlySet<FactType> = new Set<FactType>([
  "context.resolved",
  "context.compaction.completed",
  "model.completed",
  "model.failed",
  // Of workers that are processes of their own.
  "agent.child.completed",
  "agent.child.failed",
  "agent.child.cancelled",
]);

/** `isMain`: of the agent that is talked to, not of one that it started. `changed`: after each request. */
export function createSessionMeter(isMain: (agent_id: string | undefined) => boolean) {
  let usage = sumUsage([]);
  let tokens: number | undefined;
  let contexts: ContextData[] = [];
  let changed = (): void => {};

  return {
    /** Of the session, with what its agents started. */
    get usage(): UsageTotal {
      return usage;
    },
    /** What the last request held: as its provider counted, or estimated. */
    get contextTokens(): number | undefined {
      return tokens;
    },
    /** What the last request held, part by part. */
    context: (): ContextData | undefined => deriveContext(contexts),
    onChange(listener: () => void): void {
      changed = listener;
    },
    watch: (session: Pick<Session, "watch">) =>
      session.watch({ types: WATCHED }, (fact) => note(fact())),
    /** Of another session, or what was used before this one was opened. */
    reset(before: UsageTotal = sumUsage([])): void {
      usage = before;
      tokens = undefined;
      contexts = [];
      changed();
    },
  };

  function note(fact: Fact): void {
    usage = sumUsage([usage, reportUsage([fact]).session]);
    if (isMain(fact.agent_id)) noteMain(fact);
    changed();
  }

  function noteMain({ type, data }: Fact): void {
    if (type === "context.resolved") {
      if (data.since === undefined) contexts = [];
      contexts.push(data);
      tokens = data.tokens.estimated;
    } else if (type === "context.compaction.completed") {
      contexts = [];
      tokens = undefined;
    } else if (type === "model.completed" && data.purpose === undefined) {
      const { input_tokens, output_tokens = 0 } = data.usage ?? {};
      if (input_tokens !== undefined) tokens = input_tokens + output_tokens;
    }
  }
}

export interface StatusParts {
  readonly model: string;
  readonly mode: string;
  readonly usage: UsageTotal;
  readonly contextTokens: number | undefined;
  /** What the model takes; undefined where that is not known. */
  readonly window: number | undefined;
  readonly queued: number;
}

/** One line; where it does not fit, the cost goes first, then the share, then the mode. */
export function renderStatus(parts: StatusParts, width: number): string {
  const { model, mode, queued } = parts;
  const words = [
    visibleLine(model),
    describeShare(parts),
    describeSpent(parts.usage),
    mode,
    queued === 0 ? "" : `${queued} queued`,
  ];
  for (const at of [2, 1, 3, 4]) if (joinWords(words).length > width) words[at] = "";
  return joinWords(words);
}

function joinWords(words: readonly string[]): string {
  return words.filter((word) => word !== "").join(" · ");
}

/** `context 12% of 200k`; without a window only the tokens. */
function describeShare({ contextTokens, window }: StatusParts): string {
  if (contextTokens === undefined) return "";
  if (window === undefined) return `context ${contextTokens} tokens`;
  const percent = Math.round((100 * contextTokens) / window);
  return `context ${percent}% of ${describeCount(window)}`;
}

export function describeCount(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${Number((tokens / 1_000_000).toFixed(1))}M`;
}

/** Empty while nothing is known of it. */
function describeSpent({ cost, unpriced }: UsageTotal): string {
  if (cost === null || cost.length === 0) return "";
  const sums = cost.map(({ currency, micros }) =>
    // Hundredths of a cent are enough for a look.
    describeCost({ currency, micros: Math.round(micros / 100) * 100 }),
  );
  return `${unpriced > 0 ? "at least " : ""}${sums.join(" + ")}`;
}
