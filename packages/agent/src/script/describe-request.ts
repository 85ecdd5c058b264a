// Which request came, in a few words, to find the place where a run diverged from its script.

import { textOf } from "@soong/core";
import type { ModelMessage, ModelRequest } from "../model/index.ts";
import { shorten } from "@soong/platform";

export function describeLastMessage({ messages }: ModelRequest): string {
  const last = messages.at(-1);
  return last === undefined ? "it has no messages" : `its last message is ${describeMessage(last)}`;
}

function describeMessage(message: ModelMessage): string {
  switch (message.role) {
    case "user":
      return `the user's ${quoteText(textOf(message.content))}`;
    case "assistant":
      return `the assistant's ${quoteText(message.text)}`;
    case "tool": {
      const shown = message.results
        .slice(0, MAX_RESULTS)
        .map(({ name, content, is_error: isError }) => {
          const status = isError ? "error " : "";
          return `${name}: ${status}${quoteText(textOf(content))}`;
        });
      const more = message.results.length - shown.length;
      return `the results of ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    }
  }
}

const MAX_RESULTS = 4;
const MAX_QUOTED_CHARS = 200;

export function quoteText(text: string): string {
  return JSON.stringify(shorten(text, MAX_QUOTED_CHARS));
}
