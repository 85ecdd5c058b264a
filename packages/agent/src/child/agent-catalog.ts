// All definitions there are: the built-in ones, those from code, those of the home's folder (AGENT-1). An invalid one
// is reported as a problem and does not affect the others.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, type Role } from "@soong/core";
import { checkValue, type Problem } from "@soong/platform";
import { readTextFile } from "../document/index.ts";
import {
  describeOrigin,
  USUAL_ROLES,
  type AgentDefinition,
  type DefinitionOrigin,
  type WrittenDefinition,
} from "./agent-definition.ts";
import { BUILT_IN_DEFINITIONS } from "./built-in-definitions.ts";
import { CODE_DEFINITION } from "./check-definition.ts";
import { parseAgentDefinition } from "./parse-definition.ts";

export interface AgentCatalog {
  /** By id. */
  readonly definitions: ReadonlyMap<string, AgentDefinition>;
  readonly problems: readonly Problem[];
  /** Those that may be started so, by id. */
  startableAs(role: Role): readonly AgentDefinition[];
}

export interface AgentCatalogOptions {
  /** `${SOONG_AGENT_HOME}/agents`; one that is not there holds nothing. */
  readonly folder?: string;
  /** Checked as those in files are; a mistake here throws. */
  readonly code?: readonly WrittenDefinition[];
}

const MOST_FILE_BYTES = 256 * 1024;
const MOST_FILES = 500;

export async function loadAgentCatalog(options: AgentCatalogOptions = {}): Promise<AgentCatalog> {
  const { folder, code = [] } = options;
  const definitions = new Map(
    BUILT_IN_DEFINITIONS.map((definition) => [definition.id, definition]),
  );
  const problems: Problem[] = [];
  for (const written of code) {
    checkCodeDefinition(written);
    const refused = addDefinition(definitions, written, { kind: "code" });
    if (refused !== undefined) throw new TypeError(`agent definition "${written.id}" ${refused}`);
  }
  for (const file of folder === undefined ? [] : await listDefinitionFiles(folder, problems)) {
    const read = await readTextFile(file, MOST_FILE_BYTES);
    if (!read.ok) {
      problems.push({ file, line: 1, column: 1, message: read.message });
      continue;
    }
    const parsed = parseAgentDefinition(read.text, file);
    if (!parsed.ok) {
      problems.push(...parsed.problems);
      continue;
    }
    const refused = addDefinition(definitions, parsed.definition, { kind: "file", file });
    if (refused !== undefined) {
      problems.push({ file, line: 1, column: 1, field: "id", message: refused });
    }
  }
  return {
    definitions,
    problems,
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

async function listDefinitionFiles(folder: string, problems: Problem[]): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "ENOENT") {
      const message = `cannot be read: ${messageOf(error)}`;
      problems.push({ file: folder, line: 1, column: 1, message });
    }
    return [];
  }
  const found = names.filter((name) => name.endsWith(".md") && !name.startsWith(".")).toSorted();
  if (found.length > MOST_FILES) {
    const message = `holds ${found.length} definitions; the first ${MOST_FILES} by name are read`;
    problems.push({ file: folder, line: 1, column: 1, message });
  }
  return found.slice(0, MOST_FILES).map((name) => join(folder, name));
}
