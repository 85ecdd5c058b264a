// The conversation module: a user and a model at one terminal (CLI-1, CLI-7). It knows the terminal only by its
// contract, and the rest of the program by what it is given.

export { askAlways } from "./ask-always.ts";
export { answerElicitation } from "./answer-elicitation.ts";
export { converse } from "./converse.ts";
export { openLoop } from "./open-loop.ts";
export { openingText } from "./opening.ts";
export { openPromptHistory } from "./prompt-history.ts";
export type { SharedCommands } from "./slash-commands.ts";
export { openTalk } from "./talk.ts";
