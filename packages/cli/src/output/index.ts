// The output module: what a command says, to users and to programs, and how it fails. It knows no command.

export { describeAge, formatDuration } from "./describe-age.ts";
export { describeRequest } from "./describe-request.ts";
export { borderNear, graphemeWidth, measureWidth, splitGraphemes } from "./grapheme-width.ts";
export { CommandError, EXIT, describeFailure, UsageError } from "./failure.ts";
export {
  coloursFor,
  createOutput,
  fit,
  pad,
  renderDiff,
  wrap,
  type Colours,
  type Output,
} from "./output.ts";
export { visible, visibleJson, visibleLine } from "@soong/core";
