// `soong doctor`: everything Soong stands on, looked at once: ok, warn or fail, each with what to do (CONF-2).

import { EXIT, pad, visible, type Output } from "../output/index.ts";
import type { CommandContext } from "./context.ts";
import type { Finding } from "./finding.ts";
import { findingsOf } from "./health.ts";

export async function doctorCommand(
  context: CommandContext,
  { json = false }: { readonly json?: boolean },
): Promise<number> {
  let exitCode: number = EXIT.ok;
  for await (const finding of findingsOf(context)) {
    if (json) context.output.record("soong.doctor/1", finding);
    else show(context.output, finding);
    if (finding.state === "fail") exitCode = EXIT.failed;
  }
  return exitCode;
}

function show(output: Output, { state, about, says, next }: Finding): void {
  const { green, yellow, red, dim } = output.colours;
  const colour = { ok: green, warn: yellow, fail: red }[state];
  const [first = "", ...more] = visible(says).split("\n");
  output.line(`${colour(pad(state, 5))} ${pad(about, 12)} ${first}`);
  for (const line of [...more, ...(next === undefined ? [] : visible(next).split("\n"))]) {
    output.line(dim(`                   ${line}`));
  }
}
