/**
 * Connections to MCP servers.
 *
 * @packageDocumentation
 */
export type {
  McpRequestHandlers,
  Elicitation,
  ElicitationAnswer,
  SamplingAnswer,
  SamplingRequest,
} from "../mcp/requests/handlers.ts";
export {
  readServerConfigs,
  formatEndpoint,
  type ConfigSource,
  type ServerEndpoint,
  type McpServerConfig,
  type McpServerConfigs,
} from "../mcp/config/read-servers.ts";
export type { McpToolChanges, McpTool } from "../mcp/tools/registry.ts";
export type { SignInPage } from "../mcp/oauth/browser.ts";
export { deleteSignIn, type SignInTarget } from "../mcp/oauth/store.ts";
export { signInWithBrowser, type OAuthOptions } from "../mcp/oauth/sign-in.ts";
export type { PromptMessage, McpReadOptions } from "../mcp/resources-and-prompts.ts";
export {
  openMcpServers,
  trustRules,
  type McpServers,
  type McpServersEvent,
  type McpServersOptions,
  type McpServerStatus,
} from "../mcp/servers.ts";
export type { McpServerState } from "../mcp/server.ts";
