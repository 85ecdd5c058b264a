// `${NAME}` in an entry, filled in from the environment, so that a key need not be in a file. A value is
// secret by the name it goes by, or by its shape.

import { isSecretName, isSecretShape } from "@soong/core/internal";
import type { McpSecret } from "./server-entry.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Filler = ReturnType<typeof createFiller>;

/** `${NAME}`, `${NAME:-otherwise}`, and `${env:NAME}` as some hosts write it. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

export function createFiller(environment: Environment) {
  const secrets = new Map<string, string>();
  const missing = new Set<string>();

  /** Under any name. */
  function hide(value: string, name: string): void {
    if (value !== "" && !secrets.has(value)) secrets.set(value, name);
  }

  return {
    /** `name` is what the value goes by: a variable of the server, a header. */
    fill(text: string, name: string): string {
      const filled = text.replace(
        VARIABLE,
        (whole, variable: string, otherwise: string | undefined) => {
          // An empty variable is an unset one, as in a shell's `:-`.
          const value = ownValue(environment, variable) || otherwise;
          if (value === undefined) {
            missing.add(variable);
            return whole;
          }
          if (isSecretName(variable) || isSecretShape(value)) hide(value, variable);
          return value;
        },
      );
      if (isSecretName(name) || isSecretShape(filled)) hide(filled, name);
      return filled;
    },
    hide,
    get secrets(): readonly McpSecret[] {
      return [...secrets].map(([value, name]) => ({ name, value }));
    },
    get missing(): readonly string[] {
      return [...missing];
    },
  };
}

/** Found without understanding the text: to hide too much is better than to show a token. */
export function secretsInText(text: string, environment: Environment): readonly McpSecret[] {
  const filler = createFiller(environment);
  for (const [, name = "", value = ""] of text.matchAll(/"([^"\\]+)"\s*:\s*"([^"\\]*)"/g)) {
    filler.fill(value, name);
  }
  for (const words of [/[\w+/=.~-]{20,}/g, /[\w+.~-]{20,}/g]) {
    for (const [word] of text.matchAll(words)) {
      if (isSecretShape(word)) filler.hide(word, "mcp.json");
    }
  }
  return filler.secrets;
}

export function holdsVariable(text: string): boolean {
  return text.search(VARIABLE) !== -1;
}

function ownValue(environment: Environment, name: string): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined;
}
