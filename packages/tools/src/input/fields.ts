// The input of a tool, written short: fields of JSON Schema, whose types the handler's input follows from.

type Field<Type extends string, More> = {
  readonly type: Type;
  readonly description: string;
} & More;

function field<Type extends string>(type: Type) {
  return <const More extends object = object>(description: string, more?: More) =>
    ({ type, ...more, description }) as Field<Type, More>;
}

export const text = field("string");
export const flag = field("boolean");
export const integer = field("integer");
export const list = field("array");

/** What every tool that works on one path calls it. */
export const pathField = text("Relative to the project, or absolute.", { minLength: 1 });

/** An object of these fields and no others. */
export function fields<Properties extends object, Name extends keyof Properties & string = never>(
  properties: Properties,
  ...required: readonly Name[]
) {
  const schema = { type: "object", properties, required, additionalProperties: false } as const;
  const { required: _none, ...optional } = schema;
  return required.length === 0 ? (optional as typeof schema) : schema;
}
