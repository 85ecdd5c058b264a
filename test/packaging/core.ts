// What a stranger does first with the installed package. The packaging check runs this file and
// type-checks it under `nodenext` and `bundler`, without the types of Node.

import * as core from "@soong/core";

if (Object.keys(core).length === 0) throw new Error("@soong/core exports nothing");
