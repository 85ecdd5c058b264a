import { expect, onTestFinished, test } from "vitest";
import { openModelEndpoint } from "./harness/model-endpoint.ts";
import type { Reply } from "./harness/wire-format.ts";

const REPLY: Reply = {
  text: "I look.",
  calls: [
    { id: "c1", name: "notes__read", arguments: '{"id":1}' },
    { id: "c2", name: "notes__read", arguments: '{"id":' },
  ],
};

const FORMATS = [
  {
    name: "anthropic messages",
    path: "/v1/messages",
    body: (stream: boolean) => ({
      stream,
      tools: [{ name: "notes__read" }],
      messages: [
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "n", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "one" }] },
          ],
        },
      ],
    }),
  },
  {
    name: "openai chat completions",
    path: "/v1/chat/completions",
    body: (stream: boolean) => ({
      stream,
      tools: [{ type: "function", function: { name: "notes__read" } }],
      messages: [
        { role: "assistant", tool_calls: [{ id: "a", function: { name: "n", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "a", content: "one" },
      ],
    }),
  },
  {
    name: "openai responses",
    path: "/v1/responses",
    body: (stream: boolean) => ({
      stream,
      tools: [{ type: "function", name: "notes__read" }],
      input: [
        { type: "function_call", call_id: "a", name: "n", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "one" },
      ],
    }),
  },
  {
    name: "gemini generateContent",
    path: "/v1beta/models/scripted:generateContent",
    streamPath: "/v1beta/models/scripted:streamGenerateContent",
    body: () => ({
      tools: [{ functionDeclarations: [{ name: "notes__read" }] }],
      contents: [
        { role: "model", parts: [{ functionCall: { id: "a", name: "n", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { id: "a", name: "n", response: "one" } }] },
      ],
    }),
  },
];

test.each(FORMATS)("$name: reads calls and results, answers whole and streamed", async (format) => {
  const endpoint = await open(REPLY);
  for (const stream of [false, true]) {
    const path = stream ? (format.streamPath ?? format.path) : format.path;
    const text = await (await post(`${endpoint.url}${path}`, format.body(stream))).text();
    expect(text).toContain("I look.");
    for (const { id } of REPLY.calls ?? []) expect(text).toContain(`"${id}"`);
    expect(text.replaceAll("\\", "")).toContain('{"id":1}');
  }
  const seen = { format: format.name, tools: ["notes__read"], calls: ["a"] };
  const result = { id: "a", text: "one" };
  expect(endpoint.requests).toMatchObject([
    { ...seen, results: [result] },
    { ...seen, results: [result] },
  ]);
});

test("an answer that breaks off ends without its end", async () => {
  const endpoint = await open({ ...REPLY, breaksOff: true });
  const body = { stream: true, tools: [], messages: [] };
  const response = await post(`${endpoint.url}/v1/chat/completions`, body);
  await expect(response.text()).rejects.toThrow("terminated");
});

test("other requests are remembered as strays", async () => {
  const endpoint = await open(REPLY);
  expect((await fetch(`${endpoint.url}/v1/models`)).status).toBe(200);
  expect((await fetch(`${endpoint.url}/telemetry`)).status).toBe(404);
  expect(endpoint.strays).toEqual(["GET /v1/models", "GET /telemetry"]);
});

async function open(reply: Reply) {
  const endpoint = await openModelEndpoint(() => reply);
  onTestFinished(() => endpoint.close());
  return endpoint;
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, { method: "POST", body: JSON.stringify(body) });
}
