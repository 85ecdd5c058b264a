import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "#laws";
import type { AssistantMessage } from "../model/index.ts";
import { providerData, replayParts, type Piece } from "./read-parts.ts";

const metadata = fc.option(fc.constant({ openai: { itemId: "i" } }), { nil: undefined });

const answers = fc
  .array(
    fc.oneof(
      fc.record({
        type: fc.constant("text" as const),
        text: fc.string({ minLength: 1 }),
        metadata,
      }),
      fc.record({ type: fc.constant("reasoning" as const), text: fc.string(), metadata }),
      fc.record({ type: fc.constant("call" as const), metadata }),
    ),
  )
  .map((given) => {
    const calls: AssistantMessage["calls"][number][] = [];
    let text = "";
    const pieces = given.map((piece): Piece => {
      const about = piece.metadata === undefined ? {} : { metadata: piece.metadata };
      if (piece.type === "text") {
        text += piece.text;
        return { type: "text", chars: piece.text.length, ...about };
      }
      if (piece.type === "reasoning") return { type: "reasoning", text: piece.text, ...about };
      calls.push({ tool_call_id: `c${calls.length}`, name: "look", arguments: "{}" });
      return { type: "call", call: calls.length - 1, ...about };
    });
    return { given, pieces, message: { role: "assistant" as const, text, calls } };
  });

test("an answer is laid out again exactly as it came", () => {
  verifies("MODEL-1");
  fc.assert(
    fc.property(answers, ({ given, pieces, message }) => {
      const data = providerData("m", pieces);
      const plain = given.every(({ type, metadata }) => type !== "reasoning" && !metadata);
      expect(data === undefined).toBe(plain);
      if (data === undefined) return;
      const parts = replayParts({ ...message, provider_data: data }, "m");
      expect(parts.map(({ type, metadata }) => ({ type, metadata }))).toEqual(
        given.map(({ type, metadata }) => ({ type, metadata })),
      );
      expect(textsOf(parts)).toEqual(textsOf(given));
    }),
  );
});

test("data that does not fit, or is of another model, leaves text and calls alone", () => {
  verifies("MODEL-1");
  fc.assert(
    fc.property(answers, fc.jsonValue(), ({ pieces, message }, junk) => {
      const calls = message.calls.map((call) => ({ type: "call", call }));
      const plain = [
        ...(message.text === "" ? [] : [{ type: "text", text: message.text }]),
        ...calls,
      ];
      const data = providerData("m", [...pieces, { type: "reasoning", text: "Hm." }]) ?? {};
      const wrong: Pick<AssistantMessage, "provider_data">[] = [
        { provider_data: { ...data, model: "other" } },
        { provider_data: { ...data, pieces: junk as never } },
        { provider_data: { model: "m", pieces: [{ type: "call", call: 99 }] } },
        {
          provider_data: { model: "m", pieces: [{ type: "text", chars: message.text.length + 1 }] },
        },
        {},
      ];
      const readable = Array.isArray(junk) && junk.length === 0 && plain.length === 0;
      for (const part of wrong) {
        const shown = replayParts({ ...message, ...part }, "m");
        expect(shown).toEqual(readable ? [] : plain);
      }
    }),
  );
});

function textsOf(parts: readonly { readonly type: string }[]) {
  return parts.map((part) => ("text" in part ? part.text : undefined));
}
