// What the wire formats have in common: an answer as steps, told by each provider in its own events.

export type Step =
  | { readonly text: string }
  | { readonly call: string; readonly id?: string; readonly fragments: readonly string[] };

export interface Wire {
  /** As `openModel` takes it. */
  readonly name: string;
  /** Where its address ends and the provider's own path begins. */
  readonly prefix: string;
  readonly keyVariable: string;
  /** The events of each step, so that a stream can stop between them. */
  steps(steps: readonly Step[]): string[];
  /** What comes before the first step and after the last. */
  readonly begin: string;
  end(stop: "end" | "calls" | "length", usage: { input: number; output: number }): string;
}

/** The whole answer. */
export function answer(
  wire: Wire,
  steps: readonly Step[],
  stop: "end" | "calls" | "length",
): string[] {
  return [wire.begin, ...wire.steps(steps), wire.end(stop, { input: 120, output: 34 })];
}

export function dataFrame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

export interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export function eventFrame(data: WireEvent): string {
  return `event: ${data.type}\n${dataFrame(data)}`;
}
