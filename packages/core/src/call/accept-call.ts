// The first stages of PIPE-1: resolve name → availability → parse arguments → validate schema → validate values.
// Results in a call ready to be queued, or in its refusal.

import { JournalFailure, type FactData } from "../journal/index.ts";
import type { RegisteredTool } from "../registry/index.ts";
import { redactedPreview } from "../result/index.ts";
import {
  parseArguments,
  type ArgumentLimits,
  type JsonValue,
  type ParsedArguments,
} from "@soong/schema";
import { effectsUnder, SEARCH_TOOLS, wireNameOf, type Surface } from "../surface/index.ts";
import { messageOf, toolError } from "../tool/index.ts";
import { ending, type Call, type Ending } from "./call.ts";
import type { RunArtifacts, RunAuthority, RunBase, RunTools } from "./host.ts";
import { validateInput } from "./validate-input.ts";

type AcceptHost = RunBase & RunTools & RunAuthority & Pick<RunArtifacts, "artifacts">;

/** `stops`: it was to be a write, so the calls after it must not run (SCHED-3). */
export interface Refusal {
  readonly ending: Ending;
  readonly stops: boolean;
}

/** Longer arguments are kept as an artifact; the fact holds their head and tail. */
const MAX_RECORDED_ARGUMENTS = 32 * 1024;

export async function acceptCall(host: AcceptHost, call: Call): Promise<Refusal | undefined> {
  const { max_arguments_bytes: maxBytes, max_arguments_depth: maxDepth } = host.config.tools;
  const parsed = parseWithoutSecrets(host, call, { maxBytes, maxDepth });
  const long = recordRequest(host, call, parsed);
  if (long !== undefined) await keepArguments(host, call, long);
  const unavailable = checkAvailable(host, call);
  if (unavailable !== undefined) return unavailable;
  const tool = call.tool as RegisteredTool;
  call.effects = effectsUnder(host.policy, tool);
  const problem = parsed.ok
    ? await validateInput(host, call, parsed.value)
    : ending(
        "failed",
        toolError({
          code: parsed.code,
          error_class: "invalid_arguments",
          message: `${tool.name}: ${parsed.message}`,
          retryable: true,
          recovery: "change_arguments",
        }),
      );
  if (problem === undefined) return undefined;
  // Ended from outside while it was validated: that stops no other call.
  return call.cancellation === undefined
    ? refuse(host, tool, problem)
    : { ending: problem, stops: false };
}

/** The message of a failure quotes a piece of the text, and a piece of a secret is not recognised. */
function parseWithoutSecrets(
  host: AcceptHost,
  call: Call,
  limits: ArgumentLimits,
): ParsedArguments {
  const given = call.given.arguments;
  const parsed = parseArguments(given, limits);
  const isQuoted = typeof given === "string" && !parsed.ok && parsed.code !== "arguments_too_large";
  if (!isQuoted) return parsed;
  if ((call.tool?.input.sensitive.length ?? 0) > 0) {
    return { ...parsed, message: "the arguments are not a valid JSON object" };
  }
  const redacted = host.redactor.text(given);
  if (redacted === given) return parsed;
  const again = parseArguments(redacted, limits);
  return again.ok ? { ...parsed, message: "the arguments are not valid JSON" } : again;
}

function refuse(host: AcceptHost, tool: RegisteredTool, problem: Ending): Refusal {
  return { ending: problem, stops: !effectsUnder(host.policy, tool).read_only };
}

/** Through the table of the request that showed the names, never by taking a name apart (NAME-3). */
export function resolveName(host: RunBase & RunTools, call: Call): void {
  const surface = host.surface();
  const name: unknown = call.given.name;
  if (typeof name !== "string") return;
  let canonical = name.includes(".") ? undefined : host.modelTools().names.toCanonical(name);
  canonical ??= surface.standing.has(name) ? name : excludedName(surface, name);
  if (canonical === undefined) {
    canonical = surface.aliases.get(name);
    if (canonical !== undefined) call.alias = name;
  }
  const standing = canonical === undefined ? undefined : surface.standing.get(canonical);
  // A name that is not ours may be anything, of any length.
  call.tool_name = canonical ?? shorten(host.redactor.text(name));
  call.tool = standing?.tool;
}

/** A model may remember a tool this run does not have: then the answer can say why it has not. */
function excludedName(surface: Surface, wire: string): string | undefined {
  if (wire.includes(".")) return undefined;
  const { names } = surface.profile;
  return surface.excluded.find(({ tool_name }) => wireNameOf(tool_name, names) === wire)?.tool_name;
}

/** Sets the tool of the call; or says why it cannot be called. */
function checkAvailable(host: AcceptHost, call: Call): Refusal | undefined {
  const standing = host.surface().standing.get(call.tool_name);
  if (standing === undefined || standing.state === "excluded") {
    return { ending: notAvailable(host, call), stops: false };
  }
  if (standing.state === "deferred") return { ending: notLoaded(host, call), stops: false };
  call.tool = standing.tool;
  const problem = checkDefinitionCurrent(host, call);
  return problem === undefined ? undefined : refuse(host, standing.tool, problem);
}

/** A call on a definition that has changed, or gone, since it was shown (REG-3). */
export function checkDefinitionCurrent(host: RunTools, call: Call): Ending | undefined {
  const current = host.current(call.tool_name);
  if (current !== undefined && current.generation === call.tool?.generation) {
    // The same definition, perhaps registered again: what runs is the code that is there now.
    call.tool = current;
    return undefined;
  }
  host.refreshNextTurn(call.tool_name);
  return definitionChanged(call, current);
}

function notAvailable(host: RunTools, call: Call): Ending {
  const surface = host.surface();
  const standing = surface.standing.get(call.tool_name);
  const asked = call.tool_name === "" ? "a tool without a name" : `"${shorten(call.tool_name)}"`;
  const why =
    standing?.state === "excluded"
      ? `${asked} is not available in this run (${standing.reason}: ${standing.detail})`
      : `There is no tool ${asked} in this run`;
  const near = nearestNames(call.tool_name, surface);
  const hint = near.length === 0 ? "" : ` Did you mean ${near.join(" or ")}?`;
  return ending(
    "denied",
    toolError({
      code: "tool_not_available",
      error_class: standing?.state === "excluded" ? "policy_blocked" : "unknown_tool",
      message: `${why}.${hint}`,
      recovery: surface.deferred.length > 0 ? "discover_first" : "use_another_tool",
    }),
  );
}

function notLoaded(host: RunTools, call: Call): Ending {
  const search = host.modelTools().names.toWire(SEARCH_TOOLS);
  return ending(
    "failed",
    toolError({
      code: "schema_not_loaded",
      error_class: "schema_not_loaded",
      message: `"${call.tool_name}" is deferred: its schema has not been loaded. Call ${search} with {"query": "select:${call.tool_name}"} first, then call the tool again.`,
      retryable: true,
      recovery: "discover_first",
    }),
  );
}

function definitionChanged(call: Call, current: RegisteredTool | undefined): Ending {
  const message =
    current === undefined
      ? `"${call.tool_name}" has been removed since it was shown; it is not there any more.`
      : `"${call.tool_name}" has changed since it was shown. Its new definition comes with the next request: read it, then call again.`;
  return ending(
    "failed",
    toolError({
      code: "tool_definition_changed",
      error_class: "schema_not_loaded",
      message,
      retryable: current !== undefined,
      recovery: current === undefined ? "use_another_tool" : "discover_first",
    }),
  );
}

/** `tool.requested`, with what the model sent as it sent it (SCHEMA-6), without secrets. Returns arguments too long for it. */
function recordRequest(host: AcceptHost, call: Call, parsed: ParsedArguments): string | undefined {
  const data: FactData<"tool.requested"> = {
    index: call.index,
    surface_revision: host.surface().revision,
    ...placeOf(call),
  };
  if (call.nativeId !== undefined && call.nativeId !== call.tool_call_id) {
    data.native_call_id = call.nativeId;
  }
  if (call.tool !== undefined && call.given.name !== call.tool_name)
    data.native_name = call.given.name;
  if (call.alias !== undefined) data.alias = call.alias;
  if (call.given.within !== undefined) data.within_tool_call_id = call.given.within;
  if (call.given.made_by !== undefined) data.made_by = call.given.made_by;
  const text = argumentText(call, parsed);
  const sensitive = call.tool?.input.sensitive ?? [];
  const isText = typeof call.given.arguments === "string" && sensitive.length === 0;
  if (!parsed.ok && !isText) data.model_input_described = true;
  if (sensitive.length > 0) {
    data.model_input = parsed.ok
      ? host.redactor.value(parsed.value, { sensitive })
      : `(${text.length} characters that are not valid arguments, of a tool with sensitive fields)`;
  } else if (text.length <= MAX_RECORDED_ARGUMENTS) {
    data.model_input = redactedText(host, text, parsed);
  } else {
    data.model_input_chars = text.length;
    data.model_input = redactedPreview(host.redactor, text, MAX_RECORDED_ARGUMENTS);
  }
  host.recorder.recordClean("tool.requested", data, call);
  return data.model_input_chars !== undefined && parsed.ok ? text : undefined;
}

/** Where its result will hang in the conversation, known before there is one: a crash must not lose it. */
export function placeOf({ nodeId, parentNodeId }: Call): {
  node_id: string;
  parent_node_id?: string;
} {
  return parentNodeId === undefined
    ? { node_id: nodeId }
    : { node_id: nodeId, parent_node_id: parentNodeId };
}

/** Verbatim where it came as text; an escape may hide from the text what the value shows. */
function redactedText(host: AcceptHost, text: string, parsed: ParsedArguments): JsonValue {
  const redacted = host.redactor.text(text);
  if (redacted !== text || !parsed.ok || !text.includes("\\")) return redacted;
  const value = host.redactor.value(parsed.value);
  return value === parsed.value ? text : value;
}

/** What its artifact is called, in `artifact.created` too. */
export const ARGUMENTS_NAME = "arguments.json";

/** After `tool.requested`: a call is on record before anything else happens. */
async function keepArguments(host: AcceptHost, call: Call, text: string): Promise<void> {
  const { recorder } = host;
  const { session_id, run_id } = host.identity;
  const about = { media_type: "application/json", name: ARGUMENTS_NAME, session_id, run_id };
  try {
    const kept = await host.artifacts.write(text, { ...about, tool_call_id: call.tool_call_id });
    recorder.recordClean("artifact.created", { ...kept }, call);
  } catch (error) {
    if (error instanceof JournalFailure) throw error;
    const message = `the arguments could not be kept whole: ${messageOf(error)}`;
    recorder.record("error", { code: "arguments_not_kept", message }, call, "warn");
  }
}

function argumentText(call: Call, parsed: ParsedArguments): string {
  const given = call.given.arguments;
  if (typeof given === "string") return given;
  return parsed.ok ? JSON.stringify(parsed.value) : `(${parsed.message})`;
}

/** At a length a message can hold. */
function shorten(name: string): string {
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}

/** Loaded names that share their last word with what was asked for, or hold it. */
function nearestNames(asked: string, surface: Surface): string[] {
  const fold = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const wanted = fold(
    asked
      .slice(0, 200)
      .split(/[.:/]|__/)
      .at(-1) ?? "",
  );
  if (wanted.length < 3) return [];
  return surface.loaded
    .map(({ name }) => name)
    .filter((name) => {
      const own = fold(name.split(".").at(-1) ?? "");
      return own.includes(wanted) || (own.length >= 3 && wanted.includes(own));
    })
    .slice(0, 3);
}
