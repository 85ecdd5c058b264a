// Facts become spans: one for each run, model request and call, in the trace of their session (EXPORT-1). A span is given out
// when it ends; only open ones are kept.

import type { Fact, FactType, TerminalFactType } from "@soong/core";
import { isRecord, oneLine, shorten } from "@soong/schema";
import { invocationId } from "../projection/invocation-id.ts";
import type { Projection } from "../projection/projection.ts";
import { renderDefinitions } from "./content.ts";
import {
  readCount,
  readData,
  readFlag,
  readLabel,
  readList,
  readPlainId,
  readText,
} from "./fact-fields.ts";
import { nameTool, OpenCall } from "./open-call.ts";
import { OpenRequest } from "./open-request.ts";
import { OpenRun } from "./open-run.ts";
import { OpenSpan, type SpanParent } from "./open-span.ts";
import type { OtlpSpan } from "./otlp-json.ts";
import {
  buildEventAttributes,
  isSpanEvent,
  SPAN_EVENTS,
  type SpanEventType,
} from "./span-events.ts";
import { deriveSpanId, deriveTraceId, type TraceParent } from "./span-ids.ts";

export interface SpanOptions {
  /** Whether arguments, results, messages and definitions of tools are part of the spans. Default: false. */
  readonly content?: boolean;
  /** The span of another program that started this one: its trace is that of all spans. */
  readonly parent?: TraceParent;
}

/** The spans of `createOtlpProjection` one by one, as they end. */
export function createSpanProjection(options: SpanOptions = {}): Projection<OtlpSpan> {
  return new SpanProjection(options);
}

type SpanHandler = (projection: SpanProjection, fact: Fact, atMs: number) => OtlpSpan | undefined;

const endRun: SpanHandler = (projection, fact, atMs) => projection.endRun(fact, atMs);
const endRequest: SpanHandler = (projection, fact, atMs) => projection.endRequest(fact, atMs);
const endCall: SpanHandler = (projection, fact, atMs) => projection.endCall(fact, atMs);

/** Facts that begin, end or describe a span. */
const HANDLERS = {
  "run.queued": (projection, fact, atMs) => projection.openRun(fact, atMs),
  "run.started": (projection, fact, atMs) => projection.startRun(fact, atMs),
  "run.completed": endRun,
  "run.failed": endRun,
  "run.aborted": endRun,
  "model.started": (projection, fact, atMs) => projection.startRequest(fact, atMs),
  "model.delta": (projection, fact) => projection.addText(fact),
  "model.completed": endRequest,
  "model.failed": endRequest,
  "tool.catalog.resolved": (projection, fact) => projection.readCatalog(fact),
  "tool.requested": (projection, fact, atMs) => projection.requestCall(fact, atMs),
  "tool.started": (projection, fact, atMs) => projection.startCall(fact, atMs),
  "permission.evaluated": (projection, fact) => projection.decideCall(fact),
  "tool.completed": endCall,
  "tool.failed": endCall,
  "tool.denied": endCall,
  "tool.skipped": endCall,
  "tool.cancelled": endCall,
  "tool.discarded": endCall,
} as const satisfies Partial<Record<FactType, SpanHandler>> & Record<TerminalFactType, SpanHandler>;

/** Every type of fact that something of a span is made from. */
export type SpanFactType = keyof typeof HANDLERS | SpanEventType;

export function isSpanFact(type: string): type is SpanFactType {
  return Object.hasOwn(HANDLERS, type) || isSpanEvent(type);
}

/** The facts to follow; without content, texts of answers are not among them. */
export function listSpanFacts({
  content = false,
}: Pick<SpanOptions, "content">): ReadonlySet<FactType> {
  const types = [...Object.keys(HANDLERS), ...Object.keys(SPAN_EVENTS)].filter(isSpanFact);
  return new Set(types.filter((type) => content || type !== "model.delta"));
}

const NO_SPANS: readonly OtlpSpan[] = [];

/** Descriptions of tools are the same for all of their calls; of more tools than this they are not sent. */
const MOST_DESCRIPTIONS = 2000;
const MOST_DESCRIPTION_CHARS = 256;

class SpanProjection implements Projection<OtlpSpan> {
  readonly #content: boolean;
  readonly #traceParent: TraceParent | undefined;
  /** All by ids of facts: runs, `run/call`, `run/request/attempt`. */
  readonly #runs = new Map<string, OpenRun>();
  readonly #calls = new Map<string, OpenCall>();
  readonly #requests = new Map<string, OpenRequest>();
  /** Children that are created before they are started. */
  readonly #children = new Map<string, { readonly created: Fact; readonly parent: SpanParent }>();
  readonly #descriptions = new Map<string, { readonly whole: string; readonly short: string }>();
  #latest: { readonly time: unknown; readonly ms: number } = { time: undefined, ms: 0 };
  #trace: { readonly session_id: string; readonly traceId: string } | undefined;

  constructor({ content = false, parent }: SpanOptions) {
    this.#content = content;
    this.#traceParent = parent;
  }

  push(fact: Fact): readonly OtlpSpan[] {
    if (!isRecord(fact) || typeof fact.type !== "string" || !isSpanFact(fact.type)) return NO_SPANS;
    const atMs = this.#readTime(fact);
    const handler: SpanHandler | undefined = Object.hasOwn(HANDLERS, fact.type)
      ? HANDLERS[fact.type as keyof typeof HANDLERS]
      : undefined;
    const span = handler?.(this, fact, atMs);
    if (isSpanEvent(fact.type)) this.#addEvent(fact as Fact<SpanEventType>, atMs);
    return span === undefined ? NO_SPANS : [span];
  }

  end(): readonly OtlpSpan[] {
    const { ms } = this.#latest;
    const spans = [
      ...Array.from(this.#requests.values(), (request) => request.end(undefined, ms)),
      ...Array.from(this.#calls.values(), (call) => call.end(undefined, ms)),
      // A child before the run that started it.
      ...Array.from(this.#runs.values(), (run) => run.end(undefined, ms)).toReversed(),
    ];
    for (const open of [this.#requests, this.#calls, this.#runs, this.#children]) open.clear();
    return spans;
  }

  openRun(fact: Fact, atMs: number): undefined {
    this.#findRun(fact, atMs);
  }

  startRun(fact: Fact, atMs: number): undefined {
    this.#findRun(fact, atMs)?.start(fact, atMs);
  }

  endRun(fact: Fact, atMs: number): OtlpSpan | undefined {
    const run = this.#findRun(fact, atMs);
    if (run === undefined) return undefined;
    this.#runs.delete(readId(fact.run_id) ?? "");
    return run.end(fact, atMs);
  }

  startRequest(fact: Fact, atMs: number): undefined {
    const key = identifyRequest(fact);
    const run = this.#findRun(fact, atMs);
    if (key === undefined || run === undefined) return;
    run.setModel(readText(readData(fact), "model"));
    const span = this.#openSpan(fact, "model", key, atMs, {
      spanId: run.span.spanId,
      isRemote: false,
    });
    this.#requests.set(key, new OpenRequest(fact, span, this.#content));
  }

  endRequest(fact: Fact, atMs: number): OtlpSpan | undefined {
    const key = identifyRequest(fact);
    if (key === undefined) return undefined;
    const open = this.#requests.get(key);
    this.#requests.delete(key);
    if (open !== undefined) return open.end(fact, atMs);
    const span = this.#openSpan(fact, "model", key, atMs, this.#findRunSpan(fact));
    return new OpenRequest(fact, span, this.#content).end(fact, atMs);
  }

  addText(fact: Fact): undefined {
    if (!this.#content) return;
    this.#requests.get(identifyRequest(fact) ?? "")?.addText(readText(readData(fact), "text"));
  }

  requestCall(fact: Fact, atMs: number): undefined {
    const id = invocationId(fact);
    if (id === undefined || this.#findRun(fact, atMs) === undefined) return;
    this.#calls.set(id, new OpenCall(fact, this.#openCall(fact, id, atMs), this.#content));
    if (!this.#content) return;
    // It is part of the answer that is streamed by the same run.
    const request = this.#findLastRequest(fact);
    request?.addCall(readPlainId(fact.tool_call_id), nameTool(fact), readData(fact));
  }

  startCall(fact: Fact, atMs: number): undefined {
    const id = invocationId(fact);
    if (id === undefined) return;
    if (!this.#calls.has(id)) {
      if (this.#findRun(fact, atMs) === undefined) return;
      this.#calls.set(id, new OpenCall(fact, this.#openCall(fact, id, atMs), this.#content));
    }
    this.#calls.get(id)?.start(fact, atMs);
  }

  decideCall(fact: Fact): undefined {
    this.#calls.get(invocationId(fact) ?? "")?.decide(fact);
  }

  endCall(fact: Fact, atMs: number): OtlpSpan | undefined {
    const id = invocationId(fact);
    if (id === undefined) return undefined;
    const open =
      this.#calls.get(id) ?? new OpenCall(fact, this.#openCall(fact, id, atMs), this.#content);
    this.#calls.delete(id);
    return open.end(fact, atMs, this.#descriptions.get(nameTool(fact))?.short);
  }

  readCatalog(fact: Fact): undefined {
    const data = readData(fact);
    for (const tool of readList(data, "tools")) {
      if (!isRecord(tool)) continue;
      const name = readLabel(tool, "tool_name");
      const text = readText(tool, "description");
      if (name === undefined || text === undefined) continue;
      const known = this.#descriptions.get(name);
      // Every run has a catalog, and most are the same.
      if (known?.whole === text) continue;
      if (known === undefined && this.#descriptions.size >= MOST_DESCRIPTIONS) continue;
      const short = shorten(oneLine(text), MOST_DESCRIPTION_CHARS);
      this.#descriptions.set(name, { whole: text, short });
    }
    if (!this.#content) return;
    this.#runs.get(readId(fact.run_id) ?? "")?.setDefinitions(renderDefinitions(data));
  }

  #addEvent(fact: Fact<SpanEventType>, atMs: number): void {
    const call = this.#calls.get(invocationId(fact) ?? "");
    switch (fact.type) {
      case "permission.requested":
      case "permission.resolved":
      case "permission.failed":
        call?.wait(fact.type === "permission.requested", atMs);
        break;
      case "tool.waiting":
        call?.wait(readFlag(readData(fact), "waits") === true, atMs);
        break;
      case "agent.child.created":
        this.#adoptChild(fact);
        break;
      case "agent.child.completed":
      case "agent.child.failed":
      case "agent.child.cancelled":
        this.#children.delete(readText(readData(fact), "child_run_id") ?? "");
        break;
      default:
    }
    if (call?.isStarted === true) {
      call.span.addEvent(`soong.${fact.type}`, atMs, () => buildEventAttributes(fact));
      return;
    }
    // The span of a call has only the time of its tool.
    const run = this.#runs.get(readId(fact.run_id) ?? "");
    run?.span.addEvent(`soong.${fact.type}`, atMs, () =>
      buildEventAttributes(fact).text("gen_ai.tool.call.id", readPlainId(fact.tool_call_id)),
    );
  }

  /** By ids alone: the child may be exported without its parent, and has the same span then. */
  #adoptChild(created: Fact<"agent.child.created">): void {
    const child_run_id = readText(readData(created), "child_run_id");
    if (child_run_id === undefined) return;
    const id = invocationId(created);
    const parent =
      id === undefined
        ? { spanId: deriveSpanId("run", readId(created.run_id) ?? "") }
        : { spanId: deriveSpanId("call", id) };
    const child = this.#runs.get(child_run_id);
    if (child === undefined) this.#children.set(child_run_id, { created, parent });
    else child.setParent(created, parent);
  }

  /** Of a run that is not known yet, this fact is the first. Undefined: the fact is of no run. */
  #findRun(fact: Fact, atMs: number): OpenRun | undefined {
    const run_id = readId(fact.run_id);
    if (run_id === undefined) return undefined;
    const open = this.#runs.get(run_id);
    if (open !== undefined) return open;
    const parent_run_id = readId(fact.parent_run_id);
    const parent =
      parent_run_id === undefined
        ? this.#findRemoteParent()
        : { spanId: deriveSpanId("run", parent_run_id) };
    const run = new OpenRun(fact, this.#openSpan(fact, "run", run_id, atMs, parent), this.#content);
    const child = this.#children.get(run_id);
    if (child !== undefined) run.setParent(child.created, child.parent);
    this.#children.delete(run_id);
    this.#runs.set(run_id, run);
    return run;
  }

  #findRemoteParent(): SpanParent | undefined {
    const parent = this.#traceParent;
    return parent === undefined ? undefined : { spanId: parent.spanId, isRemote: true };
  }

  /** Of the run that a fact is of. One that is not open is in another export, or was in this one before. */
  #findRunSpan(fact: Fact): SpanParent {
    const run_id = readId(fact.run_id) ?? "";
    const spanId = deriveSpanId("run", run_id);
    return this.#runs.has(run_id) ? { spanId, isRemote: false } : { spanId };
  }

  /** Below the call whose tool made it, if one did. */
  #openCall(fact: Fact, id: string, atMs: number): OpenSpan {
    const within = readText(readData(fact), "within_tool_call_id");
    const outer =
      within === undefined
        ? undefined
        : this.#calls.get(invocationId({ run_id: fact.run_id, tool_call_id: within }) ?? "");
    const parent =
      outer === undefined
        ? this.#findRunSpan(fact)
        : { spanId: outer.span.spanId, isRemote: false };
    return this.#openSpan(fact, "call", id, atMs, parent);
  }

  #openSpan(
    fact: Fact,
    of: "run" | "call" | "model",
    id: string,
    atMs: number,
    parent: SpanParent | undefined,
  ): OpenSpan {
    return new OpenSpan(this.#findTrace(fact), deriveSpanId(of, id), atMs, parent);
  }

  #findTrace({ session_id }: Fact): string {
    if (this.#traceParent !== undefined) return this.#traceParent.traceId;
    const known = this.#trace;
    if (known?.session_id === session_id) return known.traceId;
    const traceId = deriveTraceId(readId(session_id) ?? "");
    this.#trace = { session_id, traceId };
    return traceId;
  }

  #findLastRequest(fact: Fact): OpenRequest | undefined {
    const prefix = `${readId(fact.run_id) ?? ""}/`;
    let last: OpenRequest | undefined;
    for (const [key, request] of this.#requests) if (key.startsWith(prefix)) last = request;
    return last;
  }

  /** What is no time counts as the time of the fact before it. */
  #readTime({ time }: Fact): number {
    if (time === this.#latest.time) return this.#latest.ms;
    const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
    if (!Number.isNaN(ms)) this.#latest = { time, ms };
    return this.#latest.ms;
  }
}

function identifyRequest(fact: Fact): string | undefined {
  const run_id = readId(fact.run_id);
  if (run_id === undefined) return undefined;
  const data = readData(fact);
  const purpose = readLabel(data, "purpose") ?? "";
  return `${run_id}/${readCount(data, "request") ?? 0}/${readCount(data, "attempt") ?? 0}/${purpose}`;
}

function readId(id: unknown): string | undefined {
  return typeof id === "string" && id !== "" ? id : undefined;
}
