// The stream of Anthropic's messages API.

import { eventFrame, type Wire } from "./wire.ts";

export const anthropicWire: Wire = {
  name: "anthropic:claude-sonnet-4-5",
  prefix: "/v1",
  keyVariable: "ANTHROPIC_API_KEY",
  begin:
    eventFrame({
      type: "message_start",
      message: {
        id: "msg_01",
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 120, output_tokens: 1, cache_read_input_tokens: 0 },
      },
    }) + eventFrame({ type: "ping" }),
  steps: (steps) =>
    steps.map((step, index) => {
      const block =
        "text" in step
          ? { type: "text", text: "" }
          : { type: "tool_use", id: step.id ?? "", name: step.call, input: {} };
      const deltas =
        "text" in step
          ? [{ type: "text_delta", text: step.text }]
          : step.fragments.map((partial_json) => ({ type: "input_json_delta", partial_json }));
      return [
        { type: "content_block_start", index, content_block: block },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]
        .map(eventFrame)
        .join("");
    }),
  end: (stop, usage) =>
    eventFrame({
      type: "message_delta",
      delta: {
        stop_reason: { end: "end_turn", calls: "tool_use", length: "max_tokens" }[stop],
        stop_sequence: null,
      },
      usage: { input_tokens: usage.input, output_tokens: usage.output },
    }) + eventFrame({ type: "message_stop" }),
};
