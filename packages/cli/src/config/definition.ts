// The words the sections of the config are defined in: settings, tables of them, and tables under names that a user
// chooses. Checks, types, the file of `soong init` and the page of all settings are made from these.

import {
  compilePolicy,
  type NetworkPolicy,
  type PermissionRule,
  type PolicyInput,
} from "@soong/core";
import { quote } from "@soong/core/internal";
import {
  findAddressProblem,
  shape,
  type DocumentPath,
  type Place,
  type Shape,
} from "@soong/platform";
import { isPlainRecord, isRecord, nearestName } from "@soong/schema";

/** What the value of a setting may be, with its default. */
export interface ValueKind<T> {
  /** The setting that means this. */
  says(says: string, details?: SettingDetails): Setting<T>;
}

interface SettingDetails {
  readonly needed?: true;
  /** Further names it is accepted under. */
  readonly aliases?: readonly string[];
  /** As it would be in the file; for settings that have no default. */
  readonly example?: string;
  /** Written as tables of its own: lines that show some. */
  readonly tables?: readonly string[];
}

export interface Setting<T> extends SettingDetails {
  readonly says: string;
  readonly kind: {
    /** With what is meant literally between backquotes. */
    readonly words: string;
    readonly shape: Shape<unknown>;
  };
  readonly default: T;
}

export interface AnyTable {
  readonly says: string;
  readonly keys: Readonly<Record<string, AnyNode>>;
  /** The setting that is meant where a plain text is written instead of the table. */
  readonly asText?: string;
  /** How its settings go together. */
  readonly together?: (given: Readonly<Record<string, unknown>>, place: Place) => void;
}

/** One table for each name that a user gives. */
export interface AnyNamedTables {
  readonly says: string;
  readonly nameProblem: (name: string) => string | undefined;
  readonly each: AnyTable;
  /** Lines that show one. */
  readonly example: readonly string[];
}

export type AnyNode = Setting<unknown> | AnyTable | AnyNamedTables;

/** The values of a table, every default filled in. */
export type Values<Node> =
  Node extends Setting<infer Value>
    ? Value
    : Node extends { readonly each: infer Each }
      ? Readonly<Record<string, Values<Each>>>
      : Node extends { readonly keys: infer Keys }
        ? { readonly [Key in keyof Keys]: Values<Keys[Key]> }
        : never;

export function valueOf<T>(words: string, check: Shape<unknown>, byDefault: T): ValueKind<T> {
  const kind = { words, shape: check };
  return { says: (says, details = {}) => ({ says, kind, default: byDefault, ...details }) };
}

export function wholeNumber<Default extends number | undefined>(
  min: number,
  max: number,
  byDefault?: Default,
): ValueKind<number | Default> {
  const words = `whole number, ${min} to ${max}`;
  return valueOf(words, shape.wholeNumber(min, max), byDefault as Default);
}

export function milliseconds<Default extends number | undefined>(
  byDefault?: Default,
  min = 1,
): ValueKind<number | Default> {
  // More than a timer can wait for would mean no wait at all.
  return wholeNumber(min, 2_147_483_647, byDefault);
}

/** Of money: at most six decimals, so that it is a whole number of millionths. */
export function amount({ above }: { readonly above?: 0 } = {}): ValueKind<number | undefined> {
  const range = `${above === 0 ? "above 0" : "0"} to 1000000, at most six decimals`;
  const check: Shape<unknown> = (value, place) => {
    const isAmount =
      typeof value === "number" &&
      (above === 0 ? value > 0 : value >= 0) &&
      value <= 1_000_000 &&
      Math.round(value * 1e6) / 1e6 === value;
    if (!isAmount) place.report(`is ${place.kindOf(value)}; a number, ${range}, is expected`);
  };
  return valueOf(`number, ${range}`, check, undefined);
}

export function choice<const Word extends string, Default extends Word | undefined>(
  words: readonly Word[],
  byDefault?: Default,
): ValueKind<Word | Default> {
  const meant = words.map((word) => `\`"${word}"\``).join(", ");
  return valueOf(meant, shape.choice(words), byDefault as Default);
}

export function flag<Default extends boolean | undefined>(
  byDefault?: Default,
): ValueKind<boolean | Default> {
  return valueOf("`true` or `false`", shape.flag, byDefault as Default);
}

export interface TextForm {
  readonly words: string;
  /** A clause that never repeats the text; undefined when nothing is wrong with it. */
  readonly problem: (text: string) => string | undefined;
}

export function text<Default extends string | undefined>(
  { words, problem }: TextForm,
  byDefault?: Default,
): ValueKind<string | Default> {
  return valueOf(words, shape.text({ problem }), byDefault as Default);
}

export function texts<Default extends readonly string[] | undefined>(
  { words, problem }: TextForm,
  byDefault?: Default,
): ValueKind<readonly string[] | Default> {
  const list = shape.list(shape.text({ problem }), { of: "text" });
  return valueOf(`list: ${words}`, list, byDefault as Default);
}

export const LOOKS_LIKE_A_KEY =
  "looks like an API key or a password; none is ever written here: set an environment variable to it and give the name of that variable";

export const ENVIRONMENT_NAME: TextForm = {
  words: "name of an environment variable",
  problem(given) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(given)) {
      return 'is not the name of an environment variable, such as "MY_API_KEY"; a key itself is never written here';
    }
    const isRandom = given.length >= 20 && /[a-z]/.test(given) && /[0-9]/.test(given);
    return isRandom && !given.includes("_") ? LOOKS_LIKE_A_KEY : undefined;
  },
};

/** The kernel knows what fits canonical names. */
export const TOOL_PATTERN: TextForm = {
  words: 'pattern of canonical names, such as `"code.*"`',
  problem(given) {
    const compiled = compilePolicy({ rules: [{ tool: given, decision: "ask" }] });
    return compiled.ok ? undefined : compiled.problems[0]?.message;
  },
};

export const WEB_ADDRESS: TextForm = {
  words: "`http://` or `https://` address",
  problem(given) {
    const url = URL.canParse(given) ? new URL(given) : undefined;
    if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
      return "is not an address that begins with http:// or https://";
    }
    return url.username === "" && url.password === "" ? undefined : LOOKS_LIKE_A_KEY;
  },
};

/** Of these, require, prefer and verify-ca mean verify-full. */
const SSL_MODES = new Set([
  "disable",
  "no-verify",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
]);

/** The schema, and what the driver reads. It ignores all others, also require_auth and a mistyped sslmode. */
const ADDRESS_PARAMETERS = [
  "schema",
  "host",
  "port",
  "user",
  "password",
  "options",
  "application_name",
  "fallback_application_name",
  "client_encoding",
  "ssl",
  "sslmode",
  "sslnegotiation",
  "sslcert",
  "sslkey",
  "sslrootcert",
  "uselibpqcompat",
  "statement_timeout",
  "lock_timeout",
  "query_timeout",
  "idle_in_transaction_session_timeout",
];

/** A password may be before the host, or a parameter. */
export const STORE_ADDRESS: TextForm = {
  words: "`postgres://` address",
  problem(given) {
    const problem = findAddressProblem(given);
    if (problem !== undefined) return problem;
    const { password, searchParams } = new URL(given);
    const hasPassword =
      password !== "" || searchParams.has("password") || searchParams.has("sslpassword");
    if (hasPassword) {
      return "has a password, and none is ever written here: set an environment variable to it and name that in password_env, or set SOONG_STORE_URL to the whole address";
    }
    const unknown = [...searchParams.keys()].find((name) => !ADDRESS_PARAMETERS.includes(name));
    if (unknown !== undefined) {
      const near = nearestName(unknown, ADDRESS_PARAMETERS);
      const hint = near === undefined ? "" : `; did you mean ${near}?`;
      return `has a parameter that is neither schema nor one that the database driver reads${hint}`;
    }
    const modes = searchParams.getAll("sslmode");
    if (modes.length > 1) return "has more than one sslmode";
    return modes.every((mode) => SSL_MODES.has(mode))
      ? undefined
      : "has an unknown sslmode: it is verify-full, no-verify (encrypted, but the server is not checked) or disable";
  },
};

export const DIRECTORY = textForm(
  "directory, absolute or below `~/`",
  /^(?:\/|~\/)/,
  'is not absolute; write the whole path, or one that begins with "~/"',
);

export const CURRENCY = textForm(
  'currency, such as `"USD"`',
  /^[A-Z]{3}$/,
  'is not a currency: three capital letters, such as "USD"',
);

export function plainText(words: string): TextForm {
  return textForm(words, /^\P{Cc}*$/u, "contains a line break or a control character");
}

function textForm(words: string, form: RegExp, otherwise: string): TextForm {
  return { words, problem: (given) => (form.test(given) ? undefined : otherwise) };
}

export const WRITE_FIELDS = ["id", "content", "scope", "project", "tags"] as const;
export const RECALL_FIELDS = ["query", "scope", "limit", "project"] as const;

export const TEMPLATE_FIELD = /\{\{\s*(\w*)\s*\}\}/g;

/**
 * Arguments of another tool, written in the config as JSON with fields in it: `{"query": "{{query}}"}`. A text that is
 * one field alone becomes the field's value, a list too; within a text a field is put in as text.
 */
export function argumentTemplate(fields: readonly string[]): TextForm {
  const names = fields.map((field) => `\`{{${field}}}\``).join(", ");
  return {
    words: `JSON object as text, with the fields ${names}`,
    problem(text) {
      let parsed: unknown;
      try {
        parsed = JSON.parse(text);
      } catch {
        return "is not valid JSON";
      }
      if (!isRecord(parsed)) {
        return "is not a JSON object";
      }
      for (const [, field = ""] of text.matchAll(TEMPLATE_FIELD)) {
        if (fields.includes(field)) continue;
        const nearest = nearestName(field, fields) ?? fields.join(", ");
        return `has the unknown field ${quote(field)}; did you mean ${nearest}?`;
      }
      return undefined;
    },
  };
}

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
  "sandbox",
] as const satisfies readonly Exclude<keyof PermissionRule, "origin">[];

const RULE_FIELDS = shape.object(
  Object.fromEntries(RULE_KEYS.map((key) => [key, shape.optional(shape.anything)])),
  { what: "a rule" },
);

/** Checked by the kernel that decides by it: there is one validator of rules (CONF-4). */
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
