// `{{args.field}}` in a text (DECL-3): finds the templates and refuses every other use of double braces,
// so that a mistyped one is never handed to a program as it is.

export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "field";
      readonly path: readonly string[];
      /** Where it is in the text. */
      readonly start: number;
      readonly end: number;
    };

export type FieldPart = Extract<TemplatePart, { kind: "field" }>;

export type ParsedTemplate =
  | { ok: true; parts: readonly TemplatePart[] }
  | { ok: false; problems: readonly string[] };

export function parseTemplate(text: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  const problems: string[] = [];
  let done = 0;
  for (let at = text.indexOf("{{"); at !== -1; at = text.indexOf("{{", done)) {
    if (at > done) parts.push({ kind: "text", text: text.slice(done, at) });
    TEMPLATE.lastIndex = at;
    const [whole, dotted] = TEMPLATE.exec(text) ?? [];
    if (whole === undefined || dotted === undefined) {
      const shown = excerpt(text, at);
      problems.push(
        `has ${shown}; between double braces only a field such as {{args.name}} may stand`,
      );
      done = at + 2;
      continue;
    }
    parts.push({ kind: "field", path: dotted.split("."), start: at, end: at + whole.length });
    done = at + whole.length;
  }
  if (done < text.length) parts.push({ kind: "text", text: text.slice(done) });
  for (const part of parts) {
    const single = part.kind === "text" ? SINGLE_BRACES.exec(part.text)?.[0] : undefined;
    if (single !== undefined)
      problems.push(`has ${single}; a template has two braces: {${single}}`);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, parts };
}

export function templateName(path: readonly string[]): string {
  return `{{args.${path.join(".")}}}`;
}

const TEMPLATE = /\{\{args\.([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)\}\}/y;
const SINGLE_BRACES = /\{args\.[\w.-]+\}/;

function excerpt(text: string, at: number): string {
  const close = text.indexOf("}}", at);
  const end = close === -1 ? at + 20 : Math.min(close + 2, at + 60);
  return JSON.stringify(text.slice(at, end));
}
