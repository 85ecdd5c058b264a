// @soong/replay: a recorded run decided again, under what it had or under something else, and a recorded run as a
// script. It reads a journal and touches nothing.

export type { Divergence, ReplayStage } from "./divergence.ts";
export { ReplayError, type ReplayErrorCode } from "./replay-error.ts";
export { replayRun, type LeftOut, type ReplayOptions, type ReplayReport } from "./replay-run.ts";
export { replaySourceOf, type ReplaySource } from "./source.ts";
export { scriptOfRun, type RunScript, type ScriptOptions } from "./script-of-run.ts";
export {
  whatIf,
  type WhatIfCall,
  type WhatIfOptions,
  type WhatIfReport,
  type WhatIfTool,
  type WhatIfVerdict,
} from "./what-if.ts";
