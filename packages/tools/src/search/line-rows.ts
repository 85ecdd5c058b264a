// The rows ripgrep prints for matching lines and their neighbours: `file NUL line:column:offset:text`, and
// with `-` instead of `:` for a neighbour. Whatever has no NUL is a message of its own.

export type LineRow =
  | {
      readonly kind: "match";
      readonly file: string;
      readonly line: number;
      /** In bytes, from 1. */
      readonly column: number;
      /** Where the line begins, in bytes of the decoded file. */
      readonly offset: number;
      readonly bytes: Buffer;
    }
  | {
      readonly kind: "context";
      readonly file: string;
      readonly line: number;
      readonly offset: number;
      readonly bytes: Buffer;
    };

export function parseLineRow(row: Buffer): LineRow | undefined {
  const nul = row.indexOf(0);
  if (nul === -1) return undefined;
  const file = row.toString("utf8", 0, nul);
  const head = row.toString("latin1", nul + 1, nul + 1 + LONGEST_NUMBERS);
  const match = /^(\d+):(\d+):(\d+):/.exec(head);
  if (match !== null) {
    return {
      kind: "match",
      file,
      line: Number(match[1]),
      column: Number(match[2]),
      offset: Number(match[3]),
      bytes: textOf(row, nul + 1 + match[0].length),
    };
  }
  const context = /^(\d+)-(\d+)-/.exec(head);
  if (context === null) return undefined;
  return {
    kind: "context",
    file,
    line: Number(context[1]),
    offset: Number(context[2]),
    bytes: textOf(row, nul + 1 + context[0].length),
  };
}

/** ripgrep prints this instead of a line that is longer than it was told to print. */
export function isOmitted({ bytes }: LineRow): boolean {
  return bytes.length < 100 && bytes.toString("latin1").startsWith("[Omitted long ");
}

const LONGEST_NUMBERS = 3 * 21;
const CARRIAGE_RETURN = 13;

function textOf(row: Buffer, start: number): Buffer {
  const end = row.at(-1) === CARRIAGE_RETURN ? row.length - 1 : row.length;
  return row.subarray(start, Math.max(start, end));
}
