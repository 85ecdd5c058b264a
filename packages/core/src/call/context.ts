// What a planner and a handler are given (DEF-7). Parts are made when they are looked at, because most
// handlers look at few; each can be taken out of the object and used alone.

import { omitUndefined, type JsonObject } from "@soong/schema";
import type { ArtifactInput, ArtifactRecord } from "../journal/index.ts";
import {
  READING_SUBJECT,
  chooseSandbox,
  commandAlone,
  subjectUnder,
  restrictedGlobs,
  findRestriction,
  type Policy,
  type ToolFacts,
} from "../permission/index.ts";
import type { RegisteredTool } from "../registry/registered-tool.ts";
import { toolFacts } from "../surface/effects-under.ts";
import {
  type ArtifactAccess,
  type ArtifactDescription,
  type ArtifactRef,
  type Places,
  type PreparedPlan,
  type Roots,
  type RunContext,
  type TargetsContext,
  type ToolContext,
  PRE_IMAGE,
} from "../tool/index.ts";
import type { AcceptedCall, Call } from "./call.ts";
import { PartialOutput, Progress } from "./handler-output.ts";
import type { RunAuthority } from "./host.ts";

/** What a tool may know of the places of its run before it is judged; `effects`: of one call, where it has others. */
export function createPlaces(
  run: RunAuthority,
  tool: RegisteredTool,
  effects?: ToolFacts["effects"],
): Places {
  let facts: ToolFacts | undefined;
  return placesFor(run, () => (facts ??= toolFacts(run.policy, tool)), effects);
}

/** The same for code that reads for the model without a call. */
export function placesOfReading(run: RunAuthority): Places {
  return placesFor(run, () => READING_SUBJECT.tool);
}

/** Rules, sensitive patterns and guards: a parent's hold for its children, too (PERM-12, PERM-15). */
function placesFor(
  { roots, policy, hooks, findPath }: RunAuthority,
  asking: () => ToolFacts,
  effects?: ToolFacts["effects"],
): Places {
  return {
    roots,
    findPath,
    sensitiveBy: (path) => sensitiveUnder(policy, path),
    restrictedBy(path, access, ignoresCase = false) {
      const given = { path, access, ignoresCase };
      const found = findRestriction(policy, asking(), given);
      if (found?.kind === "rule" || found?.decision === "deny") return found;
      const guard = hooks.guardOf(given, asking());
      return guard === undefined ? found : { kind: "hook", decision: "ask", by: guard.id };
    },
    restrictedGlobs: (access) => [
      ...restrictedGlobs(policy, asking(), access),
      ...hooks.guardedGlobs(asking(), access),
    ],
    sandboxOf(command) {
      const tool = asking();
      const facts = { ...tool, effects: effects ?? tool.effects, resources: [command], hosts: [] };
      return chooseSandbox(policy, commandAlone(subjectUnder(policy, facts)));
    },
  };
}

/** What is sensitive to a parent is so to its children, with any policy of their own (PERM-12). */
function sensitiveUnder(policy: Policy, path: string): string | undefined {
  const own = policy.boundary.sensitiveBy(path);
  return own ?? (policy.ceiling && sensitiveUnder(policy.ceiling, path));
}

/** Private inside: a tool gets what the interface says and no way to the run behind it. */
export class PlannerContext implements TargetsContext {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly roots: Roots;
  readonly findPath: Places["findPath"];
  readonly #call: AcceptedCall;
  #madePlaces: Places | undefined = undefined;

  constructor(call: AcceptedCall) {
    const { identity, roots, findPath } = call.run;
    this.toolCallId = call.tool_call_id;
    this.toolName = call.tool_name;
    this.sessionId = identity.session_id;
    this.runId = identity.run_id;
    this.agentId = identity.agent_id;
    this.roots = roots;
    this.findPath = findPath;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
  get runContext(): RunContext {
    return this.#call.run.context;
  }
  get sensitiveBy(): Places["sensitiveBy"] {
    return this.#places.sensitiveBy;
  }
  get restrictedBy(): Places["restrictedBy"] {
    return this.#places.restrictedBy;
  }
  get restrictedGlobs(): Places["restrictedGlobs"] {
    return this.#places.restrictedGlobs;
  }
  get sandboxOf(): Places["sandboxOf"] {
    return this.#places.sandboxOf;
  }
  get #places(): Places {
    const { run, tool, effects } = this.#call;
    return (this.#madePlaces ??= createPlaces(run, tool, effects));
  }
  get sourcesOfArtifact(): TargetsContext["sourcesOfArtifact"] {
    const { run, tool } = this.#call;
    return async (artifact_id) => {
      const record = await run.artifacts.stat(artifact_id);
      if (record?.session_id !== run.identity.session_id) return [];
      const isGuarded = run.hooks.guardedGlobs(toolFacts(run.policy, tool), "read").length > 0;
      return run.sourcesOfArtifact(record, run.policy, isGuarded);
    };
  }
}

/** What a handler leaves behind while it runs; the executor's side of its context. */
export interface HandlerTraces extends Pick<ToolContext, "onCancel" | "waitForUser" | "elicit"> {
  /** Set when the call has ended: nothing the handler still reports counts. */
  readonly over: boolean;
  progress: Progress | undefined;
  partial: PartialOutput | undefined;
  /** What it wrote outside the conversation: all that is left of a call that is cut short. */
  artifacts: ArtifactRef[] | undefined;
}

export class HandlerContext extends PlannerContext implements ToolContext {
  readonly #call: AcceptedCall;
  readonly #traces: HandlerTraces;

  constructor(call: AcceptedCall, traces: HandlerTraces) {
    super(call);
    this.#call = call;
    this.#traces = traces;
  }

  get plan(): PreparedPlan | undefined {
    return this.#call.plan;
  }
  get idempotencyKey(): string {
    return `${this.sessionId}/${this.toolCallId}`;
  }
  get inlineLimitBytes(): number {
    const { config, inlineLimitBytes } = this.#call.run;
    return Math.min(config.tools.inline_limit_bytes, inlineLimitBytes);
  }
  get artifacts(): ArtifactAccess {
    return artifactAccess(this.#call, (ref) => (this.#traces.artifacts ??= []).push(ref));
  }
  get redact(): ToolContext["redact"] {
    const { definition, source } = this.#call.tool;
    // As the whole result will be: a trusted tool may keep look-alikes of keys as they are.
    const scope = (source.trusted ? definition.redaction : undefined) ?? "full";
    return (text) => this.#call.run.redactor.text(text, scope);
  }
  get sandboxApplied(): ToolContext["sandboxApplied"] {
    return (limits) => {
      if (this.#traces.over) return;
      const { recorder } = this.#call.run;
      if ("missing" in limits)
        recorder.record("sandbox.missing", { why: limits.missing }, this.#call);
      else recorder.record("sandbox.applied", limits, this.#call);
    };
  }
  get sandboxViolated(): ToolContext["sandboxViolated"] {
    return (violation) => {
      if (this.#traces.over) return;
      this.#call.run.recorder.record("sandbox.violation", violation, this.#call);
    };
  }
  get progress(): ToolContext["progress"] {
    return (update) => {
      if (this.#traces.over) return;
      (this.#traces.progress ??= new Progress(this.#call)).report(update);
    };
  }
  get output(): ToolContext["output"] {
    return (chunk: unknown) => {
      if (this.#traces.over) return;
      const { redactor } = this.#call.run;
      this.#traces.partial ??= new PartialOutput(redactor, () => this.artifacts);
      this.#traces.partial.push(String(chunk));
    };
  }
  get onCancel(): ToolContext["onCancel"] {
    return (cleanup) => this.#traces.onCancel(cleanup);
  }
  get waitForUser(): ToolContext["waitForUser"] {
    return (answer) => this.#traces.waitForUser(answer);
  }
  get elicit(): ToolContext["elicit"] {
    return (request) => this.#traces.elicit(request);
  }
}

/**
 * Artifacts a call writes carry the call, and each is a fact. It reads only what this session wrote: an id of another
 * session is as unknown as one that was never given out.
 */
function artifactAccess(call: Call, onCreated: (ref: ArtifactRef) => void): ArtifactAccess {
  const { artifacts, identity, recorder } = call.run;
  const created = (record: ArtifactRef): ArtifactRef => {
    const ref = artifactRef(record);
    onCreated(ref);
    recorder.record("artifact.created", { ...ref }, call);
    return ref;
  };
  const stat = async (artifact_id: string): Promise<ArtifactRef | undefined> => {
    const record = await artifacts.stat(artifact_id);
    const isOwn = record?.session_id === identity.session_id;
    return isOwn && record.media_type !== PRE_IMAGE ? artifactRef(record) : undefined;
  };
  return {
    stat,
    write: async (bytes, about) => created(await writeArtifact(call, bytes, about)),
    open(about) {
      const sink = artifacts.open(artifactInput(call, about));
      return {
        write: (bytes) => sink.write(bytes),
        close: async () => created(await sink.close()),
        discard: async () => sink.discard(),
      };
    },
    read: async (artifact_id, range) =>
      (await stat(artifact_id)) && (await artifacts.read(artifact_id, range)),
  };
}

export async function writeArtifact(
  call: Call,
  bytes: string | Uint8Array,
  about: ArtifactDescription,
): Promise<ArtifactRecord> {
  return call.run.artifacts.write(bytes, artifactInput(call, about));
}

function artifactInput({ run, tool_call_id }: Call, about: ArtifactDescription): ArtifactInput {
  const { session_id, run_id } = run.identity;
  const { media_type, name } = about;
  return { media_type, ...omitUndefined({ name }), session_id, run_id, tool_call_id };
}

/** A record has more fields, which are no business of the model's. */
export function artifactRef(record: ArtifactRef): ArtifactRef {
  const { artifact_id, media_type, size, sha256, name } = record;
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

/** What is frozen already is taken to be so throughout. */
export function deepFreeze(value: object): void {
  if (Object.isFrozen(value)) return;
  for (const item of Object.values(value) as unknown[]) {
    if (typeof item === "object" && item !== null) deepFreeze(item);
  }
  Object.freeze(value);
}
