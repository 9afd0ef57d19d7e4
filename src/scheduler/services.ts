import { PolicyError } from "../policy/error.ts";
import { openPolicy, type SessionPolicy, type PolicyOptions } from "../policy/open-policy.ts";
import type { SideQueryModel, Web } from "../tools/capabilities.ts";
import { createCapabilities, type CreateCapabilities } from "./capabilities.ts";

/** What a session decides beforehand, and the model its tools may ask. */
export type ServicesOptions = PolicyOptions & { readonly model?: SideQueryModel };

/** What a scheduler needs of a session. Close it when the session ends. */
export type OpenServices = Pick<SessionPolicy, "gate" | "workspace" | "redactor" | "trusted" | "notes" | "close"> & {
  readonly capabilities: CreateCapabilities;
  /** Fetches a file that a tool or a message names by its address; what a rule denies is refused. */
  readonly fetchFile: Web["fetch"];
};

/** Opens everything a scheduler needs, as every mode has it. */
export const openServices = async ({ model, ...options }: ServicesOptions): Promise<OpenServices> => {
  const { gate, workspace, shell, web, search, memory, ...rest } = await openPolicy(options);
  const services = { files: workspace, shell, web, search, memory, ...(model === undefined ? {} : { model }) };
  const fetchFile: Web["fetch"] = async (url, given) => {
    const touches = { reads: [], writes: [], urls: [url] };
    const verdict = await gate.judge({ tool: "web_fetch", access: "network", touches });
    if (verdict.decision === "deny") throw new PolicyError("policy_violation", verdict.reason);
    return web.fetch(url, given);
  };
  return { gate, workspace, capabilities: createCapabilities(services), fetchFile, ...rest };
};
