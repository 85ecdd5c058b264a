// The command module: running one program for a model, and which programs are known to only read. It plans
// and judges nothing on its own: what a command would touch goes into its plan, the evaluator decides. Declared commands use its
// capture of output and its progress.

export { captureOutput, type CapturedOutput, type KeptOutput } from "./captured-output.ts";
export { findPath } from "./find-path.ts";
export { pathsInReach, restrictedBelow } from "./paths-in-reach.ts";
export { reportProgress } from "./report-progress.ts";
export { restrictedArguments } from "./restricted-arguments.ts";
export { runCommandTool, type RunCommandOptions } from "./run-command.ts";
export { lookThroughTrees } from "./secrets-in-trees.ts";
export { showOutput } from "./shown-output.ts";
export { walkedTrees } from "./walked-trees.ts";
