// soong: the command line. `main` takes the arguments and answers with the exit code.

export { main } from "./command/index.ts";
