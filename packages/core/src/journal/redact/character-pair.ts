// Two neighbouring characters as one small number, to look up in a table. Different pairs may share one,
// so what is found by it has still to be compared.

export const PAIRS = 4096;

/** Of the character at this place and the one before it. */
export function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at - 1) << 5) ^ text.charCodeAt(at)) & (PAIRS - 1);
}
