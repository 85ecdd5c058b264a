// @soong/mcp: MCP servers as a source of tools, and the surface served as an MCP server.

export {};
