// What a socket may see of a live session and do to it. It answers, takes back and ends; it starts no call and
// changes no policy. Commands that come through the store do no more than a socket may.

import {
  createRedactor,
  type Fact,
  type KnownSecret,
  type Run,
  type Session,
  type ToolGrant,
} from "@soong/core";
import { describeScopes } from "@soong/core/internal";
import type { SessionCommand } from "@soong/store";
import {
  CONTROL_PROTOCOL,
  PROGRAM_VERSION,
  type ControlHello,
  type ListedGrant,
  type RunUnderWay,
} from "./protocol.ts";
import { createLiveTexts, type LiveTexts } from "./live-texts.ts";
import type { StoredQuestions } from "./stored-questions.ts";
import type { ApprovalBroker } from "./approval-broker.ts";

export interface ControlSubject {
  readonly broker: ApprovalBroker;
  /** Of a question that is settled: who answered, and how. */
  answeredBy(question_id: string): Promise<string | undefined>;
  hello(): ControlHello;
  grants(): readonly ListedGrant[];
  /** Undefined when there is no such grant. */
  revokeGrant(grant_id: string): ListedGrant | undefined;
  facts(options: { after: number; run_id?: string }): AsyncIterableIterator<Fact>;
  readonly texts: Pick<LiveTexts, "follow">;
  /** Those it reached: one, or without an id all that are under way. */
  abort(run_id: string | undefined, reason: string): readonly string[];
}

/** Called with why, and with the runs that are meant. */
export type AbortListener = (reason: string, run_ids: readonly string[]) => void;

export interface WatchedSession {
  readonly subject: ControlSubject;
  /** For the driver of the runs: the text of the model, as it comes. */
  readonly addText: LiveTexts["add"];
  /** For the driver of the runs. Without a listener, the calls of a run are ended and nothing else. */
  onAbort(listener: AbortListener): () => void;
}

export interface WatchOptions {
  readonly project: string;
  readonly broker: ApprovalBroker;
  readonly secrets: readonly KnownSecret[];
  /** Where its questions are kept, if they are. */
  readonly questions?: Pick<StoredQuestions, "answered">;
}

export function watchSession(session: Session, options: WatchOptions): WatchedSession {
  const { project, broker, secrets, questions } = options;
  const underWay = new Map<string, { readonly run: Run; readonly listed: RunUnderWay }>();
  const listeners = new Set<AbortListener>();
  const texts = createLiveTexts(secrets);
  session.onRun((run) => {
    const { run_id, agent_id, parent_run_id, role } = run.identity;
    const started_at = new Date().toISOString();
    underWay.set(run_id, { run, listed: { run_id, agent_id, parent_run_id, role, started_at } });
    return () => {
      underWay.delete(run_id);
      texts.end(run_id);
    };
  });

  return {
    subject: {
      broker,
      answeredBy: async (question_id) => questions?.answered(question_id),
      hello: () => ({
        protocol: CONTROL_PROTOCOL,
        version: PROGRAM_VERSION,
        pid: process.pid,
        session_id: session.session_id,
        project,
        runs: [...underWay.values()].map(({ listed }) => listed),
        attendants: broker.responders(),
      }),
      grants: () => session.grants().map(listedGrant),
      revokeGrant(grant_id) {
        const revoked = session.revokeGrant(grant_id);
        return revoked && listedGrant(revoked);
      },
      facts: (live) => session.facts(live),
      texts,
      abort,
    },
    addText: texts.add,
    onAbort(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  function abort(run_id: string | undefined, reason: string): readonly string[] {
    const meant = [...underWay.values()].filter(
      ({ listed }) => run_id === undefined || listed.run_id === run_id,
    );
    const run_ids = meant.map(({ listed }) => listed.run_id);
    if (meant.length === 0) return run_ids;
    for (const listener of listeners) listener(reason, run_ids);
    if (listeners.size === 0) for (const { run } of meant) void run.abort(reason);
    return run_ids;
  }

  /** A grant holds its targets as they are; what leaves is without secrets (REDACT-1). */
  function listedGrant(grant: ToolGrant): ListedGrant {
    const covers = describeScopes(grant.tool_name, grant.scopes);
    return createRedactor({ secrets }).value({ ...grant, covers });
  }
}

/** What another machine sent. Of a newer Soong it may be something that is not known here. */
export function obeyCommand(
  subject: Pick<ControlSubject, "abort" | "revokeGrant">,
  command: SessionCommand,
): void {
  if (command.kind === "abort") subject.abort(command.run_id, command.reason);
  else if (command.kind === "revoke") subject.revokeGrant(command.grant_id);
}
