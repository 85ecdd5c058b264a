// For loops on the vendors' own clients (MODEL-5): pure mappers between the kernel and what each API sends and takes. Tools go out,
// calls come in, results go out. No client is imported; the types fit those of the clients.

export {
  createAnthropicCallReader,
  readAnthropicCalls,
  renderAnthropicResults,
  renderAnthropicTools,
  type AnthropicImage,
  type AnthropicImageType,
  type AnthropicText,
  type AnthropicTool,
  type AnthropicToolResult,
} from "./anthropic.ts";
export {
  readGoogleCalls,
  renderGoogleResults,
  renderGoogleTools,
  type GoogleResult,
  type GoogleTool,
} from "./google.ts";
export {
  createOpenAiChatCallReader,
  readOpenAiChatCalls,
  renderOpenAiChatResults,
  renderOpenAiChatTools,
  type OpenAiChatResult,
  type OpenAiChatTool,
} from "./openai-chat.ts";
export {
  createOpenAiResponsesCallReader,
  readOpenAiResponsesCalls,
  renderOpenAiResponsesResults,
  renderOpenAiResponsesTools,
  type OpenAiImage,
  type OpenAiResponsesResult,
  type OpenAiResponsesTool,
  type OpenAiText,
} from "./openai-responses.ts";
export { executeCalls, type ExecuteOptions, type VendorOutcome } from "./vendor-call.ts";
