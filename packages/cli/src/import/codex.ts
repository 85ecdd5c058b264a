// What Codex keeps for a user: ~/.codex with config.toml, rules, AGENTS.md, prompts and skills.

import { isAbsolute, join } from "node:path";
import { nothingFound, type Found, type ImportPlaces } from "./found.ts";
import { addPermission } from "./add-permission.ts";
import { asTable, asTexts, findSkills, readTable, readText, readTexts } from "./read-files.ts";
import { findServers } from "./servers.ts";

export async function findInCodex(places: ImportPlaces): Promise<Found> {
  const { env, userHome, cwd, withProject } = places;
  const found = nothingFound();
  const moved = env["CODEX_HOME"] ?? "";
  const folder = isAbsolute(moved) ? moved : join(userHome, ".codex");
  const file = join(folder, "config.toml");
  await findServers("codex", places, found);
  const settings = await readTable(file, "toml", found);
  for (const [key, means] of Object.entries(SETTINGS)) {
    const value = settings[key];
    if (typeof value !== "string") continue;
    found.unmapped.push({
      what: `${key} = "${value}"`,
      why: means[value] ?? means[""] ?? "",
      from: file,
    });
  }
  nameSandbox(asTable(settings["sandbox_workspace_write"]), file, found);
  for (const { text, from } of await readTexts([join(folder, "rules")], ".rules", found)) {
    readRules(text, from, found);
  }
  for (const name of ["AGENTS.override.md", "AGENTS.md"]) {
    const from = join(folder, name);
    const text = await readText(from, found);
    if (text !== undefined && text.trim() !== "") found.instructions.push({ name, text, from });
  }
  found.commands.push(...(await readTexts([join(folder, "prompts")], ".md", found)));
  await findSkills([join(folder, "skills"), join(userHome, ".agents", "skills")], found);
  for (const { name, from } of await readTexts([join(folder, "agents")], ".toml", found)) {
    const why = "agents in TOML are not taken over: `soong agents new` writes one";
    found.unmapped.push({ what: `agent ${name}`, why, from });
  }
  if (withProject) await findServers("codex", places, found, join(cwd, ".codex", "config.toml"));
  return found;
}

/** What each value means here; "": any other. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  approval_policy: {
    untrusted: "is how it is here: what is not proven to read only requires approval",
    "on-request": "is not needed: calls that change something require approval",
    never: "would never ask; allow what you mean by rules",
    "": "has no counterpart here: calls that change something require approval",
  },
  sandbox_mode: {
    "read-only": "start with --mode plan",
    "workspace-write":
      "is how it is here: commands run in a sandbox that writes in the project only (sandbox.mode)",
    "danger-full-access":
      'would give access to the whole machine: sandbox.mode = "off" runs commands outside the sandbox, and tools.write_roots names more directories',
    "": "is not known; sandbox.mode says how commands run",
  },
  model: { "": "models are named as provider:model: set model.default" },
};

function nameSandbox(
  { network_access, writable_roots }: Readonly<Record<string, unknown>>,
  from: string,
  found: Found,
): void {
  const name = (what: string, why: string): void =>
    void found.unmapped.push({ what: `sandbox_workspace_write.${what}`, why, from });
  if (network_access === true) {
    const why =
      "no setting opens every host: permissions.network.hosts names those that commands reach";
    name("network_access = true", why);
  }
  for (const root of asTexts(writable_roots)) {
    name(`writable_roots ${root}`, "add it to tools.write_roots if commands may write there");
  }
}

const DECISIONS: Readonly<Record<string, "allow" | "ask" | "deny">> = {
  allow: "allow",
  prompt: "ask",
  forbidden: "deny",
};

/** `prefix_rule(pattern = ["git", "status"], decision = "allow")`; anything else in that language is named. */
function readRules(text: string, from: string, found: Found): void {
  const plain = text.replaceAll(/^\s*#.*$/gm, "");
  for (const [whole, inside = ""] of plain.matchAll(/prefix_rule\(([^()]*)\)/g)) {
    const words = /pattern\s*=\s*\[((?:\s*"[^"\\]*"(?:\s*,)?)+)\s*\]/.exec(inside)?.[1];
    const decision = DECISIONS[/decision\s*=\s*"(\w+)"/.exec(inside)?.[1] ?? "allow"];
    const written = whole.replaceAll(/\s+/g, " ");
    if (words === undefined || decision === undefined) {
      const why = "is more than a list of words; write it as a rule";
      found.unmapped.push({ what: written, why, from });
      continue;
    }
    const argv = Array.from(words.matchAll(/"([^"]*)"/g), ([, word = ""]) => word);
    const tool = { name: "shell", tools: ["code.run_command"], specifier: `${argv.join(" ")}:*` };
    const isPlain = argv.every((word) => /^[^\s*]+$/.test(word));
    if (isPlain) addPermission(found, { tool, decision, written, from, program: "Codex" });
    else found.unmapped.push({ what: written, why: "has words that argv cannot hold", from });
  }
}
