export { builtins } from "../tools/all.ts";
export type { AskModel, Capabilities, Files, Memory, Search, Shell, Web } from "../tools/capabilities.ts";
export { declarationOf } from "../tools/declare.ts";
export { normalizeResult } from "../tools/normalize-result.ts";
export {
  defineTool,
  ToolFailure,
  type Access,
  type AnyTool,
  type DiffStat,
  type Display,
  type Proposal,
  type Tool,
  type ToolContent,
  type ToolErrorType,
  type ToolFile,
  type ToolFileUrl,
  type ToolResult,
  type ToolReturn,
  type Touches,
} from "../tools/tool.ts";
