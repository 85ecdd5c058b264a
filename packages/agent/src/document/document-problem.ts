// What is wrong with a document somebody wrote, and where: enough to mend it without searching.

export type FieldPath = readonly (string | number)[];

export interface DocumentProblem {
  readonly file: string;
  /** Both from one. */
  readonly line: number;
  readonly column: number;
  /** Such as `turns[0].calls[1].tool`; absent when the problem is the file itself. */
  readonly field?: string;
  /** A clause about the field or the file. */
  readonly message: string;
}

/** Such as `demo.yaml:3:7: turns[0].txet: is not a field of a turn; did you mean "text"?` */
export function describeDocumentProblem(problem: DocumentProblem): string {
  const { file, line, column, field, message } = problem;
  const place = `${file}:${line}:${column}`;
  return field === undefined ? `${place}: ${message}` : `${place}: ${field}: ${message}`;
}

export function fieldName(path: FieldPath): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      if (!PLAIN_KEY.test(step)) return `[${JSON.stringify(shortened(step, 60))}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");
}

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]{0,59}$/;

export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}
