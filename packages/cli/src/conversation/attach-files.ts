// The files a prompt mentions, as blocks of their own behind it. They are read by a real call of code.read_file:
// then rules, questions, redaction and the record are those of any call, and nothing here opens a file automatically. What
// keeps one from being attached is said before anything is sent.

import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock, ToolResult } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import { resolvePath } from "@soong/tools";
import { visible, visibleLine } from "../output/index.ts";

export interface FileReader {
  readonly project: string;
  /** Through the whole pipeline, recorded in the session. */
  readFile(path: string): Promise<ToolResult>;
}

export type Attached =
  | { readonly ok: true; readonly blocks: readonly ContentBlock[] }
  /** One sentence for each file that cannot be attached. */
  | { readonly ok: false; readonly problems: readonly string[] };

export async function attachFiles(
  mentions: readonly string[],
  files: FileReader,
): Promise<Attached> {
  const blocks: ContentBlock[] = [];
  const problems: string[] = [];
  for (const path of mentions) {
    const read = await attach(path, files);
    if (typeof read === "string") problems.push(read);
    else blocks.push(...read);
  }
  return problems.length === 0 ? { ok: true, blocks } : { ok: false, problems };
}

async function attach(path: string, files: FileReader): Promise<ContentBlock[] | string> {
  const name = `@${visibleLine(path)}`;
  const absolute = await resolvePath(files.project, path);
  if (!isWithin(files.project, absolute)) {
    return `${name} is outside the project; copy it here, or ask for it in words.`;
  }
  const result = await files.readFile(path);
  if (result.is_error) {
    return `${name}: ${visible(result.error?.message ?? result.summary)} (@@ writes an @ that is not a file.)`;
  }
  const { encoding, truncated, truncated_lines } = (result.data ?? {}) as Partial<ReadData>;
  if (encoding === "binary") return `${name} cannot be attached: ${visibleLine(result.summary)}.`;
  if (truncated === true || (Array.isArray(truncated_lines) && truncated_lines.length > 0)) {
    return `${name} is too long to be attached; name it without the @, and the part that matters will be read.`;
  }
  const [text] = result.content;
  const place = relative(files.project, absolute);
  return [
    // Which file it was, for the record of what a request held (CTX-1).
    { type: "resource_link", uri: pathToFileURL(absolute).href, name: place },
    {
      type: "text",
      text: `The file ${JSON.stringify(place)}, attached by the user:\n${text?.type === "text" ? text.text : ""}`,
    },
  ];
}

type ReadData = Readonly<Record<"encoding" | "truncated" | "truncated_lines", unknown>>;
