import { inputObject } from "../conversation/arguments.ts";
import { toPlain } from "../conversation/json.ts";
import type { Call, Content, Outcome, OutcomeStatus } from "../conversation/parts.ts";
import { bounded, mostText } from "../tools/bounded.ts";
import type { Files } from "../tools/capabilities.ts";
import { storeFile } from "../tools/store-file.ts";
import type { ToolContent } from "../tools/tool.ts";
import { statOf, type Ending } from "./ending.ts";
import type { CallDecision, Denial, Finished, ToolCallRecord } from "./events.ts";
import { shownDisplay, withTexts } from "./shown.ts";

/** What is known of a call when it has ended. */
export type CallEnd = {
  readonly call: Call;
  readonly ending: Ending;
  readonly duration: number;
  readonly decision: CallDecision | undefined;
  readonly denial?: Denial | undefined;
  readonly server: string | undefined;
  /** Where results that are too long are kept. */
  readonly files: Pick<Files, "keep">;
  /** Takes secrets out of what is shown and recorded. What the model reads stays as it is. */
  readonly redact: (text: string) => string;
};

const statuses: { readonly [state in Ending["state"]]: OutcomeStatus } = {
  success: "complete",
  error: "error",
  cancelled: "cancelled",
};

/** A call's end in the forms others know: for the conversation, for people, for the records. */
export const finish = async (end: CallEnd): Promise<Finished> => {
  const { call, ending, duration, files, redact, denial } = end;
  const kept = await Promise.all(ending.content.map((content) => keep(content, call, files)));
  const outcome: Outcome = { status: statuses[ending.state], content: kept.map(({ content }) => content) };
  return {
    call,
    outcome,
    blobs: Object.fromEntries(kept.flatMap(({ blob }) => (blob === undefined ? [] : [[blob.hash, blob.base64]]))),
    display: shownDisplay(ending.display, redact),
    ...(ending.error === undefined ? {} : { error: { ...ending.error, message: redact(ending.error.message) } }),
    ...(denial === undefined
      ? {}
      : { denial: { reason: redact(denial.reason), allowedBy: denial.allowedBy.map(redact) } }),
    duration,
    record: recordOf(end),
  };
};

type Kept = { readonly content: Content; readonly blob?: { readonly hash: string; readonly base64: string } };

/** A last bound for tools that keep none of their own. */
const most = 4 * mostText;

const keep = async (content: ToolContent, call: Call, files: Pick<Files, "keep">): Promise<Kept> => {
  switch (content.type) {
    case "text":
      return { content: { type: "text", text: await short(content.text, call, files) } };
    case "structured": {
      const { value } = toPlain(content.value);
      const text = JSON.stringify(value);
      if (text.length <= most) return { content: { type: "structured", value } };
      return { content: { type: "text", text: await short(text, call, files) } };
    }
    case "file": {
      const { media, ...kept } = storeFile(content);
      return { content: media, ...kept };
    }
  }
};

const short = async (text: string, { id, tool }: Call, files: Pick<Files, "keep">): Promise<string> =>
  (await bounded(text, { files, name: `${tool}-${id}`, most })).toWellFormed();

const recordOf = ({ call, ending, duration, decision, server, redact }: CallEnd): ToolCallRecord => {
  const stat = statOf(ending.display);
  const said = ending.display.type === "text" ? ending.display.text : undefined;
  const error = ending.error?.message ?? (ending.state === "cancelled" ? said : undefined);
  return {
    function_name: call.tool,
    function_args: withTexts(inputObject(call.input), redact),
    duration_ms: duration,
    success: ending.state === "success",
    ...(decision === undefined ? {} : { decision }),
    ...(error === undefined ? {} : { error: redact(error) }),
    ...(ending.error === undefined ? {} : { error_type: ending.error.type }),
    tool_type: server === undefined ? "native" : "mcp",
    ...(stat === undefined
      ? {}
      : {
          metadata: {
            ai_added_lines: stat.aiAdded,
            ai_removed_lines: stat.aiRemoved,
            user_added_lines: stat.userAdded,
            user_removed_lines: stat.userRemoved,
          },
        }),
  };
};
