// The command room: running one program for a model, and which programs are known to only read. It plans
// and judges nothing by itself: what a command would touch goes into its plan, the evaluator decides.

export { runCommandTool, type RunCommandOptions } from "./run-command.ts";
