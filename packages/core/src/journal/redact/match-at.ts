// A sticky pattern, tried at one place of a text and nowhere else. Where that place is, cheaper means
// have found before.

export function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at;
  return sticky.exec(text);
}
