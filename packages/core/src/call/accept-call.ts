// The first stages of PIPE-1: resolve name → availability → parse arguments → validate schema → validate values.
// Results in a call ready to be queued, or in its refusal.

import { parseArguments, shorten, type ArgumentLimits, type ParsedArguments } from "@soong/schema";
import { JournalFailure, type FactData } from "../journal/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { redactedPreview } from "../result/head-tail.ts";
import { effectsUnder } from "../surface/effects-under.ts";
import { SEARCH_TOOLS } from "../surface/defer.ts";
import { wireNameOf } from "../surface/wire-name.ts";
import type { Surface } from "../surface/surface.ts";
import { messageOf } from "../tool/index.ts";
import type { AcceptedCall, Call, Ending } from "./call.ts";
import { writeArtifact } from "./context.ts";
import { endCall, endRejected } from "./endings.ts";
import { validateInput } from "./validate.ts";

/** Longer arguments are kept as an artifact; the fact holds their head and tail. */
const MAX_RECORDED_ARGUMENTS = 32 * 1024;

export async function acceptCall(call: Call): Promise<Ending | undefined> {
  const { config, policy } = call.run;
  const { max_arguments_bytes: maxBytes, max_arguments_depth: maxDepth } = config.tools;
  const parsed = parseWithoutSecrets(call, { maxBytes, maxDepth });
  const long = recordRequest(call, parsed);
  if (long !== undefined) await keepArguments(call, long);
  const standing = call.run.surface.standing.get(call.tool_name);
  if (standing === undefined || standing.state === "excluded") return endUnavailable(call);
  if (standing.state === "deferred") return endNotLoaded(call);
  call.tool = standing.tool;
  const changed = checkDefinitionCurrent(call);
  if (changed !== undefined) return refuse(call, standing.tool, changed);
  const { tool } = call;
  call.effects = effectsUnder(policy, tool);
  const problem = parsed.ok
    ? await validateInput(call as AcceptedCall, parsed.value)
    : endCall("failed", "invalid_arguments", `${tool.name}: ${parsed.message}`, {
        code: parsed.code,
      });
  if (problem === undefined && call.given.refused !== undefined) {
    const { reason, by } = call.given.refused;
    return refuse(call, tool, endRejected(call, reason, by === "host" ? "The host" : undefined));
  }
  // Ended from outside while it was validated: that stops no other call.
  const isRefused = problem !== undefined && call.cancellation === undefined;
  return isRefused ? refuse(call, tool, problem) : problem;
}

/** The message of a failure quotes a piece of the text, and a piece of a secret is not recognised. */
function parseWithoutSecrets(call: Call, limits: ArgumentLimits): ParsedArguments {
  const given = call.given.arguments;
  const parsed = parseArguments(given, limits);
  const isQuoted = typeof given === "string" && !parsed.ok && parsed.code !== "arguments_too_large";
  if (!isQuoted) return parsed;
  if ((call.tool?.input.sensitive.length ?? 0) > 0) {
    return { ...parsed, message: "the arguments are not a valid JSON object" };
  }
  const redacted = call.run.redactor.text(given);
  if (redacted === given) return parsed;
  const again = parseArguments(redacted, limits);
  return again.ok ? { ...parsed, message: "the arguments are not valid JSON" } : again;
}

function refuse({ run }: Call, tool: RegisteredTool, problem: Ending): Ending {
  return { ...problem, stops: !effectsUnder(run.policy, tool).read_only };
}

/** Through the table of the request that showed the names, never by taking a name apart (NAME-3). */
export function resolveName(call: Call): void {
  const { run } = call;
  const surface = run.surface;
  const name: unknown = call.given.name;
  if (typeof name !== "string") return;
  let canonical = name.includes(".") ? undefined : run.modelTools.names.toCanonical(name);
  canonical ??= surface.standing.has(name) ? name : excludedName(surface, name);
  if (canonical === undefined) {
    canonical = surface.aliases.get(name);
    if (canonical !== undefined) call.alias = name;
  }
  // A name that is not ours may be anything, of any length.
  call.tool_name = canonical ?? shorten(run.redactor.text(name), MAX_NAME_CHARS);
  if (canonical !== undefined) call.tool = surface.standing.get(canonical)?.tool;
}

/** What a message can hold. */
const MAX_NAME_CHARS = 201;

/** A model may remember a tool this run does not have: then the answer can say why it has not. */
function excludedName(surface: Surface, wire: string): string | undefined {
  if (wire.includes(".")) return undefined;
  const { names } = surface.profile;
  return surface.excluded.find(({ tool_name }) => wireNameOf(tool_name, names) === wire)?.tool_name;
}

/** A call on a definition that has changed, or gone, since it was shown (REG-3). */
export function checkDefinitionCurrent(call: Call): Ending | undefined {
  const { run, tool_name } = call;
  const current = run.registry.current(tool_name);
  if (current !== undefined && current.generation === call.tool?.generation) {
    // The same definition, perhaps registered again: what runs is the code that is there now.
    call.tool = current;
    return undefined;
  }
  run.refreshNextTurn(tool_name);
  const isGone = current === undefined;
  const message = isGone
    ? `"${tool_name}" has been removed since it was shown; it is not there any more.`
    : `"${tool_name}" has changed since it was shown. Its new definition comes with the next request: read it, then call again.`;
  return endCall("failed", "tool_definition_changed", message, {
    retryable: !isGone,
    recovery: isGone ? "use_another_tool" : "discover_first",
  });
}

function endUnavailable({ run, tool_name }: Call): Ending {
  const surface = run.surface;
  const standing = surface.standing.get(tool_name);
  const asked =
    tool_name === "" ? "a tool without a name" : `"${shorten(tool_name, MAX_NAME_CHARS)}"`;
  const isExcluded = standing?.state === "excluded";
  const why = isExcluded
    ? `${asked} is not available in this run (${standing.reason}: ${standing.detail})`
    : `There is no tool ${asked} in this run`;
  const near = nearestNames(tool_name, surface);
  const hint = near.length === 0 ? "" : ` Did you mean ${near.join(" or ")}?`;
  return endCall("denied", "tool_not_available", `${why}.${hint}`, {
    error_class: isExcluded ? "policy_blocked" : "unknown_tool",
    recovery: surface.deferred.length > 0 ? "discover_first" : "use_another_tool",
  });
}

function endNotLoaded({ run, tool_name }: Call): Ending {
  const search = run.modelTools.names.toWire(SEARCH_TOOLS);
  const message = `"${tool_name}" is deferred: its schema has not been loaded. Call ${search} with {"query": "select:${tool_name}"} first, then call the tool again.`;
  return endCall("failed", "schema_not_loaded", message);
}

/** `tool.requested`, with what the model sent as it sent it (SCHEMA-6), without secrets. Returns arguments too long for it. */
function recordRequest(call: Call, parsed: ParsedArguments): string | undefined {
  const { run, given, tool } = call;
  const { redactor } = run;
  const data: FactData<"tool.requested"> = {
    index: call.index,
    surface_revision: run.surface.revision,
    // Where its result will hang in the conversation, known before there is one: a crash must not lose it.
    node_id: call.nodeId,
    parent_node_id: call.parentNodeId,
  };
  addNativeNames(call, data);
  if (given.within !== undefined) data.within_tool_call_id = given.within;
  if (given.made_by !== undefined) data.made_by = given.made_by;
  if (given.refused !== undefined) {
    data.refused = redactor.value({ ...given.refused });
  }
  const isGivenText = typeof given.arguments === "string";
  let text = isGivenText ? (given.arguments as string) : "";
  if (!isGivenText) text = parsed.ok ? JSON.stringify(parsed.value) : `(${parsed.message})`;
  const sensitive = tool?.input.sensitive ?? [];
  const isText = isGivenText && sensitive.length === 0;
  if (!parsed.ok && !isText) data.model_input_described = true;
  if (sensitive.length > 0) {
    data.model_input = parsed.ok
      ? redactor.value(parsed.value, { sensitive })
      : `(${text.length} characters that are not valid arguments, of a tool with sensitive fields)`;
  } else if (text.length <= MAX_RECORDED_ARGUMENTS) {
    data.model_input = redactor.text(text);
    // An escape may hide from the text what the value shows.
    if (data.model_input === text && parsed.ok && text.includes("\\")) {
      const value = redactor.value(parsed.value);
      if (value !== parsed.value) data.model_input = value;
    }
  } else {
    data.model_input_chars = text.length;
    data.model_input = redactedPreview(redactor, text, MAX_RECORDED_ARGUMENTS);
  }
  call.record.tool_name = call.tool_name;
  call.record.requested = data;
  run.recorder.note(call.record, "tool.requested");
  return data.model_input_chars !== undefined && parsed.ok ? text : undefined;
}

/** Adds the model's own id and name, where they differ from ours (NAME-2). */
export function addNativeNames(
  { run, nativeId, tool_call_id, tool, given, tool_name, alias }: Call,
  data: Pick<FactData<"tool.requested">, "native_call_id" | "native_name" | "alias">,
): void {
  if (nativeId !== undefined && nativeId !== tool_call_id) {
    data.native_call_id = run.redactor.text(nativeId);
  }
  if (tool !== undefined && given.name !== tool_name) data.native_name = given.name;
  if (alias !== undefined) data.alias = alias;
}

/** What its artifact is called, in `artifact.created` too. */
export const ARGUMENTS_NAME = "arguments.json";

/** After `tool.requested`: a call is on record before anything else happens. */
async function keepArguments(call: Call, text: string): Promise<void> {
  const { recorder } = call.run;
  try {
    const about = { media_type: "application/json", name: ARGUMENTS_NAME };
    const kept = await writeArtifact(call, text, about);
    recorder.recordClean("artifact.created", { ...kept }, call);
  } catch (error) {
    if (error instanceof JournalFailure) throw error;
    const message = `the arguments could not be kept whole: ${messageOf(error)}`;
    recorder.record("error", { code: "arguments_not_kept", message }, call, "warn");
  }
}

/** Loaded names that share their last word with what was asked for, or hold it. */
function nearestNames(asked: string, surface: Surface): string[] {
  const fold = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const words = asked.slice(0, MAX_NAME_CHARS).split(/[.:/]|__/);
  const wanted = fold(words.at(-1) ?? "");
  if (wanted.length < 3) return [];
  return surface.loaded
    .map(({ name }) => name)
    .filter((name) => {
      const own = fold(name.split(".").at(-1) ?? "");
      return own.includes(wanted) || (own.length >= 3 && wanted.includes(own));
    })
    .slice(0, 3);
}
