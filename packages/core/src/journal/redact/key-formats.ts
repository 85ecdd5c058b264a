// Keys known by their own form: the prefixes that services give their tokens, and what may follow each.
// A new format is one more line in the table.

import { PAIRS, pairAt } from "./character-pair.ts";
import { matchAt } from "./match-at.ts";
import type { Span } from "./span.ts";

/**
 * Adds what it finds to the spans. Looks back from where the shortest key would end, so that most
 * characters are never looked at.
 */
export function findKeys(text: string, spans: Span[]): void {
  let start = 0;
  while (start + SHORTEST_KEY <= text.length) {
    let at = start + SHORTEST_KEY - 1;
    while (at >= start && kindInKey(text.charCodeAt(at)) !== 0) at -= 1;
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
      while (at < text.length && kindInKey(text.charCodeAt(at)) === ALPHANUMERIC) at += 1;
      if (at >= text.length || kindInKey(text.charCodeAt(at)) !== JOINT) break;
      at += 1;
    }
    start = at + 1;
  }
}

/** No key is shorter; hardly a word of prose is as long. */
const SHORTEST_KEY = 20;

/**
 * What nobody writes by chance, and behind it what only a machine would. Bodies are open at their end, so
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
  const candidates = at + 1 < text.length ? PREFIXES[pairAt(text, at + 1)] : undefined;
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
const IN_KEY = Uint8Array.from({ length: 128 }, (_, unit) => {
  const char = String.fromCharCode(unit);
  if (/[A-Za-z0-9]/.test(char)) return ALPHANUMERIC;
  return "_.-".includes(char) ? JOINT : 0;
});

function kindInKey(unit: number): number {
  return unit < 128 ? (IN_KEY[unit] as number) : 0;
}

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
