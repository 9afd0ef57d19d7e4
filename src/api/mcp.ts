export type { Asking, Elicitation, ElicitationAnswer, SamplingAnswer, SamplingRequest } from "../mcp/asking.ts";
export {
  readServers,
  shownReach,
  type ConfigSource,
  type Reach,
  type ServerConfig,
  type ServerConfigs,
} from "../mcp/config.ts";
export type { Changes, ServerTool } from "../mcp/offer.ts";
export type { SignInPage } from "../mcp/oauth-person.ts";
export { forgetSignIn, type SignInPlace } from "../mcp/oauth-store.ts";
export { signInAt, type OAuthOptions } from "../mcp/oauth.ts";
export type { PromptMessage, Reading } from "../mcp/reading.ts";
export {
  openServers,
  trustRules,
  type Servers,
  type ServersEvent,
  type ServersOptions,
  type ServerStatus,
} from "../mcp/servers.ts";
export type { ServerState } from "../mcp/server.ts";
