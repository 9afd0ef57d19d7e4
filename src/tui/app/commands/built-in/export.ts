import { composeSessionRequest, sessionModel } from "../../../../cli/sessions/compose-request.ts";
import { destinationOf, findWire, homeProviders, wireIds } from "../../../../providers/find.ts";
import { exportConversation } from "../../../../session/export/conversation.ts";
import { exportMarkdown } from "../../../../session/export/markdown.ts";
import { openSessionStore, type ReadSession } from "../../../../session/store/store.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/export`: writes the session to a new file in the workspace. An existing file is never overwritten. */
export const exportSession = async (words: string, at: SlashCommandContext): Promise<void> => {
  const [format = "markdown", ...rest] = words.split(/\s+/).filter((word) => word !== "");
  const { session, services } = at.opened();
  const saved = await openSessionStore(at.world, { home: at.home }).read(session.id);
  const text = textOf(saved, format);
  const file = rest.length > 0 ? rest.join(" ") : `parley-${session.id}.${format === "markdown" ? "md" : "json"}`;
  const { workspace } = await services();
  await workspace.write(file, Buffer.from(text), "absent");
  at.info(`Written to ${(await workspace.resolve(file)).path}`);
};

/** Export formats. */
export const formatOptions: readonly PickerOption[] = [
  { id: "markdown", label: "markdown", detail: "for reading" },
  { id: "json", label: "json", detail: "the whole conversation" },
  ...wireIds.map((id) => ({ id, label: id, detail: `request body for ${homeProviders[id]}` })),
];

const textOf = (session: ReadSession, format: string): string => {
  if (format === "markdown") return exportMarkdown(session);
  if (format === "json") return jsonText(exportConversation(session));
  const wire = findWire(format);
  const own = sessionModel(session);
  const target = own !== undefined && destinationOf(own).wire.id === wire ? own : homeProviders[wire];
  return jsonText(
    composeSessionRequest(session, target, { policy: { unsupportedMedia: "stub", thinking: "own" } }).body,
  );
};

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
