// The text of a config, checked and with its defaults. All mistakes are reported at once, in the order of the file.

import { createRedactor, SoongError } from "@soong/core";
import {
  checkDocument,
  describeProblem,
  parseDocument,
  problemAt,
  shape,
  type DocumentPath,
  type Place,
  type Problem,
  type Shape,
  type UserDocument,
} from "@soong/platform";
import { isPlainRecord, nearestName } from "@soong/schema";
import { LOOKS_LIKE_A_KEY, type AnyNode, type AnyTable, type Setting } from "./definition.ts";
import { PROVIDERS, SECTIONS, type SoongConfig } from "./sections.ts";

/** A config that cannot be used (CONF-2). Its message has a line for every problem. */
export class ConfigError extends SoongError {
  override readonly name = "ConfigError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super("invalid_config", problems.map(describeProblem).join("\n"), { exitCode: 2 });
    this.problems = problems;
  }
}

/** Throws a ConfigError. `file` is the name its problems and rules go by. */
export function parseConfig(text: string, file: string): SoongConfig {
  return parseWithWarnings(text, file).values;
}

export function parseWithWarnings(
  text: string,
  file: string,
): { values: SoongConfig; warnings: readonly Problem[] } {
  const parsed = parseDocument(text, file, "toml");
  if (!parsed.ok) throw new ConfigError(parsed.problems);
  const { document } = parsed;
  const checked = checkDocument(document, checkConfig, { most: Infinity });
  if (!checked.ok) throw new ConfigError(checked.problems);
  const values = fillTable(SECTIONS, checked.value) as SoongConfig;
  const problems = checkTogether(values);
  if (problems.length > 0) {
    throw new ConfigError(problems.map(([path, message]) => problemAt(document, path, message)));
  }
  return { values: addOrigins(values, document), warnings: checked.warnings };
}

/** Where each rule is written, so that `explain` can point at it (PERM-11). */
function addOrigins(values: SoongConfig, document: UserDocument): SoongConfig {
  const { file } = document;
  const rules = values.permissions.rules.map((rule, index) => {
    const { line } = document.positionOf(["permissions", "rules", index], "key");
    return { ...rule, origin: { file, line } };
  });
  return { ...values, permissions: { ...values.permissions, rules } };
}

const checkConfig: Shape<unknown> = (value, place) => {
  const keys = findKeys(value).filter((path) => !OWN_ADVICE.has(path.join(".")));
  for (const path of keys) place.in(...path).report(LOOKS_LIKE_A_KEY);
  // Nothing more must be said of those.
  const known = new Set(keys.map((path) => path.join("\0")));
  const isKnown = (path: DocumentPath): boolean => known.has(path.join("\0"));
  checkTable(SECTIONS, "", value, withoutReports(place, isKnown));
};

/** Only of tables that are in the file a shape is made. */
function checkTable(table: AnyTable, name: string, value: unknown, place: Place): void {
  const short = typeof value === "string" ? meantByText(table) : undefined;
  if (short !== undefined) {
    short.kind.shape(value, place);
    return;
  }
  const fields = Object.entries(table.keys).flatMap(([key, node]) => {
    const check = shape.optional(createShape(node, name === "" ? key : `${name}.${key}`));
    return [key, ...listAliases(node)].map((one) => [one, check] as const);
  });
  const check = shape.object(Object.fromEntries(fields), {
    what: name === "" ? "the config" : `[${name}]`,
    names: Object.keys(table.keys),
    hint: (key) => {
      const home = findSectionWith(key);
      return home === undefined ? undefined : `it belongs in [${home}]`;
    },
    together(given, at) {
      checkNames(table, given, at);
      table.together?.(given, at);
    },
  });
  check(value, place);
}

function meantByText({ asText = "", keys }: AnyTable): Setting<unknown> | undefined {
  const node = keys[asText];
  return node !== undefined && "kind" in node ? node : undefined;
}

function createShape(node: AnyNode, name: string): Shape<unknown> {
  if ("keys" in node) return (value, place) => checkTable(node, name, value, place);
  if ("each" in node) {
    const { each, nameProblem } = node;
    return (value, place) =>
      shape.record((one, at) => checkTable(each, `${name}.NAME`, one, at), { nameProblem })(
        value,
        place,
      );
  }
  return node.kind.shape;
}

function listAliases(node: AnyNode): readonly string[] {
  return "kind" in node ? (node.aliases ?? []) : [];
}

/** What is needed is there, and nothing under two names. */
function checkNames(table: AnyTable, value: Readonly<Record<string, unknown>>, place: Place): void {
  for (const [key, node] of Object.entries(table.keys)) {
    if (!("kind" in node)) continue;
    if (!Object.hasOwn(value, key)) {
      const words = node.kind.words.replaceAll("`", "");
      if (node.needed === true) place.in(key).report(`is missing; expected: ${words}`);
      continue;
    }
    for (const alias of listAliases(node)) {
      if (!Object.hasOwn(value, alias)) continue;
      place.in(alias).reportKey(`is another name of ${key}; write one of them`);
    }
  }
}

function findSectionWith(key: string): string | undefined {
  const sections: [string, AnyNode][] = Object.entries(SECTIONS.keys);
  return sections.find(([, one]) => "keys" in one && Object.hasOwn(one.keys, key))?.[0];
}

/** The paths of every text that looks like a key. */
function findKeys(value: unknown, path: DocumentPath = []): DocumentPath[] {
  if (typeof value === "string") return REDACTOR.finds(value) ? [path] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => findKeys(item, [...path, index]));
  if (!isPlainRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => findKeys(member, [...path, key]));
}

const REDACTOR = createRedactor();

/** Settings whose own check finds a password, and says more about where it goes. */
const OWN_ADVICE: ReadonlySet<string> = new Set(["store.url"]);

function withoutReports(place: Place, isDropped: (path: DocumentPath) => boolean): Place {
  if (isDropped(place.path)) return { ...place, report() {}, reportKey() {} };
  return { ...place, in: (...steps) => withoutReports(place.in(...steps), isDropped) };
}

/** Defaults for what a sound value does not have. Names from a file are looked up in it: it has no prototype. */
function fillTable(table: AnyTable, value: unknown): object {
  const given = readTable(table, value);
  const filled = Object.create(null) as Record<string, unknown>;
  for (const [key, node] of Object.entries(table.keys)) {
    const aliases = "kind" in node ? node.aliases : undefined;
    const name = Object.hasOwn(given, key)
      ? key
      : aliases?.find((one) => Object.hasOwn(given, one));
    filled[key] = fillNode(node, name === undefined ? undefined : given[name]);
  }
  return filled;
}

function readTable({ asText }: AnyTable, value: unknown): Readonly<Record<string, unknown>> {
  if (asText !== undefined && typeof value === "string") return { [asText]: value };
  return isPlainRecord(value) ? value : {};
}

function fillNode(node: AnyNode, value: unknown): unknown {
  if ("kind" in node) return value ?? node.default;
  if ("keys" in node) return fillTable(node, value);
  const filled = Object.create(null) as Record<string, unknown>;
  for (const [name, one] of Object.entries(isPlainRecord(value) ? value : {})) {
    filled[name] = fillTable(node.each, one);
  }
  return filled;
}

type PlacedProblem = readonly [path: DocumentPath, message: string];

/** Settings that are sound one by one and make no sense together (CONF-2). */
function checkTogether(values: SoongConfig): PlacedProblem[] {
  const { model, models, tools, agents, memory, store } = values;
  const problems: PlacedProblem[] = [];
  const report = (path: DocumentPath, message: string): void => void problems.push([path, message]);
  if (tools.default_timeout_ms > tools.max_timeout_ms) {
    const most = `max_timeout_ms (${tools.max_timeout_ms})`;
    report(["tools", "default_timeout_ms"], `is more than ${most}; raise that, too`);
  }
  for (const [pattern, override] of Object.entries(tools.overrides)) {
    const path = ["tools", "overrides", pattern];
    if ((override.timeout_ms ?? 0) > tools.max_timeout_ms) {
      const most = `tools.max_timeout_ms (${tools.max_timeout_ms})`;
      report([...path, "timeout_ms"], `is more than ${most}; raise that, too`);
    }
    if (override.readonly !== undefined && !pattern.startsWith("mcp.")) {
      report(
        [...path, "readonly"],
        "is for tools of MCP servers only (mcp.…); what other tools do is known",
      );
    }
    if (override.sandbox !== undefined && pattern.startsWith("mcp.")) {
      report(
        [...path, "sandbox"],
        "is for tools that run commands; the process of an MCP server is sandboxed by its entry in mcp.json",
      );
    }
  }
  for (const [name, { prices, provider, base_url }] of Object.entries(models.profiles)) {
    const path = ["models", "profiles", name];
    const { currency: _, ...given } = prices;
    const hasPrices = Object.values(given).some((price) => price !== undefined);
    for (const key of ["input", "output"] as const) {
      if (!hasPrices || given[key] !== undefined) continue;
      report([...path, "prices"], `has no ${key}: without it no cost is known`);
    }
    if (provider === "openai-compatible" && base_url === undefined) {
      report(path, "needs a base_url: openai-compatible has no own address");
    }
  }
  if (memory.write_mode === "external" && memory.external_tool === undefined) {
    report(
      ["memory", "write_mode"],
      'is "external", and external_tool does not say which tool of an MCP server keeps memories',
    );
  }
  if (memory.provider === "external" && memory.recall_tool === undefined) {
    report(
      ["memory", "provider"],
      'is "external", and recall_tool does not say which tool of an MCP server recalls memories',
    );
  }
  if (store.password_env !== undefined && store.url === undefined) {
    report(
      ["store", "password_env"],
      "names the password of a database, and url does not say which database",
    );
  }
  const references: (readonly [DocumentPath, string | undefined])[] = [
    [["model", "default"], model.default],
    ...Object.entries(agents.worker_pools).map(
      ([name, pool]) => [["agents", "worker_pools", name, "model"], pool.model] as const,
    ),
    ...models.fallback.map((text, index) => [["models", "fallback", index], text] as const),
  ];
  for (const [path, reference] of references) {
    if (reference === undefined) continue;
    const wrong = findReferenceProblem(reference, Object.keys(models.profiles));
    if (wrong !== undefined) report(path, wrong);
  }
  return problems;
}

/** Whether a text names a model, as a clause; `profiles` are the names in this config. */
function findReferenceProblem(reference: string, profiles: readonly string[]): string | undefined {
  if (profiles.includes(reference)) return undefined;
  const colon = reference.indexOf(":");
  if (colon === -1) {
    const near = nearestName(reference, profiles);
    if (near !== undefined) return `is not a profile; did you mean "${near}"?`;
    return 'is not a profile of [models.profiles]; write one there, or "provider:model"';
  }
  const prefix = reference.slice(0, colon);
  const prefixes: readonly string[] = [...PROVIDERS, "script"];
  if (!prefixes.includes(prefix)) {
    const near = nearestName(prefix, prefixes);
    const hint =
      near === undefined ? `known are ${prefixes.join(", ")}` : `did you mean "${near}"?`;
    return `names no known provider before its colon; ${hint}`;
  }
  return colon === reference.length - 1 ? "names nothing behind its colon" : undefined;
}
