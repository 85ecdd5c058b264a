// The stream of Gemini's streamGenerateContent: calls come whole.

import { dataFrame, type Wire } from "./wire.ts";

export const googleWire: Wire = {
  name: "google:gemini-2.5-flash",
  prefix: "/v1beta",
  keyVariable: "GEMINI_API_KEY",
  begin: "",
  steps: (steps) =>
    steps.map((step) => {
      if ("text" in step) return content([{ text: step.text }]);
      const args = JSON.parse(step.fragments.join("") || "{}") as unknown;
      const id = step.id === undefined ? {} : { id: step.id };
      return content([{ functionCall: { ...id, name: step.call, args } }]);
    }),
  end: (stop, usage) =>
    dataFrame({
      candidates: [
        {
          content: { parts: [], role: "model" },
          finishReason: stop === "length" ? "MAX_TOKENS" : "STOP",
        },
      ],
      usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output },
    }),
};

export function content(parts: readonly object[]): string {
  return dataFrame({ candidates: [{ content: { parts, role: "model" }, index: 0 }] });
}
