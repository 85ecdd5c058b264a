// What CloudEvents 1.0 and its JSON format say of one event, as strictly as they say it.

const REQUIRED = ["id", "source", "specversion", "type"];
const OPTIONAL_TEXTS = ["datacontenttype", "dataschema", "subject", "time"];
const NAME = /^[a-z0-9]{1,20}$/u;
const REFUSED = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;
/** RFC 3986: what a reference may consist of, with whole escapes. */
const URI_REFERENCE = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\dA-Fa-f]{2})+$/u;
const RFC_3339 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/u;
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/u;
const MAX_INTEGER = 2 ** 31;

/** What is wrong with these events, together: a source and an id are one event. */
export function findCloudEventProblems(events: readonly object[]): string[] {
  const seen = new Set<string>();
  return events.flatMap((given) => {
    const event = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
    const problems = findEventProblems(event);
    const key = JSON.stringify([event["source"], event["id"]]);
    if (seen.has(key)) problems.push(`${key} is there twice`);
    seen.add(key);
    return problems;
  });
}

/** One line for each rule that is broken. Takes the event as it was parsed from its JSON. */
export function findEventProblems(event: Readonly<Record<string, unknown>>): string[] {
  const problems = REQUIRED.flatMap((name) =>
    typeof event[name] === "string" && event[name] !== "" ? [] : [`${name} is missing`],
  );
  if (event["specversion"] !== "1.0") problems.push("specversion is not 1.0");
  if ("data" in event && "data_base64" in event) problems.push("there are two kinds of data");
  for (const [name, value] of Object.entries(event)) {
    if (name === "data" || name === "data_base64") continue;
    if (!NAME.test(name)) problems.push(`${name} is no name of an attribute`);
    problems.push(...findValueProblems(name, value));
  }
  return problems;
}

function findValueProblems(name: string, value: unknown): string[] {
  if (typeof value === "boolean") return [];
  if (typeof value === "number") {
    const fits = Number.isInteger(value) && value < MAX_INTEGER && value >= -MAX_INTEGER;
    return fits ? [] : [`${name} is no 32-bit integer`];
  }
  if (typeof value !== "string") return [`${name} is of no type that attributes have`];
  const problems = REFUSED.test(value) ? [`${name} has characters that are not allowed`] : [];
  const mustNotBeEmpty = REQUIRED.includes(name) || OPTIONAL_TEXTS.includes(name);
  if (mustNotBeEmpty && value === "") problems.push(`${name} is empty`);
  if (name === "source" && !URI_REFERENCE.test(value)) problems.push("source is no URI reference");
  if (name === "time" && !RFC_3339.test(value)) problems.push("time is not of RFC 3339");
  if (name === "datacontenttype" && !MEDIA_TYPE.test(value)) {
    problems.push("datacontenttype is no media type");
  }
  if (name === "sequence" && value === "") problems.push("sequence is empty");
  return problems;
}
