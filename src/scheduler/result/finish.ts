import { inputObject } from "../../conversation/call-input.ts";
import { toPlainJson, type JsonObject } from "../../conversation/json.ts";
import type { Call, Content, Outcome, OutcomeStatus } from "../../conversation/parts.ts";
import { truncateText, maxResultText } from "../../tools/result/truncate.ts";
import type { WorkspaceFiles } from "../../tools/capabilities.ts";
import { storeFile } from "../../tools/result/store-file.ts";
import type { ToolContent } from "../../tools/tool.ts";
import { diffStatOf, type CallCompletion } from "./call-result.ts";
import type { CallDecision, CallDenial, FinishedCall, ToolCallRecord } from "../events.ts";
import { sanitizeDisplay, mapTexts } from "./sanitize-display.ts";

/** A call that has ended, with everything its final record needs. */
export type EndedCall = {
  readonly call: Call;
  readonly result: CallCompletion;
  readonly duration: number;
  readonly decision: CallDecision | undefined;
  readonly denial?: CallDenial | undefined;
  readonly server: string | undefined;
  /** The arguments it ran with, where hooks changed them. */
  readonly changedInput?: JsonObject | undefined;
  /** Stores results that are too long. */
  readonly files: Pick<WorkspaceFiles, "keep">;
  /** Redacts secrets in the display and the record. The model's content stays unchanged. */
  readonly redact: (text: string) => string;
};

const statuses: { readonly [state in CallCompletion["state"]]: OutcomeStatus } = {
  success: "complete",
  error: "error",
  cancelled: "cancelled",
};

/** Converts a finished call for the conversation, the screen and telemetry. */
export const finishCall = async (end: EndedCall): Promise<FinishedCall> => {
  const { call, result, duration, files, redact, denial } = end;
  const kept = await Promise.all(result.content.map((content) => storeContent(content, call, files)));
  const outcome: Outcome = { status: statuses[result.state], content: kept.map(({ content }) => content) };
  return {
    call,
    outcome,
    blobs: Object.fromEntries(kept.flatMap(({ blob }) => (blob === undefined ? [] : [[blob.hash, blob.base64]]))),
    display: sanitizeDisplay(result.display, redact),
    ...(result.error === undefined ? {} : { error: { ...result.error, message: redact(result.error.message) } }),
    ...(denial === undefined
      ? {}
      : { denial: { reason: redact(denial.reason), allowedBy: denial.allowedBy.map(redact) } }),
    duration,
    record: createRecord(end),
  };
};

type StoredContent = { readonly content: Content; readonly blob?: { readonly hash: string; readonly base64: string } };

/** A last limit for tools that have none of their own. */
const maxStoredText = 4 * maxResultText;

const storeContent = async (
  content: ToolContent,
  call: Call,
  files: Pick<WorkspaceFiles, "keep">,
): Promise<StoredContent> => {
  switch (content.type) {
    case "text":
      return { content: { type: "text", text: await truncate(content.text, call, files) } };
    case "structured": {
      const { value } = toPlainJson(content.value);
      const text = JSON.stringify(value);
      if (text.length <= maxStoredText) return { content: { type: "structured", value } };
      return { content: { type: "text", text: await truncate(text, call, files) } };
    }
    case "file": {
      const { media, ...kept } = storeFile(content);
      return { content: media, ...kept };
    }
  }
};

const truncate = async (text: string, { id, tool }: Call, files: Pick<WorkspaceFiles, "keep">): Promise<string> =>
  (await truncateText(text, { files, name: `${tool}-${id}`, most: maxStoredText })).toWellFormed();

const createRecord = ({
  call,
  result,
  duration,
  decision,
  server,
  changedInput,
  redact,
}: EndedCall): ToolCallRecord => {
  const stat = diffStatOf(result.display);
  const said = result.display.type === "text" ? result.display.text : undefined;
  const error = result.error?.message ?? (result.state === "cancelled" ? said : undefined);
  return {
    function_name: call.tool,
    function_args: mapTexts(changedInput ?? inputObject(call.input), redact),
    duration_ms: duration,
    success: result.state === "success",
    ...(decision === undefined ? {} : { decision }),
    ...(error === undefined ? {} : { error: redact(error) }),
    ...(result.error === undefined ? {} : { error_type: result.error.type }),
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
