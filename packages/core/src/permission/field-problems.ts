// What can be wrong with single fields of a policy, in words that follow the field's name (CONF-2).

import { nearestName } from "@soong/schema";

export interface PolicyProblem {
  /** Where, such as `rules[2].decision`. */
  field: string;
  message: string;
}

export function textProblem(
  value: unknown,
  further: (text: string) => string | undefined = () => undefined,
): string | undefined {
  if (typeof value !== "string") return `is ${kindOf(value)}, not text`;
  return value === "" ? "is empty" : further(value);
}

export function wordsProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `is ${kindOf(value)}, not a list`;
  if (value.length === 0) return "is empty; leave it out to match everything";
  const bad = value.findIndex((item) => typeof item !== "string" || item === "");
  return bad === -1 ? undefined : `has an item (number ${bad + 1}) that is not text`;
}

export function oneOfProblem(value: unknown, valid: readonly string[]): string | undefined {
  if (typeof value === "string" && valid.includes(value)) return undefined;
  const choices = valid.map((name) => `"${name}"`).join(", ");
  if (value === undefined) return `is missing; it is one of ${choices}`;
  const near = typeof value === "string" ? nearestName(value, valid) : undefined;
  const hint = near === undefined ? `it is one of ${choices}` : `did you mean "${near}"?`;
  return `is ${typeof value === "string" ? JSON.stringify(value) : kindOf(value)}; ${hint}`;
}

export function unknownKeys(
  record: Readonly<Record<string, unknown>>,
  valid: readonly string[],
  field: string,
  what: string,
): PolicyProblem[] {
  return Object.keys(record)
    .filter((key) => !valid.includes(key))
    .map((key) => {
      const near = nearestName(key, valid);
      const hint = near === undefined ? `valid are ${valid.join(", ")}` : `did you mean "${near}"?`;
      return {
        field: field === "" ? key : `${field}.${key}`,
        message: `is not a key of ${what}; ${hint}`,
      };
    });
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
