export { builtins } from "./all.ts";
export type { AskModel, Capabilities, Files, Memory, Search, Shell, Web } from "./capabilities.ts";
export { declarationOf } from "./declare.ts";
export { normalizeResult } from "./normalize-result.ts";
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
} from "./tool.ts";
