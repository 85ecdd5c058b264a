// The keys of an entry and of its login: ours, those of other hosts that mean the same, and those that mean nothing
// here. What narrows must never be overlooked; what widens is never taken over (MCP-6).

import { shape, type Place, type Shape } from "@soong/platform";
import { nearestName } from "@soong/schema";

export interface GivenValue {
  readonly value: unknown;
  readonly place: Place;
}

interface Vocabulary<Key extends string> {
  /** Also what a mistyped key is compared with. */
  readonly keys: readonly Key[];
  /** The same thing under the name another host gives it. */
  readonly synonyms: Readonly<Record<string, Key>>;
  /** Accepted, with a warning. None of them can take away a restriction the user asked for. */
  readonly ignored: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, string>>;
  readonly what: string;
}

const GRANTS = "grants rights in another program and is ignored here: use a permission rule";
const OTHER_LOGIN = 'is ignored: write "oauth", or nothing, and log in with soong mcp login';
const NO_EFFECT = "has no effect here";
/** Lists of what is allowed. To ignore one would offer more than the user chose. */
const ALLOW_LIST = 'is not supported: name the tools that are not wanted in "disabled_tools"';
/** Other hosts let the login be described; here it is found out from the server itself. */
const FOUND_OUT = "has no effect here: the server says how to log in";

/** `enabled` is the opposite of `disabled`. */
export type EntryKey = (typeof ENTRY_KEYS)[number] | "enabled";

const ENTRY_KEYS = [
  "command",
  "args",
  "env",
  "cwd",
  "sandbox",
  "url",
  "headers",
  "oauth",
  "type",
  "disabled",
  "disabled_tools",
  "readonly",
  "concurrency_safe",
  "tags",
  "network",
  "hosts",
  "description",
  "timeout_ms",
  "connect_timeout_ms",
] as const;

export const ENTRY: Vocabulary<EntryKey> = {
  keys: ENTRY_KEYS,
  synonyms: {
    enabled: "enabled",
    httpUrl: "url",
    serverUrl: "url",
    transport: "type",
    disabledTools: "disabled_tools",
    excludeTools: "disabled_tools",
    readonly_tools: "readonly",
  },
  ignored: {
    trust: GRANTS,
    alwaysAllow: GRANTS,
    autoApprove: GRANTS,
    autoAllow: GRANTS,
    timeout: 'is ignored: hosts disagree about its unit; write "timeout_ms"',
    auth: OTHER_LOGIN,
    authProviderType: OTHER_LOGIN,
    envFile: 'is ignored: name the variables in "env"',
    name: NO_EFFECT,
    title: NO_EFFECT,
    icon: NO_EFFECT,
    gallery: NO_EFFECT,
    version: NO_EFFECT,
    dev: NO_EFFECT,
  },
  refused: {
    includeTools: ALLOW_LIST,
    enabledTools: ALLOW_LIST,
    enabled_tools: ALLOW_LIST,
    allowedTools: ALLOW_LIST,
    tools: ALLOW_LIST,
  },
  what: "a server",
};

export type OAuthKey =
  | "client_id"
  | "client_secret"
  | "client_metadata_url"
  | "scopes"
  | "redirect_uri";

export const OAUTH: Vocabulary<OAuthKey> = {
  keys: ["client_id", "client_secret", "client_metadata_url", "scopes", "redirect_uri"],
  synonyms: { clientId: "client_id", clientSecret: "client_secret", redirectUri: "redirect_uri" },
  ignored: {
    enabled: FOUND_OUT,
    issuer: FOUND_OUT,
    audiences: FOUND_OUT,
    authorizationUrl: FOUND_OUT,
    tokenUrl: FOUND_OUT,
    registrationUrl: FOUND_OUT,
    tokenParamName: FOUND_OUT,
    callbackPort: FOUND_OUT,
  },
  refused: {},
  what: "a login",
};

export function readKeys<Key extends string>(
  written: Readonly<Record<string, unknown>>,
  parent: Place,
  { keys, synonyms, ignored, refused, what }: Vocabulary<Key>,
): ReadonlyMap<Key, GivenValue> {
  const given = new Map<Key, GivenValue>();
  for (const [name, value] of Object.entries(written)) {
    const place = parent.in(name);
    const key = keys.find((known) => known === name) ?? readOwn(synonyms, name);
    const warning = readOwn(ignored, name);
    if (key !== undefined) {
      if (given.has(key)) place.reportKey(`"${name}" says the same as another key: "${key}".`);
      given.set(key, { value, place });
    } else if (warning !== undefined) place.warnKey(`"${name}" ${warning}.`);
    else {
      const nearest = nearestName(name, keys);
      const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
      const problem = readOwn(refused, name);
      place.reportKey(
        problem === undefined
          ? `"${name}" is not a setting of ${what}.${hint}`
          : `"${name}" ${problem}.`,
      );
    }
  }
  return given;
}

function readOwn<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The value if there is one and it is sound; what is wrong with it is reported. */
export function readValue<T>(given: GivenValue | undefined, as: Shape<T>): T | undefined {
  if (given === undefined) return undefined;
  const { value, place } = given;
  return shape.isSound(value, place, as) ? value : undefined;
}

/** Text that reaches a process or a header. */
export const anyLine = shape.text({ mayBeEmpty: true });
export const lines = shape.list(anyLine, { of: "texts" });
