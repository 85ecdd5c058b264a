// @soong/replay: a recorded run decided again, under what it had or under something else, and a recorded run as a
// script. It reads a journal and touches nothing.

export type { Divergence, ReplayStage } from "./divergence.ts";
export {
  ReplayError,
  type ReplayErrorCode,
  createReplaySource,
  type ReplaySource,
} from "./source.ts";
export { replayRun, type LeftOut, type ReplayOptions, type ReplayReport } from "./replay-run.ts";
export { exportRunScript, type RunScript, type ScriptOptions } from "./export-run-script.ts";
export {
  whatIf,
  type WhatIfCall,
  type WhatIfOptions,
  type WhatIfReport,
  type WhatIfTool,
  type WhatIfVerdict,
} from "./what-if.ts";
