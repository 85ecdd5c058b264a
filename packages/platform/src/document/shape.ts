// The words a shape is written in: what a value may be. A shape reports every value that is something else and
// continues, so that all mistakes are reported at once; its type is that of a value without any.

import { isRecord, nearestName } from "@soong/schema";
import { shorten, type DocumentPath } from "./problem.ts";

export interface Shape<T> {
  (value: unknown, place: Place): void;
  /** For the compiler only. */
  readonly type?: T;
}

export type ShapeValue<S> = S extends Shape<infer T> ? T : never;

/** Where a value is, and where its problems go. */
export interface Place {
  readonly path: DocumentPath;
  in(...steps: DocumentPath): Place;
  readonly report: (message: string) => void;
  readonly reportKey: (message: string) => void;
  /** What is taken all the same. */
  readonly warn: (message: string) => void;
  readonly warnKey: (message: string) => void;
  /** What a value is in the words of its format. Text is never repeated: it may be a secret. */
  kindOf(value: unknown): string;
}

export interface ValueProblem {
  readonly path: DocumentPath;
  readonly of: "key" | "value";
  readonly message: string;
  readonly isWarning?: true;
}

export interface ValueWords {
  readonly nothing: string;
  readonly object: string;
}

export function createPlace(path: DocumentPath, words: ValueWords, found: ValueProblem[]): Place {
  const add = (of: "key" | "value", warning?: { isWarning: true }) => (message: string) =>
    void found.push({ path, of, message, ...warning });
  return {
    path,
    in: (...steps) => createPlace([...path, ...steps], words, found),
    report: add("value"),
    reportKey: add("key"),
    warn: add("value", { isWarning: true }),
    warnKey: add("key", { isWarning: true }),
    kindOf(value) {
      if (value === null || value === undefined) return words.nothing;
      if (Array.isArray(value)) return "a list";
      if (value instanceof Date) return "a date";
      if (typeof value === "object") return words.object;
      return typeof value === "number" || typeof value === "boolean" ? String(value) : "text";
    },
  };
}

export const anything: Shape<unknown> = () => {};

export const flag: Shape<boolean> = (value, place) => {
  if (typeof value !== "boolean") reportExpected("true or false", value, place);
};

/** With any characters; for what is passed on as it is. */
export const anyText: Shape<string> = (value, place) => {
  if (typeof value !== "string") reportExpected("text", value, place);
};

interface TextOptions {
  readonly max?: number;
  readonly mayBeEmpty?: boolean;
  /** Without control characters, which JSON and YAML can spell out. */
  readonly plain?: boolean;
  /** A clause about text that has no other problem. It does not repeat what could be a secret. */
  readonly problem?: (text: string) => string | undefined;
}

export function text(options: TextOptions = {}): Shape<string> {
  const { max, mayBeEmpty = false, plain = false, problem } = options;
  return (value, place) => {
    if (typeof value !== "string") reportExpected("text", value, place);
    else if (!mayBeEmpty && value.trim() === "") place.report("is empty");
    else if (value.includes("\0")) place.report("contains a NUL character");
    else if (max !== undefined && value.length > max) {
      place.report(`has ${value.length} characters; at most ${max} are allowed`);
    } else {
      const control = plain ? controlCharacter(value) : undefined;
      const wrong =
        control === undefined
          ? problem?.(value)
          : `holds the control character ${control.name}; take it out`;
      if (wrong !== undefined) place.report(wrong);
    }
  };
}

export function choice<const Word extends string>(words: readonly Word[]): Shape<Word> {
  const all = words.map((word) => `"${word}"`).join(" or ");
  return (value, place) => {
    if (typeof value !== "string") {
      reportExpected(all, value, place);
      return;
    }
    if ((words as readonly string[]).includes(value)) return;
    const given = shorten(value, 60);
    const meant = nearestName(given, words);
    const hint = meant === undefined ? `${all} is expected` : `did you mean "${meant}"?`;
    place.report(`is ${JSON.stringify(given)}; ${hint}`);
  };
}

/** `what`: such as `whole milliseconds`. */
export function wholeNumber(min: number, max: number, what = "a whole number"): Shape<number> {
  return (value, place) => {
    const isInRange =
      Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
    if (!isInRange) {
      place.report(`is ${place.kindOf(value)}; ${what} from ${min} to ${max} is expected`);
    }
  };
}

interface ListOptions {
  readonly max?: number;
  /** Its items in words, such as `tool names`. */
  readonly of?: string;
}

export function list<T>(item: Shape<T>, { max, of }: ListOptions = {}): Shape<T[]> {
  return (value, place) => {
    if (!Array.isArray(value)) {
      reportExpected(of === undefined ? "a list" : `a list of ${of}`, value, place);
    } else if (max !== undefined && value.length > max) {
      place.report(`has ${value.length} items; at most ${max} are allowed`);
    } else {
      for (const [index, entry] of value.entries()) item(entry, place.in(index));
    }
  };
}

type Fields = Readonly<Record<string, Shape<unknown> & { readonly isOptional?: true }>>;
type OptionalKeys<F extends Fields> = {
  [K in keyof F]: F[K] extends { readonly isOptional: true } ? K : never;
}[keyof F];
type ObjectValue<F extends Fields> = {
  [K in Exclude<keyof F, OptionalKeys<F>>]: ShapeValue<F[K]>;
} & { [K in OptionalKeys<F>]?: ShapeValue<F[K]> };

export function optional<T>(shape: Shape<T>): Shape<T> & { readonly isOptional: true } {
  const check: Shape<T> = (value, place) => shape(value, place);
  return Object.assign(check, { isOptional: true } as const);
}

interface ObjectOptions {
  /** Such as `an agent definition`. */
  readonly what?: string;
  /** The fields that are suggested in place of unknown ones; by default all. */
  readonly names?: readonly string[];
  /** A clause about a field that is not known here, such as where it belongs. */
  readonly hint?: (field: string) => string | undefined;
  /** Whether fields that are not named here are ignored. */
  readonly mayHaveOthers?: boolean;
  /** How its fields go together, whether or not each is sound. */
  readonly together?: (value: Readonly<Record<string, unknown>>, place: Place) => void;
}

/** An object of these fields and, by default, no others. */
export function object<F extends Fields>(
  fields: F,
  { what, names, hint, mayHaveOthers = false, together }: ObjectOptions = {},
): Shape<ObjectValue<F>> {
  const all = Object.keys(fields);
  const known = names ?? all;
  return (value, place) => {
    if (!isTable(value)) {
      const kind = place.kindOf({});
      if (what === undefined) reportExpected(kind, value, place);
      else place.report(`is ${place.kindOf(value)}; ${what} is ${kind} of ${known.join(", ")}`);
      return;
    }
    for (const [key, field] of Object.entries(value)) {
      const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (check !== undefined) check(field, place.in(key));
      else if (!mayHaveOthers) place.in(key).reportKey(unknownField(key, known, what, hint?.(key)));
    }
    for (const key of all) {
      if (fields[key]?.isOptional === true || Object.hasOwn(value, key)) continue;
      place.in(key).report("is missing");
    }
    together?.(value, place);
  };
}

/** Values of one shape, under names that the user chooses. */
export function record<T>(
  each: Shape<T>,
  { nameProblem }: { readonly nameProblem: (name: string) => string | undefined },
): Shape<Record<string, T>> {
  return (value, place) => {
    if (!isTable(value)) {
      reportExpected(place.kindOf({}), value, place);
      return;
    }
    for (const [name, entry] of Object.entries(value)) {
      const wrong = nameProblem(name);
      if (wrong === undefined) each(entry, place.in(name));
      else place.in(name).reportKey(wrong);
    }
  };
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && !(value instanceof Date);
}

/** For `together`: of these fields an object has exactly one. */
export function exactlyOne(...fields: readonly string[]): NonNullable<ObjectOptions["together"]> {
  return (value, place) => {
    const present = fields.filter((field) => Object.hasOwn(value, field));
    if (present.length === 0) place.report(`has none of ${fields.join(", ")}; it needs one`);
    if (present.length > 1) {
      place.report(`has ${present.join(" and ")}; it can have only one of them`);
    }
  };
}

/** The same, with a further look at a value of its kind. */
export function refine<T>(shape: Shape<T>, check: (value: T, place: Place) => void): Shape<T> {
  return (value, place) => {
    if (isSound(value, place, shape)) check(value, place);
  };
}

/** Whether the shape reports nothing. */
export function isSound<T>(value: unknown, place: Place, shape: Shape<T>): value is T {
  let sound = true;
  shape(
    value,
    watch(place, () => (sound = false)),
  );
  return sound;
}

function watch(place: Place, onReport: () => void): Place {
  const also = (report: (message: string) => void) => (message: string) => {
    onReport();
    report(message);
  };
  return {
    ...place,
    in: (...steps) => watch(place.in(...steps), onReport),
    report: also(place.report),
    reportKey: also(place.reportKey),
  };
}

function reportExpected(what: string, value: unknown, place: Place): void {
  const isUnquoted = what === "text" && (typeof value === "number" || typeof value === "boolean");
  const hint = isUnquoted ? ": put it in quotes" : "";
  place.report(`is ${place.kindOf(value)}; ${what} is expected${hint}`);
}

function unknownField(
  key: string,
  known: readonly string[],
  what: string | undefined,
  hint: string | undefined,
): string {
  // A name cut short is as likely as one mistyped.
  const meant =
    nearestName(shorten(key, 60), known) ?? known.find((name) => name.startsWith(`${key}_`));
  const is = what === undefined ? "is not a field" : `is not a field of ${what}`;
  if (hint !== undefined) return `${is}; ${hint}`;
  if (meant !== undefined) return `${is}; did you mean "${meant}"?`;
  return `${is}; ${what === undefined ? "there are" : "it has"} ${known.join(", ")}`;
}

/** The first control character but tab and line ends: its line, and its name. Undefined for plain text. */
export function controlCharacter(
  text: string,
): { readonly line: number; readonly name: string } | undefined {
  const at = text.search(CONTROL);
  if (at === -1) return undefined;
  const code = text.charCodeAt(at).toString(16).toUpperCase().padStart(4, "0");
  return { line: text.slice(0, at).split("\n").length, name: `U+${code}` };
}

// eslint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u2028\u2029]/;
