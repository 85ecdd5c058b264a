// What is thrown for a caller to act on: a sentence for people, a code for programs.

export interface SoongErrorOptions extends ErrorOptions {
  /** Of a command that ends with it; 1 if left out. */
  readonly exitCode?: number;
}

/** The base of every error that a caller may want to tell from others; `code` says which it is. */
export class SoongError<Code extends string = string> extends Error {
  override readonly name: string = "SoongError";
  readonly code: Code;
  readonly exitCode: number;

  constructor(code: Code, message: string, { exitCode = 1, ...options }: SoongErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.exitCode = exitCode;
  }
}
