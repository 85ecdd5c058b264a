// A unified diff as a person reads it: lines that come green, lines that go red.

import type { Colours } from "./colours.ts";
import { exactText } from "@soong/core/internal";

export function colouredDiff(diff: string, colours: Colours): string {
  return exactText(diff)
    .split("\n")
    .map((line) => {
      if (line.startsWith("+++") || line.startsWith("---")) return colours.bold(line);
      if (line.startsWith("@@")) return colours.cyan(line);
      if (line.startsWith("+")) return colours.green(line);
      if (line.startsWith("-")) return colours.red(line);
      return line;
    })
    .join("\n");
}
