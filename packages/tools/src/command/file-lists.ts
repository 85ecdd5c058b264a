// Options by which a file says which files are read (PERM-15, PATH-3): `sort --files0-from=list`, `tar -T list`, `xargs -a list cat`,
// `curl -K config`, `xz --files=list`. Its names are judged like arguments; where nobody can tell what they are, any file may be meant.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import { canonicalPath } from "./places-of-command.ts";

interface ListOption {
  readonly program: RegExp;
  /** As it may be shortened. */
  readonly long?: string;
  readonly short?: string;
  /** Its operands are the lists, not its value. */
  readonly operands?: true;
  /** `@list` as an operand. */
  readonly at?: true;
}

const LIST_OPTIONS: readonly ListOption[] = [
  { program: /^/, long: "--files0?-from|--arg-file|--pathspec-f[a-z-]*" },
  { program: /^(?:wc|du)$/, long: "--f[a-z0-9-]*" },
  { program: /^sort$/, long: "--fil[a-z0-9-]*" },
  { program: /^find$/, long: "-files0-from" },
  { program: /^(?:xz|unxz|xzcat|lzma|unlzma|lzcat)$/, long: "--fil(?:es?0?)?" },
  { program: /^(?:g|bsd)?tar$/, long: "--files-f[a-z]*", short: "T" },
  { program: /^(?:xargs|parallel)$/, long: "--arg-f[a-z]*", short: "a" },
  { program: /^file$/, long: "--files-f[a-z]*", short: "f" },
  { program: /^curl$/, long: "--conf[ig]*", short: "K" },
  { program: /^wget$/, long: "--inp[a-z-]*|--conf[ig]*", short: "i" },
  {
    program: /^(?:cksum|sum|md5sum|sha(?:1|224|256|384|512)sum|b2sum)$/,
    long: "--ch[a-z]*",
    short: "c",
    operands: true,
  },
  { program: /^(?:[\w-]+-)?(?:strings|nm|objdump|size|readelf|strip)$/, at: true },
];

/** Whether it reads files that are named in another one. */
export function readsFileList([program = "", ...args]: readonly string[]): boolean {
  const options = LIST_OPTIONS.filter((option) => option.program.test(basename(program)));
  return options.some((option) =>
    args.some((arg) => valueIn(option, arg, "") !== undefined || isListed(option, arg)),
  );
}

export interface ListedNames {
  readonly names: readonly string[];
  /** Lists that are too long to look through. */
  readonly unread: readonly string[];
}

/** The names in the lists of these commands, which may be wrapped in others. */
export function listedNames(
  commands: readonly (readonly string[])[],
  bases: readonly string[],
): ListedNames {
  const lists = new Set(
    commands
      .flatMap(listsGiven)
      .flatMap((list) => bases.flatMap((base) => canonicalPath(base, list) ?? [])),
  );
  const read = [...lists].map((path) => ({ path, names: namesIn(path) }));
  return {
    names: read.flatMap(({ names }) => names ?? []),
    unread: read.flatMap(({ path, names }) => (names === undefined ? [path] : [])),
  };
}

/** As they are given. */
export function listsGiven(argv: readonly string[]): string[] {
  const options = LIST_OPTIONS.filter(
    ({ program, operands }) =>
      operands !== true && argv.some((word) => program.test(basename(word))),
  );
  return options.flatMap((option) =>
    argv.flatMap((arg, index) =>
      isListed(option, arg) ? [arg.slice(1)] : (valueIn(option, arg, argv[index + 1] ?? "") ?? []),
    ),
  );
}

function isListed({ at }: ListOption, arg: string): boolean {
  return at === true && arg.startsWith("@");
}

/** Letters stand together, and a value right behind them. Undefined for any other argument. */
function valueIn({ long, short }: ListOption, arg: string, next: string): string | undefined {
  const patterns = [
    ...(long === undefined ? [] : [`^(?:${long})(?:=(.*))?$`]),
    ...(short === undefined ? [] : [`^-[A-Za-z0-9#]*?${short}(.+)?$`]),
  ];
  for (const pattern of patterns) {
    const found = new RegExp(pattern, "s").exec(arg);
    if (found !== null) return found[1] ?? next;
  }
  return undefined;
}

const MOST_BYTES = 64 * 1024;

/** Undefined where there are too many. */
function namesIn(path: string): string[] | undefined {
  try {
    const status = statSync(path);
    if (!status.isFile()) return [];
    if (status.size > MOST_BYTES) return undefined;
    const file = openSync(path, "r");
    try {
      const start = Buffer.alloc(MOST_BYTES);
      return start.toString("utf8", 0, readSync(file, start, 0, MOST_BYTES, 0)).split(/[\0\n]/);
    } finally {
      closeSync(file);
    }
  } catch {
    return [];
  }
}
