import { modelName, parseModel } from "../../../agent/model-ref.ts";
import { renderRequest } from "../../../providers/request.ts";
import type { Report } from "../../../transcript/rendering.ts";
import type { Desk } from "../command.ts";
import { cell, counted } from "./words.ts";

/** More rows than this are only counted. */
const mostRows = 60;

/** `/explain`: what became of the conversation in the last request, or what would for another model. */
export const explain = async (words: string, at: Desk): Promise<void> => {
  const { agent } = at.opened();
  if (words !== "") {
    const name = modelName(parseModel(words));
    const { report } = renderRequest(agent.conversation(), name, { policy: { unsupportedMedia: "stub" } });
    return at.show(reportText(report, `As ${name} would get it`));
  }
  const report = agent.report();
  if (report === undefined)
    return at.say("Nothing was sent yet in this run. /explain PROVIDER/MODEL shows what would be.");
  await at.show(reportText(report, `The last request, to ${report.target}`));
};

const reportText = ({ idFormat, calls, notes }: Report, title: string): string =>
  [
    `**${title}**: ${counted(calls.length, "call")}, ${counted(notes.length, "decision")}.`,
    "",
    ...(calls.length === 0
      ? []
      : [
          `| call | sent as (${cell(idFormat)}) | tool | ended |`,
          "| --- | --- | --- | --- |",
          ...calls
            .slice(-mostRows)
            .map(({ call, id, tool, status, synthetic }) =>
              row([call, id, tool, synthetic === true ? `${status}, made up` : status]),
            ),
          "",
        ]),
    ...(notes.length === 0
      ? ["Nothing had to be changed."]
      : notes
          .slice(-mostRows)
          .map((note) => `- *${note.kind}*${note.call === undefined ? "" : ` (${note.call})`}: ${cell(note.message)}`)),
    ...(Math.max(calls.length, notes.length) > mostRows ? ["", `Only the last ${mostRows} of each are shown.`] : []),
  ].join("\n");

const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
