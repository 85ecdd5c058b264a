// What LangChain passes to a tool, as far as it is used here.

export interface ToolConfig {
  readonly toolCall?: {
    readonly id?: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  };
  /** Of the task. */
  readonly state?: unknown;
  readonly signal?: AbortSignal;
  readonly maxConcurrency?: number;
  readonly configurable?: {
    readonly thread_id?: unknown;
    readonly checkpoint_ns?: unknown;
    /** LangGraph's own record of the task; LangChain takes the state from it. */
    readonly __pregel_scratchpad?: Scratchpad;
  };
  /** Throws to pause; returns what the graph is resumed with. */
  readonly interrupt?: (value: unknown) => unknown;
  readonly writer?: (chunk: unknown) => void;
}

interface Scratchpad {
  /** What this task was resumed with, one for each of its interrupts. */
  readonly resume: readonly unknown[];
  /** Of the last interrupt; -1 before the first. */
  readonly interruptCounter: number;
  /** What the graph was resumed with, if that names no interrupt. */
  readonly nullResume?: unknown;
}

export function findThread({ configurable }: ToolConfig): string {
  return JSON.stringify(configurable?.thread_id ?? "");
}

/** The task of this call. Undefined where all calls of an answer are one task, as in `version: "v1"` of `createAgent`. */
export function findTask({ state, configurable }: ToolConfig): string | undefined {
  const isOwnTask = typeof state === "object" && state !== null && "lg_tool_call" in state;
  return isOwnTask ? JSON.stringify(configurable?.checkpoint_ns) : undefined;
}

/** Whether the next interrupt returns an answer that all tasks get which wait, not one that names its interrupt. */
export function getsSharedAnswer({ configurable }: ToolConfig): boolean {
  const scratchpad = configurable?.__pregel_scratchpad;
  if (scratchpad === undefined) return true;
  const { nullResume, resume, interruptCounter } = scratchpad;
  return nullResume !== undefined && resume.length <= interruptCounter + 1;
}
