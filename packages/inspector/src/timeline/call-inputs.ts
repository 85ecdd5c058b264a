// The four inputs of a call (SCHEMA-6), put together again: a fact omits what is as before. Each is described by
// how it differs from the one before it, and who changed it.

import type { Fact, FactData, JsonValue, RequestedData } from "@soong/core";
import { pointerStep } from "@soong/core/internal";
import type { CallInput, CallInputs, InputChange } from "../wire/session-records.ts";
import { asText, parseJson } from "./read-data.ts";

/** `notes`: what cannot be seen from them, in words. */
export function callInputs(facts: readonly Fact[]): { inputs: CallInputs; notes: string[] } {
  const requested = facts.findLast((fact) => fact.type === "tool.requested")?.data;
  const evaluated = facts.findLast((fact) => fact.type === "permission.evaluated")?.data;
  const started = facts.findLast((fact) => fact.type === "tool.started")?.data;
  const ready = facts.findIndex(
    ({ type }) => type === "tool.validated" || type === "permission.evaluated",
  );
  const mutations = facts.flatMap((fact, at) =>
    fact.type === "input.mutated" && fact.data.observable_input !== undefined
      ? [mutationIn(fact.data, ready === -1 || at < ready)]
      : [],
  );
  const given = requested?.model_input;
  // Undefined where the text is no JSON, or not all of it is on record.
  const model = typeof given === "string" ? (parseJson(given) as JsonValue | undefined) : given;
  const judged = evaluated?.permission_input;
  const last = mutations.at(-1);
  // What an author's schema made for the handler alone: hooks and users keep seeing what was given.
  const isForHandler =
    last?.hook === false &&
    judged !== undefined &&
    jsonChanges(judged, last.value).changes.length > 0;
  const atArrival = mutations.filter(({ isArrival }) => isArrival);
  const observable = (isForHandler ? undefined : atArrival.at(-1)?.value) ?? model;
  const permitted = judged ?? observable;
  const called = (isForHandler ? last.value : started?.call_input) ?? permitted;
  const notes = requested === undefined ? [] : requestNotes(requested);

  const input = (
    isThere: boolean,
    before: JsonValue | undefined,
    after: JsonValue | undefined,
    by: readonly Mutation[],
  ): CallInput => {
    if (!isThere) return { state: "never" };
    if (after === undefined || after === before) return { state: "same" };
    if (before === undefined) return { state: "changed", value: after, changes: listFields(by) };
    const { changes, is_cut } = jsonChanges(before, after);
    if (changes.length === 0) return { state: "same" };
    if (is_cut) notes.push(`Only the first ${changes.length} changes of an input are listed.`);
    return {
      state: "changed",
      value: after,
      changes: changes.map((change) => signChange(change, by)),
    };
  };

  return {
    inputs: {
      model_input: asText(given),
      observable_input: input(ready !== -1 || atArrival.length > 0, model, observable, atArrival),
      permission_input: input(evaluated !== undefined, observable, permitted, mutations),
      call_input: input(started !== undefined, permitted, called, mutations),
    },
    notes,
  };
}

function requestNotes({ model_input, model_input_chars: chars, heard }: RequestedData): string[] {
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

/** `isArrival`: before the call was ready; what it is from then on is what hooks and users see. */
function mutationIn(data: FactData<"input.mutated">, isArrival: boolean) {
  const { source, changed_fields: fields, observable_input: value } = data;
  const hook = source.startsWith(HOOK);
  return { by: hook ? source.slice(HOOK.length) : source, hook, isArrival, fields, value };
}

type Mutation = ReturnType<typeof mutationIn>;

/** By the last one that changed the field. */
function signChange(change: InputChange, mutations: readonly Mutation[]): InputChange {
  const [, field = ""] = change.path.split("/", 2);
  const name = field.replaceAll("~1", "/").replaceAll("~0", "~");
  const own = mutations.findLast(({ fields }) => fields.includes(name)) ?? mutations.at(-1);
  return own?.by ? { ...change, by: own.by } : change;
}

/** Where what was there before is not known. */
function listFields(mutations: readonly Mutation[]): InputChange[] {
  return mutations
    .flatMap(({ fields, by }) => fields.map((field) => ({ path: `/${pointerStep(field)}`, by })))
    .slice(0, MOST_CHANGES);
}

const MOST_CHANGES = 100;
/** As deep as arguments may be; what differs further down is reported as a whole. */
const MOST_LEVELS = 64;

/** Where two JSON values differ, as pointers, outermost first and at most so many. `is_cut`: there are more. */
export function jsonChanges(before: JsonValue, after: JsonValue) {
  const changes: InputChange[] = [];
  let is_cut = false;
  compare(before, after, "", 0);
  return { changes, is_cut };

  function compare(from: JsonValue, to: JsonValue, path: string, level: number): void {
    if (is_cut || Object.is(from, to)) return;
    if (!isHolder(from) || !isHolder(to) || Array.isArray(from) !== Array.isArray(to)) {
      tell({ path, from, to });
    } else if (level >= MOST_LEVELS) {
      if (JSON.stringify(from) !== JSON.stringify(to)) tell({ path, from, to });
    } else {
      for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
        const at = `${path}/${pointerStep(key)}`;
        const left = own(from, key);
        const right = own(to, key);
        if (left === undefined) tell({ path: at, to: right });
        else if (right === undefined) tell({ path: at, from: left });
        else compare(left, right, at, level + 1);
      }
    }
  }

  function tell(change: InputChange): void {
    if (changes.length < MOST_CHANGES) changes.push(change);
    else is_cut = true;
  }
}

type Holder = JsonValue & object;

function isHolder(value: JsonValue): value is Holder {
  return typeof value === "object" && value !== null;
}

function own(holder: Holder, key: string): JsonValue | undefined {
  return Object.hasOwn(holder, key) ? (holder as Record<string, JsonValue>)[key] : undefined;
}
