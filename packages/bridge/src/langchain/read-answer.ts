// What an answer of the model holds, as far as this bridge needs it. Messages come from a checkpoint or from another middleware,
// so nothing about them is taken for granted.

export interface AnswerCall {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: unknown;
}

export interface Answer {
  readonly id: string | undefined;
  readonly calls: readonly AnswerCall[];
  /** Arguments that are no JSON, by the id of their call. */
  readonly raw: ReadonlyMap<string, string>;
  /** Ids of the calls that have a result. */
  readonly answered: ReadonlySet<string>;
  /** Names of tools that the model called, and that were not in its request. */
  readonly notOffered: ReadonlySet<string>;
}

/** Where an answer keeps them: in the checkpoint, so that it also holds in another process. */
export const NOT_OFFERED_KEY = "soong_not_offered";

/** The last answer in the state that contains this call. */
export function findAnswer(
  state: unknown,
  call: { readonly id?: string | undefined; readonly name: string },
): Answer | undefined {
  const messages: unknown = asObject(state)["messages"];
  if (!Array.isArray(messages)) return undefined;
  const all = messages.map(asObject);
  const at = all.findLastIndex(
    (message) =>
      isAnswer(message) && readCalls(message["tool_calls"]).some((one) => isSameCall(one, call)),
  );
  const message = all[at];
  if (message === undefined) return undefined;
  const results = all.slice(at + 1).map((one) => one["tool_call_id"]);
  const refused: unknown = asObject(message["response_metadata"])[NOT_OFFERED_KEY];
  return {
    id: asText(message["id"]),
    calls: readCalls(message["tool_calls"]),
    raw: readRaw(message["invalid_tool_calls"]),
    answered: new Set(results.filter((id) => typeof id === "string")),
    notOffered: new Set(Array.isArray(refused) ? refused.map(String) : []),
  };
}

/**
 * LangChain drops calls whose arguments are no JSON, and in a stream it completes arguments that end too early. This makes
 * calls of all of them, and keeps the text as it came, so that the kernel can tell the model what is wrong. Undefined:
 * nothing to repair.
 */
export function repairCalls(message: object): RepairedCalls | undefined {
  const { tool_calls, invalid_tool_calls, tool_call_chunks, additional_kwargs } = asObject(message);
  const calls = readCalls(tool_calls);
  const invalid = readCalls(invalid_tool_calls);
  const completed = joinChunks(tool_call_chunks).filter(
    ({ id, args }) => !isJson(args) && calls.some((call) => call.id === id),
  );
  if (invalid.length + completed.length === 0) return undefined;
  const named = invalid.map((call, at) => ({ ...call, id: call.id ?? `invalid_call_${at + 1}` }));
  const known = new Set(calls.map(({ id }) => id));
  const added = named.filter(({ id }) => !known.has(id));
  const all = [
    ...calls.map(({ id, name, args }) => ({
      id,
      name,
      args: completed.some((one) => one.id === id) ? {} : args,
    })),
    ...added.map(({ id, name }) => ({ id, name, args: {} })),
  ];
  const order = readCalls(asObject(additional_kwargs)["tool_calls"]).map(({ id }) => id);
  return {
    tool_calls: sortBy(all, order).map((call) => ({ ...call, type: "tool_call" as const })),
    invalid_tool_calls: [...named, ...completed].map((call) => ({
      ...call,
      args: String(call.args),
      type: "invalid_tool_call" as const,
    })),
  };
}

export interface RepairedCalls {
  readonly tool_calls: readonly (AnswerCall & { readonly type: "tool_call" })[];
  readonly invalid_tool_calls: readonly (AnswerCall & { readonly type: "invalid_tool_call" })[];
}

/** Another middleware may have changed the name. */
function isSameCall(one: AnswerCall, call: Pick<AnswerCall, "id" | "name">): boolean {
  return one.id === call.id && (call.id !== undefined || one.name === call.name);
}

function isAnswer(message: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(message["tool_calls"]);
}

export function readCalls(list: unknown): AnswerCall[] {
  if (!Array.isArray(list)) return [];
  return list.map(asObject).map((call) => ({
    id: asText(call["id"]),
    name: asText(call["name"]) ?? "",
    args: call["args"],
  }));
}

function readRaw(list: unknown): Map<string, string> {
  const raw = new Map<string, string>();
  for (const { id, args } of readCalls(list)) {
    if (id !== undefined && typeof args === "string") raw.set(id, args);
  }
  return raw;
}

/** The text of the arguments of each call of a streamed answer. */
function joinChunks(list: unknown): (AnswerCall & { readonly args: string })[] {
  const joined: { id: string | undefined; index: unknown; name: string; args: string }[] = [];
  for (const chunk of Array.isArray(list) ? list.map(asObject) : []) {
    const { id, index, name, args } = chunk;
    const before = joined.find((one) =>
      typeof id === "string" ? one.id === id && one.index === index : one.index === index,
    );
    if (before !== undefined) before.args += asText(args) ?? "";
    else joined.push({ id: asText(id), index, name: asText(name) ?? "", args: asText(args) ?? "" });
  }
  return joined.map(({ id, name, args }) => ({ id, name, args }));
}

function isJson(text: string): boolean {
  if (text.trim() === "") return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** As the model made them, where the provider's own record of the answer has them all; else as they are. */
function sortBy<Call extends AnswerCall>(calls: Call[], order: readonly unknown[]): Call[] {
  if (!calls.every(({ id }) => order.includes(id))) return calls;
  return calls.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
