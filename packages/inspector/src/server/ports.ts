// What the server is given beside the store: the live runtimes of the home, and what else this program can do.
// What is omitted is not offered on the page. A port that refuses throws an InspectorError; its message is shown.

import type { RebuiltRequest, RecordedRequest, SentReader } from "@soong/agent";
import { SoongError, type FactTexts, type JsonValue } from "@soong/core";
import type {
  Accepted,
  AnswerGiven,
  AnswerText,
  Called,
  CallEnded,
  ChangedTool,
  Explained,
  GrantRow,
  PlaygroundHistory,
  PlaygroundTools,
  Question,
  RunAsked,
  RunBegun,
  RunChoices,
  ServerList,
  ServerLog,
  ServerRow,
  ServerTool,
  TaskGraph,
  TaskList,
  WhatIf,
  WhatIfAsked,
} from "../wire/home-records.ts";
import type { SessionRecord } from "@soong/store";
import type { UsedSince } from "../wire/overview-records.ts";
import type {
  PolicyPage,
  RuleChange,
  RuleChecked,
  RuleMatches,
  RuleTyped,
  RuleWritten,
  WhatIfAll,
  WhatIfAllAsked,
} from "../wire/policy-records.ts";
import type { LiveSession, SessionSummary } from "../wire/session-records.ts";
import type { ProblemCode } from "../wire/routes.ts";

/** What was sent to a model, put together from the record. */
export type ReadRequest = (
  reader: SentReader,
  recorded: RecordedRequest,
) => Promise<RebuiltRequest | undefined>;

/** A request that fails, with a sentence for the user of the page. */
export class InspectorError extends SoongError<ProblemCode> {
  override readonly name = "InspectorError";
  /** Default: that of the code. */
  readonly status: number | undefined;
  /** The methods there are, where it was another one. */
  readonly allow: readonly string[] | undefined;

  constructor(
    code: ProblemCode,
    message: string,
    { status, allow }: { readonly status?: number; readonly allow?: readonly string[] } = {},
  ) {
    super(code, message);
    this.status = status;
    this.allow = allow;
  }
}

export function bad(message: string): InspectorError {
  return new InspectorError("bad_request", message);
}

export function missing(message: string): InspectorError {
  return new InspectorError("not_found", message);
}

/** What this inspector was not given is said to be that. */
export function given<Port>(port: Port | undefined, otherwise: string): Port {
  if (port !== undefined) return port;
  throw new InspectorError("unsupported", `In this inspector ${otherwise}.`);
}

export interface InspectorPorts {
  /** What facts say. Default: those of the kernel; others are described by their fields. */
  readonly factTexts?: Partial<FactTexts>;
  /** `readSentRequest` of `@soong/agent`. Default: what was sent is shown as not recorded. */
  readonly readRequest?: ReadRequest;
  readonly live?: LivePort;
  readonly summaries?: SummaryPort;
  readonly tasks?: TasksPort;
  readonly playground?: PlaygroundPort;
  readonly whatIf?: WhatIfPort;
  readonly policy?: PolicyPort;
  readonly servers?: ServersPort;
  readonly runs?: RunsPort;
}

/** Stored runs decided again, with another rule or under another config. Nothing is executed. */
export interface WhatIfPort {
  run(asked: WhatIfAsked): Promise<WhatIf>;
  /** A few sessions at a time; ends early when no one waits any more. */
  all(asked: WhatIfAllAsked, signal: AbortSignal): Promise<WhatIfAll>;
}

/** The policy of a project, and the one thing that can be changed: a rule more in the user's own config. */
export interface PolicyPort {
  page(project: string | undefined): Promise<PolicyPage>;
  matches(signal: AbortSignal): Promise<RuleMatches>;
  check(typed: RuleTyped): RuleChecked;
  change(typed: RuleTyped): Promise<RuleChange>;
  write(typed: RuleTyped, shown: string): Promise<RuleWritten>;
}

/** The runtimes of the home that are live: who they are, what they ask, what was granted in them. */
export interface LivePort {
  /** As of now; changes with time. Cheap. */
  state(): LiveState;
  /** Called after each change. The function ends it. */
  onChange(listener: () => void): () => void;
  /** Called with the answers that are being written, a few times a second. The function ends it. */
  onText?(listener: (session_id: string, text: AnswerText) => void): () => void;
  /**
   * Someone looks at the page, so questions may be put there. While no one does, a runtime that no one sits at denies
   * at once, as it would without an inspector.
   */
  attend(): void;
  leave(): void;
  answer(session_id: string, question_id: string, answer: AnswerGiven): Promise<void>;
  revoke(session_id: string, grant_id: string): Promise<void>;
  abort(session_id: string, run_id: string): Promise<readonly string[]>;
}

export interface LiveState {
  readonly sessions: ReadonlyMap<string, LiveSession>;
  readonly questions: readonly Question[];
  readonly grants: readonly GrantRow[];
  readonly problems: readonly string[];
}

/** What became of sessions, in short. */
export interface SummaryPort {
  /** In their order. */
  summarize(records: readonly SessionRecord[]): Promise<SessionSummary[]>;
  /** What their requests used of models from that time on. */
  usedSince(records: readonly SessionRecord[], since: string): Promise<UsedSince>;
}

export interface TasksPort {
  list(): Promise<TaskList>;
  graph(task_id: string): Promise<TaskGraph>;
  /** Another text whenever a task or a step is another one. Cheap: it is asked a few times a second. */
  version(): Promise<string>;
}

export interface PlaygroundPort {
  tools(): Promise<PlaygroundTools>;
  explain(tool_name: string, input: JsonValue): Promise<Explained>;
  /** Begins the call in a kept session of its own. */
  call(tool_name: string, input: JsonValue): Promise<Called>;
  ended(run_id: string): Promise<CallEnded>;
  history(): Promise<PlaygroundHistory>;
}

/** Runs as `soong run` and `soong resume` start them. */
export interface RunsPort {
  choices(): Promise<RunChoices>;
  /** Resolves once the run is about to begin; how it goes is in its session. */
  start(asked: RunAsked): Promise<RunBegun>;
  /** Whether it is a run of this port, which ends now, also where it has not begun. Others are for the live port. */
  stop(session_id: string, run_id: string): boolean;
}

export interface ServersPort {
  list(): Promise<ServerList>;
  /** Connects that one anew. */
  connect(server_id: string): Promise<ServerRow>;
  /** As it was defined when the server was last connected. */
  tool(server_id: string, tool_name: string): Promise<ServerTool>;
  log(server_id: string): Promise<ServerLog>;
  accept(server_id: string, shown: readonly ChangedTool[]): Promise<Accepted>;
}
