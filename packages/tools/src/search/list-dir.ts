// code.list_dir (CODE-2): what is in a directory, or in a whole tree without what git ignores.

import { lstatSync, readlinkSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  type HandlerResult,
  type InferOutput,
  type ToolContext,
  defineTool,
  toolResult,
} from "@soong/core";
import { fields, flag, integer, text } from "../input/fields.ts";
import { openDirectory, targetPath } from "../path/index.ts";
import { quotePath } from "./line-text.ts";
import { parsePathGlob, type PathGlob } from "./path-glob.ts";
import { restrictedFilesBelow } from "./restricted-files.ts";
import {
  createEventLoopYield,
  judgedPlace,
  walkTree,
  type EntryType,
  type WalkedEntry,
} from "./walk.ts";

const DEFAULT_LIMIT = 1000;
const MOST_ENTRIES = 50_000;

const INPUT = fields({
  path: text("Relative to the project, or absolute; default: the project.", {
    minLength: 1,
    default: ".",
  }),
  recursive: flag("The whole tree below; default: only if the glob has a slash."),
  glob: text(
    'Only matching entries: "*.ts" names at any depth, "src/**/*.ts" paths below the directory, ' +
      '"*.{js,ts}" either, "!*.map" all but these.',
    { minLength: 1 },
  ),
  limit: integer(`How many entries at the most; default ${DEFAULT_LIMIT}.`, {
    minimum: 1,
    maximum: MOST_ENTRIES,
    default: DEFAULT_LIMIT,
  }),
  sort: text('By "name" (default), or "modified": the newest first.', {
    enum: ["name", "modified"],
    default: "name",
  }),
  hidden: flag("Also names that begin with a dot; default true.", { default: true }),
  ignored: flag("With recursive: also what .gitignore excludes; default false.", {
    default: false,
  }),
});

type ListDirInput = InferOutput<typeof INPUT>;

export function listDirTool() {
  return defineTool({
    name: "code.list_dir",
    title: "List a directory",
    description:
      `List what is in a directory, or find files by name: type, size and path. A glob such as "**/*.test.ts" searches the whole ` +
      `tree, as recursive does, without what .gitignore leaves out and without the inside of .git. Links are not followed.`,
    input_schema: INPUT,
    permission: "readonly",
    tags: ["code", "readonly", "filesystem"],
    aliases: ["glob"],
    search_hint: "list directory folder files tree find by name glob ls",
    concurrency_safe: true,
    destructive: false,
    open_world: false,
    interrupt_behavior: "cancel",
    targets(input, context) {
      const { path = ".", glob } = input;
      if (glob !== undefined) parsePathGlob(glob);
      return targetPath("list", path, context);
    },
    handler: (input, context) => listDirectory(input, context),
  });
}

async function listDirectory(input: ListDirInput, context: ToolContext): Promise<HandlerResult> {
  const { path: root } = await judgedPlace(context.plan);
  const { sort = "name", hidden = true, ignored = false, limit = DEFAULT_LIMIT } = input;
  const glob = input.glob === undefined ? undefined : parsePathGlob(input.glob);
  const recursive = input.recursive ?? (glob?.kind === "include" && glob.needsDepth);
  // The newest can be anywhere.
  const most = sort === "modified" ? MOST_ENTRIES : limit;
  const times = new Map<ListedEntry, number>();
  const holding = await openDirectory(root);
  try {
    const listing: DirectoryListing = {
      path: root,
      entries: [],
      truncated: false,
      ignored_left_out: 0,
      unreadable_directories: 0,
      sensitive_directories_left_out: 0,
      restricted_left_out: 0,
    };
    const restricted = restrictedFilesBelow(root, "list", context);
    const eventLoopYield = createEventLoopYield(context.signal);
    const walk = walkTree({
      root,
      hidden,
      ignored: ignored || !recursive,
      onUnreadable: () => {
        listing.unreadable_directories += 1;
      },
    });
    for (const entry of walk) {
      if (eventLoopYield.isDue()) await eventLoopYield.pause();
      if (!recursive) entry.descend = false;
      if (entry.leftOut === "ignored") listing.ignored_left_out += 1;
      if (entry.leftOut !== undefined) continue;
      if (glob?.kind === "exclude" && glob.matches(entry.path)) {
        // With all that is in it.
        entry.descend = false;
        continue;
      }
      const reason = restricted.reasonFor(entry.path);
      if (reason === "restricted") {
        entry.descend = false;
        listing.restricted_left_out += 1;
        continue;
      }
      // A sensitive name in an ordinary directory is listed; what is in it is not.
      if (entry.descend && reason === "sensitive") {
        entry.descend = false;
        listing.sensitive_directories_left_out += 1;
      }
      if (glob?.kind === "include" && !glob.matches(entry.path)) continue;
      if (listing.entries.length === most) {
        listing.truncated = true;
        break;
      }
      const listed = listEntry(entry, root, context);
      listing.entries.push(listed);
      if (sort === "modified") {
        times.set(listed, lstatSync(entry.disk, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      }
    }
    if (sort === "modified") {
      listing.entries.sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0));
      if (listing.entries.length > limit) listing.truncated = true;
      listing.entries = listing.entries.slice(0, limit);
    }
    const text = listedText(listing, { recursive, ignored, glob });
    return toolResult({
      content: [{ type: "text", text: text.all }],
      summary: text.summary,
      data: listing,
    });
  } finally {
    await holding.close();
  }
}

/** What has gone since its directory was read is listed without what only the entry itself could tell. */
function listEntry(
  { path, type, disk }: WalkedEntry,
  root: string,
  { restrictedBy }: Pick<ToolContext, "restrictedBy">,
): ListedEntry {
  try {
    if (type === "file") return { path, type, size: lstatSync(disk).size };
    if (type === "symlink") {
      const target = readlinkSync(disk);
      // Where a link leads is a name, too: one that a rule keeps from being listed is not shown (PERM-15).
      const found = restrictedBy(resolve(root, dirname(path), target), "list");
      if (found === undefined || found.kind === "sensitive") return { path, type, target };
    }
  } catch {
    // Then without.
  }
  return { path, type };
}

interface ListedEntry {
  /** Relative to the listed directory; what is not UTF-8 in it is replaced. */
  path: string;
  type: EntryType;
  /** Of a file, in bytes. */
  size?: number;
  /** Of a link, as it is written. */
  target?: string;
}

interface DirectoryListing {
  path: string;
  entries: ListedEntry[];
  truncated: boolean;
  ignored_left_out: number;
  unreadable_directories: number;
  sensitive_directories_left_out: number;
  /** Entries, with all that is in them, by a rule or a guard. */
  restricted_left_out: number;
}

function listedText(
  listing: DirectoryListing,
  asked: { recursive: boolean; ignored: boolean; glob: PathGlob | undefined },
): { all: string; summary: string } {
  const count = listing.entries.length;
  const entries = `${count} ${count === 1 ? "entry" : "entries"}`;
  const summary = `${entries}${listing.truncated ? ", and more" : ""} in ${quotePath(listing.path)}`;
  const lines = listing.entries.map(entryLine);
  return { all: [...lines, ...listNotes(listing, asked, summary)].join("\n"), summary };
}

const MARKS: Record<EntryType, string> = {
  file: "f",
  directory: "d",
  symlink: "l",
  fifo: "p",
  socket: "s",
  device: "c",
};

function entryLine({ path, type, size, target }: ListedEntry): string {
  const mark = size === undefined ? MARKS[type] : `${MARKS[type]} ${size}`;
  const slash = type === "directory" ? "/" : "";
  const arrow = target === undefined ? "" : ` -> ${quotePath(target)}`;
  return `${mark} ${quotePath(path + slash)}${arrow}`;
}

function listNotes(
  listing: DirectoryListing,
  { recursive, ignored, glob }: Parameters<typeof listedText>[1],
  summary: string,
): string[] {
  const { ignored_left_out, unreadable_directories, restricted_left_out } = listing;
  const { entries, truncated, sensitive_directories_left_out: sensitive } = listing;
  const needsDepth = glob?.needsDepth === true && glob.kind === "include" && !recursive;
  const notes: [boolean, string][] = [
    [entries.length === 0, summary],
    [
      truncated,
      `${summary}: the listing stops here. Raise limit, give a glob, or list a directory further down.`,
    ],
    [needsDepth, 'The glob has a slash, which only a listing with "recursive": true can match.'],
    [
      ignored_left_out > 0 && !ignored,
      `${ignored_left_out} omitted by .gitignore; "ignored": true lists them.`,
    ],
    [unreadable_directories > 0, `Directories that could not be read: ${unreadable_directories}.`],
    [
      sensitive > 0,
      `Sensitive directories not looked into: ${sensitive}. List one directly to ask for it.`,
    ],
    [restricted_left_out > 0, `Omitted because a rule restricts them: ${restricted_left_out}.`],
    [
      entries.some(({ path }) => path.includes("\ufffd")),
      'Names that are not UTF-8 are shown with "\ufffd" and cannot be opened by that name.',
    ],
  ];
  return notes.flatMap(([holds, note]) => (holds ? [`(${note})`] : []));
}
