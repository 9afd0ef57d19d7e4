import type { ToolDeclaration } from "../../conversation/entry.ts";

/** The wait tool as models see it. */
export const waitDeclaration: ToolDeclaration = {
  name: "wait_for_servers",
  description:
    "Waits until the MCP servers of this session are there. Call it when you need a tool of theirs that is not listed yet.",
  parameters: { type: "object", properties: {} },
};
