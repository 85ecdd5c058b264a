// A call of a tool between its request and its end, as the span `execute_tool`. The span begins when the tool begins; a call
// that never began has a span without length.

import type { Fact } from "@soong/core";
import { Attributes } from "./attributes.ts";
import { renderContent, renderResult } from "./content.ts";
import {
  readCount,
  readData,
  readField,
  readFlag,
  readLabel,
  readPlainId,
  readRecord,
  readText,
} from "./fact-fields.ts";
import { OTHER } from "./model-reference.ts";
import { errorStatus, UNSET, type OpenSpan } from "./open-span.ts";
import { SPAN_KIND, type OtlpSpan } from "./otlp-json.ts";

export class OpenCall {
  readonly span: OpenSpan;
  readonly #fact: Fact;
  readonly #content: boolean;
  #startedMs: number | undefined;
  #decision: string | undefined;
  #class: string | undefined;
  #isDestructive: boolean | undefined;
  /** Since when it waits for an answer, in which of its phases. */
  #waitsSince: number | undefined;
  #waitedMs = 0;
  #waitedWhileRunningMs = 0;
  #input: unknown;

  /** `fact`: the first of the call that is known. */
  constructor(fact: Fact, span: OpenSpan, content: boolean) {
    this.span = span;
    this.#fact = fact;
    this.#content = content;
    if (content) this.#input = readField(readData(fact), "model_input");
  }

  /** Whether its tool has begun, and with it the time of the span. */
  get isStarted(): boolean {
    return this.#startedMs !== undefined;
  }

  start(fact: Fact, atMs: number): void {
    const data = readData(fact);
    this.wait(false, atMs);
    this.#startedMs = atMs;
    this.#decision = readLabel(data, "decision") ?? this.#decision;
    this.#class = readLabel(data, "class");
    this.#isDestructive = readFlag(data, "is_destructive");
    // What it was called with, where that is not what the model sent.
    if (this.#content) this.#input = readField(data, "call_input") ?? this.#input;
  }

  decide(fact: Fact): void {
    this.#decision = readLabel(readData(fact), "decision") ?? this.#decision;
  }

  /** It begins to wait for a user, or no longer does. */
  wait(waits: boolean, atMs: number): void {
    if (waits) {
      this.#waitsSince ??= atMs;
      return;
    }
    const waited = this.#waitsSince === undefined ? 0 : Math.max(0, atMs - this.#waitsSince);
    this.#waitsSince = undefined;
    this.#waitedMs += waited;
    if (this.#startedMs !== undefined) this.#waitedWhileRunningMs += waited;
  }

  /** `fact`: its terminal fact; undefined where its end is not known. */
  end(fact: Fact | undefined, atMs: number, description?: string): OtlpSpan {
    const { session_id, run_id, agent_id, tool_call_id } = this.#fact;
    const data = fact === undefined ? {} : readData(fact);
    const result = readRecord(data, "result");
    const error = readRecord(result, "error");
    const status = readLabel(result, "status");
    this.wait(false, atMs);
    const isError = fact !== undefined && !SUCCEEDED.has(status ?? "");
    const errorClass = readLabel(error, "error_class");
    // A model may ask for a tool that does not exist: such a name is its text.
    const isFound =
      this.isStarted ||
      this.#decision !== undefined ||
      (fact !== undefined && !(isError && LOOKUP_UNKNOWN.has(errorClass ?? "")));
    const name = isFound ? nameTool(fact ?? this.#fact) : OTHER;
    const startMs = this.#startedMs ?? atMs;
    const attributes = new Attributes()
      .text("gen_ai.operation.name", "execute_tool")
      .text("gen_ai.tool.name", name)
      .text("gen_ai.tool.type", name.startsWith("mcp.") ? "extension" : "function")
      .text("gen_ai.tool.call.id", readPlainId(tool_call_id))
      .text("gen_ai.tool.description", description)
      .text("gen_ai.conversation.id", session_id)
      .text("gen_ai.agent.id", agent_id);
    if (isError) {
      attributes
        .text("error.type", errorClass ?? status ?? OTHER)
        .text("soong.error.code", readLabel(error, "code"));
    }
    attributes
      .text("soong.run.id", run_id)
      .text("soong.tool.status", status)
      .flag("soong.tool.started", this.isStarted)
      .text("soong.tool.class", this.#class)
      .flag("soong.tool.destructive", this.#isDestructive)
      .text("soong.permission.decision", this.#decision);
    if (this.#waitedMs > 0) {
      attributes.double("soong.permission.waiting_time", this.#waitedMs / 1000);
    }
    if (startMs > this.span.startMs) {
      attributes.double("soong.tool.waiting_time", (startMs - this.span.startMs) / 1000);
    }
    if (fact === undefined) attributes.flag("soong.unended", true);
    if (this.#content) {
      attributes.text("gen_ai.tool.call.arguments", renderContent(this.#input));
      if (fact !== undefined) attributes.text("gen_ai.tool.call.result", renderResult(result));
    }
    return this.span.end({
      name: `execute_tool ${name}`,
      kind: SPAN_KIND.internal,
      startMs,
      endMs: this.#findEnd(data, result, atMs),
      attributes,
      status: isError ? errorStatus(this.#content ? readText(error, "message") : undefined) : UNSET,
    });
  }

  /** A call that was recorded after it had ended took as long as its result says. */
  #findEnd(
    data: Readonly<Record<string, unknown>>,
    result: Readonly<Record<string, unknown>>,
    atMs: number,
  ): number {
    const took = readCount(readRecord(result, "metadata"), "duration_ms");
    if (this.#startedMs === undefined || took === undefined) return atMs;
    if (readField(data, "ended") === undefined) return atMs;
    return Math.min(atMs, this.#startedMs + took + this.#waitedWhileRunningMs);
  }
}

const SUCCEEDED: ReadonlySet<string> = new Set(["succeeded", "partial"]);

/** Classes of calls that did not start, and that may have ended before their tool was looked up. */
const LOOKUP_UNKNOWN: ReadonlySet<string> = new Set([
  "",
  "unknown_tool",
  "canceled",
  "sibling_canceled",
  "streaming_fallback_discarded",
]);

/** A model may ask for a tool under any text; only what could be a name is one. */
export function nameTool(fact: Fact): string {
  const { tool_name }: { readonly tool_name?: unknown } = fact;
  return readPlainId(tool_name) ?? OTHER;
}
