import { resolve } from "node:path";
import { openAgent, type Opened, type OpenOptions } from "../agent/open.ts";
import { PolicyError } from "../policy/error.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import { SessionError } from "../session/error.ts";
import { SettingsError } from "../settings/error.ts";
import type { World } from "../world/world.ts";
import type { Arguments } from "./arguments.ts";
import { Failure, type ExitCode } from "./failure.ts";
import { observed } from "./observing.ts";
import type { Prepared } from "./preparing.ts";

export { prepare, type Prepared } from "./preparing.ts";

/** Opens the session a person asked for. */
export const openSession = async (
  prepared: Prepared,
  given: Arguments,
  options: Pick<OpenOptions, "interactive" | "listen" | "resume" | "asking" | "confirm" | "say">,
): Promise<Opened> => {
  const system = given.value("system-prompt");
  const id = given.value("resume");
  const servers = await serversIn(given.value("mcp-config"), prepared.world);
  const open = (wanted: typeof options): Promise<Opened> =>
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
  return observed(prepared, debug === undefined ? undefined : resolve(debug), options, open);
};

/** The servers of a file in the shape everybody has: `{"mcpServers": {...}}`. */
const serversIn = async (path: string | undefined, { files }: World): Promise<unknown> => {
  if (path === undefined) return undefined;
  const text = await files.read(resolve(path));
  if (text === undefined) throw new Failure(`There is no file ${path} with MCP servers.`);
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && "mcpServers" in read ? read.mcpServers : read;
  } catch (error) {
    throw new Failure(`${path} is not valid JSON. ${error instanceof Error ? error.message : ""}`, { code: 52 });
  }
};

/** What a person can put right, said as such. */
export const refusing = (error: unknown): never => {
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) throw error;
  throw new Failure(error.message, { code });
};

const codeOf = (error: unknown): ExitCode | undefined => {
  if (error instanceof SettingsError) return 52;
  // By name: the class comes with everything that opens a session.
  if (error instanceof Error && error.name === "SystemPromptError") return 52;
  if (error instanceof SessionError) return 1;
  if (error instanceof UnknownNameError) return 2;
  if (error instanceof PolicyError) return /sandbox is required/.test(error.message) ? 44 : 1;
  return undefined;
};
