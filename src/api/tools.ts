/**
 * Writing tools.
 *
 * @packageDocumentation
 */
export { builtinTools } from "../tools/builtins.ts";
export type {
  SideQueryModel,
  Capabilities,
  WorkspaceFiles,
  Memory,
  FileSearch,
  Shell,
  Web,
} from "../tools/capabilities.ts";
export { declareTool } from "../tools/declare.ts";
export { normalizeResult } from "../tools/result/normalize.ts";
export {
  defineTool,
  ToolFailure,
  type Access,
  type AnyTool,
  type DiffStat,
  type ToolDisplay,
  type EditProposal,
  type Tool,
  type ToolContent,
  type ToolDefinition,
  type ToolErrorType,
  type ToolFile,
  type ToolFileUrl,
  type ToolResult,
  type ToolReturn,
  type TouchedResources,
} from "../tools/tool.ts";
