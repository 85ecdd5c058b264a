// The provider module: models of the AI SDK's provider packages behind our interface.

export type { AnyLanguageModel, LanguageModelV4 } from "./call-options.ts";
export { languageModel, type LanguageModelOptions, type ProviderModel } from "./language-model.ts";
export {
  modelFromEnvironment,
  openModel,
  type Environment,
  type OpenModelOptions,
} from "./open-model.ts";
export { preflight, schemaViolation } from "./preflight.ts";
export * from "./profile.ts";
