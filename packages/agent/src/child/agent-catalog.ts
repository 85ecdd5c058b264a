// All definitions there are: the built-in ones, those from code, those of the home's folder (AGENT-1). An invalid one
// is reported as a problem and does not affect the others.

import { join, basename } from "node:path";
import {
  type Role,
  type JsonSchema,
  type Mode,
  type PermissionRule,
  compilePolicy,
  readSchema,
} from "@soong/core";
import {
  checkValue,
  type Problem,
  shape,
  sortProblems,
  type DocumentPath,
  type Place,
  type Shape,
} from "@soong/platform";
import { MODES, matchesName } from "@soong/core/internal";
import { isRecord } from "@soong/schema";
import { CLAUDE_CODE_FIELDS, readClaudeCodeFields } from "./claude-code-fields.ts";
import {
  formShape,
  listFolder,
  readMarkdown,
  readTextFile,
  rejectDocument,
  type RejectedDocument,
} from "../document/index.ts";

export interface AgentCatalog {
  /** By id. */
  readonly definitions: ReadonlyMap<string, AgentDefinition>;
  readonly problems: readonly Problem[];
  /** What has no meaning here, in files that can be used: mostly of files for another program. */
  readonly warnings: readonly Problem[];
  /** Those that may be started so, by id. */
  startableAs(role: Role): readonly AgentDefinition[];
}

export interface AgentCatalogOptions {
  /** `${SOONG_AGENT_HOME}/agents`; one that is not there holds nothing. */
  readonly folder?: string;
  /** Checked as those in files are; a mistake here throws. */
  readonly code?: readonly WrittenDefinition[];
  /** Names that a definition may have as its model beside `provider:model`: the profiles of the config. */
  readonly profiles?: readonly string[];
}

const MOST_FILE_BYTES = 256 * 1024;
const MOST_FILES = 500;

export async function loadAgentCatalog(options: AgentCatalogOptions = {}): Promise<AgentCatalog> {
  const { folder, code = [], profiles } = options;
  const definitions = new Map(BUILT_IN_DEFINITIONS.map((one) => [one.id, one]));
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const written of code) {
    checkCodeDefinition(written);
    const refused = addDefinition(definitions, written, { kind: "code" });
    if (refused !== undefined) throw new TypeError(`agent definition "${written.id}" ${refused}`);
  }
  const wanted = {
    max: MOST_FILES,
    what: "definitions",
    isMeant: ({ name }: { name: string }) => name.endsWith(".md"),
  };
  for (const name of folder === undefined ? [] : await listFolder(folder, problems, wanted)) {
    const file = join(folder ?? "", name);
    const read = await readTextFile(file, MOST_FILE_BYTES);
    const parsed = read.ok ? parseAgentDefinition(read.text, file, { profiles }) : read;
    if (!parsed.ok) problems.push(...parsed.problems);
    else {
      warnings.push(...parsed.warnings);
      const refused = addDefinition(definitions, parsed.definition, { kind: "file", file });
      if (refused === undefined) continue;
      problems.push({ file, line: 1, column: 1, field: "id", message: refused });
    }
  }
  return {
    definitions,
    problems,
    warnings,
    startableAs: (role) =>
      [...definitions.values()]
        .filter(({ roles }) => roles.includes(role))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

/** The reason, as a clause, when it is not taken. */
function addDefinition(
  definitions: Map<string, AgentDefinition>,
  { override = false, roles, ...written }: WrittenDefinition,
  origin: DefinitionOrigin,
): string | undefined {
  const { id } = written;
  const there = definitions.get(id);
  const isBuiltIn = there?.origin.kind === "built_in";
  if (there !== undefined && !isBuiltIn) {
    const first = describeOrigin(there.origin);
    return `is "${id}", which ${first} has already: choose another, or remove one of the two`;
  }
  if (isBuiltIn && !override) {
    return `is "${id}", a built-in definition: write override: true to put this in its place, or choose another id`;
  }
  if (!isBuiltIn && override) {
    const known = BUILT_IN_DEFINITIONS.map((definition) => definition.id).join(", ");
    return `is "${id}", and there is no built-in definition of that id to override; there are ${known}`;
  }
  const missing = there?.roles.filter((role) => roles !== undefined && !roles.includes(role)) ?? [];
  if (missing.length > 0) {
    return `is "${id}", which has to be startable as ${missing.join(", ")}: add that to its roles`;
  }
  const given = roles ?? there?.roles ?? USUAL_ROLES;
  definitions.set(id, Object.freeze({ ...written, roles: given, origin }));
  return undefined;
}

function checkCodeDefinition(written: WrittenDefinition): void {
  const problems = checkValue(written, CODE_DEFINITION).map(
    ({ path, message }) => `${path.length === 0 ? "it" : path.join(".")} ${message}`,
  );
  if (problems.length === 0) return;
  const id = typeof written?.id === "string" ? ` "${written.id}"` : "";
  throw new TypeError(`agent definition${id}: ${problems.join("; ")}`);
}

// What an agent is before it runs (AGENT-1): its roles, its system text, the tools it may request. A definition requests and
// narrows; it grants nothing (SURF-4, PERM-9).

export interface AgentDefinition {
  readonly id: string;
  /** For display. */
  readonly name?: string;
  /** What it is good for. */
  readonly description: string;
  /** What it may be started as. */
  readonly roles: readonly Role[];
  /** Its own part of the system text. */
  readonly system: string;
  /** A reference, as in the config. Default: the model of the run that starts it. */
  readonly model?: string;
  readonly mode?: Mode;
  /** A preference, never a permission. */
  readonly suggested_tools?: readonly string[];
  /** What it may be started with at the most, within the ceiling of its role. Default: the role's. */
  readonly allowed_tools?: readonly string[];
  /** What it cannot have of `allowed_tools` is skipped. By default it is not started. */
  readonly skip_missing_tools?: boolean;
  /** Ask and deny only: they narrow what its parent may do. */
  readonly rules?: readonly PermissionRule[];
  readonly max_turns?: number;
  readonly timeout_ms?: number;
  readonly expected_output_schema?: JsonSchema;
  readonly origin: DefinitionOrigin;
}

export type DefinitionOrigin =
  | { readonly kind: "built_in" }
  | { readonly kind: "code" }
  | { readonly kind: "file"; readonly file: string };

/** As it is written, in a file or in code. */
export interface WrittenDefinition extends Omit<AgentDefinition, "roles" | "origin"> {
  readonly roles?: readonly Role[];
  /** Takes the place of the built-in of this id. */
  readonly override?: boolean;
}

/** What a definition that does not say so may be started as. */
const USUAL_ROLES: readonly Role[] = ["sub", "fork"];

export function describeOrigin(origin: DefinitionOrigin): string {
  if (origin.kind === "file") return origin.file;
  return origin.kind === "code" ? "a definition from code" : "a built-in definition";
}

// The agents that are always there, one for each way to start one.

export const DEFAULT_SUB_AGENT = "default_sub_agent";
export const DEFAULT_FORK_AGENT = "default_fork_agent";
export const DEFAULT_WORKER_AGENT = "default_worker_agent";

export const BUILT_IN_DEFINITIONS: readonly AgentDefinition[] = [
  {
    id: DEFAULT_SUB_AGENT,
    description:
      "For a task that can be described in full: it knows the task and the context it is given, and nothing of the conversation.",
    roles: ["sub"],
    system:
      "You do one task for another agent. All you know of it is in the task and the context you are given: where something you need is missing, find it with your tools, or say that it is missing.",
    origin: { kind: "built_in" },
  },
  {
    id: DEFAULT_FORK_AGENT,
    description:
      "For a task that needs what was said before: it has read the whole conversation, and continues on its own from here.",
    roles: ["fork"],
    system:
      "You have read the conversation up to here, and now do one task of it on your own. The agent that continues the conversation sees your answer and nothing else of what you do.",
    origin: { kind: "built_in" },
  },
  {
    id: DEFAULT_WORKER_AGENT,
    description: "For steps of a task: it claims a ready step, does it, and reports on the step.",
    roles: ["worker"],
    system: [
      "You work on a task that is kept as steps with dependencies. Read the task, claim the step you were given or one that is ready, do it, and update it: completed with what came of it, or failed or blocked with the reason.",
      "What counts is what the step says, not what you write at the end: a step you do not update counts as not done.",
    ].join(" "),
    origin: { kind: "built_in" },
  },
];

// What a definition may say, as one check: every mistake is reported with its place, and an unknown key is one.

const { choice, flag, list, object, optional, text, wholeNumber } = shape;

const ROLES = ["main", "sub", "fork", "worker"];
const DAY_MS = 86_400_000;

const ID = /^[a-z][a-z0-9_-]{0,63}$/;

function isDefinitionId(value: unknown): boolean {
  return typeof value === "string" && ID.test(value);
}

const id = formShape(
  isDefinitionId,
  'an id is a lower-case letter, then at most 63 letters, digits, "_" or "-"',
);

const toolName = text({
  problem(name) {
    if (/[\s\p{C}]/u.test(name)) return "holds white space or a control character";
    return name.includes(".") || name === "*"
      ? undefined
      : 'has no dot; canonical names are dotted, such as "code.read_file" or "code.*"';
  },
});

const tools = optional(list(toolName, { of: "tool names", max: 200 }));

const roles = shape.refine(list(choice(ROLES), { of: "roles" }), (given, place) => {
  if (given.length === 0) place.report("is empty; no one could start it");
});

const ruleList = list(shape.anything, { of: "rules", max: 200 });

/** A definition that could allow would bypass the policy of its caller. */
const rules = shape.refine(ruleList, (value, place) => {
  const compiled = compilePolicy({
    rules: value as PermissionRule[],
    // Only for the form of patterns: where they stand is settled when a run begins.
    roots: { project: "/", write: [] },
    home: "/",
  });
  const problems = compiled.ok ? [] : compiled.problems;
  for (const { field, message } of problems) place.in(...splitFieldPath(field)).report(message);
  for (const [index, rule] of value.entries()) {
    if (!isRecord(rule)) continue;
    if (rule["decision"] === "allow") {
      const at = place.in(index, "decision");
      at.report('is "allow"; a definition can only narrow: write ask or deny');
    }
    if (Object.hasOwn(rule, "origin")) {
      place.in(index, "origin").reportKey("is not written: it is where the rule is");
    }
  }
});

/** `rules[0].path` within the rules. */
function splitFieldPath(field: string): DocumentPath {
  return field
    .replace(/^rules/, "")
    .split(/[.[\]]/)
    .filter((step) => step !== "")
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

const schema: Shape<unknown> = (value, place) => {
  const read = isRecord(value) ? readSchema(value) : undefined;
  if (read === undefined)
    place.report(`is ${place.kindOf(value)}; a JSON Schema, a mapping, is expected`);
  else if (!read.ok) {
    for (const { pointer, message } of read.problems) place.report(`at "${pointer}": ${message}`);
  }
};

const FIELDS = {
  name: optional(text({ max: 100, plain: true })),
  description: text({ max: 2_000, plain: true }),
  roles: optional(roles),
  model: optional(text()),
  mode: optional(choice(MODES)),
  suggested_tools: tools,
  allowed_tools: tools,
  skip_missing_tools: optional(flag),
  rules: optional(rules),
  max_turns: optional(wholeNumber(1, 10_000)),
  timeout_ms: optional(wholeNumber(1, DAY_MS)),
  expected_output_schema: optional(schema),
  override: optional(flag),
};

const OPTIONS = {
  what: "an agent definition",
  together(value: Readonly<Record<string, unknown>>, place: Place) {
    const { suggested_tools: wanted, allowed_tools: allowed } = value;
    if (!Array.isArray(wanted) || !Array.isArray(allowed)) return;
    for (const [index, name] of wanted.entries()) {
      if (typeof name !== "string" || name.includes("*")) continue;
      if (allowed.some((one) => typeof one === "string" && matchesName(one, name))) continue;
      place.in("suggested_tools", index).report("is not among its allowed_tools");
    }
  },
};

/** The system text is the body of the file. Unknown keys are compared with ours only. */
const OWN_KEYS = ["id", ...Object.keys(FIELDS)];
const FILE_DEFINITION = object(
  { id: optional(id), ...FIELDS, ...CLAUDE_CODE_FIELDS },
  { ...OPTIONS, names: OWN_KEYS },
);
const CODE_DEFINITION = object({ id, ...FIELDS, system: text() }, OPTIONS);

// One definition from the text of its file, or everything that is wrong with it: front matter in YAML, then the system text.

export type ParsedDefinition =
  | {
      readonly ok: true;
      readonly definition: WrittenDefinition;
      readonly warnings: readonly Problem[];
    }
  | RejectedDocument;

/** A definition without an id has the name of its file. */
export function parseAgentDefinition(
  text: string,
  file: string,
  { profiles = [] }: Pick<AgentCatalogOptions, "profiles"> = {},
): ParsedDefinition {
  const checked = readMarkdown(text, file, FILE_DEFINITION, {
    purpose: "the agent's instructions",
    maxChars: 100_000,
  });
  if (!checked.ok) return checked;
  const { document } = checked;
  const read = readClaudeCodeFields(checked.value, document, profiles);
  const written = read.definition as Omit<WrittenDefinition, "system" | "id"> & { id?: string };
  const id = written.id ?? basename(file, ".md");
  if (!isDefinitionId(id)) {
    const given = JSON.stringify(id.slice(0, 80));
    return rejectDocument(
      file,
      `has a name that is not an id (${given}): use lower-case letters, digits, "_" and "-"`,
    );
  }
  const rules = written.rules?.map((rule, index): PermissionRule => {
    if (rule.origin !== undefined) return rule;
    const { line } = document.positionOf(["rules", index]);
    return { ...rule, origin: { file, line } };
  });
  const definition = { ...written, id, system: checked.body };
  const warnings = sortProblems([...checked.warnings, ...read.warnings]);
  return {
    ok: true,
    definition: rules === undefined ? definition : { ...definition, rules },
    warnings,
  };
}
