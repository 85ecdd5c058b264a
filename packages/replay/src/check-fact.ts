// The edge of a replay: what it reads of a fact has the form its type says, or the journal is damaged. All that comes after
// reads typed data. A field that an older version did not write may be absent.

import type { Fact, FactPayloads, FactType } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { ReplayError } from "./replay-error.ts";

/** Throws a ReplayError. */
export function checkFact(fact: Fact): Fact {
  const shape: Shape = { ...(Object.hasOwn(SHAPES, fact.type) ? SHAPES[fact.type] : {}) };
  const misfit = findMisfit(fact.data, shape, "data");
  if (misfit === undefined) return fact;
  throw damagedJournal(fact.seq, `${misfit} does not have the form of a ${fact.type}`);
}

export function damagedJournal(seq: number, what: string): ReplayError {
  return new ReplayError(
    "damaged",
    `The journal is not as it was recorded: of fact ${seq}, ${what}. \`soong verify\` finds what was changed.`,
  );
}

/** `!`: every version has written it. */
type Form =
  | "text"
  | "text!"
  | "list!"
  | "texts"
  | "hosts!"
  | "number"
  | "flag"
  | "list"
  | Shape
  | readonly [Shape, "!"?];
interface Shape {
  readonly [field: string]: Form;
}
type ShapeOf<Payload> = { readonly [Field in keyof Payload]?: Form };

const ARTIFACT: Shape = { artifact_id: "text!", sha256: "text!" };
const EFFECTS: Shape = { read_only: "flag", repeatable: "flag", destructive: "flag" };
const HOOK: Shape = { hook: "text!", event: "text!" };
const END: Shape = {
  result: {
    status: "text!",
    content: "list!",
    artifacts: "list!",
    metadata: { duration_ms: "number", discarded_status: "text" },
    error: { code: "text!", message: "text!" },
  },
  ended: { after: "number", nth: "number" },
  cancelled_by: "text",
};

const SHAPES: { readonly [T in FactType]?: ShapeOf<FactPayloads[T]> } = {
  "run.started": {
    record_version: "number",
    role: "text",
    policy: {},
    config: { tools: {} },
    request: {
      profile: {},
      allowed_tools: "texts",
      suggested_tools: "texts",
      loaded_tools: "texts",
      task_denied: "texts",
    },
    definitions: ARTIFACT,
  },
  "run.aborted": { error: { code: "text" } },
  "tool.catalog.resolved": {
    tools: "list!",
    groups: [{ names: "texts" }],
    definitions: ARTIFACT,
  },
  "tool.requested": {
    native_call_id: "text",
    native_name: "text",
    alias: "text",
    model_input_chars: "number",
  },
  "tool.validated": { effects: EFFECTS },
  "tool.queued": { class: "text" },
  "tool.started": { class: "text", effects: EFFECTS, interrupt_behavior: "text" },
  "tool.completed": END,
  "tool.failed": END,
  "tool.denied": END,
  "tool.skipped": END,
  "tool.cancelled": END,
  "tool.discarded": END,
  "tool.waiting": { waits: "flag" },
  "turn.halted": { kind: "text", first_call_id: "text" },
  "input.mutated": { source: "text!", observable_input: {} },
  "hook.started": HOOK,
  "hook.completed": HOOK,
  "hook.failed": HOOK,
  "hook.denied": { hook: "text!", reason: "text!", stop: "text" },
  "permission.evaluated": {
    decision: "text",
    reason: "text",
    chain: [{ layer: "text!", rule: "text!", reason: "text" }, "!"],
    grant_id: "text",
    effects: EFFECTS,
    resources: [{ kind: "text" }, "!"],
    hosts: "hosts!",
    planned_destructive: "flag",
    stage: "text",
  },
  "permission.resolved": { decision: "text", reason: "text", answered_by: "text" },
  "grant.created": { grant: { grant_id: "text!", tool_name: "text!", scopes: "list!" } },
  "grant.revoked": { grant_id: "text" },
  "artifact.created": { artifact_id: "text", name: "text" },
  "model.delta": { text: "text" },
  "model.completed": { node_id: "text", stop: "text" },
  "model.failed": { node_id: "text", error: { kind: "text", retry_after_ms: "number" } },
  "context.compaction.completed": { node_id: "text" },
  "agent.child.created": { child_run_id: "text", agent_definition_id: "text" },
};

/** Which part does not fit, if one does not. */
function findMisfit(value: unknown, form: Form, name: string): string | undefined {
  if (value === undefined) return isNeeded(form) ? name : undefined;
  if (form === "text" || form === "text!") return typeof value === "string" ? undefined : name;
  if (form === "number") return typeof value === "number" ? undefined : name;
  if (form === "flag") return typeof value === "boolean" ? undefined : name;
  if (form === "list" || form === "list!") return Array.isArray(value) ? undefined : name;
  if (form === "texts") return isTexts(value) ? undefined : name;
  if (form === "hosts!") return value === "unknown" || isTexts(value) ? undefined : name;
  if (isListForm(form)) {
    if (!Array.isArray(value)) return name;
    return findFirst(value.entries(), ([i, item]) =>
      isJsonObject(item) ? findMisfit(item, form[0], `${name}[${i}]`) : `${name}[${i}]`,
    );
  }
  if (!isJsonObject(value)) return name;
  return findFirst(Object.entries(form), ([field, inner]) =>
    findMisfit(value[field], inner, name === "data" ? field : `${name}.${field}`),
  );
}

function isNeeded(form: Form): boolean {
  if (typeof form === "string") return form.endsWith("!");
  return isListForm(form) && form[1] === "!";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isListForm(form: Form): form is readonly [Shape, "!"?] {
  return Array.isArray(form);
}

function findFirst<T>(items: Iterable<T>, misfit: (item: T) => string | undefined) {
  for (const item of items) {
    const found = misfit(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
