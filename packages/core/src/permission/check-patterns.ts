// Rules, flags and hooks that match nothing (PERM-17). A deny with a typing error protects nothing, so it is reported.
// `never`: as written it cannot match. `now`: nothing is there today, and tomorrow there may be.

import type { RegisteredTool } from "../registry/registered-tool.ts";
import { isExactName, KNOWN_TAGS, matchesName } from "../tool/index.ts";
import { nearestName } from "@soong/schema";
import { baseName, findParent } from "./path.ts";
import { linkedPrefix, patternPlaces } from "./path-pattern.ts";
import type { PermissionRule } from "./permission-rule.ts";
import type { PolicyInput } from "./policy.ts";

export interface PatternWarning {
  readonly kind: "never" | "now";
  /** Where it is written: file and line, flag, hook. */
  readonly where: string;
  readonly message: string;
}

export interface PatternWorld {
  readonly tools: readonly RegisteredTool[];
  /** MCP servers of the settings, connected or not, with the tags that all their tools have. */
  readonly servers?: readonly { readonly server_id: string; readonly tags: readonly string[] }[];
  /** Whether the tools of agents and of the session are among the tools. Default: yes. */
  readonly agents?: boolean;
  /** The file that holds the hooks. Default: they come from code. */
  readonly hooksFile?: string;
  /** How to look at a disk. Default: paths are judged by their text alone. */
  readonly disk?: PatternDisk;
}

export interface PatternDisk {
  /** `loop`: its links lead in a circle, so nothing can ever be opened there. */
  kindOf(path: string): "directory" | "file" | "missing" | "dangling" | "loop";
  namesIn(directory: string): readonly string[];
}

/** What rules and hooks have in common; `id` is that of a hook. */
type Pattern = Pick<PermissionRule, "tool" | "tags" | "path" | "argv">;
type PatternHook = Omit<Pattern, "argv"> & { readonly id: string };
interface Found {
  readonly kind: PatternWarning["kind"];
  readonly message: string;
}

/** The rules and hooks that cannot match, each with the reason (PERM-17). */
export function checkPatterns(
  policy: PolicyInput,
  hooks: readonly PatternHook[],
  world: PatternWorld,
): PatternWarning[] {
  const places = patternPlaces(policy);
  const check = (pattern: Pattern, by: "allow" | "restricting" | "hook"): Found[] => {
    const { tool, tags, path, argv } = pattern;
    const ofTool = tool === undefined ? undefined : checkTool(tool, world);
    if (ofTool !== undefined) return [ofTool];
    return [
      ...(tags === undefined ? [] : checkTags(tags, tool, by === "hook", world)),
      ...(argv === undefined ? [] : checkArgv(argv, tool, world)),
      ...(path === undefined
        ? []
        : (checkPathOfTool(path, tool, world) ??
          checkPath(path, linkedPrefix(path, places), {
            allows: by === "allow",
            disk: world.disk,
            project: places.project,
          }))),
    ];
  };
  const inFile = world.hooksFile === undefined ? "" : `${world.hooksFile}, `;
  return [
    ...(policy.rules ?? []).flatMap((rule) =>
      check(rule, rule.decision === "allow" ? "allow" : "restricting").map((found) => ({
        ...found,
        where: describeOrigin(rule),
      })),
    ),
    ...hooks.flatMap((hook) =>
      check(hook, "hook").map((found) => ({
        ...found,
        where: `${inFile}hook ${JSON.stringify(hook.id)}`,
      })),
    ),
  ];
}

function checkTool(pattern: string, world: PatternWorld): Found | undefined {
  const { tools, servers = [], agents = true } = world;
  if (tools.some(({ name }) => matchesName(pattern, name))) return undefined;
  const [space = "", second = ""] = pattern.split(".");
  const said = `tool ${JSON.stringify(pattern)}`;
  if (space.includes("*")) {
    return servers.length > 0 ? undefined : never(`${said} matches no tool`);
  }
  if (!agents && (space === "agent" || space === "internal")) return undefined;
  if (space === "mcp") {
    if (second.includes("*") || second === "") return undefined;
    const ids = servers.map(({ server_id }) => server_id);
    if (ids.includes(second)) return undefined;
    const hint = suggest(nearestName(second, ids));
    return never(
      `${said} matches nothing: no MCP server ${JSON.stringify(second)} is configured${hint}`,
    );
  }
  const names = tools.map(({ name }) => name);
  const spaces = [...new Set(names.map((name) => `${name.split(".")[0]}.*`))];
  const near = nearestName(pattern, pattern.includes("*") ? spaces : names);
  return never(`${said} matches no tool${suggest(near)}`);
}

function checkTags(
  tags: readonly string[],
  tool: string | undefined,
  isHook: boolean,
  world: PatternWorld,
): Found[] {
  const { tools, servers = [] } = world;
  const known = new Set<string>([
    ...KNOWN_TAGS,
    ...tools.flatMap((one) => one.tags),
    ...servers.flatMap((server) => server.tags),
  ]);
  const unknown = tags.filter((tag) => !known.has(tag));
  if (unknown.length > 0) {
    return unknown.map((tag) =>
      never(
        `tags has ${JSON.stringify(tag)}, which no tool has${suggest(nearestName(tag, [...known]))}`,
      ),
    );
  }
  const named = namedTools(tool, world);
  const has = (one: RegisteredTool, tag: string): boolean =>
    // A rule takes these two from the call, a hook from the tool.
    (!isHook && (tag === "readonly" || tag === "write")) || one.tags.includes(tag);
  if (named.mayCome || named.tools.some((one) => tags.every((tag) => has(one, tag)))) return [];
  const which = tool === undefined ? "no tool" : `no tool that ${JSON.stringify(tool)} matches`;
  const message = `tags ${JSON.stringify(tags)} match nothing: ${which} has all of them`;
  return [tool !== undefined && isExactName(tool) ? never(message) : now(message)];
}

function checkArgv(
  argv: readonly string[],
  tool: string | undefined,
  world: PatternWorld,
): Found[] {
  const found: Found[] = [];
  const [program = ""] = argv;
  const words = program.trim().split(/\s+/);
  const isThere = program.startsWith("/") && world.disk?.kindOf(program) === "file";
  if (words.length > 1 && !isThere) {
    const better = JSON.stringify([...words, ...argv.slice(1)]);
    found.push(
      never(
        `argv matches nothing: ${JSON.stringify(program)} is one item, the name of the program; write argv = ${better}`,
      ),
    );
  }
  // A tool of a server names no commands.
  const runsNone = tool?.startsWith("mcp.") || !mayTouch(tool, world, mayRunCommands);
  if (tool !== undefined && runsNone) {
    found.push(never(`argv matches nothing: ${JSON.stringify(tool)} runs no commands`));
  }
  return found;
}

/** Undefined: its tools touch paths. */
function checkPathOfTool(
  path: string,
  tool: string | undefined,
  world: PatternWorld,
): Found[] | undefined {
  if (tool === undefined || mayTouch(tool, world, mayNamePaths)) return undefined;
  const said = `path ${JSON.stringify(path)} matches nothing`;
  return [never(`${said}: ${JSON.stringify(tool)} touches no paths`)];
}

function mayTouch(
  tool: string | undefined,
  world: PatternWorld,
  touches: (one: RegisteredTool) => boolean,
): boolean {
  const { tools, mayCome } = namedTools(tool, world);
  return mayCome || tools.some(touches);
}

/** The tools of this pattern, and whether others may come that only their server or a session knows. */
function namedTools(
  tool: string | undefined,
  { tools, servers = [], agents = true }: PatternWorld,
): { readonly tools: readonly RegisteredTool[]; readonly mayCome: boolean } {
  const named = tool === undefined ? tools : tools.filter(({ name }) => matchesName(tool, name));
  const [space = "*"] = tool?.split(".") ?? [];
  const isOpen = space.includes("*");
  return {
    tools: named,
    mayCome:
      ((isOpen || space === "mcp") && servers.length > 0) ||
      (space === "mcp" && named.length === 0) ||
      (!agents && (isOpen || space === "agent" || space === "internal")),
  };
}

/** Of Soong's own tools only those with targets; of others, every path in their input is looked for. */
function mayNamePaths(tool: RegisteredTool): boolean {
  return !["agent", "internal"].includes(tool.source.kind) || namesTargets(tool);
}

function namesTargets({ definition }: RegisteredTool): boolean {
  return definition.targets !== undefined || definition.prepare !== undefined;
}

function mayRunCommands(tool: RegisteredTool): boolean {
  // The built-in tools say by a tag that they run programs; of others nothing is known.
  const isBuiltIn = tool.name.startsWith("code.") && tool.tags.includes("filesystem");
  return namesTargets(tool) && (!isBuiltIn || tool.tags.includes("shell"));
}

interface PathPlaces {
  readonly allows: boolean;
  readonly disk: PatternDisk | undefined;
  readonly project: string | undefined;
}

function checkPath(pattern: string, path: string, { allows, disk, project }: PathPlaces): Found[] {
  const said = `path ${JSON.stringify(pattern)} matches nothing`;
  const kind = disk?.kindOf(path) ?? "missing";
  if (kind === "directory" || kind === "file") return [];
  if (kind === "loop") return [never(`${said}: the links of ${path} lead in a circle`)];
  const variable = VARIABLE.exec(path)?.[1];
  if (variable !== undefined && pattern.includes(variable)) {
    const instead = pattern.startsWith("$HOME/")
      ? JSON.stringify(`~/${pattern.slice("$HOME/".length)}`)
      : "the path itself";
    return [never(`${said}: variables such as ${variable} are not expanded; write ${instead}`)];
  }
  if (disk === undefined) return [];
  const { above, missing } = firstMissing(path, disk);
  if (disk.kindOf(above) === "file") return [never(`${said}: ${above} is a file`)];
  // A place that is allowed may well be made later.
  if (allows) return [];
  if (kind === "dangling") return [now(`${said} now: the link ${path} leads nowhere`)];
  // As in `.gitignore`, where a leading slash means the project.
  if (pattern.startsWith("/") && project !== undefined && isThere(disk, project + missing)) {
    const better = JSON.stringify(pattern.slice(1));
    return [never(`${said}: there is no ${missing}; did you mean ${better}, in the project?`)];
  }
  const near = nearestName(baseName(missing), disk.namesIn(above));
  if (near !== undefined) return [never(`${said}: there is no ${missing}${suggest(near)}`)];
  // A whole way outside the project that is not there was hardly meant; one name may be made at any time.
  const isElsewhere = pattern.startsWith("/") || pattern.startsWith("~/");
  return isElsewhere && missing !== path
    ? [never(`${said}: there is no ${missing}`)]
    : [now(`${said} now: there is no ${missing}`)];
}

function isThere(disk: PatternDisk, path: string): boolean {
  return /^(?:directory|file)$/.test(disk.kindOf(path));
}

/** A whole name of capitals: `$id.tsx` is the name of a file. */
const VARIABLE = /\/(\$[A-Z_][A-Z0-9_]*)(?:\/|$)/;

function firstMissing(path: string, disk: PatternDisk): { above: string; missing: string } {
  let above = findParent(path);
  let missing = path;
  while (above !== "/" && disk.kindOf(above) === "missing") {
    missing = above;
    above = findParent(above);
  }
  return { above, missing };
}

function describeOrigin({ origin }: PermissionRule): string {
  const { file, line, flag, code } = origin ?? {};
  if (file !== undefined) return line === undefined ? file : `${file}:${line}`;
  return flag ?? code ?? "a rule";
}

function suggest(near: string | undefined): string {
  return near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
}

function never(message: string): Found {
  return { kind: "never", message };
}

function now(message: string): Found {
  return { kind: "now", message };
}
