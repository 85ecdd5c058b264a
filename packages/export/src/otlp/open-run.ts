// A run between its start and its end, as the span `invoke_agent`.

import type { Fact } from "@soong/core";
import { Attributes } from "./attributes.ts";
import { renderMessage, textPart } from "./content.ts";
import { readCount, readData, readLabel, readList, readRecord, readText } from "./fact-fields.ts";
import { parseModelReference } from "./model-reference.ts";
import { errorStatus, UNSET, type OpenSpan, type SpanParent } from "./open-span.ts";
import { SPAN_KIND, type OtlpSpan } from "./otlp-json.ts";
import { addUsage } from "./usage-attributes.ts";
import { isRecord } from "@soong/schema";

export class OpenRun {
  readonly span: OpenSpan;
  readonly #fact: Fact;
  readonly #content: boolean;
  #startedMs: number | undefined;
  #role: string | undefined;
  #mode: string | undefined;
  /** The first model it asks. */
  #model: string | undefined;
  #definition: string | undefined;
  #task: string | undefined;
  #definitions: string | undefined;

  /** `fact`: the first of the run that is known. */
  constructor(fact: Fact, span: OpenSpan, content: boolean) {
    this.span = span;
    this.#fact = fact;
    this.#content = content;
  }

  start(fact: Fact, atMs: number): void {
    const data = readData(fact);
    this.#startedMs = atMs;
    this.#role = readLabel(data, "role");
    this.#mode = readLabel(data, "mode");
  }

  /** It is a child of this call, or of the run that holds it. */
  setParent(created: Fact, parent: SpanParent): void {
    const data = readData(created);
    this.span.parent = parent;
    this.#definition = readLabel(data, "agent_definition_id");
    if (this.#content) this.#task = readText(data, "task");
  }

  setModel(model: string | undefined): void {
    this.#model ??= model;
  }

  setDefinitions(definitions: string | undefined): void {
    this.#definitions ??= definitions;
  }

  /** `fact`: undefined where its end is not known. */
  end(fact: Fact | undefined, endMs: number): OtlpSpan {
    const { session_id, run_id, agent_id, parent_run_id } = this.#fact;
    const data = fact === undefined ? {} : readData(fact);
    const agent = this.#definition ?? this.#role;
    const startMs = this.#startedMs ?? (fact === undefined ? this.span.startMs : endMs);
    const reason = readLabel(data, "reason");
    const error = readRecord(data, "error");
    const isFailed = fact !== undefined && fact.type !== "run.completed";
    const attributes = new Attributes()
      .text("gen_ai.operation.name", "invoke_agent")
      .text("gen_ai.agent.id", agent_id)
      .text("gen_ai.agent.name", agent)
      .text("gen_ai.conversation.id", session_id);
    if (this.#model !== undefined) {
      const { provider, model } = parseModelReference(this.#model);
      attributes.text("gen_ai.provider.name", provider).text("gen_ai.request.model", model);
    }
    if (isFailed) {
      const type = readLabel(error, "code") ?? reason ?? fact.type.slice("run.".length);
      attributes.text("error.type", type);
    }
    const usage = readRecord(data, "usage");
    addUsage(attributes, usage);
    addCosts(attributes, readList(usage, "cost"));
    attributes
      .text("soong.run.id", run_id)
      .text("soong.run.parent_id", parent_run_id)
      .text("soong.run.role", this.#role)
      .text("soong.run.mode", this.#mode)
      .text("soong.run.end_reason", reason)
      .int("soong.run.turns", readCount(data, "turns"))
      .text("soong.task.id", readLabel(data, "task_id"));
    if (startMs > this.span.startMs) {
      attributes.double("soong.run.waiting_time", (startMs - this.span.startMs) / 1000);
    }
    if (fact === undefined) attributes.flag("soong.unended", true);
    if (this.#task !== undefined) {
      attributes.text("gen_ai.input.messages", renderMessage("user", [textPart(this.#task)]));
    }
    attributes.text("gen_ai.tool.definitions", this.#definitions);
    const message = readText(error, "message") ?? readText(data, "message");
    return this.span.end({
      name: agent === undefined ? "invoke_agent" : `invoke_agent ${agent}`,
      kind: SPAN_KIND.internal,
      startMs,
      endMs,
      attributes,
      status: isFailed ? errorStatus(this.#content ? message : undefined) : UNSET,
    });
  }
}

/** Of one currency: sums in several would not be one number. */
function addCosts(attributes: Attributes, costs: readonly unknown[]): void {
  const [cost] = costs;
  if (costs.length !== 1 || !isRecord(cost)) return;
  attributes
    .int("soong.cost.micros", readCount(cost, "micros"))
    .text("soong.cost.currency", readLabel(cost, "currency"));
}
