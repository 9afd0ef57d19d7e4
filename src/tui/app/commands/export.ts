import { composedFor, modelOf } from "../../../cli/session-render.ts";
import { destinationOf, findWire, homeOf, wireIds } from "../../../providers/find.ts";
import { conversationOf } from "../../../session/export.ts";
import { markdownOf } from "../../../session/markdown.ts";
import { openSessions, type ReadSession } from "../../../session/store.ts";
import type { Option } from "../../views/picker.ts";
import type { Desk } from "../command.ts";

/** `/export`: the session in a new file of the workspace. Nothing that is there is written over. */
export const exportSession = async (words: string, at: Desk): Promise<void> => {
  const [format = "markdown", ...rest] = words.split(/\s+/).filter((word) => word !== "");
  const { session, services } = at.opened();
  const saved = await openSessions(at.world, { home: at.home }).read(session.id);
  const text = textOf(saved, format);
  const file = rest.length > 0 ? rest.join(" ") : `parley-${session.id}.${format === "markdown" ? "md" : "json"}`;
  const { workspace } = await services();
  await workspace.write(file, Buffer.from(text), "absent");
  at.say(`Written to ${(await workspace.resolve(file)).path}`);
};

/** What a session can be written as. */
export const formatOptions: readonly Option[] = [
  { id: "markdown", label: "markdown", detail: "to be read" },
  { id: "json", label: "json", detail: "all that is kept" },
  ...wireIds.map((id) => ({ id, label: id, detail: `the body of a request, as ${homeOf[id]} gets it` })),
];

const textOf = (session: ReadSession, format: string): string => {
  if (format === "markdown") return markdownOf(session);
  if (format === "json") return jsonText(conversationOf(session));
  const wire = findWire(format);
  const own = modelOf(session);
  const target = own !== undefined && destinationOf(own).wire.id === wire ? own : homeOf[wire];
  return jsonText(composedFor(session, target, { policy: { unsupportedMedia: "stub", thinking: "own" } }).body);
};

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
