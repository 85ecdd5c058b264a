// The permission and execution profiles of tools, from what a catalog says of them and the settings of the run. Tools of
// which the same is true share a profile: its id lists what it says.

import type { RunSettings } from "./open-run.ts";
import {
  readFlag,
  readText,
  readSomeTexts,
  type UncheckedRecord,
} from "../projection/read-fields.ts";
import type { RecordWriter } from "./record-writer.ts";
import {
  SCHEMA_VERSION,
  type ToolExecutionProfile,
  type ToolPermissionProfile,
} from "./records.ts";

export class ToolProfiles {
  readonly #written = new Set<string>();

  /** The id of the permission profile of a tool, which is written once. `policy`: the verdict on the tool, where there is one. */
  permission(
    about: UncheckedRecord,
    policy: string | undefined,
    { network, sandbox }: RunSettings,
    writer: RecordWriter,
  ): string {
    const kinds = readSomeTexts(about["capabilities"]) ?? [];
    const traits = readTraits(about);
    const risk_level = rateRisk(traits, kinds);
    const write_effects = listWriteEffects(traits);
    const runsCommands = kinds.includes("shell");
    const id = [
      "permission",
      risk_level,
      kinds.join("+") || "none",
      write_effects.join("+"),
      policy ?? "undecided",
      network ?? "unknown",
      runsCommands ? (sandbox ?? "unknown") : "unsandboxed",
    ].join("/");
    if (!this.#isNew(id)) return id;
    const profile: ToolPermissionProfile = {
      record_type: "tool_permission_profile",
      schema_version: SCHEMA_VERSION,
      permission_profile_id: id,
      risk_level,
      access_kinds: kinds,
      write_effects,
      network_scope: network,
      sandbox_profile: runsCommands ? sandbox : undefined,
      approval_required: policy === undefined ? undefined : policy === "ask",
    };
    writer.add(profile);
    return id;
  }

  execution(about: UncheckedRecord, settings: RunSettings, writer: RecordWriter): string {
    const kind = executionKind(about);
    const { sandbox, maxTimeoutMs, defaultTimeoutMs } = settings;
    // What runs beside other calls has no moment to change the context in; an external source may not at all.
    const modifies = about["is_concurrency_safe"] === false && kind !== "mcp_server";
    const isShell = kind === "shell";
    const id = [
      "execution",
      kind,
      modifies ? "modifies" : "plain",
      isShell ? (sandbox ?? "unknown") : "unsandboxed",
      defaultTimeoutMs ?? "unknown",
      maxTimeoutMs ?? "unknown",
    ].join("/");
    if (!this.#isNew(id)) return id;
    writer.add(
      createExecutionProfile(id, kind, {
        supports_context_modifiers: modifies,
        sandboxed: isShell && sandbox !== undefined ? sandbox !== "off" : undefined,
        sandbox_profile: isShell ? sandbox : undefined,
        timeout_ms: maxTimeoutMs,
        default_timeout_ms: defaultTimeoutMs,
      }),
    );
    return id;
  }

  #isNew(id: string): boolean {
    if (this.#written.has(id)) return false;
    this.#written.add(id);
    return true;
  }
}

type ProfileParts = Pick<
  ToolExecutionProfile,
  | "supports_context_modifiers"
  | "sandboxed"
  | "sandbox_profile"
  | "sandbox"
  | "timeout_ms"
  | "default_timeout_ms"
>;

/** What the runtime does for every tool, and what is particular. */
export function createExecutionProfile(
  execution_profile_id: string,
  execution_kind: string,
  parts: ProfileParts,
): ToolExecutionProfile {
  return {
    record_type: "tool_execution_profile",
    schema_version: SCHEMA_VERSION,
    execution_profile_id,
    execution_kind,
    supports_progress: true,
    supports_cancel: true,
    supports_resume: false,
    supports_retries: false,
    supports_partial_results: true,
    supports_background: false,
    supports_artifacts: true,
    supports_context_modifiers: parts.supports_context_modifiers,
    sandboxed: parts.sandboxed,
    sandbox_profile: parts.sandbox_profile,
    timeout_ms: parts.timeout_ms,
    default_timeout_ms: parts.default_timeout_ms,
    sandbox: parts.sandbox,
  };
}

export function toolKind(name: string, about: UncheckedRecord): string {
  const kind = executionKind(about);
  if (kind === "mcp_server") return "mcp_tool";
  if (kind === "peer_agent") return "peer_agent_tool";
  if (kind === "shell") return "shell_command";
  if (readSomeTexts(about["capabilities"])?.includes("filesystem") === true)
    return "file_operation";
  return name.startsWith("internal.") || name.startsWith("agent.") ? "native_tool" : "function";
}

function executionKind(about: UncheckedRecord): string {
  const owner = readText(about["runtime_owner"]);
  if (owner === "mcp_server") return "mcp_server";
  if (owner === "subagent") return "peer_agent";
  const runsCommands = readSomeTexts(about["capabilities"])?.includes("shell") === true;
  return runsCommands ? "shell" : "embedded_runtime";
}

interface Traits {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly openWorld: boolean;
}

/** What is not said takes the less safe value. */
function readTraits(about: UncheckedRecord): Traits {
  const readOnly = readFlag(about["is_read_only"]) ?? false;
  return {
    readOnly,
    destructive: readFlag(about["is_destructive"]) ?? !readOnly,
    openWorld: readFlag(about["is_open_world"]) ?? true,
  };
}

function rateRisk(
  { readOnly, destructive, openWorld }: Traits,
  kinds: readonly string[],
): ToolPermissionProfile["risk_level"] {
  if (readOnly) return openWorld ? "medium" : "low";
  if (!destructive && !kinds.includes("dangerous")) return "medium";
  return destructive && openWorld && kinds.includes("dangerous") ? "critical" : "high";
}

function listWriteEffects({ readOnly, destructive, openWorld }: Traits): string[] {
  if (readOnly) return ["none"];
  const effect = openWorld ? "remote_mutation" : "local_persistent";
  return destructive ? [effect, "irreversible"] : [effect];
}
