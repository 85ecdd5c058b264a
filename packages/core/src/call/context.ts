// What a planner and a handler are given (DEF-7). Parts are made when they are looked at, because most
// handlers look at few; each can be taken out of the object and used by itself.

import {
  READING_SUBJECT,
  restrictedGlobs,
  restrictionOf,
  type Policy,
  type RestrictedPath,
  type ToolFacts,
} from "../permission/index.ts";
import type { RegisteredTool } from "../registry/index.ts";
import type { JsonObject, JsonValue } from "@soong/schema";
import { toolFacts } from "../surface/index.ts";
import type {
  ArtifactAccess,
  ArtifactRef,
  ArtifactWriter,
  Places,
  PreparedPlan,
  Resource,
  Restriction,
  Roots,
  RunContext,
  TargetsContext,
  ToolContext,
} from "../tool/index.ts";
import { PRE_IMAGE } from "../tool/index.ts";
import { toolOf, type Call } from "./call.ts";
import { elicit, type ElicitingExecution } from "./elicit.ts";
import type { RunArtifacts, RunAuthority, RunBase, RunPeople, RunState } from "./host.ts";
import { createPartialOutput, type PartialOutput } from "./partial-output.ts";
import { createProgress, type Progress } from "./progress.ts";

/** What a tool may know of the places of its run before it is judged. */
export function placesOf(host: RunAuthority, tool: RegisteredTool): Places {
  let facts: ToolFacts | undefined;
  return placesFor(host, () => (facts ??= toolFacts(host.policy, tool)));
}

/** The same for whatever reads for the model without a call. */
export function placesOfReading(host: RunAuthority): Places {
  return placesFor(host, () => READING_SUBJECT.tool);
}

function placesFor(
  { roots, policy, hooks, findPath }: RunAuthority,
  asking: () => ToolFacts,
): Places {
  return {
    roots,
    findPath,
    sensitiveBy: (path) => sensitiveUnder(policy, path),
    restrictedBy: (path, access, ignoresCase = false) =>
      restrictedBy({ policy, hooks }, asking(), { path, access, ignoresCase }),
    restrictedGlobs: (access) => [
      ...restrictedGlobs(policy, asking(), access),
      ...hooks.guardedGlobs(asking(), access),
    ],
  };
}

/** Rules, sensitive patterns and guards: a parent's hold for its children, too (PERM-12, PERM-15). */
function restrictedBy(
  { policy, hooks }: Pick<RunAuthority, "policy" | "hooks">,
  asking: ToolFacts,
  given: RestrictedPath,
): Restriction | undefined {
  const found = restrictionOf(policy, asking, given);
  if (found?.kind === "rule" || found?.decision === "deny") return found;
  const guard = hooks.guardOf(given, asking);
  return guard === undefined ? found : { kind: "hook", decision: "ask", by: guard.id };
}

/** What is sensitive to a parent is so to its children, whatever they were given (PERM-12). */
function sensitiveUnder(policy: Policy, path: string): string | undefined {
  const own = policy.boundary.sensitiveBy(path);
  return own ?? (policy.ceiling && sensitiveUnder(policy.ceiling, path));
}

type TargetsHost = RunBase & RunAuthority & RunArtifacts & RunState;

export function targetsContext(host: TargetsHost, call: Call): TargetsContext {
  const { session_id, run_id, agent_id } = host.identity;
  return {
    toolCallId: call.tool_call_id,
    toolName: call.tool_name,
    sessionId: session_id,
    runId: run_id,
    agentId: agent_id,
    ...placesOf(host, toolOf(call)),
    runContext: host.runContext(),
    sourcesOfArtifact: (artifact_id) => sourcesOf(host, toolOf(call), artifact_id),
    get signal() {
      return call.signal;
    },
  };
}

async function sourcesOf(
  host: TargetsHost,
  tool: RegisteredTool,
  artifact_id: string,
): Promise<readonly Resource[]> {
  const record = await host.artifacts.stat(artifact_id);
  if (record?.session_id !== host.identity.session_id) return [];
  const facts = toolFacts(host.policy, tool);
  const isGuarded = host.hooks.guardedGlobs(facts, "read").length > 0;
  return host.sourcesOfArtifact(record, host.policy, isGuarded);
}

/** What a handler leaves behind while it runs; the executor's side of its context. */
export interface HandlerTraces extends ElicitingExecution {
  /** Set when the call has ended: nothing the handler still says is heard. */
  readonly over: boolean;
  progress: Progress | undefined;
  partial: PartialOutput | undefined;
  /** What it wrote outside the conversation: all that is left of a call that is cut short. */
  artifacts: ArtifactRef[] | undefined;
  /** Runs it at once when the call has been cut short already. */
  onCancel(cleanup: () => void | Promise<void>): void;
}

/** What the context of a handler is made of. */
export type HandlerHost = TargetsHost & RunPeople;

/** Private inside: a handler gets what the interface says and no way to the run behind it. */
export class CallContext implements ToolContext {
  readonly #host: HandlerHost;
  readonly #call: Call;
  readonly #traces: HandlerTraces;

  constructor(host: HandlerHost, call: Call, traces: HandlerTraces) {
    this.#host = host;
    this.#call = call;
    this.#traces = traces;
  }

  get toolCallId(): string {
    return this.#call.tool_call_id;
  }
  get toolName(): string {
    return this.#call.tool_name;
  }
  get sessionId(): string {
    return this.#host.identity.session_id;
  }
  get runId(): string {
    return this.#host.identity.run_id;
  }
  get agentId(): string {
    return this.#host.identity.agent_id;
  }
  get roots(): Roots {
    return this.#host.roots;
  }
  get signal(): AbortSignal {
    return this.#call.signal;
  }
  get runContext(): RunContext {
    return this.#host.runContext();
  }
  get plan(): PreparedPlan | undefined {
    return this.#call.plan;
  }
  get idempotencyKey(): string {
    return `${this.sessionId}/${this.toolCallId}`;
  }
  get sensitiveBy(): ToolContext["sensitiveBy"] {
    return placesOf(this.#host, toolOf(this.#call)).sensitiveBy;
  }
  get sourcesOfArtifact(): ToolContext["sourcesOfArtifact"] {
    return (artifact_id) => sourcesOf(this.#host, toolOf(this.#call), artifact_id);
  }
  get restrictedBy(): ToolContext["restrictedBy"] {
    return placesOf(this.#host, toolOf(this.#call)).restrictedBy;
  }
  get findPath(): ToolContext["findPath"] {
    return this.#host.findPath;
  }
  get restrictedGlobs(): ToolContext["restrictedGlobs"] {
    return placesOf(this.#host, toolOf(this.#call)).restrictedGlobs;
  }
  get artifacts(): ArtifactAccess {
    return artifactAccess(this.#host, this.#call, (ref) => {
      (this.#traces.artifacts ??= []).push(ref);
    });
  }
  get inlineLimitBytes(): number {
    return Math.min(this.#host.config.tools.inline_limit_bytes, this.#host.inlineLimitBytes);
  }
  get redact(): ToolContext["redact"] {
    const { definition, source } = toolOf(this.#call);
    // As the whole result will be: a trusted tool may keep look-alikes of keys as they are.
    const scope = (source.trusted ? definition.redaction : undefined) ?? "full";
    return (text) => this.#host.redactor.text(text, scope);
  }
  get progress(): ToolContext["progress"] {
    return (update) => {
      const traces = this.#traces;
      if (traces.over) return;
      traces.progress ??= createProgress(this.#host, this.#call);
      traces.progress.report(update);
    };
  }
  get output(): ToolContext["output"] {
    return (chunk: unknown) => {
      const traces = this.#traces;
      if (traces.over) return;
      traces.partial ??= createPartialOutput(this.#host.redactor, () => this.artifacts);
      traces.partial.push(String(chunk));
    };
  }
  get onCancel(): ToolContext["onCancel"] {
    return (cleanup) => this.#traces.onCancel(cleanup);
  }
  get waitForPerson(): ToolContext["waitForPerson"] {
    return (answer) => this.#traces.waitForPerson(answer);
  }
  get elicit(): ToolContext["elicit"] {
    return (request) => elicit(this.#host, this.#call, request, this.#traces);
  }
}

/** Artifacts a call writes carry the call, and each is a fact. */
function artifactWriter(
  host: RunBase & RunArtifacts,
  call: Call,
  onCreated: (ref: ArtifactRef) => void,
): ArtifactWriter {
  const { session_id, run_id } = host.identity;
  const own = { session_id, run_id, tool_call_id: call.tool_call_id };
  const created = (record: ArtifactRef): ArtifactRef => {
    const ref = refOf(record);
    onCreated(ref);
    host.recorder.record("artifact.created", { ...ref }, call);
    return ref;
  };
  return {
    async write(bytes, about) {
      return created(await host.artifacts.write(bytes, { ...about, ...own }));
    },
    open(about) {
      const sink = host.artifacts.open({ ...about, ...own });
      return {
        write: (bytes) => sink.write(bytes),
        close: async () => created(await sink.close()),
        discard: async () => sink.discard(),
      };
    },
  };
}

/** Only what this session wrote: an id of another session is as unknown as one nobody gave out. */
function artifactAccess(
  host: RunBase & RunArtifacts,
  call: Call,
  onCreated: (ref: ArtifactRef) => void,
): ArtifactAccess {
  const stat = async (artifact_id: string): Promise<ArtifactRef | undefined> => {
    const record = await host.artifacts.stat(artifact_id);
    const isOwn = record?.session_id === host.identity.session_id;
    return isOwn && record.media_type !== PRE_IMAGE ? refOf(record) : undefined;
  };
  return {
    ...artifactWriter(host, call, onCreated),
    stat,
    read: async (artifact_id, range) =>
      (await stat(artifact_id)) && (await host.artifacts.read(artifact_id, range)),
  };
}

function refOf({ artifact_id, media_type, size, sha256, name }: ArtifactRef): ArtifactRef {
  return { artifact_id, media_type, size, sha256, ...(name === undefined ? {} : { name }) };
}

/**
 * The context of a run as handlers see it (DEF-8): a copy, frozen all the way down, so that a modifier is the only way to
 * change it. Throws where JSON does: on a cycle, or an infinite number.
 */
export function freezeContext(context: object): RunContext {
  const copy = JSON.parse(JSON.stringify(context)) as JsonObject;
  deepFreeze(copy);
  return copy;
}

function deepFreeze(value: JsonValue): void {
  if (typeof value !== "object" || value === null) return;
  for (const item of Object.values(value)) deepFreeze(item);
  Object.freeze(value);
}
