import {
  checkRun,
  createGate,
  listTools,
  loadedNames,
  type BridgeRun,
  type HostApprovals,
} from "../kernel/index.ts";
import { SeenCalls } from "./calls.ts";
import {
  createToolApproval,
  createTools,
  type BridgedTool,
  type ToolApproval,
} from "./create-tools.ts";
import type { AnswerParts } from "./model-answer.ts";
import type { PeerModel } from "./peer-types.ts";
import { ProgressFeed } from "./progress-feed.ts";
import { wrapModel } from "./wrap-model.ts";

export interface AiSdkOptions {
  /** The SDK's own pause and resume collects approvals. Default: the session's `ask` answers in the process. */
  readonly approvals?: HostApprovals;
}

export interface AiSdkBridge {
  /** Puts the kernel in front of a provider's model, so that calls start while the answer still streams. */
  readonly model: <Model extends PeerModel>(model: Model) => Model;
  /** All tools of the run, by their wire names. */
  readonly tools: Record<string, BridgedTool>;
  /** For version 7 of the SDK; the tools have the same for version 6. Empty without the host's approvals. */
  readonly toolApproval: ToolApproval;
  /** For a plain model: offers deferred tools once they are loaded. `model` does that itself. */
  readonly prepareStep: () => Promise<{ activeTools: string[] }>;
}

/** What `streamText` and `generateText` take of a run: `kernel.startRun()`. */
export async function bridgeAiSdk(
  run: BridgeRun,
  { approvals }: AiSdkOptions = {},
): Promise<AiSdkBridge> {
  checkRun(run, "bridgeAiSdk");
  const listed = await listTools(run);
  const parts: AnswerParts = {
    run,
    approvals,
    gate: createGate(run, approvals),
    calls: new SeenCalls(),
    feed: new ProgressFeed(run),
    tools: new Map(listed.map((tool) => [tool.name, tool])),
    denied: new Set(),
  };
  return {
    model: (model) => wrapModel(model, parts),
    tools: createTools(parts),
    toolApproval: createToolApproval(parts),
    async prepareStep() {
      const loaded = await loadedNames(run);
      return { activeTools: loaded.filter((name) => parts.tools.has(name)) };
    },
  };
}
