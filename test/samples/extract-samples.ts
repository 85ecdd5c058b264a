// Finds the samples of a Markdown page: every block of a language that can be checked, with what the page says
// around it: the output it promises, the file it is to be saved as, why it is not run.

export const LANGUAGES = ["ts", "js", "sh", "toml", "json", "yaml"] as const;

export type Language = (typeof LANGUAGES)[number];

export interface Sample {
  readonly page: string;
  /** Of the opening fence, counted from one. */
  readonly line: number;
  readonly language: Language;
  readonly code: string;
  /** From a text block behind a line that ends in `prints:`. */
  readonly prints: string | undefined;
  /** From a line before it that ends in ``as `FILE`:``. */
  readonly file: string | undefined;
  /** From a line `<!-- not run: reason -->` before it. */
  readonly notRun: string | undefined;
}

/** Throws on a block that is neither a sample nor text: no one would check it. */
export function extractSamples(page: string, text: string): Sample[] {
  const blocks = readBlocks(page, text);
  return blocks.flatMap(({ language, line, code, before }, at) => {
    if (language === "text") return [];
    if (!isChecked(language)) {
      const known = [...LANGUAGES, "text"].join(", ");
      throw new Error(`${page}:${line}: "${language}" is none of ${known}`);
    }
    const next = blocks[at + 1];
    const isOutput = next?.language === "text" && PROMISE.test(next.before);
    const [, notRun] = EXEMPT.exec(before) ?? [];
    const [, file] = SAVED.exec(before) ?? [];
    return [{ page, line, language, code, prints: isOutput ? next.code : undefined, file, notRun }];
  });
}

function isChecked(language: string): language is Language {
  return (LANGUAGES as readonly string[]).includes(language);
}

const EXEMPT = /^<!-- not run: (\S.*) -->$/;
const PROMISE = /\bprints:$/i;
const SAVED = /\bas `([^`]+)`:$/;
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
