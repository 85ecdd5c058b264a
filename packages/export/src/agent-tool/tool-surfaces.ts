// Which tools a run sees, after each `tool.catalog.resolved`: the first one lists all, later ones what has changed.

import type { DeclaredTools } from "./declare-tools.ts";
import type { OpenRun, ToolState } from "./open-run.ts";
import {
  readCount,
  readList,
  readRecord,
  readText,
  type Unchecked,
  type UncheckedRecord,
} from "../projection/read-fields.ts";
import type { RecordWriter } from "./record-writer.ts";
import { SCHEMA_VERSION, type AbsentTool, type ToolSurface } from "./records.ts";

export function resolveSurface(
  run: OpenRun,
  data: Unchecked<"tool.catalog.resolved">,
  tools: DeclaredTools,
  writer: RecordWriter,
): void {
  const { revision, base_revision, removed } = data;
  const isUpdate = base_revision !== undefined;
  const before = isUpdate ? run.surface : undefined;
  const standing = before ?? new Map<string, ToolState>();
  run.surface = standing;
  for (const name of readList(removed)) if (typeof name === "string") standing.delete(name);
  forEachEntry(data, (name, about) => {
    const state = readState(about);
    standing.set(name, state);
    tools.declare(name, about, run.settings, writer);
    if (state.state === "deferred") tools.defer(name, about, writer);
  });
  const number = readCount(revision) ?? run.revisions.size + 1;
  run.revisions.add(number);
  const surface_id = run.nameSurface(number);
  writer.add(createSurface(surface_id, run, standing, isUpdate, writer.time));
  writer.addEvent(
    isUpdate ? "tool.surface.updated" : "tool.surface.created",
    { subject: surface_id },
    { surface_id, revision: number },
  );
}

/** Tools of which the same is said are on record once, with their names. */
function forEachEntry(
  { tools, groups }: Unchecked<"tool.catalog.resolved">,
  visit: (name: string, about: UncheckedRecord) => void,
): void {
  for (const entry of readList(tools)) {
    const about = readRecord(entry);
    const name = readText(about["tool_name"]);
    if (name !== undefined) visit(name, about);
  }
  for (const group of readList(groups)) {
    const about = readRecord(group);
    for (const name of readList(about["names"])) {
      if (typeof name === "string" && name !== "") visit(name, about);
    }
  }
}

function readState({ state, reason, detail }: UncheckedRecord): ToolState {
  if (state === "excluded") {
    return { state, reason: readText(reason) ?? "unknown", detail: readText(detail) };
  }
  return state === "deferred" ? DEFERRED : LOADED;
}

const LOADED: ToolState = { state: "loaded" };
const DEFERRED: ToolState = { state: "deferred" };

function createSurface(
  surface_id: string,
  run: OpenRun,
  standing: ReadonlyMap<string, ToolState>,
  isUpdate: boolean,
  created_at: string,
): ToolSurface {
  const loaded: string[] = [];
  const deferred: string[] = [];
  const blocked: AbsentTool[] = [];
  const excluded: AbsentTool[] = [];
  for (const [tool_id, tool] of standing) {
    if (tool.state === "loaded") loaded.push(tool_id);
    else if (tool.state === "deferred") deferred.push(tool_id);
    else {
      const { reason, detail } = tool;
      (reason === "policy_blocked" ? blocked : excluded).push({ tool_id, reason, detail });
    }
  }
  const { mode, role } = run;
  return {
    record_type: "tool_surface",
    schema_version: SCHEMA_VERSION,
    surface_id,
    scope: "turn",
    created_at,
    producer: "soong",
    tool_refs: [...loaded, ...deferred],
    loaded_tools: loaded,
    deferred_tools: deferred,
    blocked_tools: blocked,
    excluded_tools: excluded,
    selection_policy: run.selection,
    model_capabilities: run.profile,
    role_constraints: {
      ...(role === undefined ? {} : { role }),
      ...(mode === undefined ? {} : { mode }),
    },
    surface_reason: isUpdate ? "catalog_changed" : "run_started",
    runtime_refs: run.runtimeRefs,
  };
}
