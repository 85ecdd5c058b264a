// What in a config makes up the policy, checked by the kernel that decides by it: there is one validator of rules (CONF-4).

import {
  compilePolicy,
  type NetworkPolicy,
  type PermissionRule,
  type PolicyInput,
} from "@soong/core";
import { isPlainRecord } from "@soong/schema";
import { shape, type DocumentPath, type Place, type Shape } from "@soong/platform";

/** What a rule of the config may have. Where it was written is added here. */
export const RULE_KEYS = [
  "tool",
  "tags",
  "path",
  "argv",
  "exact_argv",
  "host",
  "project",
  "decision",
  "reason",
  "every_time",
] as const satisfies readonly Exclude<keyof PermissionRule, "origin">[];

const RULE_FIELDS = shape.object(
  Object.fromEntries(RULE_KEYS.map((key) => [key, shape.optional(shape.anything)])),
  { what: "a rule" },
);

export const RULES: Shape<unknown> = (value, place) => {
  if (!Array.isArray(value)) {
    place.report(
      `is ${place.kindOf(value)}; a list is expected: each rule begins with [[permissions.rules]]`,
    );
    return;
  }
  // A rule with a mistyped condition is not also reported to have none.
  const mistyped = new Set<number>();
  const rules = value.map((rule: unknown, index) => {
    if (!isPlainRecord(rule)) return rule;
    if (!shape.isSound(rule, place.in(index), RULE_FIELDS)) mistyped.add(index);
    return Object.fromEntries(
      RULE_KEYS.flatMap((key) => (Object.hasOwn(rule, key) ? [[key, rule[key]]] : [])),
    );
  });
  checkPolicy(
    { rules: rules as PermissionRule[] },
    place,
    ([index, ...rest]) => rest.length > 0 || !mistyped.has(index as number),
  );
};

export const SENSITIVE_PATHS: Shape<unknown> = (value, place) => {
  checkPolicy({ sensitive_paths: value as string[] }, place);
};

const NETWORK: Required<NetworkPolicy> = { mode: "default", hosts: [] };

/** With the defaults for what is not given. */
export function checkNetwork(given: Readonly<Record<string, unknown>>, place: Place): void {
  const { mode, hosts } = { ...NETWORK, ...(given as Partial<typeof NETWORK>) };
  checkPolicy({ network: { mode, hosts } }, place);
}

/** Patterns may be relative to places that are known only when a run starts. */
const STAND_INS: PolicyInput = { home: "/home", roots: { project: "/project", write: [] } };

/** Of one part of a policy, which is at `place`. */
function checkPolicy(
  part: PolicyInput,
  place: Place,
  isReported: (path: DocumentPath) => boolean = () => true,
): void {
  const compiled = compilePolicy({ ...STAND_INS, ...part });
  if (compiled.ok) return;
  for (const { field, message } of compiled.problems) {
    const [, ...path] = parseField(field);
    if (isReported(path)) place.in(...path).report(message);
  }
}

/** Such as `rules[2].decision`. */
function parseField(field: string): DocumentPath {
  return [...field.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name = "", index]) =>
    index === undefined ? name : Number(index),
  );
}
