// The stream of the chat completions most local servers speak.

import { dataFrame, type Wire } from "./wire.ts";

export const compatibleWire: Wire = {
  name: "openai-compatible:qwen3:8b",
  prefix: "/v1",
  keyVariable: "SOONG_OPENAI_API_KEY",
  begin: chunk({ role: "assistant", content: "" }),
  steps: (steps) => {
    let index = -1;
    return steps.map((step) => {
      if ("text" in step) return chunk({ content: step.text });
      index += 1;
      const id = step.id === undefined ? {} : { id: step.id };
      const call = index;
      return [
        chunk({
          tool_calls: [
            { index: call, ...id, type: "function", function: { name: step.call, arguments: "" } },
          ],
        }),
        ...step.fragments.map((fragment) =>
          chunk({ tool_calls: [{ index: call, function: { arguments: fragment } }] }),
        ),
      ].join("");
    });
  },
  end: (stop, usage) =>
    chunk({}, { end: "stop", calls: "tool_calls", length: "length" }[stop]) +
    dataFrame({
      ...envelope(),
      choices: [],
      usage: { prompt_tokens: usage.input, completion_tokens: usage.output },
    }) +
    "data: [DONE]\n\n",
};

export function chunk(delta: object, finish_reason: string | null = null): string {
  return dataFrame({ ...envelope(), choices: [{ index: 0, delta, finish_reason }] });
}

function envelope() {
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "qwen3:8b" };
}
