// The address of a provider as an environment variable gives it. Each is written by other programs, too, and read as
// those write it.

export interface AddressVariable {
  readonly name: string;
  /** Added where the variable names a server and no path on it. */
  readonly path?: string;
  /** As Ollama's own: a scheme and a port may be missing, and an address to listen on is one to ask. */
  readonly form?: "ollama";
}

export function readAddress(variable: AddressVariable, value: string): string {
  const text = variable.form === "ollama" ? ollamaAddress(value) : value;
  const { path } = variable;
  if (path === undefined || !URL.canParse(text)) return text;
  const url = new URL(text);
  return url.pathname === "/" ? `${url.origin}${path}` : text;
}

const OLLAMA_PORT = 11_434;

function ollamaAddress(value: string): string {
  const hasScheme = /^https?:\/\//.test(value);
  const host = value.startsWith(":") ? `127.0.0.1${value}` : value;
  const text = hasScheme ? host : `http://${host}`;
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (!hasScheme && url.port === "" && !/:80(\/|$)/.test(text)) url.port = String(OLLAMA_PORT);
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.href.replace(/\/$/, "");
}
