export { providers } from "./all.ts";
export {
  defineProvider,
  type Auth,
  type Endpoint,
  type Family,
  type Provider,
  type ProviderData,
  type Traits,
} from "./define.ts";
export { destinationOf, findProvider, findWire, homeOf, UnknownNameError, wireIds } from "./find.ts";
export { nearest } from "../conversation/nearest.ts";
export type { ModelInput } from "./input.ts";
export type { Quirk } from "./quirks.ts";
export {
  convertRequest,
  inferWire,
  readRequest,
  renderRequest,
  sourceOf,
  type From,
  type RequestOptions,
} from "./request.ts";
