// The two lowest layers: the mode of the run (SURF-9) and the defaults (PERM-3). Their entries are
// constants: they say the same of every call they apply to.

import type { ChainEntry, Mode, PolicyLayer } from "./decision.ts";
import type { Boundary } from "./boundary.ts";
import { type Subject, isOwnSource } from "./facts.ts";
import type { Policy } from "./policy.ts";
import { reachesListedHostsOnly } from "./rules-layer.ts";

export function modeEntry({ mode, boundary }: Policy, subject: Subject): ChainEntry {
  if (mode === "plan" && !subject.readOnly) return PLAN_DENIES;
  if (mode === "accept_edits" && isEditOfProject(boundary, subject)) return EDIT_ACCEPTED;
  return MODE_ON_READS[mode];
}

/** What is sensitive, or run without approval, the runtime asks about above this layer. To replace a whole file is no edit. */
function isEditOfProject(boundary: Boundary, subject: Subject): boolean {
  const { tool, resources, destructive, dangerous, network, malformed } = subject;
  return (
    EDITING_TOOLS.has(tool.tool_name) &&
    tool.source_kind === "code" &&
    !(destructive || dangerous || network) &&
    malformed === undefined &&
    resources.length > 0 &&
    resources.every((one) => one.kind === "path" && boundary.isOrdinaryWrite(one.path) === true)
  );
}

const EDITING_TOOLS: ReadonlySet<string> = new Set(["code.edit_file", "code.write_file"]);

export function defaultEntries(policy: Policy, subject: Subject): readonly ChainEntry[] {
  // Bookkeeping that asks would leave nothing working unattended (SURF-10).
  if (isOwnSource(subject.tool.source_kind) && !subject.dangerous) return [OWN_ALLOWED];
  if (policy.sandbox.auto_allow && isSandboxedCommand(subject)) return [SANDBOXED];
  const asks: ChainEntry[] = [];
  if (subject.dangerous) asks.push(ASKS.dangerous);
  if (subject.network && !reachesListedHostsOnly(policy, subject)) asks.push(ASKS.network);
  if (!subject.readOnly) asks.push(subject.tool.source_kind === "mcp" ? ASKS.mcp : ASKS.write);
  if (subject.destructive) asks.push(ASKS.destructive);
  return asks.length === 0 ? [READONLY_ALLOWED] : asks;
}

/** Not of a declared tool: what else it is for, beside its command, only its author knows. */
function isSandboxedCommand({ tool, isSandboxed, network, malformed }: Subject): boolean {
  return isSandboxed && tool.source_kind === "code" && !network && malformed === undefined;
}

/** A rule begins with the name of its layer. */
function entry(rule: string, verdict: ChainEntry["verdict"], reason: string): ChainEntry {
  return Object.freeze({ layer: rule.split(".")[0] as PolicyLayer, rule, verdict, reason });
}

/** What is in the chain for a layer that has nothing to say. */
export const NO_OPINION = Object.freeze({
  runtime: entry("runtime", "no_opinion", "The runtime forbids none of its targets."),
  rules: entry("rules", "no_opinion", "No rule matches this call."),
});

const UNRESTRICTED = entry("mode", "no_opinion", "The mode of this run restricts nothing.");

export const MODE_ON_READS: Readonly<Record<Mode, ChainEntry>> = Object.freeze({
  normal: UNRESTRICTED,
  orchestrator: UNRESTRICTED,
  plan: entry("mode.plan", "no_opinion", "Plan mode lets readonly calls through."),
  accept_edits: entry(
    "mode.accept_edits",
    "no_opinion",
    "The mode accepts edits of files inside the project, and has no opinion about other calls.",
  ),
});

const EDIT_ACCEPTED = entry(
  "mode.accept_edits",
  "allow",
  "In this mode edits of files inside the project need no approval.",
);

const PLAN_DENIES: ChainEntry = Object.freeze({
  ...entry("mode.plan", "deny", "In plan mode only readonly calls are made."),
  code: "mode_restricted",
});

const defaults = (name: string, verdict: "allow" | "ask", reason: string) =>
  entry(`defaults.${name}`, verdict, reason);

export const OWN_ALLOWED = defaults("own_allowed", "allow", "Bookkeeping has no outside effect.");
export const READONLY_ALLOWED = defaults(
  "readonly_allowed",
  "allow",
  "Readonly calls are allowed by default.",
);
const SANDBOXED = defaults(
  "sandboxed_allowed",
  "allow",
  "The command runs in a sandbox, and sandbox.auto_allow lets such commands run without approval.",
);
const ASKS = {
  dangerous: defaults("dangerous_asks", "ask", "Calls that can change anything require approval."),
  network: defaults(
    "network_asks",
    "ask",
    "Calls that use the network require approval by default.",
  ),
  mcp: defaults(
    "mcp_asks",
    "ask",
    "Calls to an MCP server require approval unless its tool is marked readonly.",
  ),
  write: defaults("write_asks", "ask", "Calls that change something require approval by default."),
  destructive: defaults(
    "destructive_asks",
    "ask",
    "Calls that may destroy something require approval by default.",
  ),
};
