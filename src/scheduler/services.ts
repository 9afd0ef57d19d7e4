import { PolicyError } from "../policy/error.ts";
import { openPolicy, type SessionPolicy, type PolicyOptions } from "../policy/open-policy.ts";
import type { SideQueryModel, Web } from "../tools/capabilities.ts";
import { createCapabilities, type CreateCapabilities } from "./capabilities.ts";

/** The options of a session's policy, and the model its tools may ask. */
export type ServicesOptions = PolicyOptions & { readonly model?: SideQueryModel };

/** The services of a session. Close them when the session ends. */
export type OpenServices = Pick<
  SessionPolicy,
  "gate" | "workspace" | "redactor" | "trusted" | "confine" | "notes" | "prepareCommands" | "close"
> & {
  readonly capabilities: CreateCapabilities;
  /** Downloads a file that a tool or a message names by URL; rejects what a permission rule denies. */
  readonly fetchFile: Web["fetch"];
};

/** Opens the services of a session; the same for every front end. */
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
