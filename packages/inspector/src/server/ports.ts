// What the server is given beside the store: the live runtimes of the home, and whatever else this program can do.
// What is left out is not offered on the page. A port that refuses throws an InspectorError; its message is shown.

import type { FactTexts, JsonValue } from "@soong/core";
import type {
  Accepted,
  AnswerGiven,
  Called,
  CallEnded,
  ChangedTool,
  Explained,
  GrantRow,
  LiveSession,
  PlaygroundTools,
  Problem,
  Question,
  ServerList,
  TaskGraph,
  TaskList,
  WhatIf,
} from "../wire/index.ts";

/** A refusal with a sentence for the person at the page. */
export class InspectorError extends Error {
  readonly code: Problem["error"]["code"];

  constructor(code: Problem["error"]["code"], message: string) {
    super(message);
    this.name = "InspectorError";
    this.code = code;
  }
}

export interface InspectorPorts {
  /** What facts say. Default: those of the kernel; others are described by their fields. */
  readonly factTexts?: Partial<FactTexts>;
  readonly live?: LivePort;
  readonly tasks?: TasksPort;
  readonly playground?: PlaygroundPort;
  readonly whatIf?: (asked: { run_id: string; config_file: string }) => Promise<WhatIf>;
  readonly servers?: ServersPort;
}

/** The runtimes of the home that are live: who they are, what they ask, what was granted in them. */
export interface LivePort {
  /** As of now; changes by itself. Cheap. */
  state(): LiveState;
  /** Called after each change. The function ends it. */
  onChange(listener: () => void): () => void;
  /**
   * Somebody looks at the page, so questions may be put there. While nobody does, a runtime that nobody sits at denies
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
}

export interface ServersPort {
  list(): Promise<ServerList>;
  accept(server_id: string, shown: readonly ChangedTool[]): Promise<Accepted>;
}
