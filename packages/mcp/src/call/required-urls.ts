// The old way of asking for a page to be opened (MCP-5): an error -32042 that lists the pages, after which
// the same call is made again.

import type { ToolContext } from "@soong/core";
import { isJsonObject } from "@soong/schema";
import { McpRequestFailure } from "../connection/index.ts";
import { answerElicitation } from "./answer-elicitation.ts";

const URL_ELICITATION_REQUIRED = -32042;
const MAX_URLS = 5;

export interface RequiredUrl {
  readonly mode: "url";
  readonly message: string;
  readonly url: string;
}

/** Undefined for any other error, and for one whose list makes no sense. */
export function requiredUrls(error: unknown): readonly RequiredUrl[] | undefined {
  if (!(error instanceof McpRequestFailure) || error.code !== URL_ELICITATION_REQUIRED) {
    return undefined;
  }
  const listed = isJsonObject(error.data) ? error.data["elicitations"] : undefined;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MAX_URLS) return undefined;
  const urls: RequiredUrl[] = [];
  for (const one of listed) {
    const { url, message } = isJsonObject(one) ? one : {};
    if (typeof url !== "string") return undefined;
    urls.push({ mode: "url", url, message: typeof message === "string" ? message : "" });
  }
  return urls;
}

/** True when the user agreed to every one of them. */
export async function openRequiredUrls(
  urls: readonly RequiredUrl[],
  context: ToolContext,
): Promise<boolean> {
  for (const url of urls) {
    const { action } = await answerElicitation(url, context, context.signal);
    if (action !== "accept") return false;
  }
  return true;
}
