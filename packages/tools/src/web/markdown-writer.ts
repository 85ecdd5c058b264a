// Markdown written piece by piece: white space is collapsed, blocks are set apart, and every line of a quotation or of an item
// of a list begins as it has to.

export type MarkdownWriter = ReturnType<typeof createMarkdownWriter>;

export interface MarkdownWriterOptions {
  /** Without marks and addresses. */
  readonly plain: boolean;
  readonly base: string;
  readonly maxChars: number;
}

/** Deeper levels are all the same. */
const MAX_DEPTH = 20;
const PIECE = 65_536;

interface OpenList {
  /** Of the next item; undefined for a list without numbers. */
  next: number | undefined;
  hasItems: boolean;
}

export function createMarkdownWriter({ plain, base, maxChars }: MarkdownWriterOptions) {
  const pieces: string[] = [];
  let size = 0;
  /** Line ends that the next text needs before it; a blank only where it needs none. */
  let breaks = 0;
  let isSpaced = false;
  let isAtStart = true;
  let quotes = 0;
  const lists: OpenList[] = [];
  /** Levels beyond the deepest: their ends are counted, too. */
  let deeperLists = 0;
  let deeperQuotes = 0;
  let item = "";
  let link: { href: string; at: number; size: number } | undefined;
  const marks: { sign: string; at: number; size: number }[] = [];
  let pre = 0;
  let tables = 0;
  let cells = -1;
  let rows = 0;

  return {
    get isFull() {
      return size >= maxChars;
    },
    text,
    block,
    line,
    rule() {
      block();
      add("---");
      block();
    },
    openHeading(level: number) {
      block();
      if (!plain) begin(`${"#".repeat(level)} `);
    },
    openLink(href: string | undefined) {
      closeLink();
      const target = plain || pre > 0 ? undefined : resolveAddress(href, base);
      if (target === undefined) return;
      flush();
      link = { href: target, at: pieces.length, size };
      push("[");
    },
    closeLink,
    image(alt: string | undefined, src: string | undefined) {
      const words = alt?.replaceAll(/\s+/g, " ").trim() ?? "";
      if (words === "") return;
      const target = plain ? undefined : resolveAddress(src, base);
      add(target === undefined ? words : `![${words}](${target})`);
    },
    mark(sign: string) {
      if (plain || pre > 0 || marks.length >= MAX_DEPTH) return;
      flush();
      marks.push({ sign, at: pieces.length, size });
      push(sign);
    },
    closeMark(sign: string) {
      const open = marks.at(-1);
      if (pre > 0 || open?.sign !== sign) return;
      marks.pop();
      // Nothing between them: neither is written.
      if (pieces.length === open.at + 1) {
        pieces.length = open.at;
        size = open.size;
      } else push(sign);
    },
    openPre() {
      block();
      pre += 1;
      if (pre === 1 && !plain) {
        add("```");
        breaks = 1;
      }
    },
    closePre() {
      if (pre === 0) return;
      pre -= 1;
      if (pre > 0) return;
      breaks = Math.max(breaks, 1);
      if (!plain) add("```");
      block();
    },
    openQuote() {
      block();
      if (quotes < MAX_DEPTH) quotes += 1;
      else deeperQuotes += 1;
    },
    closeQuote() {
      block();
      if (deeperQuotes > 0) deeperQuotes -= 1;
      else if (quotes > 0) quotes -= 1;
    },
    openList(next: number | undefined) {
      if (lists.length === 0) block();
      else breaks = Math.max(breaks, 1);
      if (lists.length < MAX_DEPTH) lists.push({ next, hasItems: false });
      else deeperLists += 1;
    },
    closeList() {
      if (deeperLists > 0) deeperLists -= 1;
      else lists.pop();
      if (lists.length === 0) block();
      else breaks = Math.max(breaks, 1);
    },
    openItem() {
      closeMarks();
      const list = lists.at(-1);
      // Paragraphs in items do not set the items apart.
      breaks = list?.hasItems === true ? 1 : Math.max(breaks, 1);
      if (list !== undefined) list.hasItems = true;
      item = list?.next === undefined ? "- " : `${list.next}. `;
      if (list?.next !== undefined) list.next += 1;
    },
    openTable() {
      block();
      tables += 1;
      rows = 0;
    },
    closeTable() {
      if (tables > 0) tables -= 1;
      cells = -1;
      block();
    },
    openRow() {
      closeMarks();
      breaks = Math.max(breaks, 1);
      cells = 0;
    },
    openCell() {
      closeMarks();
      if (cells === -1 || tables > 1) {
        isSpaced = true;
        return;
      }
      begin(cells === 0 ? (plain ? "" : "| ") : plain ? " " : " | ");
      cells += 1;
    },
    closeRow() {
      if (cells > 0 && tables === 1) {
        isSpaced = false;
        flush();
        push(plain ? "" : " |");
        rows += 1;
        if (rows === 1 && !plain) {
          push(`\n${linePrefix()}|${" --- |".repeat(Math.min(cells, 100))}`);
        }
      }
      cells = -1;
      breaks = Math.max(breaks, 1);
    },
    end(): string {
      closeMarks();
      return pieces.join("").trim();
    },
  };

  function text(given: string): void {
    if (pre > 0) {
      const prefix = linePrefix();
      flush();
      // A line end may become many characters.
      const fitting = given.slice(0, maxChars - size);
      push(prefix === "" ? fitting : fitting.replaceAll("\n", `\n${prefix}`));
      return;
    }
    // Millions of blanks at once take more of the stack than a thread has.
    for (let at = 0; at < given.length; at += PIECE) addPiece(given.slice(at, at + PIECE));
  }

  function addPiece(given: string): void {
    const words = given.replaceAll(/[\s\u200b]+/g, " ");
    const isBlank = words === " " || words === "";
    if (words.startsWith(" ")) isSpaced = true;
    if (isBlank) return;
    add(words.trim());
    isSpaced = words.endsWith(" ");
  }

  /** A text without breaks of its own. */
  function add(words: string): void {
    flush();
    push(words);
  }

  /** What a line begins with; nothing is between it and what comes next. */
  function begin(sign: string): void {
    flush();
    push(sign);
    isSpaced = false;
  }

  function block(): void {
    // Inside a cell a line cannot end.
    if (cells > 0 && tables > 0) isSpaced = true;
    else if (pre === 0) {
      closeMarks();
      breaks = Math.max(breaks, 2);
    }
  }

  function line(): void {
    if (pre > 0) text("\n");
    else if (cells > 0 && tables > 0) isSpaced = true;
    else breaks = Math.max(breaks, 1);
  }

  /** Writes the breaks or the blank before what comes next. */
  function flush(): void {
    if (isAtStart) {
      const prefix = linePrefix();
      if (prefix !== "" || item !== "") push(prefix.slice(0, prefix.length - itemIndent()) + item);
      item = "";
    } else if (breaks > 0) {
      const outer = quotePrefix();
      const indent = linePrefix().slice(outer.length);
      const lead = item === "" ? indent : `${indent.slice(0, indent.length - itemIndent())}${item}`;
      push(breaks === 1 ? `\n${outer}${lead}` : `\n${outer.trimEnd()}\n${outer}${lead}`);
      item = "";
    } else if (isSpaced && pieces.at(-1)?.endsWith(" ") !== true) push(" ");
    isAtStart = false;
    breaks = 0;
    isSpaced = false;
  }

  function itemIndent(): number {
    return item === "" || lists.length === 0 ? 0 : 2;
  }

  function quotePrefix(): string {
    return plain ? "" : "> ".repeat(quotes);
  }

  function linePrefix(): string {
    return quotePrefix() + "  ".repeat(lists.length);
  }

  function push(piece: string): void {
    if (piece === "" || size >= maxChars) return;
    const fitting = piece.slice(0, maxChars - size);
    pieces.push(fitting);
    size += fitting.length;
  }

  function closeLink(): void {
    if (link === undefined) return;
    const { href, at, size: before } = link;
    link = undefined;
    if (pieces.length === at + 1) {
      pieces.length = at;
      size = before;
    } else push(`](${href})`);
  }

  /** What a page leaves open ends with its block. */
  function closeMarks(): void {
    closeLink();
    while (marks.length > 0) {
      const open = marks.pop();
      if (open === undefined) return;
      if (pieces.length === open.at + 1) {
        pieces.length = open.at;
        size = open.size;
      } else push(open.sign);
    }
  }
}

/** Undefined for what is no page: scripts, data, places on the same page. */
function resolveAddress(href: string | undefined, base: string): string | undefined {
  const given = href?.trim() ?? "";
  if (given === "" || given.startsWith("#") || !URL.canParse(given, base)) return undefined;
  const url = new URL(given, base);
  if (!["http:", "https:", "mailto:"].includes(url.protocol)) return undefined;
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
}
