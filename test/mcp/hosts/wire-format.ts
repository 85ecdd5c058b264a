// What the wire formats of model providers have in common, as far as a scripted model needs it.

export interface SeenRequest {
  readonly format: string;
  /** Names, as the host gives them to its model. */
  readonly tools: readonly string[];
  /** What the host sends back of calls, each as text. */
  readonly results: readonly string[];
}

export type Reply =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly input: object };

export type Play = (seen: SeenRequest) => Reply;

export interface WireFormat {
  readonly name: string;
  readonly path: RegExp;
  read(body: Record<string, unknown>): Omit<SeenRequest, "format">;
  write(reply: Reply, asked: Asked): { readonly type: string; readonly text: string };
}

export interface Asked {
  readonly body: Record<string, unknown>;
  readonly path: string;
}

export const EVENTS = "text/event-stream";
export const JSON_TYPE = "application/json";

/** Events of a stream, each with its name where the format has them. */
export function events(list: readonly object[], isNamed = false): string {
  return list
    .map((event) => {
      const name = isNamed ? `event: ${(event as { type: string }).type}\n` : "";
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
}

/** The objects of a list, whatever else is in it. */
export function objects(value: unknown): Record<string, unknown>[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list.filter((one): one is Record<string, unknown> => typeof one === "object" && !!one);
}

let count = 0;

export function newId(prefix: string): string {
  count += 1;
  return `${prefix}_${count}`;
}
