// Base64 from a server: bytes, or undefined where it is something else. Node's own decoder takes anything.

const FOREIGN = /[^A-Za-z0-9+/=]/;

export function decodeBase64(text: string): Buffer | undefined {
  // Line breaks inside are common and harmless.
  const compact = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  const padding = compact.indexOf("=");
  const isPadded = padding === -1 || (padding >= compact.length - 2 && compact.length % 4 === 0);
  // Looked for, not matched as a whole: megabytes of it would exhaust a matcher that may go back.
  if (!isPadded || compact.length % 4 === 1 || FOREIGN.test(compact)) return undefined;
  if (padding === compact.length - 2 && !compact.endsWith("==")) return undefined;
  return Buffer.from(compact, "base64");
}
