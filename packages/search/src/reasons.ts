// Says why a tool was found, for a model or a person: which words of the query stand where in it,
// and which were taken for another word.
import type { QueryWord } from "./query.ts";
import { FIELD } from "./ranking.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** `name: read, file`, `parameter: path`, `typo: serach→search`; the strongest field of each word. */
export function reasonsFor(
  words: readonly QueryWord[],
  fieldsOfStem: ReadonlyMap<number, number>,
  vocabulary: Vocabulary,
): string[] {
  const found = new Map<string, string[]>(REASONS.map((reason) => [reason, []]));
  for (const { word, stems } of words) {
    const match = stems.find(({ id }) => fieldsOfStem.has(id));
    if (match === undefined) continue;
    const fields = fieldsOfStem.get(match.id) ?? 0;
    if (match.kind === "same") found.get(strongestField(fields))?.push(word);
    else found.get(match.kind)?.push(`${word}→${vocabulary.readable(match.id)}`);
  }
  const reasons: string[] = [];
  for (const [reason, matched] of found) {
    if (matched.length > 0) reasons.push(`${reason}: ${matched.slice(0, MAX_WORDS).join(", ")}`);
  }
  return reasons;
}

const MAX_WORDS = 8;

/** Fields whose name would mean little to a reader share that of a neighbour. */
const LABELS: readonly (readonly [number, string])[] = [
  [FIELD.name | FIELD.alias, "name"],
  [FIELD.hint, "hint"],
  [FIELD.title, "title"],
  [FIELD.description, "description"],
  [FIELD.parameter | FIELD.parameter_text, "parameter"],
  [FIELD.tag, "tag"],
];
const REASONS = [...LABELS.map(([, label]) => label), "synonym", "prefix", "typo"];

function strongestField(fields: number): string {
  return LABELS.find(([bits]) => (fields & bits) !== 0)?.[1] ?? "";
}
