// Which tools there are, from the catalogs of the runs: declarations, interfaces, and references to deferred tools. A tool
// is declared again only where something about it has changed.

import { sameJson } from "@soong/schema";
import type { RunSettings } from "./open-run.ts";
import {
  readFlag,
  readObject,
  readText,
  readSomeTexts,
  type UncheckedRecord,
} from "../projection/read-fields.ts";
import type { RecordWriter } from "./record-writer.ts";
import { SCHEMA_VERSION, type ToolDeclaration } from "./records.ts";
import { toolKind, ToolProfiles } from "./tool-profiles.ts";

interface DeclaredTool {
  about: UncheckedRecord;
  lifecycle: ToolDeclaration["lifecycle"];
  permission: string;
  execution: string;
  /** How many definitions it has had. */
  version: number;
  loading: "loaded" | "deferred" | undefined;
}

export class DeclaredTools {
  readonly #tools = new Map<string, DeclaredTool>();
  readonly #profiles = new ToolProfiles();

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** `about`: the entry of the catalog, or the group of tools of which the same is said. */
  declare(name: string, about: UncheckedRecord, settings: RunSettings, writer: RecordWriter): void {
    const known = this.#tools.get(name);
    const isExcluded = about["state"] === "excluded";
    // Of a tool that this run has not, the others know more.
    if (isExcluded && known !== undefined && !hasChanged(known.about, about)) {
      return writer.skipEvent();
    }
    // A schema that was loaded once is not taken back because another run defers the tool.
    const keepsSchema =
      known !== undefined &&
      isLoaded(known.about) &&
      !isLoaded(about) &&
      !hasChanged(known.about, about);
    const best = keepsSchema ? known.about : about;
    const lifecycle = readLifecycle(best);
    const verdict = isExcluded ? undefined : readText(about["policy"]);
    const permission = this.#profiles.permission(best, verdict, settings, writer);
    const execution = this.#profiles.execution(best, settings, writer);
    const isSame =
      known !== undefined &&
      known.lifecycle === lifecycle &&
      known.permission === permission &&
      known.execution === execution &&
      !hasChanged(known.about, best);
    if (isSame) {
      known.about = best;
      return writer.skipEvent();
    }
    const tool: DeclaredTool = {
      about: best,
      lifecycle,
      permission,
      execution,
      version: (known?.version ?? 0) + 1,
      loading: known?.loading,
    };
    this.#tools.set(name, tool);
    writeDeclaration(name, tool, writer);
  }

  /** For a journal that does not begin with the catalog: a call was made, so there is a tool. */
  declareUnseen(name: string, settings: RunSettings, writer: RecordWriter): void {
    if (this.#tools.has(name)) writer.skipEvent();
    else this.declare(name, {}, settings, writer);
  }

  /** Says where its definition is found until it is loaded, if that is not known yet. */
  defer(name: string, about: UncheckedRecord, writer: RecordWriter): void {
    const tool = this.#tools.get(name);
    if (tool === undefined || tool.loading === "deferred") return writer.skipEvent();
    tool.loading = "deferred";
    writeDeferred(name, about, "deferred", writer);
    writer.addEvent("tool.deferred.discovered", { subject: name, tool_id: name });
  }

  load(name: string, surface_id: string | undefined, writer: RecordWriter): void {
    const tool = this.#tools.get(name);
    if (tool === undefined) return;
    tool.loading = "loaded";
    writeDeferred(name, tool.about, "loaded", writer);
    writer.addEvent("tool.deferred.loaded", { subject: name, tool_id: name }, { surface_id });
  }
}

function writeDeclaration(name: string, tool: DeclaredTool, writer: RecordWriter): void {
  const { about, lifecycle, permission, execution, version } = tool;
  const schema = readObject(about["input_schema"]);
  const interface_id = `${name}@${version}`;
  writer.add({
    record_type: "tool_interface",
    schema_version: SCHEMA_VERSION,
    interface_id,
    tool_id: name,
    name,
    model_input_schema: schema,
    schema_visibility: schema === undefined ? "deferred" : "loaded",
    is_read_only: readFlag(about["is_read_only"]),
    is_concurrency_safe: readFlag(about["is_concurrency_safe"]),
    is_destructive: readFlag(about["is_destructive"]),
    is_open_world: readFlag(about["is_open_world"]),
    execution_profile_ref: execution,
    permission_profile_ref: permission,
    interrupt_behavior: readText(about["interrupt_behavior"]),
    declared_facts: readSomeTexts(about["declared"]),
  });
  const kind = readText(about["schema"]);
  const metadata_ref = nameDefinition(name, about);
  writer.add({
    record_type: "tool_declaration",
    schema_version: SCHEMA_VERSION,
    tool_id: name,
    namespace: findNamespace(name),
    name,
    description: readText(about["description"]) ?? "",
    lifecycle,
    tool_kind: toolKind(name, about),
    capability_refs: readSomeTexts(about["capabilities"]),
    input_contract:
      schema === undefined
        ? undefined
        : { model_input_schema: schema, ...(kind === undefined ? {} : { schema_subset: kind }) },
    interface_ref: interface_id,
    execution_profile_ref: execution,
    permission_profile_ref: permission,
    annotations: metadata_ref === undefined ? undefined : { metadata_ref },
  });
  writer.addEvent("tool.declared", { subject: name, tool_id: name }, { interface_id, lifecycle });
}

function writeDeferred(
  name: string,
  about: UncheckedRecord,
  state: "loaded" | "deferred",
  writer: RecordWriter,
): void {
  const metadata_ref = nameDefinition(name, about);
  writer.add({
    record_type: "deferred_tool_ref",
    schema_version: SCHEMA_VERSION,
    tool_id: name,
    name,
    namespace: findNamespace(name),
    source: readText(about["runtime_owner"]),
    schema_visibility: state,
    loading_state: state,
    selection_ref: `select:${name}`,
    native_ref: metadata_ref === undefined ? undefined : { metadata_ref },
  });
}

/** Where the definition is kept: an entry says it whole, a group without the name. */
function nameDefinition(name: string, about: UncheckedRecord): string | undefined {
  const ref = readText(about["metadata_ref"]);
  if (ref === undefined) return undefined;
  return ref.includes("#") ? ref : `${ref}#${name}`;
}

function findNamespace(name: string): string {
  const end = name.lastIndexOf(".");
  return end > 0 ? name.slice(0, end) : "default";
}

/** Most reasons to exclude a tool are of the run, not of the tool. */
function readLifecycle(about: UncheckedRecord): ToolDeclaration["lifecycle"] {
  const { state, reason } = about;
  if (state === "deferred") return "deferred";
  if (state !== "excluded") return "available";
  if (reason === "setup_required") return "requires_setup";
  return OUT_OF_ORDER.has(reason) ? "disabled" : "available";
}

const OUT_OF_ORDER: ReadonlySet<unknown> = new Set([
  "disabled",
  "server_failed",
  "definition_changed",
  "invalid_definition",
]);

function isLoaded(about: UncheckedRecord): boolean {
  return about["input_schema"] !== undefined;
}

/** What an entry does not say has not changed: a deferred tool has no schema, one of a group no description. */
function hasChanged(before: UncheckedRecord, now: UncheckedRecord): boolean {
  if (before === now) return false;
  return COMPARED.some((field) => {
    const [a, b] = [before[field], now[field]];
    if (b === undefined || a === b) return false;
    return typeof b !== "object" || !sameJson(a, b);
  });
}

const COMPARED = [
  "description",
  "input_schema",
  "schema",
  "capabilities",
  "runtime_owner",
  "is_read_only",
  "is_concurrency_safe",
  "is_destructive",
  "is_open_world",
  "interrupt_behavior",
] as const;
