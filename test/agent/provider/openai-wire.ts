// The stream of OpenAI's responses API.

import { eventFrame, type Wire, type WireEvent } from "./wire.ts";

export const openaiWire: Wire = {
  name: "openai:gpt-5.5",
  prefix: "/v1",
  keyVariable: "OPENAI_API_KEY",
  begin: frames([{ type: "response.created", response: { ...response(), status: "in_progress" } }]),
  steps: (steps) =>
    steps.map((step, output_index) => {
      if ("text" in step) {
        const item = { type: "message", id: `msg_${output_index}`, role: "assistant" };
        return frames([
          { type: "response.output_item.added", output_index, item: { ...item, content: [] } },
          {
            type: "response.output_text.delta",
            output_index,
            content_index: 0,
            item_id: item.id,
            delta: step.text,
          },
          {
            type: "response.output_item.done",
            output_index,
            item: { ...item, content: [{ type: "output_text", text: step.text, annotations: [] }] },
          },
        ]);
      }
      const item = {
        type: "function_call",
        id: `fc_${output_index}`,
        call_id: step.id ?? "",
        name: step.call,
      };
      return frames([
        { type: "response.output_item.added", output_index, item: { ...item, arguments: "" } },
        ...step.fragments.map((delta) => ({
          type: "response.function_call_arguments.delta",
          output_index,
          item_id: item.id,
          delta,
        })),
        {
          type: "response.output_item.done",
          output_index,
          item: { ...item, arguments: step.fragments.join(""), status: "completed" },
        },
      ]);
    }),
  end: (stop, usage) =>
    frames([
      {
        type: stop === "length" ? "response.incomplete" : "response.completed",
        response: {
          ...response(),
          status: stop === "length" ? "incomplete" : "completed",
          incomplete_details: stop === "length" ? { reason: "max_output_tokens" } : null,
          usage: {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: 20 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 8 },
          },
        },
      },
    ]),
};

export function frames(events: readonly WireEvent[]): string {
  return events.map((event) => eventFrame({ ...event, sequence_number: 0 })).join("");
}

function response() {
  return { id: "resp_1", object: "response", created_at: 1_790_000_000, model: "gpt-5.5" };
}
