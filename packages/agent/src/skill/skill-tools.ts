// internal.list_skills and internal.load_skill (SKILL-1). Skills are read from their folder at each call, so that one that
// was written a moment ago is there.

import {
  createSearchIndex,
  defineTool,
  ToolFailure,
  toolResult,
  type AnyTool,
  type ToolSource,
  SEARCH_TOOLS,
  type Surface,
  type ContextNode,
  type ConversationNode,
  type JsonObject,
  type RunContext,
} from "@soong/core";
import { matchesName, TOOL_REQUESTS } from "@soong/core/internal";
import { isRecord, nearestName, oneLine } from "@soong/schema";
import { describeProblem, shorten } from "@soong/platform";
import { listNodesInView, type FindRun } from "../context/index.ts";
import { mapForeignTool } from "../document/index.ts";
import {
  filesBeside,
  readFileBeside,
  type FilesBeside,
  isNameRestricted,
  findSkillRestriction,
  listSkillTargets,
} from "./skill-files.ts";
import { loadSkills, readSkill, skillHash, type LoadedSkills, type Skill } from "./skill.ts";

export interface SkillToolParts {
  /** `${SOONG_AGENT_HOME}/skills`. */
  readonly folder: string;
  readonly findRun: FindRun;
}

const MOST_LISTED = 50;
const MOST_PROBLEMS = 10;

const OWN_TOOL = {
  permission: "readonly",
  destructive: false,
  open_world: false,
  tags: ["internal"],
} as const;

export function skillTools(parts: SkillToolParts): ToolSource {
  return { id: "skills", kind: "internal", tools: [listTool(parts), loadTool(parts)] };
}

function listTool({ folder }: SkillToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "internal.list_skills",
    title: "List the skills",
    search_hint: "available skills how-to guides",
    description:
      "Lists the skills there are: texts of the user that say how work of one kind is done. Look here before work that may have one; load it with internal.load_skill.",
    input_schema: {
      type: "object",
      additionalProperties: false,
      properties: {
        query: {
          type: "string",
          minLength: 1,
          maxLength: 500,
          description: "What the work is about. Default: all skills, by name.",
        },
      },
    },
    concurrency_safe: true,
    handler: async (input, context) => {
      const { query } = input;
      const all = await loadSkills(folder, (name) => findSkillRestriction(folder, name, context));
      const loaded = { ...all, skills: all.skills.filter(mayModelUse) };
      const { skills, problems, restricted } = loaded;
      const found = query === undefined ? skills : rankSkills(skills, query);
      const shown = found.slice(0, MOST_LISTED);
      return toolResult({
        content: [{ type: "text", text: renderSkillList(loaded, found, folder) }],
        data: {
          skills: shown.map(({ name, description, compatibility, file }) => ({
            name,
            description,
            compatibility,
            file,
          })),
          more: found.length - shown.length,
          problems: problems.slice(0, MOST_PROBLEMS).map((problem) => ({ ...problem })),
          restricted: restricted
            .slice(0, MOST_LISTED)
            .map(({ name, restriction: { decision, by } }) => ({ name, decision, by })),
        },
      });
    },
  });
}

function rankSkills(skills: readonly Skill[], query: string): Skill[] {
  const index = createSearchIndex(skills.map(({ name, description }) => ({ name, description })));
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return index
    .search(query, { limit: skills.length })
    .flatMap(({ tool_name }) => byName.get(tool_name) ?? []);
}

function renderSkillList(
  { skills, problems, restricted }: LoadedSkills,
  found: readonly Skill[],
  folder: string,
): string {
  const shown = found.slice(0, MOST_LISTED);
  const lines = shown.map(({ name, description }) => `- ${name}: ${oneLine(description)}`);
  if (skills.length + restricted.length === 0) lines.push(`There are no skills in ${folder}.`);
  else if (found.length === 0 && skills.length > 0) {
    lines.push(`None of the ${skills.length} skills is about that. Omit the query to see all.`);
  }
  const more = found.length - shown.length;
  if (more > 0) lines.push(`${more} more; give a query to find the right one.`);
  if (problems.length > 0) {
    const items = problems
      .slice(0, MOST_PROBLEMS)
      .map((problem) => `- ${describeProblem(problem)}`);
    lines.push("These cannot be used until they are fixed:", ...items);
  }
  if (restricted.length > 0) {
    const items = restricted
      .slice(0, MOST_LISTED)
      .map(({ name, restriction: { decision, by } }) => {
        const what = decision === "deny" ? "cannot be loaded" : "requires approval";
        return `- ${shorten(JSON.stringify(name), 80)}: ${what} (${by})`;
      });
    lines.push("These are restricted, and their descriptions are not shown:", ...items);
    const others = restricted.length - MOST_LISTED;
    if (others > 0) lines.push(`and ${others} more`);
  }
  return lines.join("\n");
}

function loadTool({ folder, findRun }: SkillToolParts): AnyTool {
  return defineTool({
    ...OWN_TOOL,
    name: "internal.load_skill",
    title: "Load a skill",
    search_hint: "load skill instructions",
    description:
      "Loads a skill into the conversation: its text comes after the result, once. Also names the files that belong to it and which of the tools it asks for this run has; loading gives no tool and no permission. With `file`, returns the text of one of those files instead.",
    input_schema: {
      type: "object",
      additionalProperties: false,
      required: ["name"],
      properties: {
        name: { type: "string", minLength: 1, maxLength: 200, description: "As listed." },
        file: {
          type: "string",
          minLength: 1,
          maxLength: 1000,
          description:
            "A file of the skill, relative to its folder, as the loaded skill names it. Default: the skill itself.",
        },
      },
    },
    concurrency_safe: false,
    targets: (input, context) => listSkillTargets(folder, input, context),
    // Its node and its change of the context go with an abandoned attempt.
    repeatable: true,
    handler: async (input, context) => {
      const { name: wanted, file: wantedFile } = input;
      const skill = await findSkill(folder, wanted);
      const isHidden = (path: string): boolean => isNameRestricted(path, skill, context);
      if (wantedFile !== undefined) {
        const text = await readFileBeside(skill, wantedFile, isHidden);
        return toolResult({ content: [{ type: "text", text }] });
      }
      const calling = findRun(context);
      const path = calling?.path() ?? [];
      const { name, file, body } = skill;
      const isThere =
        hasSkill(listNodesInView(path), skill) || isOnItsWay(context.runContext, skill, path);
      const beside = await filesBeside(skill, isHidden);
      const asked = calling && resolveRequestedTools(skill.allowed_tools, calling.run.surface);
      const tools = asked ?? [];
      if (!isThere) {
        const about = { skill: name, file, sha256: skillHash(skill), chars: body.length, tools };
        const call = { tool_call_id: context.toolCallId, tool_name: context.toolName };
        calling?.run.recorder.record("skill.loaded", about, call);
      }
      return toolResult({
        content: [{ type: "text", text: renderLoadedSkill(skill, isThere, beside, asked) }],
        data: {
          skill: name,
          loaded: isThere ? "before" : "now",
          folder: skill.folder,
          files: beside.paths,
          tools,
        },
        context_nodes: isThere ? undefined : [skillNode(skill)],
        modify_context: (before) => {
          const names = tools.flatMap(({ tool_name }) => tool_name ?? []);
          const requested = withRequests(before, name, names);
          return isThere ? requested : withLoad(requested, skill, context.toolCallId);
        },
      });
    },
  });
}

async function findSkill(folder: string, name: string): Promise<Skill> {
  const read = await readSkill(folder, name);
  if (read.ok && mayModelUse(read.skill)) return read.skill;
  if (read.ok) {
    throw new ToolFailure({
      code: "skill_for_users",
      error_class: "permission_denied",
      message: `The skill "${name}" is not for models to load (disable-model-invocation). Only the user can give you its text.`,
      recovery: "ask_the_user",
    });
  }
  const { skills, problems } = await loadSkills(folder);
  const isBroken = problems.some(({ file }) => file === read.problems[0]?.file);
  const meant = nearestName(
    shorten(name, 80),
    skills.map((skill) => skill.name),
  );
  const hint =
    meant === undefined ? "internal.list_skills lists them." : `Did you mean "${meant}"?`;
  const why = isBroken
    ? `cannot be used: ${read.problems.slice(0, 3).map(describeProblem).join("; ")}. Tell the user.`
    : `is not there. ${hint}`;
  throw new ToolFailure({
    code: isBroken ? "skill_unusable" : "unknown_skill",
    error_class: isBroken ? "setup_required" : "invalid_arguments",
    message: `The skill ${JSON.stringify(shorten(name, 80))} ${why}`,
    recovery: isBroken ? "ask_the_user" : "change_arguments",
  });
}

function mayModelUse({ disable_model_invocation }: Skill): boolean {
  return disable_model_invocation !== true;
}

function renderLoadedSkill(
  skill: Skill,
  isThere: boolean,
  { paths, left_out }: FilesBeside,
  tools: readonly RequestedTool[] | undefined,
): string {
  const lines = [
    isThere
      ? `The skill "${skill.name}" is in the conversation already; it was not loaded again.`
      : `The skill "${skill.name}" is loaded; its text follows.`,
  ];
  if (paths.length > 0) {
    lines.push(`Files that belong to it, in ${JSON.stringify(skill.folder)}:`);
    lines.push(...paths.map((path) => `- ${path}`));
    if (left_out > 0) lines.push(`and ${left_out} more that are not named`);
    const example = JSON.stringify({ name: skill.name, file: paths[0] });
    lines.push(
      `Read one with internal.load_skill, for example ${example}; other tools need approval there. A script is run with code.run_command, which needs approval as any command does.`,
    );
  }
  if (skill.allowed_tools.length > 0) {
    lines.push("It asks for these tools. That is a request: permissions are as they were.");
    lines.push(
      tools === undefined ? `- ${skill.allowed_tools.join(", ")}` : describeRequests(tools),
    );
  }
  return lines.join("\n");
}

// The tools a skill asks for, held against the surface of the run: what it has of them, and why not the others. A request
// changes nothing: neither the surface nor any permission.

interface RequestedTool {
  /** As the skill wrote it. */
  readonly requested: string;
  /** The tool that is meant, where there is one. */
  readonly tool_name?: string;
  readonly state: "loaded" | "deferred" | "excluded" | "unknown";
  readonly why?: string;
}

const MOST_OF_A_PATTERN = 30;

export function resolveRequestedTools(
  requests: readonly string[],
  surface: Pick<Surface, "standing" | "aliases">,
): RequestedTool[] {
  return requests.flatMap((requested) => {
    const names = matchToolNames(requested, surface);
    if (names.length === 0) return [{ requested, state: "unknown" as const }];
    return names.map((tool_name) => findStanding(requested, tool_name, surface));
  });
}

/** In a line each, for the model. */
function describeRequests(tools: readonly RequestedTool[]): string {
  return tools
    .map(({ requested, tool_name, state, why }) => {
      const states: Record<RequestedTool["state"], string> = {
        loaded: "available",
        deferred: `deferred; load it with ${SEARCH_TOOLS} {"query": "select:${tool_name}"}`,
        excluded: `not available in this run (${why})`,
        unknown: "there is no tool of that name here",
      };
      return `- ${tool_name ?? requested}: ${states[state]}`;
    })
    .join("\n");
}

/** A restriction in parentheses is ignored: there is nothing here to narrow. */
function matchToolNames(
  requested: string,
  { standing, aliases }: Pick<Surface, "standing" | "aliases">,
): readonly string[] {
  const name = requested.replace(/\(.*$/s, "");
  if (standing.has(name)) return [name];
  const meant = aliases.get(name);
  if (meant !== undefined) return [meant];
  if (!/[.*]/.test(name)) {
    const { tools } = mapForeignTool(name);
    return tools.flatMap((tool) => matchToolNames(tool, { standing, aliases }));
  }
  if (!name.includes("*") || name === "*") return [];
  const matching = [...standing.keys()].filter((known) => matchesName(name, known));
  return matching.toSorted().slice(0, MOST_OF_A_PATTERN);
}

function findStanding(
  requested: string,
  tool_name: string,
  { standing }: Pick<Surface, "standing">,
): RequestedTool {
  const found = standing.get(tool_name);
  if (found === undefined) return { requested, tool_name, state: "unknown" };
  if (found.state !== "excluded") return { requested, tool_name, state: found.state };
  return { requested, tool_name, state: "excluded", why: `${found.reason}: ${found.detail}` };
}

// A skill as a node of the conversation, once per content: its origin and what it cannot do come before
// its text (CTX-4).

function skillNode(skill: Skill): ContextNode {
  const { name, file, body } = skill;
  const rank =
    "It says how work of its kind is done. It ranks below every rule of the system and below what the user asks for, grants nothing, and changes no permission.";
  return {
    kind: "skill_context",
    text: `The skill "${name}", which was loaded from ${JSON.stringify(file)}. ${rank}\n\n${body}`,
    data: { skill: name, file, sha256: skillHash(skill) },
  };
}

function hasSkill(nodes: readonly ConversationNode[], skill: Skill): boolean {
  const hash = skillHash(skill);
  return nodes.some(({ kind, data }) => kind === "skill_context" && data?.["sha256"] === hash);
}

/** Whether a call of the same answer has loaded it: its result is not on the path yet. */
export function isOnItsWay(
  context: RunContext,
  skill: Skill,
  path: readonly ConversationNode[],
): boolean {
  const call = readLoads(context)[skillHash(skill)];
  return call !== undefined && !path.some(({ tool_call_id }) => tool_call_id === call);
}

/** So that the decision about such a tool names the skill that requested it. */
function withRequests(context: RunContext, skill: string, tools: readonly string[]): JsonObject {
  const before = context[TOOL_REQUESTS];
  const requests: JsonObject = isRecord(before) ? { ...before } : {};
  for (const tool of tools) {
    const names = Object.hasOwn(requests, tool) ? requests[tool] : undefined;
    const others = Array.isArray(names) ? names.filter((name) => name !== skill) : [];
    requests[tool] = [...others, skill];
  }
  return { ...context, [TOOL_REQUESTS]: requests };
}

export function withLoad(context: RunContext, skill: Skill, tool_call_id: string): JsonObject {
  return { ...context, [LOADS]: { ...readLoads(context), [skillHash(skill)]: tool_call_id } };
}

/** Calls that loaded a skill in this run, by its hash. */
const LOADS = "skill_loads";

function readLoads(context: RunContext): JsonObject {
  const loads = context[LOADS];
  return isRecord(loads) ? loads : {};
}
