// What a line of Markdown is within: quotes and items of lists, as far as the marks and the indent of the line say so. More
// lenient than CommonMark in one way: two columns further in are enough to be within an item, with any marker.

export type Container = { readonly kind: "quote" } | Item;

export interface Item {
  readonly kind: "item";
  /** Spaces before the marker, and columns before what belongs to the item; both within what is around it. */
  readonly lead: number;
  readonly content: number;
  /** As it is shown. */
  readonly marker: string;
  readonly number: number | undefined;
  isMarked: boolean;
}

/** How many of them a line is within, and what is behind their marks. */
export function matchContainers(
  containers: readonly Container[],
  line: string,
): { readonly depth: number; readonly rest: string } {
  let rest = line;
  for (const [depth, container] of containers.entries()) {
    const taken = container.kind === "quote" ? matchQuote(rest) : matchIndent(container, rest);
    if (taken === undefined) return { depth, rest };
    rest = rest.slice(taken);
  }
  return { depth: containers.length, rest };
}

/** How long its mark is. */
export function matchQuote(text: string): number | undefined {
  return /^ {0,3}> ?/.exec(text)?.[0].length;
}

function matchIndent({ lead, content }: Item, text: string): number | undefined {
  const indent = countSpaces(text);
  if (indent === text.length) return indent;
  return indent < lead + 2 ? undefined : Math.min(indent, content);
}

/** An item that begins here, and what is behind its marker. `before`: the one it follows in its list, if any. */
export function readItem(
  text: string,
  before: Container | undefined,
): { readonly item: Item; readonly rest: string } | undefined {
  const [all, lead = "", bullet, digits = "", sign = "", space = ""] = ITEM.exec(text) ?? [];
  if (all === undefined) return undefined;
  const behind = text.slice(all.length);
  // Further in than that is code within the item.
  const gap = space.length > 4 || behind === "" ? 1 : space.length;
  const task = bullet === undefined ? undefined : TASK.exec(behind);
  const last = before?.kind === "item" ? before.number : undefined;
  // Many write 1. before each.
  const number = bullet === undefined ? Math.max(Number(digits), (last ?? -1) + 1) : undefined;
  const marker =
    number !== undefined ? `${number}${sign}` : task ? (task[1] === " " ? "☐" : "✓") : "•";
  const content = lead.length + (bullet ?? digits + sign).length + gap;
  return {
    item: { kind: "item", lead: lead.length, content, marker, number, isMarked: false },
    rest: task
      ? behind.slice(task[0].length)
      : " ".repeat(Math.max(0, space.length - gap)) + behind,
  };
}

export function countSpaces(text: string): number {
  return text.length - text.trimStart().length;
}

const ITEM = /^( *)(?:([-*+])|(\d{1,9})([.)]))( +|$)/;
const TASK = /^\[([ xX])\] +/;
