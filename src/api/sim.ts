/**
 * Simulators of the APIs, for tests.
 *
 * @packageDocumentation
 */
export { listSimulatedProviders } from "../sim/registry.ts";
export type { AwsSecret } from "../sim/aws-signature.ts";
export type { SimModel, SimProvider, SimUsage, ModelFunction } from "../sim/family.ts";
export { randomFaults, type SimFault, type FaultPlan, type FaultRule } from "../sim/faults/fault.ts";
export type { LogEntry } from "../sim/request-log.ts";
export type { SimModelRequest, RequestFile, RequestTurn, ModelReply, ReplyPart } from "../sim/model/types.ts";
export { parseScript, ScriptFormatError } from "../sim/model/parse-script.ts";
export type { ScriptReply, Script, ScriptCall, ScriptRule } from "../sim/model/script.ts";
export { serve, type ServeOptions, type RunningSimulator } from "../sim/serve.ts";
export { createSimulator, type Simulator, type SimulatorOptions } from "../sim/simulator.ts";
