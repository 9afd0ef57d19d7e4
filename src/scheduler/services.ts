import { openPolicy, type Policy, type PolicyOptions } from "../policy/services.ts";
import type { AskModel } from "../tools/capabilities.ts";
import { createCapabilities, type CapabilitiesFor } from "./capabilities.ts";

/** What a session decides beforehand, and the model its tools may ask. */
export type ServicesOptions = PolicyOptions & { readonly model?: AskModel };

/** What a scheduler needs of a session. Close it when the session ends. */
export type OpenServices = Pick<Policy, "gate" | "workspace" | "redactor" | "trusted" | "notes" | "close"> & {
  readonly capabilities: CapabilitiesFor;
};

/** Opens everything a scheduler needs, as every mode has it. */
export const openServices = async ({ model, ...options }: ServicesOptions): Promise<OpenServices> => {
  const { gate, workspace, shell, web, search, memory, ...rest } = await openPolicy(options);
  const services = { files: workspace, shell, web, search, memory, ...(model === undefined ? {} : { model }) };
  return { gate, workspace, capabilities: createCapabilities(services), ...rest };
};
