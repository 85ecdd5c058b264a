// The check of a plain schema, made of one closure for each keyword. Most calls are valid, and making a validator takes
// far longer than this. It says yes or nothing, reads a value as the validator does, and every complaint is the validator's.

import { modernNode } from "./dialects.ts";
import { countCharacters, isRecord, isSchemaNode, typeOfJson, type JsonSchema } from "./json.ts";
import { VOCABULARY } from "./vocabulary.ts";

/** Undefined for a schema in which anything is not plain. */
export function plainCheck(schema: JsonSchema): ((value: unknown) => boolean) | undefined {
  const root = readNode(schema, { left: MAX_NODES });
  if (root === undefined) return undefined;
  const { test } = root;
  // No test allocates anything: closures and counters made for each value were 2 kB a call.
  const steps = { left: 0 };
  return (value) => {
    steps.left = MAX_STEPS;
    return test(value, steps);
  };
}

/** Far below what the validator may spend, in the same measure. What takes more is worth a validator. */
const MAX_STEPS = 10_000;
const MAX_NODES = 2_000;

type Counter = { left: number };
type Test = (value: unknown, steps: Counter) => boolean;
/** `size`: what one more application of it costs. */
type PlainNode = { readonly test: Test; readonly size?: number };

function readNode(given: unknown, nodes: Counter): Required<PlainNode> | undefined {
  nodes.left -= 1;
  if (nodes.left < 0 || !isSchemaNode(given)) return undefined;
  if (typeof given === "boolean") return { test: () => given, size: 1 };
  if (modernNode(given) !== given) return undefined;
  const tests: Test[] = [];
  let size = 1;
  for (const name of Object.keys(given)) {
    const held = given[name];
    const { standing, holds, accepts } = VOCABULARY.get(name) ?? {};
    if (standing === undefined || standing === "note" || standing === "stripped") continue;
    if (holds === "schema" && held === true) continue;
    const keyword = accepts?.(held) === true ? KEYWORDS[name]?.(held, nodes, given) : undefined;
    if (keyword === undefined) return undefined;
    tests.push(keyword.test);
    size += keyword.size ?? 0;
  }
  return { test: joinTests(tests), size };
}

function joinTests(tests: readonly Test[]): Test {
  const [only] = tests;
  if (only !== undefined && tests.length === 1) return only;
  return (value, steps) => {
    for (let i = 0; i < tests.length; i += 1) if (!(tests[i] as Test)(value, steps)) return false;
    return true;
  };
}

type ReadKeyword = (held: unknown, nodes: Counter, node: JsonSchema) => PlainNode | undefined;

const KEYWORDS: Readonly<Record<string, ReadKeyword>> = {
  type(held) {
    if (typeof held === "string") return { test: (value) => isType(held, value) };
    const types = held as readonly unknown[];
    return {
      test: (value) => {
        for (let i = 0; i < types.length; i += 1) if (isType(types[i], value)) return true;
        return false;
      },
    };
  },
  enum(held) {
    const values = held as unknown[];
    if (values.length === 0 || !values.every(isScalar)) return undefined;
    return { test: (value) => values.includes(value), size: values.length >> 2 };
  },
  // A text has at least half as many characters as units, so its length alone decides most of the time.
  minLength: ofText((units, least) => units >= 2 * (least as number), isAtLeast),
  maxLength: ofText(isAtMost, isAtMost),
  minimum: (least) => ({ test: (value) => typeof value !== "number" || isAtLeast(value, least) }),
  maximum: (most) => ({ test: (value) => typeof value !== "number" || isAtMost(value, most) }),
  minItems: (least) => ({
    test: (value) => !Array.isArray(value) || isAtLeast(value.length, least),
  }),
  maxItems: (most) => ({ test: (value) => !Array.isArray(value) || isAtMost(value.length, most) }),
  items(held, nodes) {
    const each = repeat(held, nodes);
    const test: Test = (value, steps) => {
      if (!Array.isArray(value)) return true;
      for (let i = 0; i < value.length; i += 1) if (!each?.(value[i], steps)) return false;
      return true;
    };
    return each && { test };
  },
  required(held) {
    const names = held as string[];
    if (names.some(isInherited)) return undefined;
    return {
      test: (value) => {
        if (!isRecord(value)) return true;
        for (let i = 0; i < names.length; i += 1) {
          if (value[names[i] as string] === undefined) return false;
        }
        return true;
      },
    };
  },
  properties(held, nodes) {
    const names: string[] = [];
    const tests: Test[] = [];
    let size = 0;
    for (const [name, node] of Object.entries(held as JsonSchema)) {
      const field = isInherited(name) ? undefined : readNode(node, nodes);
      if (field === undefined) return undefined;
      names.push(name);
      tests.push(field.test);
      size += field.size;
    }
    const test: Test = (value, steps) => {
      if (!isRecord(value)) return true;
      for (let i = 0; i < names.length; i += 1) {
        const item = value[names[i] as string];
        if (item !== undefined && !(tests[i] as Test)(item, steps)) return false;
      }
      return true;
    };
    return { test, size };
  },
  additionalProperties(held, nodes, { properties = {} }) {
    const each = repeat(held, nodes);
    const known = new Set(Object.keys(properties as object));
    const test: Test = (value, steps) => {
      if (!isRecord(value)) return true;
      for (const name in value) {
        if (!known.has(name) && !each?.(value[name], steps)) return false;
      }
      return true;
    };
    return each && { test };
  },
};

type Compare = (amount: number, limit: unknown) => boolean;

function isAtLeast(amount: number, least: unknown): boolean {
  return amount >= (least as number);
}

function isAtMost(amount: number, most: unknown): boolean {
  return amount <= (most as number);
}

function ofText(isDecided: Compare, fits: Compare): ReadKeyword {
  return (limit) => ({
    test: (value, steps) => {
      if (typeof value !== "string" || isDecided(value.length, limit)) return true;
      steps.left -= value.length;
      return steps.left >= 0 && fits(countCharacters(value), limit);
    },
  });
}

/** Applied once for each item or field, and counted each time. */
function repeat(held: unknown, nodes: Counter): Test | undefined {
  const node = readNode(held, nodes);
  if (node === undefined) return undefined;
  const { test, size } = node;
  return (value, steps) => {
    steps.left -= size;
    return steps.left >= 0 && test(value, steps);
  };
}

function isInherited(name: string): boolean {
  return name in Object.prototype;
}

function isScalar(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return value === null || typeof value === "string" || typeof value === "boolean";
}

function isType(type: unknown, value: unknown): boolean {
  if (typeof value === "number") {
    return type === "number"
      ? Number.isFinite(value)
      : type === "integer" && Number.isInteger(value);
  }
  if (value === null || typeof value === "object") return type === typeOfJson(value);
  return (typeof value === "string" || typeof value === "boolean") && type === typeof value;
}
