// `provider:model` in the words of the conventions.

export interface ModelReference {
  readonly provider: string;
  readonly model: string;
}

/** Providers that have another name in the conventions. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([["google", "gcp.gemini"]]);

export function parseModelReference(reference: string | undefined): ModelReference {
  if (reference === undefined || reference === "") return { provider: OTHER, model: OTHER };
  const colon = reference.indexOf(":");
  if (colon <= 0) return { provider: OTHER, model: reference };
  const provider = reference.slice(0, colon);
  const model = reference.slice(colon + 1);
  // Of a script the file, not where it is on this machine.
  const name = provider === "script" ? model.slice(model.lastIndexOf("/") + 1) : model;
  return { provider: PROVIDERS.get(provider) ?? provider, model: name === "" ? OTHER : name };
}

/** The conventions' own word for a value that is not known. */
export const OTHER = "_OTHER";
