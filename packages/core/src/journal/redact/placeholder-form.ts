// How a placeholder is written, and how one is recognised in a text. Which ones are given out for what
// is not known here.

/** In the order in which they stand in the text. */
export function placeholdersIn(
  text: string,
): { placeholder: string; start: number; end: number }[] {
  if (!text.includes(OPENING)) return [];
  return Array.from(text.matchAll(PLACEHOLDER), ({ 0: placeholder, index }) => ({
    placeholder,
    start: index,
    end: index + placeholder.length,
  }));
}

export const OPENING = "[redacted:";
export const PLACEHOLDER = /\[redacted:[A-Za-z0-9_.#-]{1,80}\]/g;

export const SENSITIVE = `${OPENING}sensitive]`;
export const TOO_DEEP = `${OPENING}too_deep]`;

/** Deeper than any argument or result may be (SCHEMA-8); what lies below is not looked at but dropped. */
export const MAX_DEPTH = 500;
