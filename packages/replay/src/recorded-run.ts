// What a run began with, as its journal has it (REPLAY-1): who it was, what it was asked for, what judged it, and the
// definitions its tools were made from.

import {
  sha256Hex,
  type ConfigInput,
  type DefinitionsRecord,
  type Fact,
  type FactData,
  type Policy,
  type Role,
  type RunOptions,
  isTerminalFact,
  type ToolResult,
  type Turn,
  type Grants,
} from "@soong/core";
import { compileRecordedPolicy } from "@soong/core/internal";
import { isInnerCall } from "@soong/agent";
import {
  damagedJournal,
  ReplayError,
  readArtifact,
  readFacts,
  type ReplaySource,
} from "./source.ts";

export interface RecordedRun {
  readonly started: Fact<"run.started">;
  /** The first surface. */
  readonly catalog: Fact<"tool.catalog.resolved">;
  readonly role: Role;
  readonly policy: Policy;
  readonly config: ConfigInput;
  readonly request: FactData<"run.started">["request"];
  readonly definitions: DefinitionsRecord;
  /** When calls ended, waited for approval and were halted is on record. Otherwise it is inferred. */
  readonly hasOrder: boolean;
}

export async function readRecordedRun(source: ReplaySource, run_id: string): Promise<RecordedRun> {
  let started: Fact<"run.started"> | undefined;
  let known = false;
  for await (const fact of readFacts(source, run_id)) {
    known = true;
    if (fact.type === "run.started") started = fact;
    if (fact.type !== "tool.catalog.resolved" || started === undefined) continue;
    return readStart(source, started, fact);
  }
  throw known
    ? new ReplayError(
        "run_never_started",
        `The run ${run_id} never began: nothing was decided in it.`,
      )
    : new ReplayError("run_unknown", `There is no run ${run_id} in this session.`);
}

async function readStart(
  source: ReplaySource,
  started: RecordedRun["started"],
  catalog: RecordedRun["catalog"],
): Promise<RecordedRun> {
  const { role, policy, config, request, definitions, record_version = 1 } = started.data;
  if (definitions === undefined || config === undefined || request === undefined) {
    throw new ReplayError(
      "definitions_not_kept",
      `The run ${started.run_id} was recorded without the definitions of its tools, by an earlier version or where they could not be kept: it cannot be decided again. It can still be exported as a script.`,
    );
  }
  const compiled = policy === undefined ? undefined : compileRecordedPolicy(policy);
  if (compiled?.ok !== true) throw damagedJournal(started.seq, "its policy is none");
  return {
    started,
    catalog,
    role,
    policy: compiled.policy,
    config,
    request,
    definitions: await readDefinitions(source, started),
    hasOrder: record_version >= 2,
  };
}

/** Of `run.started`, or of a later surface. The bytes are held against what the fact says of them. */
export async function readDefinitions(
  source: ReplaySource,
  { seq, data }: Fact<"run.started" | "tool.catalog.resolved">,
): Promise<DefinitionsRecord> {
  if (data.definitions === undefined) throw damagedJournal(seq, "its definitions are not named");
  const { artifact_id, sha256 } = data.definitions;
  const bytes = await readArtifact(source, artifact_id);
  if (bytes === undefined) throw damagedJournal(seq, `the artifact ${artifact_id} is missing`);
  if (sha256Hex(bytes) !== sha256)
    throw damagedJournal(seq, `the artifact ${artifact_id} was changed`);
  return JSON.parse(new TextDecoder().decode(bytes)) as DefinitionsRecord;
}

/** The run as it was asked for, to be judged by a policy. */
export function toRunOptions({ started, role, request }: RecordedRun, policy: Policy): RunOptions {
  const { run_id = "", agent_id = "", parent_run_id = "", parent_agent_id = "" } = started;
  const { allowed_tools, skip_missing_tools, suggested_tools } = request;
  const { task_denied, loaded_tools } = request;
  const { ceiling, mode, input } = policy;
  return {
    run_id,
    agent_id,
    role,
    mode,
    profile: request.profile,
    roots: input.roots,
    parent: ceiling && { run_id: parent_run_id, agent_id: parent_agent_id, policy: ceiling },
    allowedTools: allowed_tools,
    skipMissingTools: skip_missing_tools,
    suggestedTools: suggested_tools,
    taskDenied: task_denied,
    loadedTools: loaded_tools,
  };
}

// Which turn each call of a piece was of, and how that ended. An answer of a model is a turn; calls a program made follow
// on each other in the conversation, and the first of a turn has the index 0.

/** From outside a turn, by its driver. */
export type Halt = "abort" | "discard" | "interrupt";

export function isHalt(kind: unknown): kind is Halt {
  return kind === "abort" || kind === "discard" || kind === "interrupt";
}

export function haltTurn(turn: Turn | undefined, how: Halt): void {
  if (how === "abort") void turn?.abort("as recorded");
  else if (how === "discard") void turn?.discard("as recorded");
  else turn?.interrupt("as recorded");
}

export class SegmentTurns {
  readonly #ofCall = new Map<string, number>();
  readonly #ofAnswer = new Map<number, number>();
  readonly #last = new Map<number, string>();
  readonly #ends = new Map<number, number>();
  readonly #halts = new Map<number, Halt>();

  constructor(segment: readonly Fact[]) {
    const lastNode = new Map<string | undefined, number>();
    let answer: number | undefined;
    let count = 0;
    for (const fact of segment) {
      const { type, seq, data, tool_call_id = "" } = fact;
      if (type === "model.started" && data.purpose === undefined) {
        answer = count += 1;
        this.#ofAnswer.set(seq, answer);
      } else if (type === "model.completed" || type === "model.failed") {
        if (answer !== undefined) this.#ofAnswer.set(seq, answer);
        // One that was cut off is ended by its driver.
        const hasEnded = type === "model.completed" && data.stop !== "max_tokens";
        if (answer !== undefined && hasEnded) this.#ends.set(answer, seq);
        answer = undefined;
      } else if (type === "tool.requested") {
        const { index, node_id, parent_node_id } = data;
        const follows = index === 0 ? undefined : lastNode.get(parent_node_id);
        const answered = isInnerCall(data) ? undefined : answer;
        const turn = answered ?? follows ?? (count += 1);
        this.#ofCall.set(tool_call_id, turn);
        lastNode.set(node_id, turn);
        if (answered === undefined) this.#last.set(turn, tool_call_id);
      } else if (isTerminalFact(fact)) {
        const halt = readHalt(fact.data.result ?? {});
        const turn = this.#ofCall.get(tool_call_id);
        if (halt === undefined || turn === undefined || this.#halts.has(turn)) continue;
        this.#halts.set(turn, halt);
      }
    }
  }

  /** The turn an answer's fact is of; undefined for a request that has none, such as a compaction's. */
  answerOf({ seq }: Fact): number | undefined {
    return this.#ofAnswer.get(seq);
  }

  /** The seq of the fact that ended it; none has, of one that was cut off. */
  endOf(turn: number): number {
    return this.#ends.get(turn) ?? Number.POSITIVE_INFINITY;
  }

  turnOf(tool_call_id: string): number {
    return this.#ofCall.get(tool_call_id) ?? 0;
  }

  /** The last call of a turn that no model made: its turn ends with it. */
  isLast(tool_call_id: string): boolean {
    const turn = this.turnOf(tool_call_id);
    return this.#last.get(turn) === tool_call_id && !this.#halts.has(turn);
  }

  haltOf(turn: number): Halt | undefined {
    return this.#halts.get(turn);
  }
}

export function readHalt({ status, error }: Partial<ToolResult>): Halt | undefined {
  if (status === "aborted") return "abort";
  if (status === "discarded") return "discard";
  return error?.code === "interrupted" ? "interrupt" : undefined;
}

// The facts of a run in pieces that can be looked at whole: one answer of a model with its calls, or calls a program made
// at once. Only one piece is held at a time, however long the run was.

export async function* splitSegments(facts: AsyncIterable<Fact>): AsyncGenerator<Fact[], void> {
  let segment: Fact[] = [];
  const open = new Set<string>();
  let streaming = false;
  for await (const fact of facts) {
    if (segment.length > 0 && !streaming && open.size === 0 && beginsAnother(fact)) {
      yield segment;
      segment = [];
    }
    segment.push(fact);
    if (fact.type === "model.started") streaming = true;
    else if (fact.type === "model.completed" || fact.type === "model.failed") streaming = false;
    else if (fact.type === "tool.requested") open.add(fact.tool_call_id ?? "");
    else if (isTerminalFact(fact)) open.delete(fact.tool_call_id ?? "");
  }
  if (segment.length > 0) yield segment;
}

function beginsAnother({ type, data }: Fact): boolean {
  if (type === "tool.requested") return data.index === 0;
  return type === "model.started" || type === "tool.catalog.resolved" || type.startsWith("run.");
}

// Grants that other runs of the session gave, and those that were taken back: facts of the session, not of the run. Most
// runs have none, so the session is read for them only when one is spoken of.

/** Brings the book to where it was at a fact. `used`: the grant that was counted there. */
type GrantHistory = (seq: number, used: string | undefined) => Promise<void>;

export function createGrantHistory(source: ReplaySource, book: Grants): GrantHistory {
  let history: GrantFact[] | undefined;
  return async (seq, used) => {
    if (used === undefined && book.list().length === 0) return;
    history ??= await readGrantFacts(source);
    const before = history.filter((fact) => fact.seq < seq);
    for (const { type, data } of before) {
      if (type === "grant.revoked") book.revoke(data.grant_id);
    }
    if (used === undefined || book.list().some(({ grant_id }) => grant_id === used)) return;
    for (const { type, data } of before) {
      if (type !== "grant.created" || data.grant.grant_id !== used) continue;
      book.add(data.grant);
      return;
    }
  };
}

type GrantFact = Fact<"grant.created" | "grant.revoked">;

async function readGrantFacts(source: ReplaySource): Promise<GrantFact[]> {
  const found: GrantFact[] = [];
  for await (const fact of readFacts(source)) {
    if (fact.type === "grant.created" || fact.type === "grant.revoked") found.push(fact);
  }
  return found;
}
