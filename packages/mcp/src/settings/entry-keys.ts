// The keys of an entry: ours, those of other hosts that mean the same, and those that mean nothing here.
// What narrows must never be overlooked; what widens is never taken over (MCP-6).

/** Also what a mistyped key is compared with. */
export const ENTRY_KEYS = [
  "command",
  "args",
  "env",
  "cwd",
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

export type EntryKey = (typeof ENTRY_KEYS)[number];

/** The same thing under the name another host gives it. */
const SYNONYMS: ReadonlyMap<string, EntryKey> = new Map([
  ["httpUrl", "url"],
  ["serverUrl", "url"],
  ["transport", "type"],
  ["disabledTools", "disabled_tools"],
  ["excludeTools", "disabled_tools"],
  ["readonly_tools", "readonly"],
]);

const GRANTS = "grants rights in another program and is ignored here: use a permission rule";
const OTHER_LOGIN = 'is ignored: write "oauth", or nothing, and log in with soong mcp login';
const NO_EFFECT = "has no effect here";

/** Accepted, with a warning. None of them can take away a restriction the user asked for. */
const IGNORED: ReadonlyMap<string, string> = new Map([
  ["trust", GRANTS],
  ["alwaysAllow", GRANTS],
  ["autoApprove", GRANTS],
  ["autoAllow", GRANTS],
  ["timeout", 'is ignored: hosts disagree about its unit; write "timeout_ms"'],
  ["auth", OTHER_LOGIN],
  ["authProviderType", OTHER_LOGIN],
  ["envFile", 'is ignored: name the variables in "env"'],
  ["name", NO_EFFECT],
  ["title", NO_EFFECT],
  ["icon", NO_EFFECT],
  ["gallery", NO_EFFECT],
  ["version", NO_EFFECT],
  ["dev", NO_EFFECT],
]);

/** Lists of what is allowed. To ignore one would offer more than the user chose. */
const ALLOW_LISTS: ReadonlySet<string> = new Set([
  "includeTools",
  "enabledTools",
  "enabled_tools",
  "allowedTools",
  "tools",
]);

export type KeyMeaning =
  | { readonly kind: "ours"; readonly key: EntryKey }
  /** The opposite of `disabled`. */
  | { readonly kind: "enabled" }
  | { readonly kind: "ignored"; readonly why: string }
  | { readonly kind: "allow_list" }
  | { readonly kind: "unknown" };

export function meaningOf(name: string): KeyMeaning {
  const key = ENTRY_KEYS.find((known) => known === name) ?? SYNONYMS.get(name);
  if (key !== undefined) return { kind: "ours", key };
  if (name === "enabled") return { kind: "enabled" };
  const why = IGNORED.get(name);
  if (why !== undefined) return { kind: "ignored", why };
  return { kind: ALLOW_LISTS.has(name) ? "allow_list" : "unknown" };
}
