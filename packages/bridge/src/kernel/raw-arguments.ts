// Arguments that are no JSON object. Some loops answer those themselves, guess what was meant, or ask the user about them, before
// a tool sees them. So they go through the loop in an object, and come out of that for the kernel.

const KEY = "arguments_that_are_no_object";

/** What a loop takes for arguments: the text itself if it is an object, without keys that loops reject. */
export function packArguments(text: string): string {
  return isObjectText(text) ? text : JSON.stringify({ [KEY]: text });
}

/** The model's own text again. */
export function unpackArguments(text: string): string {
  if (!text.includes(KEY)) return text;
  const value = parseJson(text);
  return readPacked(value) ?? text;
}

/** The same for arguments that the loop has parsed: a packed text, or the input as it is. */
export function unpackInput(input: unknown): unknown {
  return readPacked(input) ?? input;
}

function readPacked(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 1) {
    return undefined;
  }
  const text = (value as Record<string, unknown>)[KEY];
  return typeof text === "string" ? text : undefined;
}

function isObjectText(text: string): boolean {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !MAY_CHANGE_PROTOTYPE.test(text) || !changesPrototype(value);
}

/** A key may be written with escapes. */
const MAY_CHANGE_PROTOTYPE = /__proto__|prototype|\\u/;

function changesPrototype(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Object.hasOwn(value, "__proto__") || Object.hasOwn(value, "prototype")) return true;
  return Object.values(value).some(changesPrototype);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
