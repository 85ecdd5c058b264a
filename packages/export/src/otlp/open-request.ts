// A request to a model between its start and its end, as the span `chat`.

import type { Fact } from "@soong/core";
import { Attributes } from "./attributes.ts";
import {
  callPart,
  MOST_CONTENT_CHARS,
  renderMessage,
  textPart,
  type MessagePart,
} from "./content.ts";
import { readCount, readData, readLabel, readRecord, readText } from "./fact-fields.ts";
import { OTHER, parseModelReference } from "./model-reference.ts";
import { errorStatus, UNSET, type OpenSpan } from "./open-span.ts";
import { SPAN_KIND, type OtlpSpan } from "./otlp-json.ts";
import { addUsage } from "./usage-attributes.ts";

/** Why a model stopped, in the conventions' words. */
const FINISH_REASONS: ReadonlyMap<string, string> = new Map([
  ["end_turn", "stop"],
  ["tool_use", "tool_call"],
  ["max_tokens", "length"],
  ["refused", "content_filter"],
]);

const MOST_PARTS = 64;

export class OpenRequest {
  readonly span: OpenSpan;
  readonly #fact: Fact;
  readonly #content: boolean;
  readonly #parts: MessagePart[] = [];
  #text = "";

  constructor(fact: Fact, span: OpenSpan, content: boolean) {
    this.span = span;
    this.#fact = fact;
    this.#content = content;
  }

  addText(text: string | undefined): void {
    if (text !== undefined && this.#text.length <= MOST_CONTENT_CHARS) this.#text += text;
  }

  addCall(id: string | undefined, name: string, data: Readonly<Record<string, unknown>>): void {
    this.#endText();
    if (this.#parts.length < MOST_PARTS) this.#parts.push(callPart(id, name, data));
  }

  /** `fact`: undefined where its end is not known. */
  end(fact: Fact | undefined, endMs: number): OtlpSpan {
    const { session_id, agent_id, run_id } = this.#fact;
    const asked = readData(this.#fact);
    const data = fact === undefined ? {} : readData(fact);
    const { provider, model } = parseModelReference(readText(asked, "model"));
    const error = readRecord(data, "error");
    const isFailed = fact?.type === "model.failed";
    const attributes = new Attributes()
      .text("gen_ai.operation.name", "chat")
      .text("gen_ai.provider.name", provider)
      .text("gen_ai.request.model", model)
      .flag("gen_ai.request.stream", true)
      .text("gen_ai.conversation.id", session_id)
      .text("gen_ai.agent.id", agent_id);
    const stop = readLabel(data, "stop");
    const reason = stop === undefined ? undefined : (FINISH_REASONS.get(stop) ?? stop);
    if (reason !== undefined) attributes.texts("gen_ai.response.finish_reasons", [reason]);
    if (isFailed) attributes.text("error.type", readLabel(error, "kind") ?? OTHER);
    attributes.int("http.response.status_code", readCount(error, "status"));
    addUsage(attributes, readRecord(data, "usage"));
    const cost = readRecord(data, "cost");
    attributes
      .int("soong.cost.micros", readCount(cost, "micros"))
      .text("soong.cost.currency", readLabel(cost, "currency"))
      .text("soong.run.id", run_id)
      .int("soong.request.number", readCount(asked, "request"))
      .int("soong.request.attempt", readCount(asked, "attempt"))
      .text("soong.request.purpose", readLabel(asked, "purpose"));
    if (fact === undefined) attributes.flag("soong.unended", true);
    this.#endText();
    // The schema of the conventions requires one.
    const ended = reason ?? (fact?.type === "model.completed" ? "stop" : "error");
    attributes.text("gen_ai.output.messages", renderMessage("assistant", this.#parts, ended));
    return this.span.end({
      name: `chat ${model}`,
      kind: SPAN_KIND.client,
      endMs,
      attributes,
      status: isFailed
        ? errorStatus(this.#content ? readText(error, "message") : undefined)
        : UNSET,
    });
  }

  #endText(): void {
    if (this.#text !== "" && this.#parts.length < MOST_PARTS)
      this.#parts.push(textPart(this.#text));
    this.#text = "";
  }
}
