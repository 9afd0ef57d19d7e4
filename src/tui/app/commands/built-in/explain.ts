import { loadModel, modelName } from "../../../../agent/models/name.ts";
import { renderRequest } from "../../../../providers/request.ts";
import type { RenderReport } from "../../../../transcript/incremental-renderer.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { escapeCell, pluralize } from "./format.ts";

/** Row limit of the tables. */
const maxRows = 60;

/** `/explain`: shows ids, repairs and media of the last request, or of a request to another model. */
export const explainRequest = async (words: string, at: SlashCommandContext): Promise<void> => {
  const { agent } = at.opened();
  if (words !== "") {
    const name = modelName(await loadModel(words, at.world.env));
    const { report } = renderRequest(agent.conversation(), name, { policy: { unsupportedMedia: "stub" } });
    return at.printMarkdown(reportText(report, `Request to ${name}`));
  }
  const report = agent.lastReport();
  if (report === undefined) return at.info("Nothing sent yet in this run. Use /explain PROVIDER/MODEL for a preview.");
  await at.printMarkdown(reportText(report, `Last request, to ${report.target}`));
};

const reportText = ({ idFormat, calls, notes }: RenderReport, title: string): string =>
  [
    `**${title}**: ${pluralize(calls.length, "call")}, ${pluralize(notes.length, "decision")}.`,
    "",
    ...(calls.length === 0
      ? []
      : [
          `| call | sent as (${escapeCell(idFormat)}) | tool | ended |`,
          "| --- | --- | --- | --- |",
          ...calls
            .slice(-maxRows)
            .map(({ call, id, tool, status, synthetic }) =>
              row([call, id, tool, synthetic === true ? `${status} (synthetic)` : status]),
            ),
          "",
        ]),
    ...(notes.length === 0
      ? ["No changes were needed."]
      : notes
          .slice(-maxRows)
          .map(
            (note) =>
              `- *${note.kind}*${note.call === undefined ? "" : ` (${note.call})`}: ${escapeCell(note.message)}`,
          )),
    ...(Math.max(calls.length, notes.length) > maxRows ? ["", `Only the last ${maxRows} of each are shown.`] : []),
  ].join("\n");

const row = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(" | ")} |`;
