// Stand-ins for the outside in a replay: tools without their code, guards, the user, the store of artifacts. Each answers
// as recorded, when the record says so, and does nothing else.

import {
  defineHook,
  ToolFailure,
  toolResult,
  type AnyHook,
  type AnyTool,
  type ArtifactInput,
  type ArtifactRecord,
  type ArtifactStore,
  type AskPermission,
  type ContentBlock,
  type DefinitionsRecord,
  type HandlerResult,
  type CallIds,
  type JsonObject,
  type Plan,
  type RecordedDefinition,
  type ToolError,
  type ToolResult,
  type ToolSource,
  type Fact,
  type Kernel,
  type SourceHandle,
} from "@soong/core";
import {
  ARGUMENTS_NAME,
  isHandlerErrorStatus,
  isHandlerStatus,
  entriesIn,
} from "@soong/core/internal";
import type { LiveCall } from "./live-call.ts";
import { endedFromOutside, toPlan, type RecordedCall } from "./recorded-call.ts";

/** What the stand-ins ask the replay. */
export interface Stage {
  call(id: string): LiveCall;
  /** The call whose input is being taken: code that checks an input does not know which call it is of. */
  readonly admitting: LiveCall | undefined;
  isEnabled(tool_name: string): boolean;
  /** The record has got there. */
  until(seq: number): Promise<void>;
  /** A call has begun. */
  begun(call: LiveCall): void;
}

/** Registered by the kernel itself. */
const KERNEL_SOURCE = "kernel";

function createStandInSources(record: DefinitionsRecord, stage: Stage): ToolSource[] {
  const sources = record.sources.map((about, index): ToolSource & { tools: AnyTool[] } => ({
    ...about,
    tools: record.tools
      .filter(({ source }) => source === index)
      .map((tool) => createStandIn(tool, stage, record.version === undefined)),
  }));
  const others = sources.filter(({ id, kind }) => id !== KERNEL_SOURCE || kind !== "internal");
  const excluded = [...record.excluded];
  return [...others, { id: "replay", kind: "declarative", tools: [], excluded }];
}

function createStandIn(recorded: RecordedDefinition, stage: Stage, isOlder: boolean): AnyTool {
  const { source: _source, functions, output_schema, max_result_chars, ...definition } = recorded;
  const has = (...names: string[]): boolean => names.some((name) => functions.includes(name));
  const standIns = {
    isEnabled: has("isEnabled") && (() => stage.isEnabled(recorded.name)),
    normalise:
      has("normalise", "input_schema") &&
      ((input: unknown) => {
        const { recorded: of, admissions = 0 } = stage.admitting ?? {};
        return of?.admissions[admissions]?.mutatedTo ?? input;
      }),
    validate:
      has("validate", "input_schema", "normalise") &&
      (() => replayValidate(stage.admitting, functions)),
    classify: has("classify") && (() => replayClassify(stage.admitting)),
    // A tool that only plans was judged by its plan in older records: that is what it names here.
    targets:
      has("targets", "prepare") &&
      ((_input: unknown, { toolCallId }: CallIds) => replayTargets(stage, toolCallId)),
    prepare:
      has("prepare") &&
      (async (_input: unknown, { toolCallId }: CallIds) => {
        const call = stage.call(toolCallId);
        return adjustPlan(call, await call.planned.promise);
      }),
  };
  return {
    ...definition,
    ...(isOlder ? { repeatable: true } : {}),
    // A result was bounded and checked when it was recorded. Another such definition is another one all the same.
    metadata: { ...definition.metadata, recorded: { output_schema, max_result_chars } },
    ...Object.fromEntries(Object.entries(standIns).filter(([, standIn]) => standIn !== false)),
    handler(_input, context) {
      const call = stage.call(context.toolCallId);
      call.context = context;
      return call.returned.promise;
    },
  } as AnyTool;
}

async function replayValidate(
  call: LiveCall | undefined,
  functions: readonly string[],
): Promise<void> {
  if (call === undefined) return;
  call.admissions += 1;
  // A replaced input is taken while its guard answers; there is no fact to wait for.
  if (call.admissions === 1) await call.admitted.promise;
  const error = refusedByCode(call.recorded, functions);
  const isLast = call.admissions === call.recorded.admissions.length;
  if (error !== undefined && isLast) throw new ToolFailure(error);
}

/** What the tool's own code refused. What its schema refuses is decided again. */
function refusedByCode(call: RecordedCall, functions: readonly string[]): ToolError | undefined {
  const error = call.error;
  const wasTaken = call.admissions.length === 1 ? call.validated : call.evaluated;
  if (wasTaken !== undefined || error === undefined) return undefined;
  // Why is lost with its answer; what the schema refuses does not come here.
  if (error.code === "discarded" && call.ownStatus === "failed") return error;
  if (error.code === "tool_broken") return error;
  if (error.code !== "invalid_arguments") {
    const isOurs = error.code.startsWith("arguments_") || NOT_OF_ITS_CODE.has(error.code);
    return isOurs ? undefined : error;
  }
  const needed = error.error_class === "schema_validation_failed" ? "input_schema" : "validate";
  return functions.includes(needed) ? error : undefined;
}

const NOT_OF_ITS_CODE: ReadonlySet<string> = new Set([
  "aborted",
  "discarded",
  "hook_denied",
  "interrupted",
  "schema_not_loaded",
  "skipped_after_failure",
  "sibling_failed",
  "tool_definition_changed",
  "tool_not_available",
]);

function replayClassify(call: LiveCall | undefined): JsonObject {
  const { validated: first, evaluated, started } = call?.recorded ?? {};
  const isFirst = (call?.recorded.admissions.length ?? 1) === 1 || call?.validated === undefined;
  const effects = (isFirst ? first : (evaluated ?? started ?? first))?.data.effects;
  return { ...effects };
}

async function replayTargets(stage: Stage, toolCallId: string): Promise<unknown> {
  const call = stage.call(toolCallId);
  stage.begun(call);
  call.targets += 1;
  const { recorded } = call;
  const error = recorded.error;
  if (recorded.failedBeforeJudgement && call.targets > 1 && error !== undefined) {
    throw new ToolFailure(error);
  }
  return adjustPlan(call, await call.targeted.promise);
}

/** After an approval it is planned again: that is where a call was that was approved and never started. */
function adjustPlan({ recorded, answered }: LiveCall, plan: Plan): Plan | Promise<never> {
  if (!answered.isOpen) return plan;
  if (recorded.stoppedBeforeStart) return new Promise(() => {});
  const changed = recorded.error?.code === "changed_since_approval";
  return changed ? { ...plan, facts: { changed: true } } : plan;
}

export function openTargets({ recorded, targeted: gate }: LiveCall, isOver: boolean): void {
  const error = recorded.error;
  const hasFailed = isOver && recorded.failedBeforeJudgement && error !== undefined;
  if (hasFailed) gate.fail(new ToolFailure(error));
  else gate.open(toPlan(recorded.judged));
}

/** A failure is released when the record has its end, or had the user asked first. */
export function openPlan({ recorded, planned: gate }: LiveCall, isOver: boolean): void {
  const error = recorded.error;
  if (!recorded.failedToPlan || error === undefined) gate.open(toPlan(recorded.evaluated));
  else if (isOver || recorded.resolved !== undefined) gate.fail(new ToolFailure(error));
}

/** One guard for each event: it says what all of the recorded ones said together, change by change. */
export function createGuards(stage: Stage): AnyHook[] {
  return [
    defineHook({
      id: "replay",
      event: "PreToolUse",
      async run({ tool_call_id }) {
        const call = stage.call(tool_call_id);
        stage.begun(call);
        const said = call.recorded.guards[call.guarded];
        call.guarded += 1;
        if (said === undefined) return {};
        await stage.until(said.by);
        return said.answer;
      },
    }),
    createObserver(stage, "PostToolUse"),
    createObserver(stage, "PostToolUseFailure"),
    defineHook({
      id: "replay",
      event: "PermissionRequest",
      async run({ request: { tool_call_id } }) {
        const id = typeof tool_call_id === "string" ? tool_call_id : "";
        const { permissionGuards } = stage.call(id).recorded;
        const last = permissionGuards.at(-1);
        if (last === undefined) return {};
        await stage.until(last.by);
        return last.answer;
      },
    }),
  ];
}

/** Takes as long as those on record did; what they said is in the result. */
function createObserver(stage: Stage, event: "PostToolUse" | "PostToolUseFailure"): AnyHook {
  return defineHook({
    id: "replay",
    event,
    async run({ tool_call_id }) {
      const { isEnding, observed } = stage.call(tool_call_id);
      if (isEnding) await observed.promise;
      return {};
    },
  });
}

export function createResponder(stage: Stage): AskPermission {
  return async ({ tool_call_id }) => {
    const call = stage.call(tool_call_id);
    await call.answered.promise;
    const { resolved } = call.recorded;
    if (resolved === undefined) throw new Error("no one answered");
    const { decision, scope, reason, answered_by } = resolved.data;
    return { decision, scope, reason, answered_by };
  };
}

/** Keeps nothing. Arguments that were kept apart are waited for, as they were. */
export function noArtifacts(stage: Stage): ArtifactStore {
  const recordOf = ({ session_id, run_id, media_type }: ArtifactInput): ArtifactRecord => ({
    artifact_id: "replay",
    sha256: "",
    media_type,
    size: 0,
    session_id,
    run_id,
    created_at: "",
  });
  return {
    async write(_bytes, about) {
      const { name, tool_call_id } = about;
      if (name === ARGUMENTS_NAME && tool_call_id !== undefined) {
        await stage.call(tool_call_id).kept.promise;
      }
      return recordOf(about);
    },
    open: (about) => ({
      async write() {},
      close: async () => recordOf(about),
      async discard() {},
    }),
    read: async () => undefined,
    stat: async () => undefined,
  };
}

/** What its handler returned, or failed with. Nothing where it was ended from outside. */
export function openReturn({ recorded, returned }: LiveCall): void {
  const result = recorded.result;
  const status = recorded.ownStatus;
  if (recorded.started === undefined || result === undefined || endedFromOutside(status)) return;
  if (result.status !== "discarded") returned.open(toHandlerResult(result));
  else {
    // What it had returned went with its answer.
    const { error } = result;
    const hasFailed = isHandlerErrorStatus(status) && error !== undefined;
    returned.open(toolResult({ content: [], ...(hasFailed ? { status, error } : {}) }));
  }
}

/** The recorded result as a handler would give it: mapping it again must lead to the same. */
function toHandlerResult(result: ToolResult): HandlerResult {
  const { status, content, summary, data, artifacts, error } = result;
  const isError = error !== undefined;
  return toolResult({
    status: isHandlerStatus(status) ? status : "failed",
    content: isError ? withoutMessage(content, error.message) : content,
    summary,
    data,
    artifacts,
    error,
  });
}

/** Mapping puts the message of an error before what came with it. */
function withoutMessage(content: ContentBlock[], message: string): ContentBlock[] {
  const [first, ...rest] = content;
  return first?.type === "text" && first.text === message ? rest : content;
}

// The recorded definitions in the registry of a replay: put there, replaced when the record has others, taken out when one
// changed under the model.

export type RegisteredTools = ReturnType<typeof registerTools>;

export function registerTools({ registry }: Kernel, stage: Stage) {
  let open: { handle: SourceHandle; source: ToolSource }[] = [];
  return {
    set(definitions: DefinitionsRecord): void {
      for (const { handle } of open) handle.close();
      open = createStandInSources(definitions, stage).map((source) => ({
        handle: registry.open(source),
        source,
      }));
    },
    /** It changed, or went, under the model: whichever, it is not the one that was shown. */
    remove(tool_name: string): void {
      for (const { handle, source } of open) {
        const left = source.tools.filter(({ name }) => name !== tool_name);
        if (left.length < source.tools.length) handle.set(left, source.excluded);
      }
    },
    /** Whether the tool of a call ends the calls beside it when it fails. */
    cancelsSiblings({ tool_name = "" }: Fact): boolean {
      return registry.current(tool_name)?.definition.on_sibling_failure === "cancel_siblings";
    },
  };
}

/** Tools that said no for themselves: that is theirs to say, and not decided again. */
export function readDisabledTools(
  { data }: Fact<"tool.catalog.resolved">,
  before: ReadonlySet<string>,
): Set<string> {
  const disabled = new Set(before);
  for (const { tool_name, state, detail, disabled_by } of entriesIn(data)) {
    // Records of earlier versions say it in the detail only.
    const itself = disabled_by === "tool" || detail?.startsWith("isEnabled ") === true;
    if (state === "excluded" && itself) disabled.add(tool_name);
    else disabled.delete(tool_name);
  }
  return disabled;
}
