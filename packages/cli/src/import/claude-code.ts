// What Claude Code keeps for a user: ~/.claude.json and ~/.claude. Settings of a project (.claude/settings.json, .mcp.json)
// count only where the user asks for them, and then for that project alone.

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { PermissionRule } from "@soong/core";
import { mapForeignTool } from "@soong/agent";
import { nothingFound, type Found, type ImportPlaces } from "./found.ts";
import { addPermission } from "./add-permission.ts";
import { asTable, asTexts, findSkills, readTable, readText, readTexts } from "./read-files.ts";
import { findServers } from "./servers.ts";

export async function findInClaudeCode(places: ImportPlaces): Promise<Found> {
  const { env, userHome, cwd, withProject } = places;
  const found = nothingFound();
  const moved = env["CLAUDE_CONFIG_DIR"] ?? "";
  const folder = isAbsolute(moved) ? moved : join(userHome, ".claude");
  await findServers("claude-code", places, found);
  for (const name of ["settings.json", "settings.local.json"]) {
    await readSettings(join(folder, name), found);
  }
  found.agents.push(...(await readTexts([join(folder, "agents")], ".md", found)));
  found.commands.push(...(await readTexts([join(folder, "commands")], ".md", found)));
  await findSkills([join(folder, "skills")], found);
  const instructions = join(folder, "CLAUDE.md");
  const text = await readText(instructions, found);
  if (text !== undefined) {
    found.instructions.push({ name: "CLAUDE.md", text, from: instructions });
    for (const [, path = ""] of text.matchAll(/^@(\S+)/gm)) {
      const why = "is not followed here: put its text into AGENTS.md";
      found.unmapped.push({ what: `@${path}`, why, from: instructions });
    }
  }
  if (!withProject) return found;
  for (const name of ["settings.json", "settings.local.json"]) {
    await readSettings(join(cwd, ".claude", name), found, cwd);
  }
  const shared = join(cwd, ".mcp.json");
  if (existsSync(shared)) await findServers("claude-code", places, found, shared);
  return found;
}

const DECISIONS = ["deny", "ask", "allow"] as const;

const MODES: Readonly<Record<string, string>> = {
  plan: "start with --mode plan",
  acceptEdits: "start with --mode accept_edits",
};

const OTHERS: Readonly<Record<string, string>> = {
  hooks: "hooks here are in hooks.json and answer in another form: see docs/config.md",
  env: "variables for commands are named in tools.env_allowlist",
  model: "models are named as provider:model: set model.default",
  outputStyle: "has no counterpart here; put it into AGENTS.md",
  enabledPlugins: "plugins are not taken over; import what they bring one by one",
};

/** `project`: its rules hold there only. */
async function readSettings(file: string, found: Found, project?: string): Promise<void> {
  const settings = await readTable(file, "jsonc", found);
  const permissions = asTable(settings["permissions"]);
  for (const decision of DECISIONS) {
    for (const written of asTexts(permissions[decision])) {
      const own: Partial<PermissionRule> = project === undefined ? {} : { project };
      const tool = mapForeignTool(written, "claude-code");
      addPermission(found, { tool, decision, written, from: file, program: "Claude Code", own });
    }
  }
  const mode = permissions["defaultMode"];
  if (typeof mode === "string" && mode !== "default") {
    const why =
      MODES[mode] ?? "no mode that allows calls is taken over: allow what you mean by rules";
    found.unmapped.push({ what: `defaultMode ${mode}`, why, from: file });
  }
  for (const directory of asTexts(permissions["additionalDirectories"])) {
    const why = "add it to tools.write_roots of the config if agents may write there";
    found.unmapped.push({ what: `additionalDirectories ${directory}`, why, from: file });
  }
  nameSandbox(asTable(settings["sandbox"]), file, found);
  for (const [key, why] of Object.entries(OTHERS)) {
    if (settings[key] !== undefined) found.unmapped.push({ what: key, why, from: file });
  }
}

/** Settings of the config are the user's to set: each is named with the one that says the same. */
function nameSandbox(sandbox: Readonly<Record<string, unknown>>, from: string, found: Found): void {
  const { enabled, autoAllowBashIfSandboxed: isAllowed, excludedCommands, network } = sandbox;
  const name = (what: string, why: string): void =>
    void found.unmapped.push({ what: `sandbox.${what}`, why, from });
  if (enabled === true) name("enabled true", "is how it is here: sandbox.mode is on by default");
  if (enabled === false)
    name("enabled false", 'commands run in a sandbox here; sandbox.mode = "off" turns it off');
  if (isAllowed === true || (enabled === true && isAllowed === undefined)) {
    const why =
      "commands in the sandbox require approval here; sandbox.auto_allow = true lets them run without";
    name("autoAllowBashIfSandboxed true", why);
  }
  for (const command of asTexts(excludedCommands)) {
    name(
      `excludedCommands ${command}`,
      'a rule with its argv and sandbox = "off" runs it outside the sandbox',
    );
  }
  const { allowedDomains, ...ofNetwork } = asTable(network);
  for (const domain of asTexts(allowedDomains)) {
    name(
      `network.allowedDomains ${domain}`,
      "add it to permissions.network.hosts, which opens it in the sandbox",
    );
  }
  const others = Object.keys(sandbox).filter((one) => !NAMED.has(one));
  for (const key of [...Object.keys(ofNetwork).map((one) => `network.${one}`), ...others]) {
    name(key, "has no counterpart here: docs/sandbox.md says what is open and closed");
  }
}

const NAMED: ReadonlySet<string> = new Set([
  "enabled",
  "autoAllowBashIfSandboxed",
  "excludedCommands",
  "network",
]);
