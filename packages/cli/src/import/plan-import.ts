// What an import would write into the home, each part checked by the reader of a run: what is there already is kept, and
// what cannot be used is named instead. Planning writes nothing.

import { existsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isSkillName, loadAgentCatalog, parseAgentDefinition, readSkill } from "@soong/agent";
import { messageOf, type PermissionRule } from "@soong/core";
import { describeProblem } from "@soong/platform";
import { describeRule, ruleLine, type LoadedConfig } from "../config/index.ts";
import { planServerChanges } from "../runtime/change-servers.ts";
import { homePaths, SetupError } from "../runtime/home.ts";
import { loadUserServers } from "../runtime/servers.ts";
import type { Found, Unmapped } from "./found.ts";
import { asTable } from "./read-files.ts";

export type ItemKind = "server" | "rule" | "agent" | "skill" | "command" | "instructions";

export interface PlannedItem {
  readonly kind: ItemKind;
  readonly name: string;
  /** `exists`: it is kept as it is. */
  readonly state: "new" | "exists";
  /** Where it goes. */
  readonly file: string;
  readonly from: string;
  /** In one line, such as a command or a rule. */
  readonly detail: string;
  readonly notes: readonly string[];
}

export interface ImportPlan {
  readonly items: readonly PlannedItem[];
  readonly unmapped: readonly Unmapped[];
  readonly servers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly rules: readonly PermissionRule[];
  /** By file. */
  readonly texts: ReadonlyMap<string, string>;
  /** The folder of each, by where it goes. */
  readonly skills: ReadonlyMap<string, string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws a SetupError where mcp.json of the home cannot be read. */
export async function planImport(
  found: Found,
  config: LoadedConfig,
  env: Environment,
): Promise<ImportPlan> {
  const { home, values } = config;
  const items: PlannedItem[] = [];
  const unmapped = [...found.unmapped];
  const servers: Record<string, Readonly<Record<string, unknown>>> = {};
  const rules: PermissionRule[] = [];
  const texts = new Map<string, string>();
  const skills = new Map<string, string>();
  await planServers();
  planRules();
  await planAgents();
  await planSkills();
  planCommands();
  planInstructions();
  return { items, unmapped, servers, rules, texts, skills };

  async function planServers(): Promise<void> {
    const file = homePaths(home).servers;
    const { entries } = await loadUserServers(home, env, values.mcp);
    const there = new Set(entries.map(({ server_id }) => server_id));
    for (const { id, entry, from, notes } of found.servers) {
      const detail = describeServer(entry);
      const item = { kind: "server", name: id, file, from, detail } as const;
      if (there.has(id)) {
        items.push({ ...item, state: "exists", notes: [] });
        continue;
      }
      try {
        if (/\bsoong(?:\.cjs)? mcp serve\b/.test(detail)) throw new Error("is Soong itself");
        await planServerChanges(home, env, { ...servers, [id]: entry });
        servers[id] = entry;
        there.add(id);
        items.push({ ...item, state: "new", notes });
      } catch (error) {
        const why = error instanceof SetupError ? error.problems.join("; ") : messageOf(error);
        unmapped.push({ what: `MCP server ${id}`, why, from });
      }
    }
  }

  function planRules(): void {
    const file = join(home, "config.toml");
    const there = new Set(values.permissions.rules.map(describeCondition));
    for (const { rule, written, from } of found.rules) {
      const key = describeCondition(rule);
      const { reason: _, ...shown } = rule;
      const state = there.has(key) ? "exists" : "new";
      items.push({
        kind: "rule",
        name: written,
        state,
        file,
        from,
        detail: ruleLine(shown),
        notes: [],
      });
      if (state === "new") rules.push(rule);
      there.add(key);
    }
  }

  async function planAgents(): Promise<void> {
    const folder = homePaths(home).agents;
    const profiles = Object.keys(values.models.profiles);
    const { definitions } = await loadAgentCatalog({ folder, profiles });
    const there = new Set(definitions.keys());
    for (const { name, text, from } of found.agents) {
      const file = join(folder, `${name}.md`);
      if (basename(name) !== name) {
        unmapped.push({ what: `agent ${name}`, why: "has a name no file can have", from });
        continue;
      }
      const parsed = parseAgentDefinition(text, file, { profiles });
      if (!parsed.ok) {
        const why = parsed.problems
          .map((one) => describeProblem({ ...one, file: from }))
          .join("; ");
        unmapped.push({ what: `agent ${name}`, why, from });
        continue;
      }
      const { id, description } = parsed.definition;
      const item = { kind: "agent", name: id, file, from, detail: description } as const;
      if (there.has(id) || existsSync(file) || texts.has(file)) {
        items.push({ ...item, state: "exists", notes: [] });
        continue;
      }
      there.add(id);
      texts.set(file, text);
      const notes = parsed.warnings.map(({ field = "", message }) => `${field}: ${message}`);
      items.push({ ...item, state: "new", notes });
    }
  }

  async function planSkills(): Promise<void> {
    const folder = homePaths(home).skills;
    for (const { name, from } of found.skills) {
      const file = join(folder, name);
      const refuse = (why: string): void =>
        void unmapped.push({ what: `skill ${name}`, why, from });
      const read = isSkillName(name) ? await readSkill(dirname(from), name) : undefined;
      if (read === undefined) refuse("has a name no skill can have here");
      else if (!read.ok) refuse(read.problems.map(describeProblem).join("; "));
      else if (existsSync(file) || skills.has(file)) {
        items.push({ kind: "skill", name, state: "exists", file, from, detail: "", notes: [] });
      } else {
        const problem = await findFolderProblem(from);
        if (problem !== undefined) {
          refuse(problem);
          continue;
        }
        skills.set(file, from);
        const detail = read.skill.description.trim();
        const notes = read.warnings.map(({ field = "", message }) => `${field}: ${message}`);
        items.push({ kind: "skill", name, state: "new", file, from, detail, notes });
      }
    }
  }

  function planCommands(): void {
    for (const { name, text, from } of found.commands) {
      const file = join(homePaths(home).commands, `${name}.md`);
      const refuse = (why: string): void =>
        void unmapped.push({ what: `command ${name}`, why, from });
      if (!COMMAND_NAME.test(name)) refuse("has a name no command can have here");
      else if (Buffer.byteLength(text) > MOST_COMMAND_BYTES) refuse("is longer than 64 KiB");
      else {
        const isThere = existsSync(file) || texts.has(file);
        const notes = /!`/.test(text)
          ? ["What is in !`…` is not run: the model reads it as text."]
          : [];
        if (!isThere) texts.set(file, text);
        const state = isThere ? "exists" : "new";
        items.push({
          kind: "command",
          name: `/${name}`,
          state,
          file,
          from,
          detail: "",
          notes: isThere ? [] : notes,
        });
      }
    }
  }

  function planInstructions(): void {
    const parts = found.instructions.filter(({ text }) => text.trim() !== "");
    if (parts.length === 0) return;
    const file = join(home, "AGENTS.md");
    const isThere = existsSync(file);
    const text = parts.map((part) => part.text.trim()).join("\n\n");
    if (!isThere) texts.set(file, `${text}\n`);
    const most = values.context.instruction_limit_bytes;
    const isLong = Buffer.byteLength(text) > most;
    const notes = isLong
      ? [`Only its first ${most} bytes are read: context.instruction_limit_bytes.`]
      : [];
    for (const { name, from } of parts) {
      const state = isThere ? "exists" : "new";
      items.push({
        kind: "instructions",
        name,
        state,
        file,
        from,
        detail: "",
        notes: isThere ? [] : notes,
      });
    }
  }
}

const COMMAND_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;
const MOST_COMMAND_BYTES = 64 * 1024;
const MOST_FILES = 500;
const MOST_SKILL_BYTES = 20 * 1024 * 1024;

/** All that decides what is run or reached; keys are not in it (servers.ts). */
function describeServer({ command, args, env, url }: Readonly<Record<string, unknown>>): string {
  if (typeof url === "string") return url;
  const variables = Object.entries(asTable(env)).map(([name, value]) => `${name}=${String(value)}`);
  return [...variables, command, ...((args as unknown[] | undefined) ?? [])].join(" ");
}

/** The reason of a rule is no condition of it. */
function describeCondition(rule: PermissionRule): string {
  return describeRule({ ...rule, reason: undefined });
}

/** Why a skill cannot be copied, as a clause: only plain files and folders are. */
async function findFolderProblem(folder: string): Promise<string | undefined> {
  let bytes = 0;
  let files = 0;
  const open = [folder];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const name of await readdir(at)) {
      const path = join(at, name);
      const stats = await lstat(path);
      if (stats.isDirectory()) open.push(path);
      else if (!stats.isFile()) return `has ${name}, which is a link or no plain file`;
      files += 1;
      bytes += stats.size;
      if (files > MOST_FILES) return `has more than ${MOST_FILES} files`;
      if (bytes > MOST_SKILL_BYTES) return "is larger than 20 MiB";
    }
  }
  return undefined;
}
