// What a durable store is, for any database. `@soong/store/conformance` holds an
// implementation to every word of this.

import type {
  ArtifactRecord,
  ArtifactStore,
  ByteRange,
  ConversationNode,
  Fact,
  FactType,
  Journal,
  Recorder,
  JsonObject,
} from "@soong/core";
import type { TaskStorage } from "@soong/tasks";
import type { ClusterStorage } from "./cluster.ts";

export interface Store {
  /** A new session, held by this process until it is closed. */
  createSession(session?: NewSession): Promise<OpenSession>;
  /**
   * A session that is there, held by this process until it is closed. What a crash left open in it is
   * closed first (STORE-3). Refused while another process, or this one, holds it.
   */
  openSession(session_id: string): Promise<OpenSession>;
  /** For reading, also while it is held. Refused when there is no such session. */
  readSession(session_id: string): Promise<SessionReader>;
  /** Last used first. */
  sessions(page?: SessionPage): Promise<SessionRecord[]>;
  /** How many there are, of a project or in all. */
  countSessions(of?: Pick<SessionPage, "project">): Promise<number>;
  /** Which of these sessions a process that is alive holds. */
  heldSessions(session_ids: readonly string[]): Promise<string[]>;
  /**
   * Plain text in the conversations of all sessions, newest first: what users and models said, and the view of results that is
   * made for it (RESULT-5). A to Z are found in either case. Looks at so many nodes and no more: `next` is where to continue.
   */
  searchNodes(text: string, page?: NodeSearchPage): Promise<NodeSearch>;
  /** Of each run of these sessions the fact of its end, or some fact while it is under way. */
  lastFacts(session_ids: readonly string[]): Promise<Fact[]>;
  /**
   * The facts of these types in these sessions, of each those after this seq; default: all. Looks at the type of every fact after
   * it, and reads the text of those found.
   */
  factsOfTypes(
    session_ids: readonly string[],
    types: readonly FactType[],
    after?: number,
  ): Promise<Fact[]>;
  /** Of each of these sessions that has one the newest fact of this type. Quick where that is near its end. */
  newestFacts(session_ids: readonly string[], type: FactType): Promise<Fact[]>;
  /** The runs of these sessions, of each oldest first. */
  runs(session_ids: readonly string[]): Promise<RunRecord[]>;
  /** How many calls of these sessions have ended, by tool and status. */
  countCalls(session_ids: readonly string[]): Promise<CallCount[]>;
  /** The directories that sessions are about, with how many are; those used last first. */
  projects(): Promise<ProjectCount[]>;
  /** Undefined when no session has such a run. */
  findRun(run_id: string): Promise<RunRecord | undefined>;
  /** The runs whose id begins so, newest first. */
  findRuns(page: RunPage): Promise<RunRecord[]>;
  /** Checks the chain of a session, fact by fact, or what is left of one that was removed (EVENT-6). */
  verify(session_id: string, options?: VerifyOptions): Promise<Verification>;
  /**
   * Makes again what the store derives from the facts of a session: runs, agents, calls, what is open, where nodes hang.
   * Refused while someone holds the session, and when the facts themselves are not as they were recorded.
   */
  rebuildSession(session_id: string): Promise<void>;
  /** The tasks of all sessions. Those of a session that is removed go with it. */
  tasks(): TaskStorage;
  /** What users were asked in all sessions, and have not answered, or not in vain (PERM-20). */
  questions(): QuestionStorage;
  /** What machines say to each other. Undefined where the store is of one machine. */
  readonly cluster?: ClusterStorage | undefined;
  /**
   * Facts, conversation, artifacts, tasks and run folders go; a tombstone stays. Refused while someone
   * holds the session (ART-4).
   */
  removeSession(session_id: string, reason?: string): Promise<Tombstone>;
  /** Oldest first. */
  tombstones(): Promise<Tombstone[]>;
  /**
   * Removed sessions of which files are left, because the process that removed them was killed. They go when the store is opened
   * for writing.
   */
  unfinishedRemovals(): Promise<readonly string[]>;
  /** Removes what is too old or too much, oldest first; never what someone holds (ART-4). */
  applyRetention(retention: Retention): Promise<RetentionReport>;
  /** Writes the readable folder of a run again from its facts (EVENT-5). Answers with its path. */
  rebuildRunFolder(run_id: string): Promise<string>;
  /**
   * Folders that could not be written, and were not made whole since, by this process. Their runs continue:
   * the journal has everything.
   */
  runFolderProblems(): readonly RunFolderProblem[];
  /** Commits what is open, closes the sessions held here and lets go of everything. May be called twice. */
  close(): Promise<void>;
}

/**
 * Which commits wait for the disk (STORE-6). `standard`: those with the start or result of a call that may change something, a
 * decision, a grant, an answer, a claim, the begin or end of a run. What calls that only read leave survives a killed process, and
 * may be lost with the power; what is left is whole. `full`: all of them.
 */
export type Durability = "standard" | "full";

export interface RunFolderProblem {
  run_id: string;
  message: string;
}

export interface NewSession {
  /** Default: a random one. Refused when it is taken, also by a removed session. */
  readonly session_id?: string;
  readonly title?: string;
  /** The directory it is about. */
  readonly project?: string;
}

export interface SessionPage {
  readonly limit?: number;
  /** The last record of the page before. */
  readonly after?: Pick<SessionRecord, "updated_at" | "session_id">;
  /** Only those about this directory. */
  readonly project?: string;
  /** Only those whose id begins so. */
  readonly idPrefix?: string;
}

export interface RunPage {
  readonly idPrefix: string;
  readonly limit?: number;
}

export interface NodeSearchPage {
  /** At most so many are found; default: 100. */
  readonly limit?: number;
  /** At most so many are looked at; default: 2 000. */
  readonly most?: number;
  /** The `next` of the page before. */
  readonly before?: number;
}

export interface NodeSearch {
  found: FoundNode[];
  /** When the last node that was looked at was recorded. Omitted when there is none. */
  searched_to?: string;
  /** Where older nodes begin; omitted when there are none. */
  next?: number;
}

export interface FoundNode {
  session_id: string;
  node: ConversationNode;
  /** When it was recorded. */
  time: string;
  /** Of a result. */
  tool_name?: string;
  /** What was searched, and where the text begins in it. */
  text: string;
  at: number;
}

export interface CallCount {
  session_id: string;
  tool_name: string;
  status: string;
  count: number;
}

export interface ProjectCount {
  /** Omitted for those about none. */
  project?: string;
  sessions: number;
}

export interface SessionRecord {
  session_id: string;
  created_at: string;
  /** When its last fact was recorded. */
  updated_at: string;
  title?: string;
  project?: string;
  last_seq: number;
  /** The hash of its last fact: who keeps this elsewhere can tell whether anything was changed since. */
  head_hash: string;
}

export interface AgentRecord {
  agent_id: string;
  parent_agent_id?: string;
  /** Where its conversation continues. */
  active_node_id?: string;
}

export interface RunRecord {
  run_id: string;
  session_id: string;
  agent_id: string;
  parent_run_id?: string;
  role?: string;
  status: "queued" | "running" | "completed" | "failed" | "aborted";
  started_at: string;
  ended_at?: string;
  /** The seq of its first and last fact; facts of other runs may lie between. */
  first_seq: number;
  last_seq: number;
}

export interface CallRecord {
  run_id: string;
  tool_call_id: string;
  tool_name: string;
  requested_seq: number;
  started_seq?: number;
  ended_seq?: number;
  /** Omitted while it has not ended. */
  status?: string;
}

export interface FactPage {
  /** Begin after this seq; default: from the first. */
  readonly after?: number;
  /** End before this seq; with `limit`, the last ones before it. Not together with `after`. */
  readonly before?: number;
  /** At most so many; default: 1 000. */
  readonly limit?: number;
  readonly run_id?: string;
  readonly tool_call_id?: string;
}

export interface CallsOf {
  readonly run_id?: string;
  /** Only those that have not ended. */
  readonly isOpen?: boolean;
}

/** Reads what is committed. Costs the holder of the session nothing. */
export interface SessionReader {
  readonly session_id: string;
  record(): Promise<SessionRecord>;
  /** Oldest first. */
  facts(page?: FactPage): Promise<Fact[]>;
  /** Parents before children. */
  agents(): Promise<AgentRecord[]>;
  /** Oldest first. */
  runs(): Promise<RunRecord[]>;
  /** In the order they were asked for. */
  calls(of?: CallsOf): Promise<CallRecord[]>;
  node(node_id: string): Promise<ConversationNode | undefined>;
  /** The branches at a node, oldest first; of the root when omitted. */
  children(node_id?: string): Promise<ConversationNode[]>;
  /** From the root to a node: what a model reads. Ends early, at its top, where a parent is not there. */
  path(node_id: string): Promise<ConversationNode[]>;
  /** From the root to where the agent continues. Empty for an agent that has said nothing. */
  activePath(agent_id: string): Promise<ConversationNode[]>;
  /** Oldest first. */
  artifacts(): Promise<ArtifactRecord[]>;
  readArtifact(artifact_id: string, range?: ByteRange): Promise<Uint8Array | undefined>;
}

/** Spread into the options of `kernel.openSession`. */
export interface OpenSession {
  readonly session_id: string;
  readonly journal: Journal;
  /** Omitted for a new session, which has no fact yet. */
  readonly lastSeq?: number;
  readonly artifacts: ArtifactStore;
  readonly reader: SessionReader;
  /** What a crash had left open and opening closed. */
  readonly recovered: Recovery;
  /**
   * Aborts as soon as another process may hold the session, with `session_lost` as its reason: nothing may be done for it here any
   * more, and nothing more is recorded. Never on SQLite, where the lock is this process's until it ends.
   */
  readonly lost: AbortSignal;
  /** Continues from another node, with the next message as a branch there. Refused for an unknown node. */
  rewind(recorder: Pick<Recorder, "recordClean">, node_id: string): Promise<void>;
  /** Title and project may change as a session is used. */
  describe(about: Pick<NewSession, "title" | "project">): Promise<void>;
  /** Commits what is open and lets the session go. May be called twice. */
  close(): Promise<void>;
}

export interface Recovery {
  /** Calls that had started: they may or may not have happened. */
  readonly unknown: readonly string[];
  /** Calls that had not. */
  readonly skipped: readonly string[];
  /** Runs that were under way. */
  readonly runs: readonly string[];
}

export interface VerifyOptions {
  /** Also reads every artifact and compares its bytes with its sha256. */
  readonly artifacts?: boolean;
  /** A head hash kept elsewhere: it must be that of some fact of this session. */
  readonly head?: string;
}

export type Verification =
  | { ok: true; facts: number; head_hash: string; removed?: Tombstone }
  | { ok: false; facts: number; problem: ChainProblem };

export interface ChainProblem {
  /** The first fact that is not as it was recorded. */
  seq: number;
  kind:
    | "edited"
    | "removed"
    | "reordered"
    | "node_edited"
    | "node_removed"
    | "artifact"
    | "head"
    /** The facts are as they were recorded; what the store derives from them is not, and can be made again. */
    | "derived";
  message: string;
}

export interface Tombstone {
  session_id: string;
  created_at: string;
  removed_at: string;
  reason?: string;
  /** A copy of the journal can still be checked against these. */
  last_seq: number;
  head_hash: string;
}

/** Bounds that are negative or no number are refused. */
export interface Retention {
  /** Sessions not used for longer go. */
  readonly max_age_days?: number;
  /** When it is, for the age of sessions, in milliseconds since the epoch. Default: the store's clock. */
  readonly now?: number;
  /** The oldest sessions go until facts and artifacts of the rest are within this. */
  readonly max_bytes?: number;
}

export interface RetentionReport {
  readonly removed: readonly Tombstone[];
  /** What stays, in bytes: facts, conversation and artifacts. */
  readonly bytes: number;
  /** Sessions that should have gone but are in use. */
  readonly held: readonly string[];
}

// Questions to the user that outlive the runtime that asked them (PERM-20). One row a question, answered once, by the
// first, from any process that has the store open.

export interface QuestionStorage {
  /** Keeps a question as open. One that is there already stays as it is. Answers with what is kept. */
  ask(question: NewQuestion): Promise<QuestionRecord>;
  /** The question about the same plan that is open, or answered and not used yet. */
  find(about: QuestionAbout): Promise<QuestionRecord | undefined>;
  /** Undefined when there is no such question. */
  get(session_id: string, question_id: string): Promise<QuestionRecord | undefined>;
  /** The first answer counts. Answers with what is kept then: `answered_by` says whose answer that is. */
  answer(session_id: string, question_id: string, answer: QuestionAnswer): Promise<TakenAnswer>;
  /** `used`: the answer was acted on. `withdrawn`: no one waits for one. What was to be shown is dropped. */
  settle(session_id: string, question_id: string, state: "used" | "withdrawn"): Promise<void>;
  /** All that is open of a session whose runtime ends in order: no one will ask it again. */
  withdrawAll(session_id: string): Promise<void>;
  /** Open ones and those whose answer was not used yet, oldest first. */
  list(session_id?: string): Promise<QuestionRecord[]>;
}

/** What makes two questions the same. */
export interface QuestionAbout {
  readonly session_id: string;
  readonly agent_id: string;
  readonly kind: "permission" | "elicitation";
  readonly tool_name: string;
  /** Of the plan or, for what a tool wants to know, of the question itself. */
  readonly digest: string;
}

export interface NewQuestion extends QuestionAbout {
  readonly question_id: string;
  readonly run_id: string;
  readonly tool_call_id: string;
  readonly asked_at: string;
  /** As it is shown, without secrets. The preview of a sensitive target is no part of it (PIPE-9). */
  readonly request: JsonObject;
}

export interface QuestionRecord extends QuestionAbout {
  question_id: string;
  run_id: string;
  tool_call_id: string;
  asked_at: string;
  state: "open" | "answered" | "used" | "withdrawn";
  /** Omitted once it is settled. */
  request?: JsonObject;
  /** Once it is answered: a decision, or an action. */
  answer?: JsonObject;
  answered_by?: string;
  answered_at?: string;
}

export interface QuestionAnswer {
  readonly answer: JsonObject;
  readonly answered_by: string;
  readonly answered_at: string;
  /** The caller has it already: nothing is kept for a later runtime. */
  readonly used?: boolean;
}

export interface TakenAnswer {
  /** False: there is no such question, or it was answered or withdrawn before. */
  readonly taken: boolean;
  readonly question: QuestionRecord | undefined;
}
