import { resolve } from "node:path";
import { openAgent, type AgentSession } from "../../agent/open-agent.ts";
import type { OpenAgentOptions } from "../../agent/options.ts";
import { PolicyError } from "../../policy/error.ts";
import { UnknownNameError } from "../../providers/unknown-name.ts";
import { SessionError } from "../../session/error.ts";
import { SettingsError } from "../../settings/error.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../parse-arguments.ts";
import { UserError, type ExitCode } from "../user-error.ts";
import { openWithObservers } from "./observers.ts";
import type { RunEnvironment } from "../run-environment.ts";

export { loadRunEnvironment, type RunEnvironment } from "../run-environment.ts";

/** Opens the session a person asked for. */
export const openChatSession = async (
  prepared: RunEnvironment,
  given: Arguments,
  options: Pick<OpenAgentOptions, "interactive" | "onEvent" | "resume" | "serverRequests" | "confirm" | "onProgress">,
): Promise<AgentSession> => {
  const system = given.value("system-prompt");
  const id = given.value("resume");
  const servers = await readServersFile(given.value("mcp-config"), prepared.world);
  const open = (wanted: typeof options): Promise<AgentSession> =>
    openAgent({
      ...prepared,
      ...(system === undefined ? {} : { system }),
      ...(servers === undefined ? {} : { servers }),
      ...(given.has("sandbox") || given.value("sandbox-network") === "off"
        ? { sandbox: "required" }
        : prepared.loaded.settings.sandbox || prepared.loaded.settings.sandboxNetwork === "off"
          ? { sandbox: "wanted" }
          : {}),
      ...(id !== undefined ? { resume: { id } } : given.has("continue") ? { resume: "last" } : {}),
      ...wanted,
    });
  const debug = given.value("debug");
  return openWithObservers(prepared, debug === undefined ? undefined : resolve(debug), options, open);
};

/** The servers of a file in the shape everybody has: `{"mcpServers": {...}}`. */
const readServersFile = async (path: string | undefined, { files }: World): Promise<unknown> => {
  if (path === undefined) return undefined;
  const text = await files.read(resolve(path));
  if (text === undefined) throw new UserError(`There is no file ${path} with MCP servers.`);
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && "mcpServers" in read ? read.mcpServers : read;
  } catch (error) {
    throw new UserError(`${path} is not valid JSON. ${error instanceof Error ? error.message : ""}`, { code: 52 });
  }
};

/** What a person can put right, said as such. */
export const rethrowAsUserError = (error: unknown): never => {
  const code = exitCodeOf(error);
  if (code === undefined || !(error instanceof Error)) throw error;
  throw new UserError(error.message, { code });
};

const exitCodeOf = (error: unknown): ExitCode | undefined => {
  if (error instanceof SettingsError) return 52;
  // By name: the class comes with everything that opens a session.
  if (error instanceof Error && error.name === "SystemPromptError") return 52;
  if (error instanceof SessionError) return 1;
  if (error instanceof UnknownNameError) return 2;
  if (error instanceof PolicyError) return /sandbox is required/.test(error.message) ? 44 : 1;
  return undefined;
};
