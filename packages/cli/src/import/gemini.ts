// What Gemini CLI keeps for a user: ~/.gemini with settings.json, GEMINI.md, commands, agents and skills.

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { mapForeignTool } from "@soong/agent";
import { describeProblem, parseDocument } from "@soong/platform";
import { nothingFound, type Found, type FoundText, type ImportPlaces } from "./found.ts";
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

export async function findInGemini(places: ImportPlaces): Promise<Found> {
  const { userHome, cwd, withProject } = places;
  const found = nothingFound();
  const folder = join(userHome, ".gemini");
  const file = join(folder, "settings.json");
  await findServers("gemini", places, found);
  const settings = await readTable(file, "jsonc", found);
  readPermissions(settings, file, found);
  disableServers(asTable(settings["mcp"]), found);
  const named = asTable(settings["context"])["fileName"] ?? settings["contextFileName"];
  for (const name of new Set(["GEMINI.md", ...asTexts([named].flat())])) {
    const from = join(folder, name);
    if (basename(name) !== name) {
      const why = "is no name of a file in that folder";
      found.unmapped.push({ what: `instructions ${name}`, why, from: file });
      continue;
    }
    const text = await readText(from, found);
    if (text !== undefined) found.instructions.push({ name, text, from });
  }
  for (const one of await readTexts([join(folder, "commands")], ".toml", found))
    readCommand(one, found);
  found.agents.push(
    ...(await readTexts([join(folder, "agents")], ".md", found)).flatMap((one) =>
      toAgent(one, found),
    ),
  );
  await findSkills([join(folder, "skills")], found);
  if (!withProject) return found;
  const shared = join(cwd, ".gemini", "settings.json");
  if (existsSync(shared)) await findServers("gemini", places, found, shared);
  return found;
}

type Table = Readonly<Record<string, unknown>>;

/** `tools.allowed` and `tools.exclude`, and their older names at the top. */
function readPermissions(settings: Table, from: string, found: Found): void {
  const tools = asTable(settings["tools"]);
  const lists = [
    ["allow", [...asTexts(tools["allowed"]), ...asTexts(settings["allowedTools"])]],
    ["deny", [...asTexts(tools["exclude"]), ...asTexts(settings["excludeTools"])]],
  ] as const;
  for (const [decision, written] of lists) {
    for (const one of written) {
      const tool = mapForeignTool(one, "gemini");
      // There it is the beginning of the command.
      const specifier = tool.specifier === undefined ? {} : { specifier: `${tool.specifier}:*` };
      const given = { ...tool, ...specifier };
      addPermission(found, { tool: given, decision, written: one, from, program: "Gemini CLI" });
    }
  }
  for (const [key, value] of [
    ["tools.core", tools["core"]],
    ["coreTools", settings["coreTools"]],
  ] as const) {
    if (value === undefined) continue;
    found.unmapped.push({
      what: key,
      why: "is a list of what is offered; use tools.disabled",
      from,
    });
  }
  const mode = asTable(settings["general"])["defaultApprovalMode"] ?? settings["approvalMode"];
  if (typeof mode === "string" && mode !== "default") {
    const why =
      mode === "plan" ? "start with --mode plan" : "no mode that allows calls is taken over";
    found.unmapped.push({ what: `defaultApprovalMode ${mode}`, why, from });
  }
}

/** `mcp.excluded` and `mcp.allowed` choose among the servers. */
function disableServers({ excluded, allowed }: Table, found: Found): void {
  const out = asTexts(excluded);
  const only = Array.isArray(allowed) ? asTexts(allowed) : undefined;
  for (const [at, server] of found.servers.entries()) {
    if (!out.includes(server.id) && only?.includes(server.id) !== false) continue;
    found.servers[at] = { ...server, entry: { ...server.entry, disabled: true } };
  }
}

function readCommand({ name, text, from }: FoundText, found: Found): void {
  const what = `command ${name}`;
  const parsed = parseDocument(text, from, "toml");
  const { prompt, description } = asTable(parsed.ok ? parsed.document.value : {});
  if (!parsed.ok || typeof prompt !== "string") {
    const why = parsed.ok ? "has no prompt" : parsed.problems.map(describeProblem).join("; ");
    found.unmapped.push({ what, why, from });
  } else if (/[!@]\{/.test(prompt)) {
    const why = "runs a command or inserts a file while it is read, which commands here do not";
    found.unmapped.push({ what, why, from });
  } else {
    const body = prompt.replaceAll("{{args}}", "$ARGUMENTS");
    found.commands.push({ name, text: renderDocument({ description }, body), from });
  }
}

/** Front matter in YAML, as ours, with other names for some keys. */
function toAgent(one: FoundText, found: Found): FoundText[] {
  const { name, from } = one;
  const { front: given, body } = splitDocument(one);
  if (typeof given["description"] !== "string") {
    found.unmapped.push({
      what: `agent ${name}`,
      why: "has no description that can be read",
      from,
    });
    return [];
  }
  const tools = asTexts(given["tools"]).flatMap((tool) => {
    const { tools: ours, why } = mapForeignTool(tool, "gemini");
    if (why !== undefined)
      found.unmapped.push({ what: `tool ${tool} of the agent ${name}`, why, from });
    return ours;
  });
  const isLimited = given["tools"] !== undefined;
  const minutes = given["timeout_mins"];
  const front = {
    description: given["description"],
    roles: ["main", "sub", "fork"],
    allowed_tools: isLimited ? tools : undefined,
    skip_missing_tools: isLimited ? true : undefined,
    max_turns: given["max_turns"],
    timeout_ms: typeof minutes === "number" ? Math.round(minutes * 60_000) : undefined,
  };
  return [{ name, text: renderDocument(front, body), from }];
}
