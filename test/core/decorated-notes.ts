// A class whose methods are tools. Standard decorators are lowered before it runs; see its test.

import { tool, type ToolContext } from "@soong/core";
import { z } from "zod";

export class Notes {
  readonly #owner: string;
  readonly #texts: string[] = [];

  constructor(owner: string) {
    this.#owner = owner;
  }

  @tool({
    name: "notes.add",
    description: "Adds a note",
    permission: "write",
    input_schema: z.object({ text: z.string(), times: z.number().default(1) }),
  })
  add(input: { text: string; times: number }, context: ToolContext): string {
    for (let i = 0; i < input.times; i += 1) this.#texts.push(input.text);
    return `${context.toolName} of ${this.#owner}: ${this.#texts.join(",")}`;
  }

  @tool({
    name: "notes.list",
    description: "Lists the notes",
    permission: "readonly",
    input_schema: { type: "object", properties: { limit: { type: "integer" } } },
  })
  list({ limit }: { limit?: number }): string[] {
    return this.#texts.slice(0, limit);
  }

  /** Not a tool. */
  clear(): void {
    this.#texts.length = 0;
  }
}
