// Colours, where someone sees them: on a terminal, unless NO_COLOR is set; elsewhere only if FORCE_COLOR is.

import { exactText } from "@soong/core/internal";

export type Colour = (text: string) => string;

export interface Colours {
  readonly bold: Colour;
  readonly dim: Colour;
  readonly red: Colour;
  readonly green: Colour;
  readonly yellow: Colour;
  readonly cyan: Colour;
}

export function coloursFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Colours {
  return isColoured(stream, env) ? COLOURED : PLAIN;
}

function isColoured(
  { isTTY = false }: { readonly isTTY?: boolean },
  { NO_COLOR = "", FORCE_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "") {
    return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  }
  return isTTY && NO_COLOR === "" && TERM !== "dumb";
}

function sgr(code: number, end: number): Colour {
  return (text) => (text === "" ? "" : `\u001b[${code}m${text}\u001b[${end}m`);
}

const COLOURED: Colours = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  cyan: sgr(36, 39),
};

const same: Colour = (text) => text;
const PLAIN: Colours = {
  bold: same,
  dim: same,
  red: same,
  green: same,
  yellow: same,
  cyan: same,
};

/** A unified diff: lines that come are green, lines that go are red. */
export function renderDiff(diff: string, colours: Colours): string {
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
