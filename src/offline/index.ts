export { withOffline, type OfflineOptions } from "./net.ts";
export { OfflineScriptError, parseOfflineScript } from "./parse-script.ts";
export type { OfflineReply, OfflineRule, OfflineScript } from "./script.ts";
