import type { ModelReply, ReplyPart, RequestTool, RequestTurn, SimModelRequest } from "../../src/sim/model/types.ts";

/*
 * The model behind the simulators while real clients run. Its reply depends on the request alone: a marker in the user's
 * prompt selects the work, the model turns since then are the steps done. It calls the tools the client declares.
 */

/** The last words of a finished run. */
export const doneText = "GATEWAY-DONE";

/** The model's thought before its first calls. */
export const thoughtText = "Both files are needed, so they are read together.";

/** Writes the prompt for a piece of work. */
export const promptFor = (work: "mixed" | "more" | `steps${number}`): string =>
  `[[${work}]] Follow the plan: read the files you are asked to read, then finish.`;

/** Replies to a request. A request without a marker is one of the client's own, such as a title. */
export const replyTo = (request: SimModelRequest, folder: string): ModelReply => {
  if (isSummaryRequest(request)) return { parts: [{ type: "say", text: summaryText }] };
  const at = request.turns.findLastIndex(hasMarker);
  const turn = request.turns[at];
  const work = turn === undefined || turn.by === "tools" ? undefined : [...turn.text.matchAll(allMarkers)].at(-1)?.[1];
  if (work === undefined || request.tools.length === 0) return { parts: [{ type: "say", text: "A title" }] };
  const step = request.turns.slice(at + 1).filter(({ by }) => by === "model").length;
  return { parts: partsOf(work, step, { request, folder }) };
};

/** The summary the model writes. A client that continues from it gets the last answer at once. */
export const summaryText = "<summary>Two files and an image were read. [[last]] Nothing is left to do.</summary>";

/**
 * Whether a request asks for a summary of the conversation: its last words do, and are no prompt of ours. One without tools
 * may ask for a new summary of an earlier one.
 */
export const isSummaryRequest = ({ turns, tools }: SimModelRequest): boolean => {
  const last = turns.at(-1);
  return (
    last?.by === "user" &&
    /summar|compact|snapshot|handoff|continuing our conversation/i.test(last.text.replace(commandRecord, "")) &&
    (tools.length === 0 || !last.text.includes("[[last]]")) &&
    !marker.test(last.text.slice(-300))
  );
};

/** Parts that Claude Code adds before a prompt: reminders, and the user's last command, such as /compact. */
const commandRecord = /<(system-reminder|(?:local-)?command-[a-z]+)>[^]*?<\/\1>/g;

/** Whether the gateway asks for the summary, since the client asked for a compacted conversation. */
export const isGatewaySummary = (request: SimModelRequest): boolean => {
  const last = request.turns.at(-1);
  return (
    isSummaryRequest(request) && last?.by === "user" && last.text.includes("continue the work from the summary alone")
  );
};

const marker = /\[\[(mixed|more|last|steps\d+)\]\]/;
const allMarkers = /\[\[(mixed|more|last|steps\d+)\]\]/g;

/** Whether a turn selects the work: a prompt, or a summary, which some clients replay as the model's words (opencode). */
const hasMarker = (turn: RequestTurn): boolean =>
  turn.by === "user" ? marker.test(turn.text) : turn.by === "model" && turn.text.includes("[[last]]");

type Scene = { readonly request: SimModelRequest; readonly folder: string };

const partsOf = (work: string, step: number, scene: Scene): readonly ReplyPart[] => {
  const done: ReplyPart = { type: "say", text: doneText };
  if (work === "last") return [done];
  if (work === "more") return [[readCall(scene, "file3.txt"), readCall(scene, "file4.txt")], [done]][step] ?? [done];
  if (work !== "mixed")
    return step < Number(work.slice("steps".length)) ? [readCall(scene, `file${step + 1}.txt`)] : [done];
  const plans: readonly (readonly ReplyPart[])[] = [
    [
      { type: "think", text: thoughtText },
      { type: "say", text: "Reading two files." },
      readCall(scene, "file1.txt"),
      readCall(scene, "file2.txt"),
    ],
    [{ type: "think", text: "Now the image." }, imageCall(scene)],
  ];
  return plans[step] ?? [done];
};

const readCall = ({ request, folder }: Scene, file: string): ReplyPart =>
  callOf(request.tools, [...readTools, ...shellTools], { path: `${folder}/${file}`, command: `cat ${file}` });

const imageCall = ({ request, folder }: Scene): ReplyPart =>
  callOf(request.tools, ["view_image", ...readTools, ...shellTools], {
    path: `${folder}/pixel.png`,
    command: "cat pixel.png",
  });

const readTools = ["read_file", "Read", "read", "view", "ReadFile"];
const shellTools = ["exec_command", "shell_command", "run_shell_command", "Bash", "bash", "shell"];
const pathNames = ["file_path", "filePath", "absolute_path", "path"];
const commandNames = ["cmd", "command"];

/** Calls the first of these tools that the client declares, with the arguments its schema names. */
const callOf = (
  tools: readonly RequestTool[],
  names: readonly string[],
  wish: { readonly path: string; readonly command: string },
): ReplyPart => {
  const tool = names.flatMap((name) => tools.find((each) => each.name === name) ?? [])[0];
  if (tool === undefined)
    return { type: "say", text: `No tool to read with: ${tools.map(({ name }) => name).join(" ")}` };
  const known = propertiesOf(tool.parameters);
  const path = pathNames.find((name) => name in known);
  if (path !== undefined) return { type: "call", tool: tool.name, input: { [path]: wish.path } };
  const command = commandNames.find((name) => name in known) ?? "command";
  const isList = JSON.stringify(known[command] ?? "").includes('"array"');
  const input = { [command]: isList ? ["bash", "-lc", wish.command] : wish.command };
  const description = "description" in known ? { description: "read a file" } : {};
  return { type: "call", tool: tool.name, input: { ...input, ...description } };
};

const propertiesOf = (parameters: unknown): Readonly<Record<string, unknown>> =>
  (parameters as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};

/** The content that reached the model: texts of results, and images, since the last prompt. */
export const receivedBy = ({ turns }: SimModelRequest): { readonly texts: string; readonly images: number } => ({
  texts: turns.flatMap((turn) => (turn.by === "tools" ? turn.results.map(({ text }) => text) : [])).join("\n"),
  images: turns.flatMap(filesOf).filter(({ kind }) => kind === "image").length,
});

const filesOf = (turn: RequestTurn): readonly { readonly kind: string }[] => {
  if (turn.by === "user") return turn.files;
  return turn.by === "tools" ? turn.results.flatMap(({ files }) => files) : [];
};
