// The process itself: from its arguments to its exit code.

import { keepCompiledCode } from "./compiled-code.ts";
import { main } from "./index.ts";
import { endWithTerminal } from "./terminal-gone.ts";

endWithTerminal(process);
keepCompiledCode(process.env);
process.exitCode = await main(process.argv.slice(2));
