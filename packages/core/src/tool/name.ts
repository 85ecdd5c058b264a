// Canonical names (NAME-1) and the patterns that match them (SURF-9, CONF-4).
// A canonical name is dotted; a wire name never contains a dot, so the two cannot be confused.

export type SourceKind = "code" | "declarative" | "mcp" | "agent" | "internal";

/** First segments only Soong's own sources may use, and the kind of source that may. */
const RESERVED: ReadonlyMap<string, SourceKind> = new Map([
  ["agent", "agent"],
  ["internal", "internal"],
  ["mcp", "mcp"],
]);

/** What comes before a name without a dot, such as one of a tool that was written for another framework. */
const NAMESPACES: Partial<Record<SourceKind, string>> = { code: "app", declarative: "user" };

/** `get_weather` from code is `app.get_weather`. A dotted name, and one of any other source, stays as it is. */
export function qualifyName(
  name: string,
  kind: SourceKind,
  namespace: string | undefined = NAMESPACES[kind],
): string {
  const isPlain = name !== "" && !name.includes(".") && Object.hasOwn(NAMESPACES, kind);
  return isPlain ? `${namespace}.${name}` : name;
}

const SEGMENT = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** What a server calls its tool is not ours to choose: words of anything visible go, length aside. */
const MCP_TOOL = /^[^\s\p{C}]+(?: [^\s\p{C}]+)*$/u;
const ALIAS = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
export const MAX_NAME_LENGTH = 256;

/** Says why `name` cannot be the canonical name of a tool of this source; undefined when it can. */
export function nameProblem(
  name: string,
  source: { kind: SourceKind; id: string; trusted: boolean },
): string | undefined {
  if (name.length > MAX_NAME_LENGTH) {
    return `is ${name.length} characters long; at most ${MAX_NAME_LENGTH} are allowed`;
  }
  const segments = name.split(".");
  const first = segments[0] ?? "";
  if (segments.length < 2) {
    return 'must be dotted, such as "notes.read" (a namespace, a dot, the tool)';
  }
  const owner = RESERVED.get(first.toLowerCase());
  const isOwn = owner === source.kind && (owner === "mcp" || source.trusted);
  if (owner !== undefined && !isOwn) {
    return `begins with "${first}", which is reserved for Soong's own ${owner} source`;
  }
  if (source.kind === "mcp") {
    const prefix = `mcp.${source.id}.`;
    return name.startsWith(prefix) && MCP_TOOL.test(name.slice(prefix.length))
      ? undefined
      : `must be "${prefix}" followed by the server's own name for the tool, with single spaces at most`;
  }
  if (owner === undefined && (source.kind === "agent" || source.kind === "internal")) {
    return `must begin with "${source.kind}."`;
  }
  const bad = segments.find((segment) => !SEGMENT.test(segment));
  return bad === undefined
    ? undefined
    : `has the segment "${bad}"; a segment is letters, digits, "_" and "-", not beginning with a digit`;
}

export function aliasProblem(alias: string, source: { kind: SourceKind }): string | undefined {
  const owner = RESERVED.get((alias.split(".")[0] ?? "").toLowerCase());
  if (owner !== undefined && alias.includes(".") && owner !== source.kind) {
    return `begins with a name that is reserved for Soong's own ${owner} source`;
  }
  if (alias.length > MAX_NAME_LENGTH) return `is longer than ${MAX_NAME_LENGTH} characters`;
  return ALIAS.test(alias) ? undefined : 'may hold only letters, digits, ".", "_" and "-"';
}

/** A pattern over canonical names: `*` matches any run of characters, dots included. */
export type NamePattern = string;

export function isExactName(pattern: NamePattern): boolean {
  return !pattern.includes("*");
}

/** Linear in the name for every pattern: each piece between stars is looked for once, left to right. */
export function matchesName(pattern: NamePattern, name: string): boolean {
  if (isExactName(pattern)) return pattern === name;
  const pieces = pattern.split("*");
  const head = pieces[0] ?? "";
  const tail = pieces[pieces.length - 1] ?? "";
  if (name.length < head.length + tail.length) return false;
  if (!name.startsWith(head) || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let at = head.length;
  for (let i = 1; i < pieces.length - 1; i += 1) {
    const piece = pieces[i] ?? "";
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
