// What the value of a setting may be: a shape that checks it, and the same in words for the page of all settings.

import { compilePolicy } from "@soong/core";
import { shape, type Shape } from "@soong/platform";

export interface ValueKind {
  /** With what is meant literally between backquotes. */
  readonly words: string;
  readonly shape: Shape<unknown>;
}

export interface TextForm {
  readonly words: string;
  /** A clause that never repeats the text; undefined when nothing is wrong with it. */
  readonly problem: (text: string) => string | undefined;
}

export function wholeNumber(min: number, max: number): ValueKind {
  return { words: `whole number, ${min} to ${max}`, shape: shape.wholeNumber(min, max) };
}

export function milliseconds(min = 1): ValueKind {
  // More than a timer can wait for would mean no wait at all.
  return wholeNumber(min, 2_147_483_647);
}

/** Of money: at most six decimals, so that it is a whole number of millionths. */
export function amount(max: number, { above }: { readonly above?: 0 } = {}): ValueKind {
  const range = `${above === 0 ? "above 0" : "0"} to ${max}, at most six decimals`;
  return {
    words: `number, ${range}`,
    shape(value, place) {
      const isAmount =
        typeof value === "number" &&
        (above === 0 ? value > 0 : value >= 0) &&
        value <= max &&
        Math.round(value * 1e6) / 1e6 === value;
      if (!isAmount) place.report(`is ${place.kindOf(value)}; a number, ${range}, is expected`);
    },
  };
}

export function choice(words: readonly string[]): ValueKind {
  return {
    words: words.map((word) => `\`"${word}"\``).join(", "),
    shape: shape.choice(words),
  };
}

export const FLAG: ValueKind = { words: "`true` or `false`", shape: shape.flag };

export function text({ words, problem }: TextForm): ValueKind {
  return { words, shape: shape.text({ problem }) };
}

export function texts({ words, problem }: TextForm): ValueKind {
  return { words: `list: ${words}`, shape: shape.list(shape.text({ problem }), { of: "text" }) };
}

export const ENVIRONMENT_NAME: TextForm = {
  words: "name of an environment variable",
  problem(given) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(given)) {
      return 'is not the name of an environment variable, such as "MY_API_KEY"; a key itself is never written here';
    }
    const isRandom = given.length >= 20 && /[a-z]/.test(given) && /[0-9]/.test(given);
    return isRandom && !given.includes("_") ? LOOKS_LIKE_A_KEY : undefined;
  },
};

export const LOOKS_LIKE_A_KEY =
  "looks like an API key or a password; none is ever written here: set an environment variable to it and give the name of that variable";

/** The kernel knows what fits canonical names. */
export const TOOL_PATTERN: TextForm = {
  words: 'pattern of canonical names, such as `"code.*"`',
  problem(given) {
    const compiled = compilePolicy({ rules: [{ tool: given, decision: "ask" }] });
    return compiled.ok ? undefined : compiled.problems[0]?.message;
  },
};

export const DIRECTORY: TextForm = {
  words: "directory, absolute or below `~/`",
  problem: (given) =>
    given.startsWith("/") || given.startsWith("~/")
      ? undefined
      : 'is not absolute; write the whole path, or one that begins with "~/"',
};

export const WEB_ADDRESS: TextForm = {
  words: "`http://` or `https://` address",
  problem(given) {
    const url = URL.canParse(given) ? new URL(given) : undefined;
    if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
      return "is not an address that begins with http:// or https://";
    }
    return url.username === "" && url.password === "" ? undefined : LOOKS_LIKE_A_KEY;
  },
};

export const CURRENCY: TextForm = {
  words: 'currency, such as `"USD"`',
  problem: (given) =>
    /^[A-Z]{3}$/.test(given)
      ? undefined
      : 'is not a currency: three capital letters, such as "USD"',
};

export function plainText(words: string): TextForm {
  return {
    words,
    problem: (given) =>
      /\p{Cc}/u.test(given) ? "contains a line break or a control character" : undefined,
  };
}
