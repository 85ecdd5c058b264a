// The tools of the fixture that ask their client something before they answer, and the prompt that does. Written
// for the newer protocol, where a question is a result; the SDK asks clients of the older one beside the request.

import { randomBytes } from "node:crypto";
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";

/** @typedef {import("@modelcontextprotocol/server").ServerContext} ServerContext */
/** @typedef {import("@modelcontextprotocol/server").ClientCapabilities} ClientCapabilities */
/** @typedef {import("@modelcontextprotocol/server").InputRequest} InputRequest */
/** @typedef {import("@modelcontextprotocol/server").ElicitInputParams} ElicitInputParams */

const state = createRequestStateCodec({ key: randomBytes(32) });

/** Options of the server those tools need: a state that was touched is refused before a tool sees it. */
export const ASKING_OPTIONS = {
  requestState: {
    verify: (/** @type {string} */ given, /** @type {ServerContext} */ context) =>
      state.verify(given, context),
  },
};

/** @param {import("@modelcontextprotocol/server").McpServer} mcp */
export function addAskingTools(mcp) {
  addOlderTools(mcp);
  addInputRequiredTools(mcp);
  mcp.registerTool("test_missing_capability", { description: "Needs sampling" }, (context) =>
    sampledIn(context, "sampled") === undefined
      ? inputRequired({ inputRequests: { sampled: asksModel("Say anything") } })
      : text("It was there"),
  );
  mcp.registerPrompt(
    "test_input_required_result_prompt",
    { description: "Asks what it should be about" },
    (context) => {
      const given = acceptedContent(context.mcpReq.inputResponses, "user_context");
      if (given === undefined) {
        const question = asksFor("What context should the prompt use?", "context");
        return inputRequired({ inputRequests: { user_context: question } });
      }
      const words = `Consider: ${String(given["context"])}`;
      return { messages: [{ role: "user", content: { type: "text", text: words } }] };
    },
  );
}

/** @param {import("@modelcontextprotocol/server").McpServer} mcp */
function addOlderTools(mcp) {
  mcp.registerTool(
    "test_sampling",
    { description: "Asks the host's model", inputSchema: takes("prompt") },
    ({ prompt = "" }, context) => {
      const sampled = sampledIn(context, "sampled");
      return sampled === undefined
        ? inputRequired({ inputRequests: { sampled: asksModel(prompt) } })
        : text(`LLM response: ${JSON.stringify(sampled.content)}`);
    },
  );
  mcp.registerTool(
    "test_elicitation",
    { description: "Asks the user who they are", inputSchema: takes("message") },
    ({ message = "" }, context) =>
      elicited(context, "User response", {
        message,
        requestedSchema: {
          type: "object",
          properties: {
            username: { type: "string", description: "User's response" },
            email: { type: "string", description: "User's email address" },
          },
          required: ["username", "email"],
        },
      }),
  );
  mcp.registerTool("test_streaming_elicitation", { description: "Asks the user" }, (context) =>
    elicited(context, "User response", {
      message: "Go on?",
      requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
    }),
  );
  mcp.registerTool(
    "test_elicitation_sep1034_defaults",
    { description: "Asks with values filled in" },
    (context) =>
      elicited(context, "Elicitation completed", {
        message: "Please look these over",
        requestedSchema: {
          type: "object",
          properties: {
            name: { type: "string", default: "John Doe" },
            age: { type: "integer", default: 30 },
            score: { type: "number", default: 95.5 },
            status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
            verified: { type: "boolean", default: true },
          },
          required: [],
        },
      }),
  );
  mcp.registerTool(
    "test_elicitation_sep1330_enums",
    { description: "Asks to choose, in five ways" },
    (context) =>
      elicited(context, "Elicitation completed", {
        message: "Please choose",
        requestedSchema: {
          type: "object",
          properties: {
            untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
            titledSingle: {
              type: "string",
              oneOf: [
                { const: "value1", title: "First Option" },
                { const: "value2", title: "Second Option" },
                { const: "value3", title: "Third Option" },
              ],
            },
            legacyEnum: {
              type: "string",
              enum: ["opt1", "opt2", "opt3"],
              enumNames: ["Option One", "Option Two", "Option Three"],
            },
            untitledMulti: {
              type: "array",
              items: { type: "string", enum: ["option1", "option2", "option3"] },
            },
            titledMulti: {
              type: "array",
              items: {
                anyOf: [
                  { const: "value1", title: "First Choice" },
                  { const: "value2", title: "Second Choice" },
                  { const: "value3", title: "Third Choice" },
                ],
              },
            },
          },
          required: [],
        },
      }),
  );
}

/** @param {import("@modelcontextprotocol/server").McpServer} mcp */
function addInputRequiredTools(mcp) {
  const named = (/** @type {string} */ name) => `test_input_required_result_${name}`;

  mcp.registerTool(named("elicitation"), { description: "Asks for a name" }, (context) => {
    const given = acceptedContent(context.mcpReq.inputResponses, "user_name");
    return given === undefined
      ? inputRequired({ inputRequests: { user_name: asksFor("What is your name?", "name") } })
      : text(`Hello, ${String(given["name"])}!`);
  });
  mcp.registerTool(named("sampling"), { description: "Asks the host's model" }, (context) => {
    const sampled = sampledIn(context, "capital_question");
    const question = asksModel("What is the capital of France?");
    return sampled === undefined
      ? inputRequired({ inputRequests: { capital_question: question } })
      : text(JSON.stringify(sampled.content));
  });
  mcp.registerTool(named("list_roots"), { description: "Asks for the roots" }, (context) => {
    const listed = rootsIn(context, "client_roots");
    return listed === undefined
      ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
      : text(listed.map(({ uri }) => uri).join(", "));
  });
  for (const name of ["request_state", "tampered_state"]) {
    mcp.registerTool(named(name), { description: "Asks, and remembers that it did" }, (context) =>
      confirmed(context),
    );
  }
  mcp.registerTool(named("multiple_inputs"), { description: "Asks three things" }, (context) => {
    const name = acceptedContent(context.mcpReq.inputResponses, "user_name");
    const greeting = sampledIn(context, "greeting");
    const listed = rootsIn(context, "client_roots");
    if (name !== undefined && greeting !== undefined && listed !== undefined) {
      return text(`${String(name["name"])} has ${listed.length} roots`);
    }
    return asksAgain({
      user_name: asksFor("What is your name?", "name"),
      greeting: asksModel("Generate a greeting"),
      client_roots: inputRequired.listRoots(),
    });
  });
  mcp.registerTool(named("multi_round"), { description: "Asks twice" }, (context) => {
    const { name } = remembered(context);
    const first = acceptedContent(context.mcpReq.inputResponses, "step1");
    const second = acceptedContent(context.mcpReq.inputResponses, "step2");
    if (name !== undefined && second !== undefined) {
      return text(`${name} likes ${String(second["color"])}`);
    }
    const known = name ?? first?.["name"];
    return known === undefined
      ? asksAgain({ step1: asksFor("Step 1: What is your name?", "name") })
      : asksAgain(
          { step2: asksFor("Step 2: What is your favorite color?", "color") },
          { name: known },
        );
  });
  mcp.registerTool(named("capabilities"), { description: "Asks what it may" }, (context) => {
    const envelope = /** @type {Record<string, ClientCapabilities | undefined>} */ (
      context.mcpReq.envelope ?? {}
    );
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? {};
    if (context.mcpReq.inputResponses !== undefined) return text("Thank you");
    return inputRequired({
      inputRequests: {
        ...(declared.elicitation === undefined ? {} : { name: asksFor("Your name?", "name") }),
        ...(declared.sampling === undefined ? {} : { greeting: asksModel("Say hello") }),
      },
    });
  });
}

/** @param {ServerContext} context */
function confirmed(context) {
  const given = acceptedContent(context.mcpReq.inputResponses, "confirm");
  if (given !== undefined && remembered(context).asked === true) return text("state-ok");
  const question = inputRequired.elicit({
    message: "Please confirm",
    requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
  });
  return asksAgain({ confirm: question }, { asked: true });
}

/** @param {Record<string, InputRequest>} inputRequests @param {object} payload */
async function asksAgain(inputRequests, payload = {}) {
  return inputRequired({ inputRequests, requestState: await state.mint(payload) });
}

/** @param {ServerContext} context @returns {{ name?: string, asked?: boolean }} */
function remembered(context) {
  return context.mcpReq.requestState() ?? {};
}

/** @param {ServerContext} context @param {string} what @param {ElicitInputParams} question */
function elicited(context, what, question) {
  const given = inputResponse(context.mcpReq.inputResponses, "answer");
  if (given.kind !== "elicit") {
    return inputRequired({ inputRequests: { answer: inputRequired.elicit(question) } });
  }
  return text(`${what}: action=${given.action}, content=${JSON.stringify(given.content ?? {})}`);
}

/** @param {ServerContext} context @param {string} key */
function sampledIn(context, key) {
  const given = inputResponse(context.mcpReq.inputResponses, key);
  return given.kind === "sampling" ? given.result : undefined;
}

/** @param {ServerContext} context @param {string} key */
function rootsIn(context, key) {
  const given = inputResponse(context.mcpReq.inputResponses, key);
  return given.kind === "roots" ? given.roots : undefined;
}

/** @param {string} message @param {string} field */
function asksFor(message, field) {
  return inputRequired.elicit({
    message,
    requestedSchema: {
      type: "object",
      properties: { [field]: { type: "string" } },
      required: [field],
    },
  });
}

/** @param {string} words */
function asksModel(words) {
  const content = { type: /** @type {const} */ ("text"), text: words };
  return inputRequired.createMessage({ messages: [{ role: "user", content }], maxTokens: 100 });
}

/** @param {string} name */
function takes(name) {
  /** @type {ReturnType<typeof fromJsonSchema<Record<string, string>>>} */
  const schema = fromJsonSchema({
    type: "object",
    properties: { [name]: { type: "string" } },
    required: [name],
  });
  return schema;
}

/** @param {string} words */
function text(words) {
  return { content: [{ type: /** @type {const} */ ("text"), text: words }] };
}
