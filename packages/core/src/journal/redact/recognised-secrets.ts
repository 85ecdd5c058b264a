// Secrets that were not named, recognised by their own form or by the words before them: the keys of services, private keys,
// credentials in headers, connection strings and URLs. A new format is one more line in a table.

import { matchAt, PAIRS, pairAt, type Needle, type Span } from "./spans.ts";

/**
 * Adds what it finds to the spans. Looks back from where the shortest key would end, so that most
 * characters are never looked at.
 */
export function findKeys(text: string, spans: Span[]): void {
  let start = 0;
  while (start + SHORTEST_KEY <= text.length) {
    let at = start + SHORTEST_KEY - 1;
    while (at >= start && IN_KEY[text.charCodeAt(at)] !== 0) at -= 1;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    // A long word. Keys may begin where it does, and behind each of its joints.
    at = start + escapeEnd(text, start);
    for (;;) {
      const key = keyAt(text, at);
      if (key !== undefined) {
        spans.push(key);
        at = key.end;
      }
      while (at < text.length && IN_KEY[text.charCodeAt(at)] === ALPHANUMERIC) at += 1;
      if (at >= text.length || IN_KEY[text.charCodeAt(at)] !== JOINT) break;
      at += 1;
    }
    start = at + 1;
  }
}

/** No key is shorter; hardly a word of prose is as long. */
export const SHORTEST_KEY = 20;

/**
 * What no one writes by chance, and behind it what only a machine would. Bodies are open at their end, so
 * that none can be made to go back over what it has read. More than one prefix is separated by blanks.
 */
const KEY_FORMATS: readonly (readonly [label: string, prefixes: string, body: RegExp])[] = [
  ["aws_access_key", "AKIA ASIA", /[A-Z0-9]{16}(?![A-Za-z0-9])/y],
  ["github_token", "ghp_ gho_ ghu_ ghs_ ghr_", /[A-Za-z0-9]{30,}/y],
  ["github_token", "github_pat_", /[A-Za-z0-9_]{30,}/y],
  ["anthropic_key", "sk-ant-", /[A-Za-z0-9_-]{20,}/y],
  ["api_key", "sk-proj- sk-svcacct- sk-or-v1- sk-lf-", /[A-Za-z0-9_-]{20,}/y],
  ["api_key", "sk-admin-", /(?=[A-Za-z_-]{0,80}[0-9])[A-Za-z0-9_-]{20,}/y],
  ["api_key", "sk-", /[A-Za-z0-9]{20,}/y],
  ["api_key", "gsk_ xai- pplx-", /[A-Za-z0-9]{40,}/y],
  ["google_key", "AIza", /[A-Za-z0-9_-]{35}(?![A-Za-z0-9])/y],
  ["google_key", "GOCSPX-", /[A-Za-z0-9_-]{28,}/y],
  ["google_token", "ya29.", /[A-Za-z0-9_-]{30,}/y],
  ["slack_token", "xox", /[a-z]-[A-Za-z0-9-]{15,}/y],
  ["slack_token", "xapp-", /[0-9]-[A-Za-z0-9-]{20,}/y],
  ["stripe_key", "sk_live_ rk_live_ sk_test_ rk_test_ whsec_", /[A-Za-z0-9]{16,}/y],
  ["npm_token", "npm_", /[A-Za-z0-9]{30,}/y],
  ["gitlab_token", "glpat- glptt- gldt- glrt- glft- glsoat- glagent-", /[A-Za-z0-9_-]{20,}/y],
  ["huggingface_token", "hf_", /[A-Za-z0-9]{30,}/y],
  ["sendgrid_key", "SG.", /[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}/y],
  ["pypi_token", "pypi-AgE", /[A-Za-z0-9_-]{50,}/y],
  ["digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", /[a-f0-9]{64,}/y],
  ["vault_token", "hvs. hvb.", /[A-Za-z0-9_-]{24,}/y],
  ["inspector_token", "soong_inspect_", /[A-Za-z0-9_-]{40,}/y],
  ["age_key", "AGE-SECRET-KEY-1", /[A-Z0-9]{50,}/y],
  // Not within a word, where what could be its first part might begin again and again.
  ["jwt", "eyJ", /(?<![_-]eyJ)[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/y],
];

interface KeyPrefix {
  readonly prefix: string;
  readonly label: string;
  readonly body: RegExp;
}

/** By their first two characters. */
const PREFIXES: (KeyPrefix[] | undefined)[] = Array.from({ length: PAIRS });
for (const [label, prefixes, body] of KEY_FORMATS) {
  for (const prefix of prefixes.split(" ")) {
    (PREFIXES[pairAt(prefix, 1)] ??= []).push({ prefix, label, body });
  }
}

function keyAt(text: string, at: number): Span | undefined {
  if (at + 1 >= text.length) return undefined;
  // As `pairAt`, in place: this is asked for every long word of all text.
  const pair = ((text.charCodeAt(at) << 5) ^ text.charCodeAt(at + 1)) & (PAIRS - 1);
  const candidates = PREFIXES[pair];
  if (candidates === undefined) return undefined;
  for (const { prefix, label, body } of candidates) {
    const match = text.startsWith(prefix, at) ? matchAt(body, text, at + prefix.length) : null;
    if (match === null) continue;
    return { start: at, end: at + prefix.length + match[0].length, label, known: false };
  }
  return undefined;
}

/** What keys are made of: letters and digits, and what may stand between them. */
const ALPHANUMERIC = 1;
const JOINT = 2;
/** By UTF-16 unit. Read in place: a function for it is called for every fourth character of all text. */
const IN_KEY = new Uint8Array(0x1_0000);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
  IN_KEY[char.charCodeAt(0)] = ALPHANUMERIC;
for (const joint of "_.-") IN_KEY[joint.charCodeAt(0)] = JOINT;

/** A letter before a key means it is none, unless the letter ends an escape: `\n`, `%3D`, a colour. */
function escapeEnd(text: string, at: number): number {
  const ending = ESCAPE_ENDINGS.get(text.charAt(at - 1));
  return ending === undefined ? 0 : (matchAt(ending, text, at)?.[0].length ?? 0);
}

const ESCAPE_ENDINGS: ReadonlyMap<string, RegExp> = new Map([
  ["\\", /u[0-9A-Fa-f]{4}|[bfnrt]/y],
  ["%", /[0-9A-Fa-f]{2}/y],
  ["[", /[0-9]{0,3}m/y],
  [";", /[0-9]{1,3}m/y],
]);

/** Secrets without a form of their own, by the words before them. The group, at the very end of a pattern, is the secret. */
const ANNOUNCED: readonly (readonly [label: string, words: string, pattern: RegExp])[] = [
  [
    "authorization",
    "Authorization authorization AUTHORIZATION",
    /.{13}[\\"'\s:=,]{1,8}(?:[Bb]earer|BEARER|[Tt]oken)\s{1,3}((?=[A-Za-z._~+/-]{0,80}[0-9])[A-Za-z0-9._~+/=-]{8,})/y,
  ],
  [
    "authorization",
    "Authorization authorization AUTHORIZATION",
    /.{13}[\\"'\s:=,]{1,8}[Bb]asic\s{1,3}((?=.[a-z]{0,80}[A-Z0-9=])[A-Za-z0-9+/=]{8,})/y,
  ],
  [
    "aws_secret_key",
    "SecretAccessKey secretAccessKey SECRET_ACCESS_KEY secret_access_key",
    /[A-Za-z_]{15,17}[\\"'\s]{0,8}[:=>][\\"'\s]{0,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/y,
  ],
  [
    "azure_key",
    "DefaultEndpointsProtocol=",
    /DefaultEndpointsProtocol=https?;AccountName=[a-z0-9]{3,24};AccountKey=([A-Za-z0-9+/]{60,}={0,2})/y,
  ],
];

const PRIVATE_KEYS = ["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"];

/** The words behind which a secret may stand, long ones: the shortest sets how fast a text can be skipped through. */
export const LEADS: readonly Needle[] = [
  ...PRIVATE_KEYS.map((text) => ({ text, spanAt: privateKeySpan })),
  ...ANNOUNCED.flatMap(([label, words, pattern]) =>
    words.split(" ").map((text) => ({ text, spanAt: announcedSpan(label, pattern) })),
  ),
];

function announcedSpan(label: string, pattern: RegExp): Needle["spanAt"] {
  return (text, at) => {
    const match = matchAt(pattern, text, at);
    if (match === null) return undefined;
    const end = at + match[0].length;
    return { start: end - (match[1] as string).length, end, label, known: false };
  };
}

/**
 * A PEM or PGP block, or what there is of one that was cut off. Code that only names the header has no body, and public keys
 * and certificates are none. The header stays: it says what was there.
 */
function privateKeySpan(text: string, at: number, length: number): Span | undefined {
  if (!KEY_HEADER.test(text.slice(Math.max(0, at - 60), at))) return undefined;
  const start = at + length;
  const dashes = text.indexOf("-----", start);
  const body = text.slice(start, dashes === -1 ? text.length : dashes);
  const foreign = body.search(NOT_IN_KEY_BODY);
  const end = start + (foreign === -1 ? body.length : foreign);
  if (!KEY_BODY.test(text.slice(start, end))) return undefined;
  return { start, end, label: "private_key", known: false };
}

const KEY_HEADER = /-----BEGIN [A-Z0-9 ]{0,40}$/;
const KEY_BODY = /[A-Za-z0-9+/=]{16}/;
const NOT_IN_KEY_BODY = /[^A-Za-z0-9+/=\s\\:,."'>|()-]/;

/** Passwords in URLs: `scheme://user:password@host`. The password only; `${…}` and the like are none. */
export function findUrlPasswords(text: string, spans: Span[]): void {
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 3)) {
    const match = matchAt(USER_INFO, text, at);
    if (match === null) continue;
    const end = at + match[0].length - 1;
    const start = end - (match[1] as string).length;
    spans.push({ start, end, label: "url_password", known: false });
  }
}

const USER_INFO =
  /:\/\/[^\s/?#@:"'`<>\\]{0,256}:(?![${<]|\[redacted:|\*+@|%[a-z]@)([^\s/?#@"'`<>\\]{1,1024})@/y;
