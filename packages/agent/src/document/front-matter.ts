// Markdown with YAML before it, between two lines of three dashes: agent definitions and skills are written so.

export type FrontMatter =
  | {
      readonly ok: true;
      /** Its lines are those of the file. */
      readonly yaml: string;
      readonly body: string;
    }
  | { readonly ok: false; readonly line: number; readonly message: string };

export function splitFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  if (!isFence(lines[0])) {
    const message =
      'does not begin with its front matter: a line "---", YAML, another line "---", then the text';
    return { ok: false, line: 1, message };
  }
  const end = lines.findIndex((line, i) => i > 0 && isFence(line));
  if (end === -1) {
    return { ok: false, line: 1, message: 'has front matter without an end: a second line "---"' };
  }
  return {
    ok: true,
    yaml: ["", ...lines.slice(1, end), ""].join("\n"),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && /^---[ \t]*$/.test(line);
}
