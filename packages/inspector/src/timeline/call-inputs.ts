// The four inputs of a call (SCHEMA-6), put together again: a fact omits what is as before. Each is described by
// how it differs from the one before it, and who changed it.

import type { Fact, FactData, JsonValue, RequestedData } from "@soong/core";
import { pointerStep } from "@soong/core/internal";
import type { CallInput, CallInputs, InputChange } from "../wire/index.ts";
import { jsonChanges } from "./json-changes.ts";
import { asText, parseJson } from "./one-line.ts";

export interface ReadInputs {
  readonly inputs: CallInputs;
  /** What cannot be seen from them, in words. */
  readonly notes: readonly string[];
}

export function callInputs(facts: readonly Fact[]): ReadInputs {
  const record = recordOf(facts);
  const { model, mutations, arrived } = record;
  const judged = record.permission_input;
  const last = mutations.at(-1);
  // What an author's schema made for the handler alone: hooks and users keep seeing what was given.
  const isForHandler = last?.hook === false && judged !== undefined && !isSame(judged, last.value);
  const atArrival = mutations.filter(({ isArrival }) => isArrival);
  const observable = (isForHandler ? undefined : atArrival.at(-1)?.value) ?? model;
  const permitted = judged ?? observable;
  const called = (isForHandler ? last.value : record.call_input) ?? permitted;
  const cut: string[] = [];

  const input = (
    isThere: boolean,
    before: JsonValue | undefined,
    after: JsonValue | undefined,
    by: readonly Mutation[],
  ): CallInput => {
    if (!isThere) return { state: "never" };
    if (after === undefined || after === before) return { state: "same" };
    if (before === undefined) return { state: "changed", value: after, changes: fieldsOf(by) };
    const { changes, is_cut } = jsonChanges(before, after);
    if (changes.length === 0) return { state: "same" };
    if (is_cut) cut.push(`Only the first ${changes.length} changes of an input are listed.`);
    return { state: "changed", value: after, changes: changes.map((change) => signed(change, by)) };
  };

  return {
    inputs: {
      model_input: record.text,
      observable_input: input(arrived || atArrival.length > 0, model, observable, atArrival),
      permission_input: input(record.isJudged, observable, permitted, mutations),
      call_input: input(record.isStarted, permitted, called, mutations),
    },
    notes: [...record.notes, ...cut],
  };
}

interface Mutation {
  readonly by: string;
  readonly hook: boolean;
  /** Before the call was ready: what it is from then on is what hooks and users see. */
  readonly isArrival: boolean;
  readonly fields: readonly string[];
  readonly value: JsonValue;
}

interface InputRecord {
  readonly text: string;
  /** What the text says; undefined where it is no JSON, or not all of it is on record. */
  readonly model: JsonValue | undefined;
  readonly mutations: readonly Mutation[];
  readonly arrived: boolean;
  readonly isJudged: boolean;
  readonly isStarted: boolean;
  readonly permission_input: JsonValue | undefined;
  readonly call_input: JsonValue | undefined;
  readonly notes: readonly string[];
}

function recordOf(facts: readonly Fact[]): InputRecord {
  const mutations: Mutation[] = [];
  const notes: string[] = [];
  let text = "";
  let model: JsonValue | undefined;
  let arrived = false;
  let isJudged = false;
  let isStarted = false;
  let permission_input: JsonValue | undefined;
  let call_input: JsonValue | undefined;
  for (const { type, data } of facts) {
    if (type === "tool.requested") {
      text = asText(data.model_input);
      model = modelValue(data);
      notes.push(...requestNotes(data));
    } else if (type === "tool.validated") arrived = true;
    else if (type === "input.mutated") {
      if (data.observable_input !== undefined) mutations.push(mutationIn(data, !arrived));
    } else if (type === "permission.evaluated") {
      arrived = isJudged = true;
      ({ permission_input } = data);
    } else if (type === "tool.started") {
      isStarted = true;
      ({ call_input } = data);
    }
  }
  const at = { arrived, isJudged, isStarted };
  return { text, model, mutations, ...at, permission_input, call_input, notes };
}

function modelValue({ model_input: given }: RequestedData): JsonValue | undefined {
  return typeof given === "string" ? (parseJson(given) as JsonValue | undefined) : given;
}

function requestNotes(data: RequestedData): string[] {
  const { model_input, model_input_chars: chars, heard } = data;
  const notes: string[] = [];
  if (heard === false) notes.push("It came after its turn had ended, and was ignored.");
  if (chars !== undefined) {
    notes.push(
      `The arguments have ${chars} characters: their beginning and end are shown, all of them are kept as arguments.json.`,
    );
  }
  if (typeof model_input === "object" && model_input !== null) {
    notes.push(
      "The arguments have secrets: they are on record as a value without those, not as they were written.",
    );
  }
  return notes;
}

const HOOK = "hook:";

function mutationIn(data: FactData<"input.mutated">, isArrival: boolean): Mutation {
  const { source, changed_fields: fields, observable_input: value } = data;
  const hook = source.startsWith(HOOK);
  const by = hook ? source.slice(HOOK.length) : source;
  return { by, hook, isArrival, fields, value };
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return jsonChanges(a, b).changes.length === 0;
}

/** By the last one that changed the field. */
function signed(change: InputChange, mutations: readonly Mutation[]): InputChange {
  const [, field = ""] = change.path.split("/", 2);
  const name = field.replaceAll("~1", "/").replaceAll("~0", "~");
  const by = mutations.findLast(({ fields }) => fields.includes(name))?.by ?? mutations.at(-1)?.by;
  return by === undefined || by === "" ? change : { ...change, by };
}

/** Where what was there before is not known. */
function fieldsOf(mutations: readonly Mutation[]): InputChange[] {
  return mutations
    .flatMap(({ fields, by }) =>
      fields.map((field) => ({
        path: `/${pointerStep(field)}`,
        by,
      })),
    )
    .slice(0, 100);
}
