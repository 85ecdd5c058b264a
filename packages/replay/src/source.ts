// Where a replay reads from: the facts of a session, page by page, its nodes and the bytes of its artifacts. A reader of
// `@soong/store` is one; `createReplaySource` makes one of a journal in memory.

import {
  type ArtifactStore,
  type ConversationNode,
  type Fact,
  type MemoryJournal,
  type FactPayloads,
  type FactType,
  SoongError,
} from "@soong/core";
import { isJsonObject } from "@soong/schema";

export interface ReplaySource {
  /** Facts after a seq, oldest first, of one run or of the whole session. */
  facts(page: {
    readonly after: number;
    readonly limit: number;
    readonly run_id?: string;
  }): readonly Fact[] | Promise<readonly Fact[]>;
  node(node_id: string): ConversationNode | undefined | Promise<ConversationNode | undefined>;
  readArtifact(artifact_id: string): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}

export function createReplaySource(
  { facts, nodes }: Pick<MemoryJournal, "facts" | "nodes">,
  artifacts: Pick<ArtifactStore, "read">,
): ReplaySource {
  return {
    facts({ after, limit, run_id }) {
      const page: Fact[] = [];
      for (const fact of facts) {
        if (page.length === limit) break;
        if (fact.seq > after && (run_id === undefined || fact.run_id === run_id)) page.push(fact);
      }
      return page;
    },
    node: (node_id) => nodes.find((node) => node.node_id === node_id),
    readArtifact: (artifact_id) => artifacts.read(artifact_id),
  };
}

const PAGE = 500;

/** In order, a page at a time. A fact that is missing among those of a run is reported as damage. */
export async function* readFacts(
  source: ReplaySource,
  run_id?: string,
): AsyncGenerator<Fact, void> {
  let after = 0;
  let runSeq = 0;
  for (;;) {
    const page = await source.facts({ after, limit: PAGE, run_id });
    for (const fact of page) {
      if (fact.seq <= after) throw damagedJournal(fact.seq, `it comes after fact ${after}`);
      after = fact.seq;
      if (run_id !== undefined && fact.run_seq !== undefined) {
        // A run that was taken up again counts from the beginning.
        if (fact.run_seq !== runSeq + 1 && fact.run_seq !== 1) {
          throw damagedJournal(
            fact.seq,
            `${fact.run_seq - runSeq - 1} facts of its run are missing before it`,
          );
        }
        runSeq = fact.run_seq;
      }
      yield checkFact(fact);
    }
    if (page.length < PAGE) return;
  }
}

/** Undefined where its bytes cannot be read. */
export async function readArtifact(
  source: ReplaySource,
  artifact_id: string,
): Promise<Uint8Array | undefined> {
  try {
    return await source.readArtifact(artifact_id);
  } catch {
    return undefined;
  }
}

// The edge of a replay: what it reads of a fact has the form its type says, or the journal is damaged. All that comes after
// reads typed data. A field that an older version did not write may be absent.

/** Throws a ReplayError. */
function checkFact(fact: Fact): Fact {
  const shape: Shape = { ...(Object.hasOwn(SHAPES, fact.type) ? SHAPES[fact.type] : {}) };
  const misfit = findMisfit(fact.data, shape, "data");
  if (misfit === undefined) return fact;
  throw damagedJournal(fact.seq, `${misfit} does not have the form of a ${fact.type}`);
}

export function damagedJournal(seq: number, what: string): ReplayError {
  return new ReplayError(
    "damaged",
    `The journal is not as it was recorded: of fact ${seq}, ${what}. \`soong verify\` finds what was changed.`,
  );
}

const FORMS = {
  text: (value: unknown) => typeof value === "string",
  number: (value: unknown) => typeof value === "number",
  flag: (value: unknown) => typeof value === "boolean",
  list: (value: unknown) => Array.isArray(value),
  texts: isTexts,
  hosts: (value: unknown) => value === "unknown" || isTexts(value),
};

/** `!`: every version has written it. A list: of such mappings. */
type Form = keyof typeof FORMS | `${keyof typeof FORMS}!` | Shape | readonly [Shape, "!"?];
interface Shape {
  readonly [field: string]: Form;
}
type ShapeOf<Payload> = { readonly [Field in keyof Payload]?: Form };

const ARTIFACT: Shape = { artifact_id: "text!", sha256: "text!" };
const EFFECTS: Shape = { read_only: "flag", repeatable: "flag", destructive: "flag" };
const HOOK: Shape = { hook: "text!", event: "text!" };
const END: Shape = {
  result: {
    status: "text!",
    content: "list!",
    artifacts: "list!",
    metadata: { duration_ms: "number", discarded_status: "text" },
    error: { code: "text!", message: "text!" },
  },
  ended: { after: "number", nth: "number" },
  cancelled_by: "text",
};

const SHAPES: { readonly [T in FactType]?: ShapeOf<FactPayloads[T]> } = {
  "run.started": {
    record_version: "number",
    role: "text",
    policy: {},
    config: { tools: {} },
    request: {
      profile: {},
      allowed_tools: "texts",
      skip_missing_tools: "flag",
      suggested_tools: "texts",
      loaded_tools: "texts",
      task_denied: "texts",
    },
    definitions: ARTIFACT,
  },
  "run.aborted": { error: { code: "text" } },
  "tool.catalog.resolved": {
    tools: "list!",
    groups: [{ names: "texts" }],
    definitions: ARTIFACT,
  },
  "tool.requested": {
    native_call_id: "text",
    native_name: "text",
    alias: "text",
    model_input_chars: "number",
  },
  "tool.validated": { effects: EFFECTS },
  "tool.queued": { class: "text" },
  "tool.started": { class: "text", effects: EFFECTS, interrupt_behavior: "text" },
  "tool.completed": END,
  "tool.failed": END,
  "tool.denied": END,
  "tool.skipped": END,
  "tool.cancelled": END,
  "tool.discarded": END,
  "tool.waiting": { waits: "flag" },
  "turn.halted": { kind: "text", first_call_id: "text" },
  "input.mutated": { source: "text!", observable_input: {} },
  "hook.started": HOOK,
  "hook.completed": HOOK,
  "hook.failed": HOOK,
  "hook.denied": { hook: "text!", reason: "text!", stop: "text" },
  "permission.evaluated": {
    decision: "text",
    reason: "text",
    chain: [{ layer: "text!", rule: "text!", reason: "text" }, "!"],
    grant_id: "text",
    effects: EFFECTS,
    resources: [{ kind: "text" }, "!"],
    hosts: "hosts!",
    planned_destructive: "flag",
    stage: "text",
  },
  "permission.resolved": { decision: "text", scope: "text", reason: "text", answered_by: "text" },
  "grant.created": { grant: { grant_id: "text!", tool_name: "text!", scopes: "list!" } },
  "grant.revoked": { grant_id: "text" },
  "artifact.created": { artifact_id: "text", name: "text" },
  "model.delta": { text: "text" },
  "model.completed": { node_id: "text", stop: "text" },
  "model.failed": { node_id: "text", error: { kind: "text", retry_after_ms: "number" } },
  "context.compaction.completed": { node_id: "text" },
  "agent.child.created": { child_run_id: "text", agent_definition_id: "text" },
};

/** Which part does not fit, if one does not. */
function findMisfit(value: unknown, form: Form, name: string): string | undefined {
  const isText = typeof form === "string";
  if (value === undefined) {
    const isNeeded = isText ? form.endsWith("!") : isListForm(form) && form[1] === "!";
    return isNeeded ? name : undefined;
  }
  if (isText) return FORMS[form.replace("!", "") as keyof typeof FORMS](value) ? undefined : name;
  if (isListForm(form)) {
    if (!Array.isArray(value)) return name;
    return findFirst(value.entries(), ([i, item]) =>
      isJsonObject(item) ? findMisfit(item, form[0], `${name}[${i}]`) : `${name}[${i}]`,
    );
  }
  if (!isJsonObject(value)) return name;
  return findFirst(Object.entries(form), ([field, inner]) =>
    findMisfit(value[field], inner, name === "data" ? field : `${name}.${field}`),
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isListForm(form: Form): form is readonly [Shape, "!"?] {
  return Array.isArray(form);
}

function findFirst<T>(items: Iterable<T>, misfit: (item: T) => string | undefined) {
  for (const item of items) {
    const found = misfit(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

// Why a run, or a piece of it, cannot be replayed: in words for the user, and for a run with a code for programs.

export type ReplayErrorCode =
  | "run_unknown"
  /** It was refused, or given up while it waited for its turn: nothing was decided. */
  | "run_never_started"
  /** By a version that did not keep what a replay needs, or where it could not be kept. */
  | "definitions_not_kept"
  /** A fact or an artifact is not what was recorded. */
  | "damaged";

export class ReplayError extends SoongError<ReplayErrorCode> {
  override readonly name = "ReplayError";
}

/** Ends a piece that cannot be compared, and nothing else. */
export class NotComparable extends Error {
  readonly fact: Fact;

  constructor(fact: Fact, why: string) {
    super(why);
    this.fact = fact;
  }
}
