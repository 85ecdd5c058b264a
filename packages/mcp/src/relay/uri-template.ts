// Whether an address may have been made from a template (RFC 6570), as far as it takes to choose a server: what
// stands between the expressions must be there, in that order.

export function fitsTemplate(uri: string, template: string): boolean {
  const literals = template.split(/\{[^{}]*\}/u);
  if (literals.length === 1) return uri === template;
  const head = literals[0] ?? "";
  const tail = literals.at(-1) ?? "";
  if (uri.length < head.length + tail.length) return false;
  if (!uri.startsWith(head) || !uri.endsWith(tail)) return false;
  const end = uri.length - tail.length;
  let at = head.length;
  for (const literal of literals.slice(1, -1)) {
    const found = uri.indexOf(literal, at);
    if (found === -1 || found + literal.length > end) return false;
    at = found + literal.length;
  }
  return true;
}
