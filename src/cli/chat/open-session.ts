import { resolve } from "node:path";
import { openAgent, type AgentSession } from "../../agent/open-agent.ts";
import type { OpenAgentOptions } from "../../agent/options.ts";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import { SystemPromptError } from "../../context/system-prompt/error.ts";
import { PolicyError, SandboxUnavailableError } from "../../policy/error.ts";
import { AmbiguousNameError, UnknownNameError } from "../../providers/unknown-name.ts";
import { SessionError } from "../../session/error.ts";
import { SettingsError } from "../../settings/error.ts";
import { AuthError } from "../../transport/credentials/api-key.ts";
import type { World } from "../../world/world.ts";
import type { Arguments } from "../command.ts";
import { usageError, UserError, type ExitCode } from "../user-error.ts";
import { openWithObservers } from "./observers.ts";
import type { AgentEnvironment } from "../../agent/environment.ts";

/** Opens the session the arguments ask for: a new one, the last one, or one by id. */
export const openChatSession = async (
  environment: AgentEnvironment,
  args: Arguments,
  options: Pick<
    OpenAgentOptions,
    | "interactive"
    | "onEvent"
    | "resume"
    | "model"
    | "serverRequests"
    | "confirm"
    | "onProgress"
    | "askUser"
    | "reviewPlan"
    | "offeredServers"
    | "consentToServer"
    | "buffers"
    | "watchCommand"
  >,
): Promise<AgentSession> => {
  const system = args.value("system-prompt");
  const addition = args.value("append-system-prompt");
  const id = args.value("resume");
  checkSessionOptions(args);
  const servers = await readServersFile(args.value("mcp-config"), environment.world);
  const output = await readOutputSchema(args.value("json-schema"), environment.world);
  const open = (openOptions: typeof options): Promise<AgentSession> =>
    openAgent({
      ...environment,
      ...(system === undefined ? {} : { system }),
      ...(addition === undefined ? {} : { systemAddition: addition }),
      ...(args.has("no-save") ? { isSaved: false } : {}),
      ...(args.has("fork") && options.resume === undefined ? { isFork: true } : {}),
      ...(servers === undefined ? {} : { servers }),
      ...(output === undefined ? {} : { output }),
      ...(args.has("sandbox") || args.value("sandbox-network") === "off" ? { sandbox: "required" } : {}),
      ...(id !== undefined ? { resume: { id } } : args.has("continue") ? { resume: "last" } : {}),
      ...openOptions,
    });
  const debug = args.value("debug");
  return openWithObservers(environment, debug === undefined ? undefined : resolve(debug), options, open);
};

/** Throws for options that contradict each other. */
const checkSessionOptions = (args: Arguments): void => {
  if (args.has("fork") && !args.has("continue") && !args.has("resume"))
    throw usageError("--fork needs a session to copy: use it with -c or -r.");
  if (args.value("resume") === "")
    throw usageError("-r without an id needs a terminal. List the ids with parley sessions.");
};

/** Reads MCP servers from a file in the common format `{"mcpServers": {...}}`. */
const readServersFile = async (path: string | undefined, { files }: World): Promise<unknown> => {
  if (path === undefined) return undefined;
  const text = await files.read(resolve(path));
  if (text === undefined) throw new UserError(`No such file: ${path} (--mcp-config).`);
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "mcpServers" in value ? value.mcpServers : value;
  } catch (error) {
    throw new UserError(`${path} is not valid JSON. ${error instanceof Error ? error.message : ""}`, { code: 52 });
  }
};

/** Reads the JSON Schema of responses. */
const readOutputSchema = async (path: string | undefined, { files }: World): Promise<JsonObject | undefined> => {
  if (path === undefined) return undefined;
  const text = await files.read(resolve(path));
  if (text === undefined) throw new UserError(`No such file: ${path} (--json-schema).`);
  try {
    const schema: unknown = JSON.parse(text);
    if (!isObject(schema)) throw new TypeError("A JSON Schema is an object.");
    const { createOutputCheck } = await import("../../agent/turn/output.ts");
    await createOutputCheck(schema as JsonObject);
    return schema as JsonObject;
  } catch (error) {
    throw new UserError(`${path} is not a JSON Schema. ${error instanceof Error ? error.message : ""}`);
  }
};

/** Rethrows errors the user can fix as `UserError`, with the exit code for their kind. */
export const rethrowAsUserError = (error: unknown): never => {
  const code = exitCodeOf(error);
  if (code === undefined || !(error instanceof Error)) throw error;
  throw new UserError(error.message, { code });
};

/** An invalid value of an option is wrong usage, not an invalid settings file. */
const isBadFlag = ({ fault }: SettingsError): boolean => fault.kind === "refused" && fault.flag !== undefined;

const exitCodeOf = (error: unknown): ExitCode | undefined => {
  if (error instanceof SettingsError) return isBadFlag(error) ? 2 : 52;
  if (error instanceof SystemPromptError) return 52;
  if (error instanceof SessionError) return 1;
  if (error instanceof UnknownNameError || error instanceof AmbiguousNameError) return 2;
  if (error instanceof AuthError) return 41;
  if (error instanceof SandboxUnavailableError) return 44;
  if (error instanceof PolicyError) return 1;
  return undefined;
};
