// What a provider tells of one answer, in tokens.

/** Left out what the provider did not tell (EVENT-7). */
export interface ModelUsage {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
  reasoning_tokens?: number;
}
