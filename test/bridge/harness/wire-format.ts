// What the wire formats of model providers have in common, as far as a scripted model needs it.

export interface SeenRequest {
  readonly format: string;
  /** Names, as the host gives them to its model. */
  readonly tools: readonly string[];
  /** Ids of the calls in the conversation. */
  readonly calls: readonly string[];
  /** What the host sends back of calls, in its order. */
  readonly results: readonly SeenResult[];
}

export interface SeenResult {
  /** Of its call; the name where the host sends no id. */
  readonly id: string;
  /** An image is `[image]` in it. */
  readonly text: string;
  /** Only where the format has a flag for it. */
  readonly is_error?: boolean;
}

/** One answer of the model: its text, then its calls. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly ReplyCall[];
  /** Between two calls of a streamed answer. */
  readonly pauseMs?: number;
  /** A streamed answer ends after its calls, without the end that the format requires. */
  readonly breaksOff?: boolean;
}

export interface ReplyCall {
  /** Default: a new one. */
  readonly id?: string;
  readonly name: string;
  /** As a model writes them: may be no JSON. Formats that carry objects carry such text as it is. */
  readonly arguments: string;
}

export type Play = (seen: SeenRequest) => Reply;

export interface WireFormat {
  readonly name: string;
  readonly path: RegExp;
  read(body: Record<string, unknown>): Omit<SeenRequest, "format">;
  write(reply: Reply, asked: Asked): WireAnswer;
}

export type WireAnswer =
  | { readonly kind: "whole"; readonly body: object }
  | {
      readonly kind: "stream";
      /** Up to the first call. */
      readonly opening: string;
      /** One text for each call. */
      readonly calls: readonly string[];
      readonly closing: string;
    };

export interface Asked {
  readonly body: Record<string, unknown>;
  readonly path: string;
}

/** Events of a stream, each with its name where the format has them. */
export function formatEvents(list: readonly object[], isNamed = false): string {
  return list
    .map((event) => {
      const name = isNamed ? `event: ${(event as { type: string }).type}\n` : "";
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
}

/** The objects of a list, without its other items. */
export function readObjects(value: unknown): Record<string, unknown>[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list.filter((one): one is Record<string, unknown> => typeof one === "object" && !!one);
}

/** The content of a result as one text: a string, or blocks of any of the formats. */
export function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content) ?? "";
  return readObjects(content)
    .map((block) => {
      if (typeof block["text"] === "string") return block["text"];
      return /image/.test(String(block["type"])) ? "[image]" : JSON.stringify(block);
    })
    .join("\n");
}

/** For formats that carry arguments as an object: text that is no JSON stays text. */
export function readArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

let count = 0;

export function newId(prefix: string): string {
  count += 1;
  return `${prefix}_${count}`;
}
