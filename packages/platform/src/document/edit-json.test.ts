import { expect, test } from "vitest";
import { editJson } from "./edit-json.ts";

const FILE = `{
    // mine
    "mcpServers": {
        "a": { "command": "a" }, // first
    },
    "theme": "dark", /* kept */
}
`;

test("a new value comes in the layout of the file, and comments stay", () => {
  expect(editJson(FILE, ["mcpServers", "b"], { command: "b", args: ["x"] })).toBe(`{
    // mine
    "mcpServers": {
        "a": { "command": "a" },
        "b": {
            "command": "b",
            "args": [
                "x"
            ]
        }, // first
    },
    "theme": "dark", /* kept */
}
`);
});

test("a value is replaced or removed alone", () => {
  expect(editJson(FILE, ["theme"], "light")).toBe(FILE.replace("dark", "light"));
  expect(editJson(FILE, ["mcpServers", "a"], undefined)).toContain('"theme": "dark", /* kept */');
  expect(editJson(FILE, ["mcpServers", "a"], undefined)).not.toContain('"command"');
});

test("a file that is empty, has Windows lines, tabs or a byte order mark stays what it is", () => {
  expect(editJson("", ["a", "b"], 1)).toBe('{\n  "a": {\n    "b": 1\n  }\n}\n');
  expect(editJson('\uFEFF{\r\n\t"a": 1\r\n}\r\n', ["b"], 2)).toBe(
    '\uFEFF{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n',
  );
});
