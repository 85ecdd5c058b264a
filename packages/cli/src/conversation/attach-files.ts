// The files a prompt mentions, as blocks of their own behind it. They are read by a real call of code.read_file:
// then rules, questions, redaction and the record are those of any call, and nothing here opens a file automatically. What
// keeps one from being attached is said before anything is sent.

import { homedir } from "node:os";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock, ToolResult } from "@soong/core";
import { isWithin } from "@soong/core/internal";
import { resolvePath } from "@soong/tools";
import { visible, visibleLine } from "../output/index.ts";
import { IMAGE } from "./typed-line.ts";

export interface FileReader {
  readonly project: string;
  readonly model: string;
  readonly takesImages: boolean;
  /** Through the whole pipeline, recorded in the session. `isTyped`: naming it was the user's yes. */
  readFile(path: string, isTyped: boolean): Promise<ToolResult>;
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
  const isImage = IMAGE.test(path);
  if (isImage && !files.takesImages) return refuseImage(name, files);
  const absolute = await resolvePath(files.project, path.replace(/^~(?=\/)/, homedir()));
  const isInside = isWithin(files.project, absolute);
  // A picture is often dragged here from elsewhere, and nothing of it could be an instruction file.
  if (!isInside && !isImage) {
    return `${name} is outside the project; copy it here, or ask for it in words.`;
  }
  const result = await files.readFile(isInside ? path : absolute, !isInside);
  // What the tool advises is for a model.
  if (result.error?.code === "file_not_found") {
    return `${name}: There is no such file in the project; Tab completes paths, and @@ writes an @.`;
  }
  if (result.is_error) {
    return `${name}: ${visible(result.error?.message ?? result.summary)} (@@ writes an @ that is not a file.)`;
  }
  const place = isInside ? relative(files.project, absolute) : absolute;
  // Which file it was, for the record of what a request held (CTX-1).
  const link = { type: "resource_link", uri: pathToFileURL(absolute).href, name: place } as const;
  const image = result.content.find((block) => block.type === "image");
  if (image !== undefined) return files.takesImages ? [link, image] : refuseImage(name, files);
  // The user approved a picture; a link of that name may lead to something else.
  if (!isInside) {
    return `${name} cannot be attached: it is outside the project and no image of at most 3.75 MB (PNG, JPEG, GIF or WebP).`;
  }
  const { encoding, truncated, truncated_lines } = (result.data ?? {}) as Partial<ReadData>;
  if (encoding === "binary" && isImage) {
    return `${name} cannot be attached: ${visibleLine(result.summary)}; an image may have 3.75 MB, as PNG, JPEG, GIF or WebP.`;
  }
  if (encoding === "binary") return `${name} cannot be attached: ${visibleLine(result.summary)}.`;
  if (truncated === true || (Array.isArray(truncated_lines) && truncated_lines.length > 0)) {
    return `${name} is too long to be attached; name it without the @, and the part that matters will be read.`;
  }
  const [text] = result.content;
  return [
    link,
    {
      type: "text",
      text: `The file ${JSON.stringify(place)}, attached by the user:\n${text?.type === "text" ? text.text : ""}`,
    },
  ];
}

function refuseImage(name: string, { model }: FileReader): string {
  return `${name} cannot be attached: ${visibleLine(model)} takes no images. /model chooses another.`;
}

type ReadData = Readonly<Record<"encoding" | "truncated" | "truncated_lines", unknown>>;
