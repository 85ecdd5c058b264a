// What opencode keeps for a user: ~/.config/opencode with opencode.json, agents, commands, skills and AGENTS.md.

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { mapForeignTool } from "@soong/agent";
import { isRecord } from "@soong/schema";
import { nothingFound, type Found, type ImportPlaces } from "./found.ts";
import { addPermission } from "./add-permission.ts";
import {
  asTable,
  asTexts,
  findSkills,
  readTable,
  readText,
  readTexts,
  renderDocument,
  splitDocument,
} from "./read-files.ts";
import { findServers } from "./servers.ts";

type Table = Readonly<Record<string, unknown>>;

export async function findInOpencode(places: ImportPlaces): Promise<Found> {
  const { env, userHome, cwd, withProject } = places;
  const found = nothingFound();
  const moved = env["XDG_CONFIG_HOME"] ?? "";
  const folder = join(isAbsolute(moved) ? moved : join(userHome, ".config"), "opencode");
  await findServers("opencode", places, found);
  for (const name of ["config.json", "opencode.json", "opencode.jsonc"]) {
    const file = join(folder, name);
    readSettings(await readTable(file, "jsonc", found), file, found);
  }
  const within = (...names: string[]): string[] => names.map((name) => join(folder, name));
  for (const one of await readTexts(within("agent", "agents"), ".md", found)) {
    const { front, body } = splitDocument(one);
    addAgent(one.name, { ...front, prompt: body }, one.from, found);
  }
  for (const one of await readTexts(within("command", "commands"), ".md", found)) {
    const { front, body } = splitDocument(one);
    addCommand(one.name, { ...front, template: body }, one.from, found);
  }
  await findSkills(within("skill", "skills"), found);
  const instructions = join(folder, "AGENTS.md");
  const text = await readText(instructions, found);
  if (text !== undefined) found.instructions.push({ name: "AGENTS.md", text, from: instructions });
  for (const name of withProject ? ["opencode.json", "opencode.jsonc"] : []) {
    const shared = join(cwd, name);
    if (existsSync(shared)) await findServers("opencode", places, found, shared);
  }
  return found;
}

function readSettings(settings: Table, from: string, found: Found): void {
  readPermission(settings["permission"], from, found);
  for (const [name, given] of Object.entries(asTable(settings["agent"]))) {
    addAgent(name, asTable(given), from, found);
  }
  for (const [name, given] of Object.entries(asTable(settings["command"]))) {
    addCommand(name, asTable(given), from, found);
  }
  for (const path of asTexts(settings["instructions"])) {
    const why = "is a file of each project; AGENTS.md of a project is read here";
    found.unmapped.push({ what: `instructions ${path}`, why, from });
  }
  if (settings["model"] !== undefined) {
    const why = "models are named as provider:model: set model.default";
    found.unmapped.push({ what: "model", why, from });
  }
}

const PROGRAM = "opencode";

/** `{ "edit": "ask", "bash": { "git *": "allow", "*": "ask" } }`, or one word for all. There the last match counts. */
function readPermission(given: unknown, from: string, found: Found): void {
  if (given === undefined) return;
  const all = isRecord(given) ? given : { "*": given };
  for (const [key, value] of Object.entries(all)) {
    const patterns = isRecord(value) ? Object.entries(value) : [["*", value] as const];
    const hasOthers = patterns.length > 1;
    for (const [pattern, decision] of patterns) {
      const written = pattern === "*" ? key : `${key} "${pattern}"`;
      const refuse = (why: string): void =>
        void found.unmapped.push({ what: `${String(decision)} ${written}`, why, from });
      if (decision !== "allow" && decision !== "ask" && decision !== "deny") {
        refuse("is no decision");
      } else if (pattern === "*" && hasOthers && decision === "ask") {
        refuse("is not needed: what is not allowed by a rule requires approval");
      } else if (pattern === "*" && hasOthers && decision === "deny") {
        refuse("denies all but what other patterns allow; here a deny counts more than any allow");
      } else {
        const tool = { ...mapForeignTool(key, PROGRAM), specifier: pattern };
        addPermission(found, { tool, decision, written, from, program: PROGRAM });
      }
    }
  }
}

function addAgent(name: string, given: Table, from: string, found: Found): void {
  const { description, prompt, mode, tools, permission, steps, disable } = given;
  const what = `agent ${name}`;
  if (disable === true) return;
  const text = typeof prompt === "string" ? prompt.trim() : "";
  if (text === "" || /^\{file:[^}]*\}$/.test(text)) {
    const why =
      text === ""
        ? "changes a built-in agent and has no prompt of its own"
        : `its prompt is in ${text}; put the text into a file`;
    found.unmapped.push({ what, why, from });
    return;
  }
  const denied = Object.entries(asTable(tools)).flatMap(([tool, isOn]) => {
    if (isOn !== false) return [];
    const { tools: ours, why } = mapForeignTool(tool, PROGRAM);
    if (why !== undefined)
      found.unmapped.push({ what: `tool ${tool} of the agent ${name}`, why, from });
    return ours.map((one) => ({ tool: one, decision: "deny" }));
  });
  if (permission !== undefined) {
    const why =
      "permissions of an agent are not taken over: write ask and deny rules into its file";
    found.unmapped.push({ what: `permission of the agent ${name}`, why, from });
  }
  const roles =
    mode === "primary" ? ["main"] : mode === "subagent" ? ["sub", "fork"] : ["main", "sub", "fork"];
  const front = {
    description: typeof description === "string" ? description : `The agent ${name}`,
    roles,
    max_turns: steps,
    rules: denied.length === 0 ? undefined : denied,
  };
  found.agents.push({ name, text: renderDocument(front, text), from });
}

function addCommand(name: string, given: Table, from: string, found: Found): void {
  const { template, description } = given;
  const what = `command ${name}`;
  if (typeof template !== "string" || template.trim() === "") {
    found.unmapped.push({ what, why: "has no template", from });
  } else if (/!`/.test(template)) {
    const why = "runs a command while it is read, which commands here do not";
    found.unmapped.push({ what, why, from });
  } else found.commands.push({ name, text: renderDocument({ description }, template), from });
}
