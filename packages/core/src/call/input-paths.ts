// Paths in the input of a tool that does not resolve them itself: a declared command, a tool of a server, a plain
// function (PERM-15). What restricts such a path restricts the call, before any hook or rule sees it. What the input does
// not call a path is taken for one only where that cannot be mistaken: text that mentions a file needs no approval.

import type { JsonSchema, JsonValue } from "@soong/schema";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import type { FindPath, Places, Resource, Restriction, Targets } from "../tool/index.ts";
import type { AcceptedCall } from "./call.ts";
import { createPlaces, placesOfReading } from "./context.ts";

/** Adds to the targets what the input names, or leaves them as they are. */
export async function withInputPaths(
  call: AcceptedCall,
  targets: Targets | undefined,
  findPath: FindPath,
): Promise<Targets | undefined> {
  const places = createPlaces(call.run, call.tool);
  const reading = placesOfReading(call.run);
  const found = new Map<string, Resource>();
  for (const given of givenPaths(call, targets)) {
    // What cannot be looked up, such as a circle of links, cannot be opened by the tool either.
    const looked = await Promise.resolve(given)
      .then((path) => findPath(path, places))
      .catch(() => undefined);
    if (looked === undefined) continue;
    const { resource, exists } = looked;
    const isSurelyMeant = given.kind !== "text" || exists;
    const counts =
      given.kind === "declared" ||
      (resource.may_reach ?? []).length > 0 ||
      (isSurelyMeant &&
        (resource.sensitive === true || findRestrictions(resource, places).length > 0)) ||
      (given.looksLikePath &&
        findRestrictions(resource, reading).some(({ decision }) => decision === "deny"));
    if (!counts) continue;
    const marked = given.kind === "declared" ? resource : { ...resource, only_restricts: true };
    found.set(`${resource.path}\0${resource.access}`, marked);
  }
  if (found.size === 0) return targets;
  return { ...targets, resources: [...(targets?.resources ?? []), ...found.values()] };
}

/** Soong's own tools name their targets, and so does a code tool that has a planner; a remote server is on another disk. */
export function mayNamePaths({ source, definition }: RegisteredTool): boolean {
  switch (source.kind) {
    case "agent":
    case "internal":
      return false;
    case "code":
      return definition.targets === undefined && definition.prepare === undefined;
    case "declarative":
      return true;
    case "mcp":
      return source.host === undefined || LOOPBACK.test(source.host);
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/i;

/** One word that has the form of a path: under a deny it is taken for one, whether it is there or not. */
function looksLikePath(text: string): boolean {
  return /^[^\s]+$/.test(text) && (text.startsWith(".") || text.includes("/"));
}

function findRestrictions(
  { path, also = [], access, ignores_case }: Extract<Resource, { kind: "path" }>,
  { restrictedBy }: Places,
): Restriction[] {
  return [path, ...also].flatMap((name) => restrictedBy(name, access, ignores_case) ?? []);
}

/** `declared`: by the tool's author; `named`: by its field, or as a file URI; `text`: any other. */
type PathKind = "declared" | "named" | "text";

interface GivenInputPath {
  readonly kind: PathKind;
  readonly path: string;
  readonly directory: string;
  readonly access: "read" | "write";
  readonly mayWalk: boolean;
  readonly looksLikePath: boolean;
}

function givenPaths(call: AcceptedCall, targets: Targets | undefined): GivenInputPath[] {
  const { run, tool } = call;
  const texts: InputText[] = [];
  collect(call.input, { schema: tool.input.original, kind: "text", bases: [] }, texts);
  // A server's word about its own input may only tighten (MCP-6): it makes no target that a rule could allow.
  const trusted = texts.map((one) =>
    one.kind === "declared" && !tool.source.trusted ? { ...one, kind: "named" as const } : one,
  );
  const commands = (targets?.resources ?? []).filter((one) => one.kind === "command");
  for (const { argv } of commands) {
    for (const argument of argv.slice(1)) trusted.push(...textsOfArgument(argument));
  }
  const cwds = commands.map(({ cwd }) => cwd);
  const directories =
    cwds.length > 0
      ? cwds
      : [run.roots.project, ...(tool.source.directories ?? [])].filter((one) => one !== "");
  const { home } = run.policy.input;
  const all = trusted.flatMap(spellings).flatMap(({ text, kind, bases }): GivenInputPath[] => {
    const path = pathIn(text, kind, home);
    if (path === undefined) return [];
    const isDeclared = path.kind === "declared";
    const access = isDeclared && !call.effects.read_only ? "write" : "read";
    const mayWalk = path.kind !== "text";
    const about = { ...path, access, mayWalk, looksLikePath: looksLikePath(path.path) } as const;
    // An absolute one may lead through the directory of the process.
    const from = directories.length === 0 ? ["/"] : directories;
    const isAbsolute = path.path.startsWith("/");
    const others = isAbsolute ? [] : bases.flatMap((base) => pathIn(base, "named", home) ?? []);
    // From another field, it only restricts.
    const kindThere = isDeclared ? "named" : path.kind;
    return from.flatMap((directory) => [
      { ...about, directory },
      ...others.map((base) => ({
        ...about,
        kind: kindThere,
        access: "read" as const,
        path: `${base.path}/${path.path}`,
        directory,
      })),
    ]);
  });
  // Where a command runs counts as one: `cat db` there names no restricted path.
  for (const path of cwds) {
    const about = { kind: "named", access: "read", mayWalk: false, looksLikePath: true } as const;
    all.push({ ...about, path, directory: "/" });
  }
  const distinct = new Map(all.map((one) => [JSON.stringify(one), one]));
  return [...distinct.values()].slice(0, MOST_PATHS);
}

const MOST_PATHS = 10_000;
const MOST_PATH_CHARS = 4096;

interface InputText {
  readonly text: string;
  readonly kind: PathKind;
  /** Paths in other fields, from which this one may be meant. */
  readonly bases: readonly string[];
}

interface Collecting extends Omit<InputText, "text"> {
  readonly schema: unknown;
}

const MOST_BASES = 16;

/** Depth is bounded by the limits on arguments. */
function collect(value: JsonValue | undefined, about: Collecting, texts: InputText[]): void {
  const schema = (about.schema ?? {}) as JsonSchema;
  const { kind, bases } = about;
  if (typeof value === "string") {
    texts.push({ text: value, kind: isPathFormat(schema) ? "declared" : kind, bases });
  } else if (Array.isArray(value)) {
    const items = isPathFormat(schema) ? schema : schema["items"];
    for (const item of value) collect(item, { schema: items, kind, bases }, texts);
  } else if (typeof value === "object" && value !== null) {
    const properties = (schema["properties"] ?? {}) as Record<string, unknown>;
    const fields = Object.entries(value);
    const beside = fields.flatMap(([field, item]) =>
      typeof item === "string" && isPathField(field) ? [{ field, item }] : [],
    );
    for (const [field, item] of fields) {
      const isKnown = Object.hasOwn(properties, field);
      const others = beside.flatMap((one) => (one.field === field ? [] : [one.item]));
      const from = [...new Set([...bases, ...others])].slice(0, MOST_BASES);
      // A name that the schema does not have is part of what is given.
      if (!isKnown) texts.push({ text: field, kind, bases: from });
      const own = isKnown ? properties[field] : undefined;
      const kindOfField = isPathField(field) ? "named" : "text";
      collect(item, { schema: own, kind: kindOfField, bases: from }, texts);
    }
  }
}

/** As it is given, without blanks around it, and the parts of a list in one text. */
function spellings(given: InputText): InputText[] {
  const trimmed = given.text.trim();
  const isList = given.kind !== "text" || !/\s/.test(trimmed);
  const parts = isList ? trimmed.split(/[,;\n]/).map((part) => part.trim()) : [];
  return [
    given,
    ...(trimmed === given.text ? [] : [{ ...given, text: trimmed }]),
    ...(parts.length < 2 ? [] : parts.map((text) => ({ ...given, text, kind: "text" as const }))),
  ];
}

function isPathFormat(schema: JsonSchema): boolean {
  return typeof schema === "object" && PATH_FORMATS.has(String(schema["format"]));
}

const PATH_FORMATS: ReadonlySet<string> = new Set(["path", "file-path", "directory-path"]);

/** `path`, `filePath`, `output_dir`, `files`. */
function isPathField(field: string): boolean {
  const words = field.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
  return PATH_FIELD.test(words);
}

const PATH_FIELD =
  /(?:^|[_.-])(?:path|file|filename|filepath|dir|directory|folder|root|cwd|source|destination)s?(?:[_-]?name)?$/;

/** As a whole, and behind what programs write before a file name: `--config=`, `@`. */
function textsOfArgument(argument: string): InputText[] {
  const behind = [/^-[^=]*=(.+)$/s, /^[^=@\s]*=?@(.+)$/s, /^-[A-Za-z]([^-=].*)$/s];
  const pieces = behind.flatMap((before) => before.exec(argument)?.[1] ?? []);
  return [argument, ...pieces].map((text) => ({ text, kind: "text", bases: [] }));
}

/** Undefined for what can be no path, or is text rather than a name. */
function pathIn(
  text: string,
  kind: PathKind,
  home: string | undefined,
): { path: string; kind: PathKind } | undefined {
  if (text === "" || text.length > MOST_PATH_CHARS || text.includes("\0")) return undefined;
  const uri = FILE_URI.exec(text)?.[1];
  if (uri !== undefined) return { path: decoded(uri), kind: kind === "text" ? "named" : kind };
  if (HAS_SCHEME.test(text) || (kind === "text" && text.includes("\n"))) return undefined;
  const expanded = home === undefined ? text : text.replace(/^~(?=\/|$)/, () => home);
  return { path: expanded, kind };
}

const FILE_URI = /^file:(?:(?:\/\/[^/?#]*)?(?=\/)|(?=[^\s/]\S*$))([^?#]*)/i;
const HAS_SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
