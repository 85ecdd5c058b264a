// What the value of a setting may be, as data: one half checks it, the other tells people in words.

import { compilePolicy } from "@soong/core";
import { nearestName, quote } from "@soong/core/internal";

export type ValueKind =
  | { readonly kind: "whole_number"; readonly min: number; readonly max: number }
  /** Of money: six decimals at the most, so that it is a whole number of millionths. */
  | { readonly kind: "amount"; readonly max: number; readonly above?: 0 }
  | { readonly kind: "choice"; readonly of: readonly string[] }
  | { readonly kind: "true_or_false" }
  | { readonly kind: "text"; readonly form: TextForm }
  | { readonly kind: "texts"; readonly form: TextForm }
  /** Checked by the kernel's own reader of policies, with everything around it. */
  | { readonly kind: "policy"; readonly words: string }
  | { readonly kind: "anything" };

export interface TextForm {
  readonly words: string;
  /** A clause that never repeats the text; undefined when nothing is wrong with it. */
  readonly problem: (text: string) => string | undefined;
}

export interface ValueProblem {
  /** Which item of a list. */
  readonly index?: number;
  readonly message: string;
}

export function valueProblems(kind: ValueKind, value: unknown): ValueProblem[] {
  if (kind.kind === "texts") {
    if (!Array.isArray(value)) return [{ message: `is ${kindOf(value)}, not a list of text` }];
    return value.flatMap((item: unknown, index) =>
      messages(textProblem(kind.form, item)).map((message) => ({ index, message })),
    );
  }
  return messages(valueProblem(kind, value)).map((message) => ({ message }));
}

/** In words, with what is meant literally between backquotes. */
export function describeKind(kind: ValueKind): string {
  switch (kind.kind) {
    case "whole_number":
      return `whole number, ${kind.min} to ${kind.max}`;
    case "amount":
      return `number, ${kind.above === 0 ? "above 0" : "0"} to ${kind.max}, six decimals at the most`;
    case "choice":
      return kind.of.map((choice) => `\`"${choice}"\``).join(", ");
    case "true_or_false":
      return "`true` or `false`";
    case "text":
      return kind.form.words;
    case "texts":
      return `list: ${kind.form.words}`;
    case "policy":
      return kind.words;
    case "anything":
      return "anything";
  }
}

/** What a value is, in the words of TOML. */
export function kindOf(value: unknown): string {
  if (typeof value === "string") return "text";
  if (typeof value === "number") return "a number";
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "a list";
  return value instanceof Date ? "a date" : "a table";
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && kindOf(value) === "a table";
}

export const ENVIRONMENT_NAME: TextForm = {
  words: "name of an environment variable",
  problem(text) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) {
      return 'is not the name of an environment variable, such as "MY_API_KEY"; a key itself is never written here';
    }
    const isRandom = text.length >= 20 && /[a-z]/.test(text) && /[0-9]/.test(text);
    return isRandom && !text.includes("_") ? LOOKS_LIKE_A_KEY : undefined;
  },
};

export const LOOKS_LIKE_A_KEY =
  "looks like an API key or a password; none is ever written here: set an environment variable to it and give the name of that variable";

/** The kernel knows what fits canonical names. */
export const TOOL_PATTERN: TextForm = {
  words: 'pattern of canonical names, such as `"code.*"`',
  problem(text) {
    const compiled = compilePolicy({ rules: [{ tool: text, decision: "ask" }] });
    return compiled.ok ? undefined : compiled.problems[0]?.message;
  },
};

export const DIRECTORY: TextForm = {
  words: "directory, absolute or below `~/`",
  problem(text) {
    if (text.includes("\0")) return "contains a NUL character";
    return text.startsWith("/") || text.startsWith("~/")
      ? undefined
      : 'is not absolute; write the whole path, or one that begins with "~/"';
  },
};

export const WEB_ADDRESS: TextForm = {
  words: "`http://` or `https://` address",
  problem(text) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
      return "is not an address that begins with http:// or https://";
    }
    return url.username === "" && url.password === "" ? undefined : LOOKS_LIKE_A_KEY;
  },
};

export const CURRENCY: TextForm = {
  words: 'currency, such as `"USD"`',
  problem: (text) =>
    /^[A-Z]{3}$/.test(text) ? undefined : 'is not a currency: three capital letters, such as "USD"',
};

export function plainText(words: string): TextForm {
  return {
    words,
    problem: (text) =>
      /\p{Cc}/u.test(text) ? "contains a line break or a control character" : undefined,
  };
}

export function milliseconds(min = 1): ValueKind {
  // More than a timer can wait for would mean no wait at all.
  return { kind: "whole_number", min, max: 2_147_483_647 };
}

function valueProblem(
  kind: Exclude<ValueKind, { kind: "texts" }>,
  value: unknown,
): string | undefined {
  switch (kind.kind) {
    case "whole_number":
      return wholeNumberProblem(value, kind);
    case "amount":
      return amountProblem(value, kind);
    case "choice":
      return choiceProblem(value, kind.of);
    case "true_or_false":
      return typeof value === "boolean" ? undefined : `is ${kindOf(value)}, not true or false`;
    case "text":
      return textProblem(kind.form, value);
    case "policy":
    case "anything":
      return undefined;
  }
}

function wholeNumberProblem(
  value: unknown,
  { min, max }: { min: number; max: number },
): string | undefined {
  if (typeof value !== "number") return `is ${kindOf(value)}, not a whole number`;
  if (!Number.isInteger(value)) return `is ${value}, not a whole number`;
  if (value < min) return `is ${value}; the least is ${min}`;
  return value > max ? `is ${value}; the most is ${max}` : undefined;
}

function amountProblem(
  value: unknown,
  { max, above }: { max: number; above?: 0 },
): string | undefined {
  if (typeof value !== "number") return `is ${kindOf(value)}, not a number`;
  if (above === 0 ? !(value > 0) : !(value >= 0)) {
    return `is ${value}; it is ${above === 0 ? "more than 0" : "0 or more"}`;
  }
  if (value > max) return `is ${value}; the most is ${max}`;
  const isWhole = Math.round(value * 1e6) / 1e6 === value;
  return isWhole ? undefined : `is ${value}; it has six decimals at the most`;
}

function choiceProblem(value: unknown, valid: readonly string[]): string | undefined {
  if (typeof value === "string" && valid.includes(value)) return undefined;
  const choices = valid.map((choice) => `"${choice}"`).join(", ");
  if (typeof value !== "string") return `is ${kindOf(value)}; it is one of ${choices}`;
  const near = nearestName(value, valid);
  const hint = near === undefined ? `it is one of ${choices}` : `did you mean "${near}"?`;
  return `is ${value.length > 60 ? "none of the choices" : quote(value)}; ${hint}`;
}

function textProblem(form: TextForm, value: unknown): string | undefined {
  if (typeof value !== "string") return `is ${kindOf(value)}, not text in quotes`;
  return value === "" ? "is empty" : form.problem(value);
}

function messages(problem: string | undefined): string[] {
  return problem === undefined ? [] : [problem];
}
