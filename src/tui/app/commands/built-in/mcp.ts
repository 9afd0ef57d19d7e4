import type { McpServerStatus } from "../../../../mcp/servers.ts";
import { openConsentStore, type ConsentStore } from "../../../../policy/trust/consents.ts";
import { line, span } from "../../../text/line.ts";
import type { StyledLine } from "../../../text/style.ts";
import { wrap } from "../../../text/wrap.ts";
import { confirmServers } from "../../approvals/server-consent.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { pluralize } from "./format.ts";

/** `/mcp`: shows the servers, restarts one (`restart NAME`), and asks for consents the project still needs. */
export const manageServers = async (words: string, at: SlashCommandContext): Promise<void> => {
  const { servers } = at.opened();
  const [action, name = ""] = words.split(/\s+/);
  if (action === "restart") {
    if (servers === undefined) return at.warn("No MCP servers in this session.");
    servers.restart(name);
    return at.info(`Restarting ${name}.`);
  }
  if (servers !== undefined) at.print([...servers.status().flatMap((each) => viewServer(each, at.width())), []]);
  const missing = await missingConsents(at);
  if (servers === undefined && missing.length === 0)
    return at.info("No MCP servers configured. Add one with `parley mcp add`.");
  const consents = openConsentStore(at.world.disk, at.home.config);
  if (await confirmServers(at, { consents, folder: at.folder, wanted: missing }))
    await at.reopen({ id: at.opened().session.id });
};

/** The servers of this session as picker options. */
export const serverOptions = ({ opened }: SlashCommandContext): readonly PickerOption[] =>
  (opened().servers?.status() ?? []).map(({ name, status }) => ({ id: name, label: name, detail: status.state }));

const missingConsents = (at: SlashCommandContext): ReturnType<ConsentStore["findMissing"]> => {
  const wanted = at.loaded().project.consents.filter(({ key }) => key.startsWith("mcpServers."));
  return openConsentStore(at.world.disk, at.home.config).findMissing(at.folder, wanted);
};

const viewServer = (server: McpServerStatus, width: number): readonly StyledLine[] => {
  const { name, endpoint, status, tools, resources, prompts, omitted } = server;
  const isFine = status.state === "ready";
  const offers = [pluralize(tools, "tool"), pluralize(resources, "resource"), pluralize(prompts, "prompt")].join(", ");
  const rest = { width, first: [span("  ")], rest: [span("  ")] };
  return [
    [
      span(`${name} `, { bold: true }),
      span(status.state, { tone: isFine ? "success" : "warning" }),
      span(`  ${offers}`, { tone: "muted" }),
    ],
    ...wrap(line(endpoint, { tone: "muted" }), rest),
    ...("reason" in status ? wrap(line(status.reason, { tone: "warning" }), rest) : []),
    ...omitted.flatMap((each) => wrap(line(each, { tone: "muted" }), rest)),
  ];
};
