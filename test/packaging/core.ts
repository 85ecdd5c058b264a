// What a user does first with the installed package. The packaging check runs this file and
// type-checks it under `nodenext` and `bundler`, without the types of Node.

import { createKernel, defineTool } from "@soong/core";

const greet = defineTool({
  name: "demo.greet",
  description: "Greet somebody",
  input_schema: {
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
    additionalProperties: false,
  },
  permission: "readonly",
  handler: ({ name }) => `Hello, ${name.toUpperCase()}`,
});

const run = await createKernel({ tools: [greet] }).startRun();
const [result] = await run.execute([{ id: "1", name: "demo__greet", arguments: '{"name":"Ada"}' }]);
if (result?.summary !== "Hello, ADA") throw new Error(`unexpected result: ${result?.summary}`);
