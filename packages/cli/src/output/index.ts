// The output module: what a command says, to people and to programs, and how it fails. It knows no command.

export { coloursFor, renderDiff, type Colours } from "./colours.ts";
export { describeRequest } from "./describe-request.ts";
export { CommandError, EXIT, describeFailure, UsageError } from "./failure.ts";
export { fit, lengthOf, pad, wrap } from "./layout.ts";
export { createOutput, type Output } from "./output.ts";
export { visible, visibleJson, visibleLine } from "@soong/core";
