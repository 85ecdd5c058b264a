// Text from outside inside our own sentences. A path or a host may hold line breaks, terminal escapes
// or direction marks; in a question to a person none of them may take effect.

export function quote(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
