// What a tool wants to know while it is at work, put to a user (MCP-5): who asks and for which call is first, in
// our words; every line of theirs is behind a bar, so that nothing of it can pass for a question of Soong's.

import type { AskElicitation, ElicitationAnswer, JsonObject } from "@soong/core";
import { visible, visibleLine, wrap, type Colours } from "../output/index.ts";
import type { Prompts } from "./ask-permission.ts";
import { formFields, readField, type FormField } from "./form-fields.ts";

export type ElicitationQuestion = Parameters<AskElicitation>[0];

export interface FormTerminal extends Prompts {
  readonly colours: Colours;
  readonly columns: number;
}

const MOST_FIELDS = 50;
const MOST_OPTIONS = 100;
const LONGEST_WORDS = 500;
/** What is in a line with words of ours must not reach the next. */
const LONGEST_LABEL = 40;

const CANCELLED: ElicitationAnswer = { action: "cancel" };
const DECLINED: ElicitationAnswer = { action: "decline" };

export async function answerElicitation(
  question: ElicitationQuestion,
  terminal: FormTerminal,
): Promise<ElicitationAnswer> {
  const { bold } = terminal.colours;
  const { tool_name } = question;
  const server = /^mcp\.([^.]+)\./.exec(tool_name)?.[1];
  const asker = visibleLine(server ?? tool_name);
  const kind = server === undefined ? "tool" : "MCP server";
  terminal.show(`${bold(`The ${kind} ${asker} asks`)}, for ${visibleLine(tool_name)}:`);
  terminal.show(quoteValue(question.message, terminal));
  return question.mode === "url"
    ? consent(question.url, asker, terminal)
    : fill(question.requested_schema, asker, terminal);
}

/** It is never opened from here: the user does that, or not. */
async function consent(
  url: string,
  asker: string,
  terminal: FormTerminal,
): Promise<ElicitationAnswer> {
  const { bold, yellow } = terminal.colours;
  const { href, host, protocol } = new URL(url);
  terminal.show(`It wants you to open this address yourself, at ${bold(visibleLine(host))}:`);
  terminal.show(visibleLine(href));
  if (protocol !== "https:") terminal.show(yellow("What is sent there is not encrypted."));
  const question = `Tell ${asker}: [o]pened, continue / [d]ecline / [c]ancel: `;
  const key = await terminal.key(question, ["o", "d", "c"]);
  if (key === "o") return { action: "accept" };
  return key === "d" ? DECLINED : CANCELLED;
}

async function fill(
  schema: JsonObject,
  asker: string,
  terminal: FormTerminal,
): Promise<ElicitationAnswer> {
  const { dim, yellow } = terminal.colours;
  const fields = formFields(schema);
  if (fields.length > MOST_FIELDS) {
    terminal.show(yellow(`Declined: it wants ${fields.length} answers, more than ${MOST_FIELDS}.`));
    return DECLINED;
  }
  terminal.show(dim(`${asker} gets what you type here. Type no passwords or keys.`));
  for (;;) {
    const begin = await terminal.key(`[a]nswer ${asker} / [d]ecline / [c]ancel: `, ["a", "d", "c"]);
    if (begin !== "a") return begin === "d" ? DECLINED : CANCELLED;
    const content = await readFields(fields, terminal);
    if (content === undefined) return CANCELLED;
    terminal.show(`To be sent to ${asker}: ${visibleLine(JSON.stringify(content))}`);
    const send = await terminal.key("[s]end it / [a]nswer anew / [d]ecline: ", ["s", "a", "d"]);
    if (send === "s") return { action: "accept", content };
    if (send !== "a") return send === "d" ? DECLINED : CANCELLED;
  }
}

async function readFields(
  fields: readonly FormField[],
  terminal: FormTerminal,
): Promise<JsonObject | undefined> {
  const { yellow } = terminal.colours;
  const content: JsonObject = {};
  for (const [at, field] of fields.entries()) {
    terminal.show(describeField(field, `${at + 1} of ${fields.length}`, terminal));
    for (;;) {
      const typed = await terminal.line(`│ ${cut(field.title, LONGEST_LABEL)}: `);
      if (typed === undefined) return undefined;
      const read = readField(field, typed);
      if (read.ok) {
        // Defined, not assigned: a field may have a name that means something to objects.
        if (read.value !== undefined) {
          Object.defineProperty(content, field.name, { value: read.value, enumerable: true });
        }
        break;
      }
      terminal.show(yellow(cut(read.message)));
    }
  }
  return content;
}

function describeField(field: FormField, place: string, terminal: FormTerminal): string {
  const { dim } = terminal.colours;
  const { kind, required, description, options } = field;
  const otherwise =
    field.default === undefined
      ? ""
      : `; Enter: ${cut(typeof field.default === "string" ? field.default : JSON.stringify(field.default), LONGEST_LABEL)}`;
  const several = kind === "some of these" ? ", with commas between" : "";
  return [
    dim(`${place}, ${kind}${several}${required ? "" : ", optional"}${otherwise}`),
    ...(description === undefined ? [] : [quoteValue(description, terminal)]),
    ...options.slice(0, MOST_OPTIONS).map(({ value, title }, at) => {
      const about = title === value ? "" : ` (${cut(value)})`;
      return quoteValue(`${at + 1}. ${cut(title)}${about}`, terminal);
    }),
    ...(options.length > MOST_OPTIONS ? [`│ … ${options.length - MOST_OPTIONS} more`] : []),
  ].join("\n");
}

/** Each line behind a bar, also those that the width makes. */
function quoteValue(text: string, { columns, colours: { dim } }: FormTerminal): string {
  return visible(text)
    .split("\n")
    .flatMap((line) => {
      const words = wrap(line, Math.max(20, columns - 4));
      return (words.length === 0 ? [""] : words).flatMap((one) => pieces(one, columns - 4));
    })
    .map((line) => `${dim("│")} ${line}`)
    .join("\n");
}

/** A word that is longer than the screen would break out of the bar. */
function pieces(line: string, width: number): string[] {
  const characters = Array.from(line);
  const list: string[] = [];
  for (let at = 0; at === 0 || at < characters.length; at += Math.max(20, width)) {
    list.push(characters.slice(at, at + Math.max(20, width)).join(""));
  }
  return list;
}

function cut(text: string, longest = LONGEST_WORDS): string {
  const line = visibleLine(text);
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
