// Every request there is, by method and path: what goes in the query or the body, and what comes back. A path begins
// with /api; `:name` is one part, encoded. Every request has the token as its bearer. Failures are a Problem.

import type {
  Accepted,
  AnswerGiven,
  CallEnded,
  Called,
  ChangedTool,
  Changes,
  Explained,
  PlaygroundCall,
  PlaygroundHistory,
  PlaygroundTools,
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
} from "./home-records.ts";
import type { HomeOverview, SessionGroup, TranscriptSearch } from "./overview-records.ts";
import type {
  PolicyPage,
  RuleChange,
  RuleChecked,
  RuleMatches,
  RuleTyped,
  RuleWritten,
  WhatIfAll,
  WhatIfAllAsked,
} from "./policy-records.ts";
import type { PartText, RequestStory } from "./request-records.ts";
import type {
  ArtifactList,
  ArtifactMatches,
  ArtifactPage,
  CallStory,
  Conversation,
  ConversationItem,
  FactRows,
  RunRecord,
  RunRow,
  SessionList,
  SurfaceMatches,
  SurfaceView,
  WholeFact,
} from "./session-records.ts";

export interface Routes {
  /** What this inspector can do; also the check of the token. */
  "GET /api/about": { answer: About };
  /** `hold=1`: waits up to some seconds for news. Without a cursor: everything. */
  "GET /api/changes": {
    query: { cursor?: string; session_id?: string; hold?: "1" };
    answer: Changes;
  };
  /** `since`: from when on to count what was used. */
  "GET /api/home": { query: { since: string }; answer: HomeOverview };
  /** Those that match, as far back as one request looks: `next` continues. `text`: words of title, project, model or id. */
  "GET /api/sessions": {
    query: { after?: string; limit?: string; group?: SessionGroup } & SessionFilter;
    answer: SessionList;
  };
  /** Plain text in all conversations; `before` is the `next` of a page. */
  "GET /api/search": { query: { q: string; before?: string }; answer: TranscriptSearch };
  "GET /api/sessions/:session_id/facts": {
    query: { offset: string; limit: string; run_id?: string };
    answer: FactRows;
  };
  "GET /api/sessions/:session_id/facts/:seq": { answer: WholeFact };
  /** An id is unique within its run; without one, the newest call that has it. */
  "GET /api/sessions/:session_id/calls/:tool_call_id": {
    query: { run_id?: string };
    answer: CallStory;
  };
  "GET /api/sessions/:session_id/conversation": {
    query: { agent_id: string; before?: string; after?: string };
    answer: Conversation;
  };
  /** One message with much more of its text. */
  "GET /api/sessions/:session_id/nodes/:node_id": { answer: ConversationItem };
  "GET /api/sessions/:session_id/runs": { answer: { runs: RunRow[] } };
  /** A run with its calls, as it is compared with another one. */
  "GET /api/sessions/:session_id/runs/:run_id/record": { answer: RunRecord };
  "GET /api/sessions/:session_id/artifacts": {
    query: { tool_call_id?: string };
    answer: ArtifactList;
  };
  "GET /api/sessions/:session_id/artifacts/:artifact_id": {
    query: { offset?: string; length?: string };
    answer: ArtifactPage;
  };
  /** `q` is plain text; `regex=1`: a regular expression without backtracking. */
  "GET /api/sessions/:session_id/artifacts/:artifact_id/search": {
    query: { q: string; regex?: "1" };
    answer: ArtifactMatches;
  };
  /** `before`: messages before that one. */
  "GET /api/sessions/:session_id/runs/:run_id/requests/:request": {
    query: { before?: string };
    answer: RequestStory;
  };
  "GET /api/sessions/:session_id/runs/:run_id/requests/:request/parts/:part": { answer: PartText };
  "GET /api/sessions/:session_id/runs/:run_id/surface": {
    query: { revision?: string };
    answer: SurfaceView;
  };
  "GET /api/sessions/:session_id/runs/:run_id/search": {
    query: { q: string };
    answer: SurfaceMatches;
  };
  "GET /api/runs/choices": { answer: RunChoices };
  "POST /api/runs": { body: RunAsked; answer: RunBegun };
  "POST /api/runs/:run_id/abort": { body: { session_id: string }; answer: { run_ids: string[] } };
  "POST /api/questions/:question_id/answer": {
    body: { session_id: string; answer: AnswerGiven };
    answer: Record<string, never>;
  };
  "DELETE /api/grants/:grant_id": { query: { session_id: string }; answer: Record<string, never> };
  "GET /api/tasks": { answer: TaskList };
  "GET /api/tasks/:task_id": { answer: TaskGraph };
  "GET /api/playground/tools": { answer: PlaygroundTools };
  "POST /api/playground/explain": { body: PlaygroundCall; answer: Explained };
  "POST /api/playground/call": { body: PlaygroundCall; answer: Called };
  /** Waits for the end of a call that was begun. */
  "GET /api/playground/calls/:run_id": { answer: CallEnded };
  "POST /api/what-if": { body: WhatIfAsked; answer: WhatIf };
  "GET /api/playground/history": { answer: PlaygroundHistory };
  "POST /api/what-if/all": { body: WhatIfAllAsked; answer: WhatIfAll };
  /** Of the directory the inspector was started in, or of a project that sessions are about. */
  "GET /api/policy": { query: { project?: string }; answer: PolicyPage };
  "GET /api/policy/matches": { answer: RuleMatches };
  "POST /api/policy/rule/check": { body: RuleTyped; answer: RuleChecked };
  "POST /api/policy/rule/change": { body: RuleTyped; answer: RuleChange };
  /** `shown`: the hash of the change that the user saw. */
  "POST /api/policy/rule/write": { body: { rule: RuleTyped; shown: string }; answer: RuleWritten };
  "GET /api/servers": { answer: ServerList };
  /** Connects it anew. */
  "POST /api/servers/:server_id/connect": { body: Record<string, never>; answer: ServerRow };
  "GET /api/servers/:server_id/tools/:tool_name": { answer: ServerTool };
  "GET /api/servers/:server_id/log": { answer: ServerLog };
  "POST /api/servers/:server_id/accept": { body: { shown: ChangedTool[] }; answer: Accepted };
}

/** Each as it was typed or chosen. */
export interface SessionFilter {
  status?: string;
  project?: string;
  tool?: string;
  text?: string;
}

export interface About {
  version: string;
  home: string;
  cwd: string;
  /** Of the inspector: sessions that it holds are of runs from the page. */
  pid: number;
  /** What was not given to this inspector is not offered. */
  can: {
    answer: boolean;
    playground: boolean;
    what_if: boolean;
    policy: boolean;
    servers: boolean;
    tasks: boolean;
    run: boolean;
  };
}

/** The names in the path of a route. */
export type PathNames<Route extends string> = Route extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathNames<Rest>
  : Route extends `${string}:${infer Name}`
    ? Name
    : never;

/** How a request fails. `message` is a whole sentence for the user of the page. */
export interface Problem {
  error: { code: ProblemCode; message: string };
}

export type ProblemCode =
  /** No token, or a wrong one. */
  | "unauthorized"
  /** From another page, or for another host. */
  | "forbidden"
  | "not_found"
  | "bad_request"
  | "too_large"
  /** The answer came too late: someone else gave one, or the call is gone. */
  | "settled"
  /** The runtime it is about has ended, or cannot be reached. */
  | "gone"
  /** This inspector was started without it. */
  | "unsupported"
  | "failed";
