// One thing that `soong doctor` checked.

import { pad, visible, type Output } from "../../output/index.ts";

export interface Finding {
  readonly state: "ok" | "warn" | "fail";
  readonly about: string;
  readonly says: string;
  /** What to do about it. */
  readonly next?: string;
}

export function showFinding(output: Output, { state, about, says, next }: Finding): void {
  const { green, yellow, red, dim } = output.colours;
  const colour = { ok: green, warn: yellow, fail: red }[state];
  const [first = "", ...more] = visible(says).split("\n");
  output.line(`${colour(pad(state, 5))} ${pad(about, 12)} ${first}`);
  for (const line of [...more, ...(next === undefined ? [] : visible(next).split("\n"))]) {
    output.line(dim(`                   ${line}`));
  }
}
