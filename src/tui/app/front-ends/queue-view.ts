import { labelMarkedText } from "../../editor/state.ts";
import { lineWidth, span, truncate } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import type { QueuedMessage } from "./front-end.ts";

/** Messages shown at once. */
const visibleMessages = 4;

/** Shows the queued messages, the newest last, with the time they are sent and the key that takes the last one back. */
export const viewQueue = (queued: readonly QueuedMessage[], width: number): readonly StyledLine[] => {
  const shown = queued.slice(-visibleMessages);
  const hidden = queued.length - shown.length;
  return [
    ...(hidden === 0 ? [] : [[span(`  … ${hidden} more queued`, { tone: "muted" })]]),
    ...shown.map((message, at) => viewMessage(message, at === shown.length - 1, width)),
  ];
};

/** Says when a queued message is sent. */
export const describeSendAfter = (sendAfter: QueuedMessage["sendAfter"]): string =>
  sendAfter === "start" ? "sent once the session is open" : `sent after this ${sendAfter}`;

const viewMessage = ({ marked, sendAfter }: QueuedMessage, isLast: boolean, width: number): StyledLine => {
  const when = width < 60 ? sendAfter : describeSendAfter(sendAfter);
  const about: StyledLine = [span(`  (${when}${isLast ? "; Up to edit" : ""})`, { tone: "muted" })];
  const text = labelMarkedText(marked).trim().replaceAll(/\s+/g, " ");
  const head: StyledLine = [span("↳ ", { tone: "accent" }), span(text)];
  return truncate([...truncate(head, Math.max(8, width - lineWidth(about))), ...about], width);
};
