// What the code of a command is given: the surroundings of the process, and what was typed, typed by its entry in
// `COMMANDS`.

import type { Output } from "../output/index.ts";
import type { CommandName, COMMANDS } from "./commands.ts";
import type { Interrupts } from "./signals.ts";

export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly output: Output;
  readonly stdin: NodeJS.ReadStream;
  /** Someone sits there: a question can be put and answered. */
  readonly isInteractive: boolean;
  readonly interrupts: Interrupts;
  /** --json: what is printed is for programs. */
  readonly json: boolean;
  /** A record of the command with --json, else lines for users, or what `render` prints itself. */
  readonly print: (data: object, render: () => string | readonly string[] | void) => void;
}

/** Resolves to the exit code, or to nothing for 0. */
export type Handler<Name extends CommandName> = (
  context: CommandContext,
  given: Arguments<(typeof COMMANDS)[Name]>,
  options: Options<(typeof COMMANDS)[Name]>,
) => Promise<number | void>;

type Arguments<Spec> = Spec extends { readonly arguments: infer Given }
  ? {
      readonly [Form in keyof Given as ArgumentName<Form>]:
        | (Form extends `${string}...${string}` ? readonly string[] : Text<Given[Form]>)
        | (Form extends `[${string}` ? (Form extends `${string}...]` ? never : undefined) : never);
    }
  : object;

type ArgumentName<Form> = Form extends `${"<" | "["}${infer Name}${">" | "]"}`
  ? Name extends `${infer Several}...`
    ? Several
    : Name
  : never;

export type Options<Spec> = Spec extends { readonly options: infer Given }
  ? {
      readonly [Flags in keyof Given as OptionName<Flags>]?: Flags extends `${string} <${string}`
        ? Given[Flags] extends { readonly isRepeatable: true }
          ? readonly string[]
          : Text<Given[Flags]>
        : Flags extends `${string} [${string}`
          ? string | true
          : boolean;
    }
  : object;

type OptionName<Flags> = Flags extends `-${string}, ${infer Long}`
  ? OptionName<Long>
  : Flags extends `--no-${infer Name}`
    ? Name
    : Flags extends `--${infer Name} ${string}`
      ? CamelCase<Name>
      : Flags extends `--${infer Name}`
        ? CamelCase<Name>
        : never;

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type Text<Spec> = Spec extends { readonly choices: readonly (infer Choice)[] } ? Choice : string;
