export { openGate } from "./credentials-gate.ts";
export { signInToCodeAssist, signOutOfCodeAssist } from "./credentials-code-assist.ts";
export { findCredentials, type Found } from "./credentials.ts";
export { countTokens } from "./counting.ts";
export { baseOf, resolveEndpoint, type Purpose, type Resolved } from "./endpoint.ts";
export { patience, type Patience } from "./budget.ts";
export { explain, ProviderError, type Failure, type RuleReading } from "./failure.ts";
export { listModels, type ListedModel } from "./listing.ts";
export { probe, type Probed } from "./probe.ts";
export {
  openTransport,
  type Outgoing,
  type Transport,
  type TransportEvent,
  type TransportOptions,
} from "./transport.ts";
