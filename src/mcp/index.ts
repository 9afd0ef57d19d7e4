export type { Asking, Elicitation, ElicitationAnswer, SamplingAnswer, SamplingRequest } from "./asking.ts";
export {
  readServers,
  shownReach,
  type ConfigSource,
  type Reach,
  type ServerConfig,
  type ServerConfigs,
} from "./config.ts";
export type { Changes, ServerTool } from "./offer.ts";
export type { SignInPage } from "./oauth-person.ts";
export { forgetSignIn, type SignInPlace } from "./oauth-store.ts";
export { signInAt, type OAuthOptions } from "./oauth.ts";
export type { PromptMessage, Reading } from "./reading.ts";
export {
  openServers,
  trustRules,
  type Servers,
  type ServersEvent,
  type ServersOptions,
  type ServerStatus,
} from "./servers.ts";
export type { ServerState } from "./server.ts";
