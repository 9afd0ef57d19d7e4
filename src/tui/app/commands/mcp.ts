import type { ServerStatus } from "../../../mcp/servers.ts";
import { openConsents, type Consents } from "../../../policy/consents.ts";
import { line, span } from "../../text/line.ts";
import type { Line } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";
import { offerServers } from "../agreeing.ts";
import type { Option } from "../../views/picker.ts";
import type { Desk } from "../command.ts";
import { counted } from "./words.ts";

/** `/mcp`: how the servers are; `restart NAME`; and the servers of the project that nobody agreed to yet. */
export const mcp = async (words: string, at: Desk): Promise<void> => {
  const { servers } = at.opened();
  const [action, name = ""] = words.split(/\s+/);
  if (action === "restart") {
    if (servers === undefined) return at.warn("There are no MCP servers in this session.");
    servers.restart(name);
    return at.say(`${name} is started again.`);
  }
  if (servers !== undefined) at.print([...servers.status().flatMap((each) => viewServer(each, at.width())), []]);
  const missing = await unconsented(at);
  if (servers === undefined && missing.length === 0)
    return at.say("No MCP servers are set up. parley mcp add adds one.");
  const consents = openConsents(at.world.disk, at.home);
  if (await offerServers(at, { consents, folder: at.folder, wanted: missing }))
    await at.reopen({ id: at.opened().session.id });
};

/** The servers of this session. */
export const serverOptions = ({ opened }: Desk): readonly Option[] =>
  (opened().servers?.status() ?? []).map(({ name, status }) => ({ id: name, label: name, detail: status.state }));

const unconsented = (at: Desk): ReturnType<Consents["missing"]> => {
  const wanted = at.loaded().project.consents.filter(({ key }) => key.startsWith("mcpServers."));
  return openConsents(at.world.disk, at.home).missing(at.folder, wanted);
};

const viewServer = (server: ServerStatus, width: number): readonly Line[] => {
  const { name, reach, status, tools, resources, prompts, left } = server;
  const isFine = status.state === "ready";
  const offers = [counted(tools, "tool"), counted(resources, "resource"), counted(prompts, "prompt")].join(", ");
  const rest = { width, first: [span("  ")], rest: [span("  ")] };
  return [
    [
      span(`${name} `, { bold: true }),
      span(status.state, { tone: isFine ? "success" : "warning" }),
      span(`  ${offers}`, { tone: "muted" }),
    ],
    ...wrap(line(reach, { tone: "muted" }), rest),
    ...("reason" in status ? wrap(line(status.reason, { tone: "warning" }), rest) : []),
    ...left.flatMap((each) => wrap(line(each, { tone: "muted" }), rest)),
  ];
};
