// Finds the code samples of a Markdown page: every ts and js block, with the output the page promises
// for it. A block is left out only behind a line `<!-- not run: reason -->`.

export interface Sample {
  readonly page: string;
  /** Of the opening fence, counted from one. */
  readonly line: number;
  readonly language: "ts" | "js";
  readonly code: string;
  /** From a text block behind a line that ends in `prints:`. */
  readonly prints: string | undefined;
}

export function extractSamples(page: string, text: string): Sample[] {
  const blocks = readBlocks(page, text);
  return blocks.flatMap(({ language, line, code, before }, at) => {
    if ((language !== "ts" && language !== "js") || EXEMPT.test(before)) return [];
    const next = blocks[at + 1];
    const isOutput = next?.language === "text" && PROMISE.test(next.before);
    return [{ page, line, language, code, prints: isOutput ? next.code : undefined }];
  });
}

const EXEMPT = /^<!-- not run: \S.* -->$/;
const PROMISE = /\bprints:$/i;
const FENCE = /^(\s*)(`{3,})\s*([\w-]*)[^`]*$/;

interface Block {
  readonly language: string;
  readonly line: number;
  readonly code: string;
  /** The last line with text between the block before and this one. */
  readonly before: string;
}

function readBlocks(page: string, text: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; indent: string; language: string; line: number } | undefined;
  let code = "";
  let before = "";
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (open === undefined) {
      const [, indent = "", fence, language = ""] = FENCE.exec(line) ?? [];
      if (fence !== undefined) open = { fence, indent, language, line: index + 1 };
      else if (line.trim() !== "") before = line.trim();
    } else if (line.trim() === open.fence) {
      blocks.push({ language: open.language, line: open.line, code, before });
      open = undefined;
      code = "";
      before = "";
    } else {
      code += `${line.startsWith(open.indent) ? line.slice(open.indent.length) : line}\n`;
    }
  }
  if (open !== undefined) throw new Error(`${page}:${open.line}: the code block never ends`);
  return blocks;
}
