// What ripgrep writes beside its results. With --debug it names every entry that its walk passes over, and
// why: so one walk both leaves the sensitive entries unread and counts them. That form is no promise of
// ripgrep's; the one that comes with us is pinned and tested, and any other has to show it first.

export interface RipgrepMessages {
  add(chunk: Buffer): void;
  /** Nothing more comes. */
  end(): void;
  /** The beginning of what it complained about. */
  readonly complaint: string;
  /** How many files and directories it could not read. */
  readonly unreadable: number;
}

/** `onExcluded` is given the path of every entry that a glob of the command line excludes. */
export function createRipgrepMessages(onExcluded: (path: string) => void): RipgrepMessages {
  let rest = Buffer.alloc(0);
  let message = "";
  let complaint = "";
  let unreadable = 0;
  const finish = (): void => {
    const excluded = EXCLUDED.exec(message)?.[1];
    if (excluded !== undefined) onExcluded(excluded);
    else if (!DEBUG.test(message)) {
      if (/\(os error \d+\)$/.test(message)) unreadable += 1;
      if (complaint.length < MOST_COMPLAINT) {
        complaint = `${complaint}${message}\n`.slice(0, MOST_COMPLAINT);
      }
    }
    message = "";
  };
  const take = (line: string): void => {
    // A name may hold a line break, so a message ends where the next one begins.
    if (line.startsWith("rg: ") && message !== "") finish();
    message = message === "" ? line : `${message}\n${line}`.slice(0, LONGEST_MESSAGE);
  };
  return {
    add(chunk) {
      const end = chunk.lastIndexOf(LINE_FEED);
      if (end === -1) {
        rest = Buffer.concat([rest, chunk]);
        return;
      }
      const lines = Buffer.concat([rest, chunk.subarray(0, end)]).toString();
      rest = Buffer.from(chunk.subarray(end + 1));
      for (const line of lines.split("\n")) take(line);
    },
    end() {
      if (rest.length > 0) take(rest.toString());
      if (message !== "") finish();
    },
    get complaint() {
      return complaint;
    },
    get unreadable() {
      return unreadable;
    },
  };
}

const DEBUG = /^rg: (?:DEBUG|TRACE|INFO)\|/;
const EXCLUDED =
  /^rg: DEBUG\|ignore::walk\|[^\n]*?: ignoring (?:\.\/)?([^]+): Ignore\(IgnoreMatch\(Override\(/;
const LINE_FEED = 10;
const MOST_COMPLAINT = 8 * 1024;
const LONGEST_MESSAGE = 16 * 1024;
